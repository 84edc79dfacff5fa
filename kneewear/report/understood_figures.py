"""Understanding of shapes, motion and load, as figures.

A wrong sign, side, phase or unit is seen here before anything is computed; nothing is judged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneewear.activity.activity import Activity
from kneewear.activity.directions import CURVES, Curve, Directions, describe_activity
from kneewear.geometry.implant import Implant
from kneewear.geometry.knee import middle_of_condyles
from kneewear.report import style
from kneewear.report.maps import sample_surface

# Colours of the phases of a cycle, behind the curves.
PHASE_COLOURS = ("#dce9f5", "#eef4fa", "#ffffff")


@style.styled
def draw_directions(activity: Activity) -> Figure:
    """Curves of a cycle with their directions in words, and the load, over the phases."""
    directions = describe_activity(activity)
    shown = [
        (curve, directions.values[:, number], use)
        for number, (curve, use) in enumerate(zip(CURVES, directions.use, strict=True))
        if use == "prescribed" or np.ptp(directions.values[:, number]) > 0.0
    ]
    forces = directions.forces
    figure, panels = style.panels_in_rows(len(shown) + len(forces) + 1, 4, 2.0)
    order = np.argsort(directions.percent, kind="stable")
    percent = directions.percent[order]
    for axes, (curve, values, use) in zip(panels, shown, strict=False):
        _shade(axes, directions)
        colour = style.INK if use == "prescribed" else style.AMBER
        axes.plot(percent, values[order], color=colour)
        axes.set_title(_directed_title(curve))
        if use != "prescribed":
            axes.text(0.03, 0.97, use, transform=axes.transAxes, va="top", fontsize=style.SMALL)
    for axes, (curve, values) in zip(panels[len(shown) :], forces, strict=False):
        _shade(axes, directions)
        style.draw_cycle(axes, activity.percent, values, style.INK)
        axes.set_title(_directed_title(curve))
    load = panels[len(shown) + len(forces)]
    _shade(load, directions, named=True)
    style.draw_cycle(load, activity.percent, activity.load, style.INK)
    peaks = [int(np.argmin(np.abs(activity.percent - peak))) for peak in directions.peaks]
    load.plot(activity.percent[peaks], activity.load[peaks], "o", color=style.RED, ms=4)
    load.set(title="Axial load (body weights)", ylim=(0.0, 1.3 * float(activity.load.max())))
    for axes in panels:
        axes.set(xlim=(0.0, 100.0), xticks=[0, 25, 50, 75, 100], xlabel="% of cycle")
    return figure


def _directed_title(curve: Curve) -> str:
    """Title that states which way up is."""
    up, down = (
        words.replace(" by up to {}", "").replace(" {}", "")
        for words in (curve.growing, curve.falling)
    )
    return f"{curve.subject.capitalize()} {up} ↑\n{down} ↓ ({curve.unit})"


def _shade(axes: Axes, directions: Directions, named: bool = False) -> None:
    """Shade the phases of a cycle, and name them."""
    for phase, colour in zip(directions.phases, PHASE_COLOURS, strict=True):
        pieces = [(phase.start, min(phase.end, 100.0)), (0.0, phase.end - 100.0)]
        for start, end in pieces:
            if end > start:
                axes.axvspan(start, end, color=colour, lw=0, zorder=0)
        start, end = max(pieces, key=lambda piece: piece[1] - piece[0])
        if named:
            axes.text(
                0.5 * (start + end), 0.97, phase.name.replace(" ", "\n"), ha="center", va="top",
                fontsize=style.SMALL, transform=axes.get_xaxis_transform(), in_layout=False,
            )  # fmt: skip


@style.styled
def draw_shapes(implant: Implant) -> Figure:
    """Bearings of both components with anatomical directions, and the origin of the motion.

    Insert from above, condyles from the side and from behind, each in its own frame.
    """
    figure, ((plan, side_view, rear),) = style.new_figure(3.6, columns=3)
    for side, surface in implant.insert.items():
        points = sample_surface(surface)
        _draw_patch(plan, points[..., 2], points[..., 0], style.SIDE_COLOURS[side], side)
    style.show_plan(plan)
    plan.set_title("Insert from above")
    for side, surface in implant.femoral.items():
        points, colour = sample_surface(surface), style.SIDE_COLOURS[side]
        _draw_patch(side_view, points[..., 0], points[..., 1], colour, side)
        _draw_patch(rear, points[..., 2], points[..., 1], colour, side)
    middle = middle_of_condyles(implant.femoral)
    for axes, across in ((side_view, 0), (rear, 2)):
        axes.plot(0.0, 0.0, "+", color=style.INK, ms=12, mew=2, label="origin: motion turns here")
        axes.plot(middle[across], middle[1], "x", color=style.RED, ms=7, label="middle of the axis")
        axes.set(aspect="equal", ylabel="inferior ← y (mm) → superior")
    rear.invert_xaxis()
    side_view.set(title="Condyles from the side", xlabel=style.SECTION_LABEL)
    rear.set(title="Condyles from behind", xlabel=style.Z_LABEL, ylabel="")
    style.share_legend(figure, side_view, 4, below=True)
    return figure


def _draw_patch(axes: Axes, across: Any, up: Any, colour: str, label: str) -> None:
    """Draw a sampled surface as its lines, with its border."""
    for x, y in ((across, up), (across.T, up.T)):
        step = max(1, len(x) // 8)
        axes.plot(x[::step].T, y[::step].T, color=colour, lw=0.5)
    border = [(x[0], y[0]) for x, y in ((across, up), (across.T, up.T))]
    border += [(x[-1], y[-1]) for x, y in ((across, up), (across.T, up.T))]
    for number, (x, y) in enumerate(border):
        axes.plot(x, y, color=colour, lw=1.6, label=None if number else label)
