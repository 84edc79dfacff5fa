"""Curves through the cycle."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.mechanics import body_three_123, clinical_angles
from kneewear.report.maps import centre_case
from kneewear.report.style import INK, SIDE_COLOURS, WIDTH, styled
from kneewear.wear.cycles import CycleRecord


@styled
def draw_activity(activity: Activity) -> Figure:
    """Prescribed motion and load of an activity.

    Parameters
    ----------
    activity : Activity
        One cycle.
    """
    flexion, _, external = np.degrees(clinical_angles(body_three_123(activity.rotation))).T
    figure = Figure(figsize=(WIDTH, 2.3), layout="constrained")
    curves = (
        ("Flexion (deg)", flexion),
        ("External rotation (deg)", external),
        ("Femur posterior (mm)", activity.translation[:, 0]),
        ("Axial load (body weights)", activity.load),
    )
    for axes, (title, values) in zip(figure.subplots(1, 4), curves, strict=True):
        draw_cycle(axes, activity.percent, values, INK)
        axes.set_title(title)
    return figure


@styled
def draw_history(cycles: CycleRecord, activity: int) -> Figure:
    """Load, solved motion, pressures and areas of the centre case through the cycle.

    Parameters
    ----------
    cycles : CycleRecord
        Frame histories.
    activity : int
        Index of the activity shown.
    """
    index = centre_case(cycles.cases)
    place = (activity, index)
    varus = np.degrees(clinical_angles(body_three_123(cycles.rotation[place]))[:, 1])
    figure = Figure(figsize=(WIDTH, 6.4), layout="constrained")
    panels = figure.subplots(3, 3).flat
    whole = (
        ("Load (N)", cycles.load[place]),
        ("Load line, medial (mm)", cycles.load_line[place]),
        ("Superior translation (mm)", cycles.translation[place][:, 1]),
        ("Varus (deg)", varus),
        ("Medial translation (mm)", cycles.translation[place][:, 2]),
    )
    sides = (
        ("Vertical force on the insert (N)", -cycles.force[place][..., 1]),
        ("Maximum pressure (MPa)", cycles.max_pressure[place]),
        ("Mean pressure (MPa)", cycles.avg_pressure[place]),
        ("Contact area (mm²)", cycles.contact_area[place]),
    )
    for title, values in whole:
        axes = next(panels)
        draw_cycle(axes, cycles.percent, values, INK)
        axes.set_title(title)
    for title, values in sides:
        axes = next(panels)
        for number, side in enumerate(cycles.sides):
            draw_cycle(axes, cycles.percent, values[:, number], SIDE_COLOURS[side], side)
        axes.set_ylim(bottom=0.0)
        axes.set_title(title)
    axes.legend()
    return figure


def draw_cycle(
    axes: Axes,
    percent: NDArray[np.float64],
    values: NDArray[np.float64],
    colour: str,
    label: str | None = None,
) -> None:
    """Draw a periodic curve, closed to its first frame at 100 %.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    percent, values : array, shape (n_frames,)
        Percent of the cycle, and the curve; NaN leaves a gap.
    colour : str
        Colour of the line.
    label : str, optional
        Name in the legend.
    """
    axes.plot([*percent, 100.0], [*values, values[0]], color=colour, label=label)
    axes.set(xlim=(0.0, 100.0), xticks=[0, 25, 50, 75, 100], xlabel="% of cycle")
