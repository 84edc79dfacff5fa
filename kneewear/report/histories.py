"""Curves through the cycle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kneewear.activity.activity import USUALLY_PRESCRIBED, Activity
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from kneewear.report.maps import centre_case
from kneewear.report.style import INK, SIDE_COLOURS, WIDTH, styled
from kneewear.wear.cycles import CycleRecord


@styled
def draw_activity(activity: Activity) -> Figure:
    """What drives an activity: prescribed motion, or force and torque instead, and load.

    Parameters
    ----------
    activity : Activity
        One cycle.
    """
    flexion, _, external = np.degrees(clinical_angles(body_three_123(activity.rotation))).T
    figure = Figure(figsize=(WIDTH, 2.3), layout="constrained")
    curves = (
        ("Flexion (deg)", flexion),
        ("External rotation (deg)", external)
        if "theta_2" in activity.prescribed
        else ("External torque (BW mm)", activity.wrench[:, 4]),
        ("Femur posterior (mm)", activity.translation[:, 0])
        if "x" in activity.prescribed
        else ("Posterior force (BW)", activity.wrench[:, 0]),
        ("Axial load (body weights)", activity.load),
    )
    for axes, (title, values) in zip(figure.subplots(1, 4), curves, strict=True):
        draw_cycle(axes, activity.percent, values, INK)
        axes.set_title(title)
    return figure


@styled
def draw_history(
    cycles: CycleRecord, activity: int, prescribed: Sequence[str] = USUALLY_PRESCRIBED
) -> Figure:
    """Load, solved motion, pressures and areas of the centre case through the cycle.

    Parameters
    ----------
    cycles : CycleRecord
        Frame histories.
    activity : int
        Index of the activity shown.
    prescribed : sequence of str
        Its prescribed coordinates, which are not shown.
    """
    index = centre_case(cycles.cases)
    place = (activity, index)
    _, varus, external = np.degrees(clinical_angles(body_three_123(cycles.rotation[place]))).T
    posterior, superior, medial = cycles.translation[place].T
    solved = {
        "x": ("Posterior translation (mm)", posterior),
        "theta_2": ("External rotation (deg)", external),
    }
    whole = (
        ("Load (N)", cycles.load[place]),
        ("Load line, medial (mm)", cycles.load_line[place]),
        ("Superior translation (mm)", superior),
        ("Varus (deg)", varus),
        ("Medial translation (mm)", medial),
        *(panel for name, panel in solved.items() if name not in prescribed),
    )
    sides = (
        ("Vertical force on the insert (N)", -cycles.force[place][..., 1]),
        ("Maximum pressure (MPa)", cycles.max_pressure[place]),
        ("Mean pressure (MPa)", cycles.avg_pressure[place]),
        ("Contact area (mm²)", cycles.contact_area[place]),
    )
    rows = -(-(len(whole) + len(sides)) // 3)
    figure = Figure(figsize=(WIDTH, 2.13 * rows), layout="constrained")
    panels = iter(figure.subplots(rows, 3).flat)
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
    for unused in panels:
        unused.set_axis_off()
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
