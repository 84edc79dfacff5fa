"""Curves and pictures through the cycle, the latter as in Bei (2003), Figs. 2-6 to 2-8."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kneewear.activity.activity import USUALLY_PRESCRIBED, Activity
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.implant import Implant
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from kneewear.report.bodies import draw_patch, moved, sample_surface
from kneewear.report.maps import centre_case, draw_plateaus
from kneewear.report.style import (
    INK,
    PRESSURE_COLOURS,
    SIDE_COLOURS,
    WIDTH,
    draw_cycle,
    new_figure,
    panels_in_rows,
    styled,
)
from kneewear.simulation.history import ContactHistory
from kneewear.wear.records import CycleRecord

# Moments of the cycle shown as pictures, samples of a surface there, and colour of the metal.
MOMENTS = 8
SAMPLES = (41, 25)
BRIGHT_METAL = "#9aa5ad"


@styled
def draw_activity(activity: Activity) -> Figure:
    """Prescribed motion, or force and torque instead, and load of one cycle."""
    flexion, _, external = np.degrees(clinical_angles(body_three_123(activity.rotation))).T
    figure, panels = new_figure(2.3, columns=4)
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
    for axes, (title, values) in zip(panels.flat, curves, strict=True):
        draw_cycle(axes, activity.percent, values, INK)
        axes.set_title(title)
    return figure


@styled
def draw_history(
    cycles: CycleRecord, activity: int, prescribed: Sequence[str] = USUALLY_PRESCRIBED
) -> Figure:
    """Load, motion that was not prescribed, pressures and areas of the centre case."""
    index = (activity, centre_case(cycles.cases))
    _, varus, external = np.degrees(clinical_angles(body_three_123(cycles.rotation[index]))).T
    posterior, superior, medial = cycles.translation[index].T
    solved = {
        "x": ("Posterior translation (mm)", posterior),
        "theta_2": ("External rotation (deg)", external),
    }
    whole = (
        ("Load (N)", cycles.load[index]),
        ("Load line, medial (mm)", cycles.load_line[index]),
        ("Superior translation (mm)", superior),
        ("Varus (deg)", varus),
        ("Medial translation (mm)", medial),
        *(panel for name, panel in solved.items() if name not in prescribed),
    )
    by_side = (
        ("Vertical force on the insert (N)", -cycles.force[index][..., 1]),
        ("Maximum pressure (MPa)", cycles.max_pressure[index]),
        ("Mean pressure (MPa)", cycles.avg_pressure[index]),
        ("Contact area (mm²)", cycles.contact_area[index]),
    )
    figure, panels = panels_in_rows(len(whole) + len(by_side), 3, 2.0)
    for axes, (title, values) in zip(panels, (*whole, *by_side), strict=True):
        axes.set_title(title)
        if values.ndim == 1:
            draw_cycle(axes, cycles.percent, values, INK)
        else:
            _draw_sides(axes, cycles.percent, cycles.sides, values)
            axes.set_ylim(bottom=0.0)
    panels[-1].legend()
    return figure


def _draw_sides(axes: Any, percent: Any, sides: Iterable[str], values: NDArray[Any]) -> None:
    """Curves of both sides, shape (n_frames, side)."""
    for number, side in enumerate(sides):
        draw_cycle(axes, percent, values[:, number], SIDE_COLOURS[side], side)


def shown_frames(history: ContactHistory, count: int = MOMENTS) -> NDArray[np.int64]:
    """Frames spread evenly over the cycle, the first one among them."""
    frames = history.percent.size
    return np.unique(np.arange(min(count, frames)) * frames // min(count, frames))


def draw_dynamics(
    implant: Implant, grid: ElementGrid, histories: Mapping[str, ContactHistory]
) -> dict[str, Figure]:
    """Draw what happens to one case through the cycle of every activity.

    Parameters
    ----------
    implant : Implant
        Bearing surfaces.
    grid : ElementGrid
        Elements.
    histories : mapping of activity to ContactHistory
        One case, or none where it failed.

    Returns
    -------
    dict of str to Figure
        `motion_{name}`, `forces_{name}` and `areas_{name}` of each activity.
    """
    figures = {}
    for name, history in histories.items():
        if history.cases:
            figures[f"motion_{name}"] = draw_motion(implant, history)
            figures[f"forces_{name}"] = draw_forces(history)
            figures[f"areas_{name}"] = draw_contact_areas(grid, history)
    return figures


@styled
def draw_motion(implant: Implant, history: ContactHistory) -> Figure:
    """Component on insert at moments of the cycle (Fig. 2-6)."""
    frames = shown_frames(history)
    flexion = np.degrees(clinical_angles(body_three_123(history.rotation[0])))[:, 0]
    columns = 4
    rows = -(-frames.size // columns)
    figure = Figure(figsize=(WIDTH, 2.1 * rows), layout="constrained")
    plastic = {side: sample_surface(one, SAMPLES) for side, one in implant.insert.items()}
    metal = [sample_surface(one, SAMPLES) for one in implant.femoral.values()]
    poses = {
        frame: [moved(one, history.rotation[0, frame], history.translation[0, frame])
                for one in metal]
        for frame in frames
    }  # fmt: skip
    bodies = [*plastic.values(), *(points for pose in poses.values() for points in pose)]
    drawn = np.concatenate([points.reshape(-1, 3) for points in bodies])
    low, high = drawn.min(axis=0), drawn.max(axis=0)
    for number, frame in enumerate(frames):
        axes: Any = figure.add_subplot(rows, columns, number + 1, projection="3d")
        for side, points in plastic.items():
            draw_patch(axes, points, SIDE_COLOURS[side], 1.0)
        for points in poses[frame]:
            draw_patch(axes, points, BRIGHT_METAL, 0.6)
        # One window for all moments, so that the motion can be seen.
        axes.set(xlim=(low[0], high[0]), ylim=(low[2], high[2]), zlim=(low[1], high[1]))
        axes.set_box_aspect((high - low)[[0, 2, 1]], zoom=1.25)
        axes.view_init(elev=12, azim=115)
        axes.set_axis_off()
        axes.set_title(
            f"{history.percent[frame]:.0f} %: flexion {flexion[frame]:.0f}°, "
            f"{history.load[0, frame]:.0f} N",
            fontsize=8,
        )
    return figure


@styled
def draw_forces(history: ContactHistory) -> Figure:
    """Contact forces and torques on the insert through the cycle (Fig. 2-7)."""
    figure, panels = new_figure(4.4, 2, 3)
    titles = (
        "Posterior force (N)", "Superior force (N)", "Medial force (N)",
        "Adduction torque, x (N m)", "Axial torque, y (N m)", "Flexion torque, z (N m)",
    )  # fmt: skip
    values = np.concatenate([history.force[0], 1e-3 * history.torque[0]], axis=-1)
    for number, (axes, title) in enumerate(zip(panels.flat, titles, strict=True)):
        own = values[..., number]
        _draw_sides(axes, history.percent, history.sides, own)
        draw_cycle(axes, history.percent, own.sum(axis=1), INK, "both")
        axes.set_title(title)
    panels[0, 0].legend()
    return figure


@styled
def draw_contact_areas(grid: ElementGrid, history: ContactHistory) -> Figure:
    """Pressure on the insert at moments of the cycle, and the contact areas (Fig. 2-8)."""
    frames = shown_frames(history)
    columns = 4
    rows = -(-frames.size // columns)
    figure = Figure(figsize=(WIDTH, 1.75 * rows + 2.3), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=[1.75 * rows, 2.1])
    above, below = parts
    panels: Any = above.subplots(rows, columns, squeeze=False)
    top = float(history.pressure[0, frames].max())
    for axes, frame in zip(panels.flat, frames, strict=False):
        mesh = draw_plateaus(axes, grid, history.pressure[0, frame], top, PRESSURE_COLOURS)
        axes.set_title(f"{history.percent[frame]:.0f} %", fontsize=8)
        axes.label_outer()
    for axes in panels.flat[frames.size :]:
        axes.set_axis_off()
    above.colorbar(mesh, ax=panels, label="pressure (MPa)", shrink=0.7, pad=0.01)
    left, right = below.subplots(1, 2)
    _draw_sides(left, history.percent, history.sides, history.contact_area[0])
    _draw_sides(right, history.percent, history.sides, history.centre_of_pressure[0, ..., 0])
    left.set(title="Contact area (mm²)", ylim=(0.0, None))
    right.set_title("Centre of pressure, posterior (mm)")
    left.legend()
    return figure
