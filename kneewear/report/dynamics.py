"""Motion, forces and contact through the cycle of one case, as in Bei (2003), Figs. 2-6 to 2-8."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.implant import Implant
from kneewear.geometry.surface import Surface
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from kneewear.report.histories import draw_cycle
from kneewear.report.maps import draw_plateaus
from kneewear.report.style import INK, PRESSURE_COLOURS, SIDE_COLOURS, WIDTH, styled
from kneewear.simulation.history import ContactHistory

Array = NDArray[np.float64]

METAL = "#9aa5ad"
# Moments of the cycle shown as pictures.
MOMENTS = 8
SAMPLES = (41, 25)


def shown_frames(history: ContactHistory, count: int = MOMENTS) -> NDArray[np.int64]:
    """Frames spread evenly over the cycle.

    Parameters
    ----------
    history : ContactHistory
        Any history.
    count : int
        How many; fewer where the cycle has fewer.

    Returns
    -------
    int array
        Ascending, the first frame among them.
    """
    frames = history.percent.size
    return np.unique(np.arange(min(count, frames)) * frames // min(count, frames))


def draw_dynamics(
    implant: Implant,
    grid: ElementGrid,
    histories: Mapping[str, ContactHistory],
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
    """Component on insert at moments of the cycle, with the pressed elements (Fig. 2-6).

    Parameters
    ----------
    implant : Implant
        Bearing surfaces.
    history : ContactHistory
        One case.
    """
    frames = shown_frames(history)
    angles = np.degrees(clinical_angles(body_three_123(history.rotation[0])))
    columns = 4
    rows = -(-frames.size // columns)
    figure = Figure(figsize=(WIDTH, 2.1 * rows), layout="constrained")
    plastic = {side: _sampled(surface) for side, surface in implant.insert.items()}
    metal = {side: _sampled(surface) for side, surface in implant.femoral.items()}
    placed = {
        frame: [
            points @ body_three_123(history.rotation[0, frame]).T + history.translation[0, frame]
            for points in metal.values()
        ]
        for frame in frames
    }
    all_metal = [points for moment in placed.values() for points in moment]
    drawn = np.concatenate([points.reshape(-1, 3) for points in [*plastic.values(), *all_metal]])
    low, high = drawn.min(axis=0), drawn.max(axis=0)
    for number, frame in enumerate(frames):
        axes: Any = figure.add_subplot(rows, columns, number + 1, projection="3d")
        for side, points in plastic.items():
            _draw_patch(axes, points, SIDE_COLOURS[side], 1.0)
        for points in placed[frame]:
            _draw_patch(axes, points, METAL, 0.6)
        # One window for all moments, so that the motion can be seen.
        axes.set(xlim=(low[0], high[0]), ylim=(low[2], high[2]), zlim=(low[1], high[1]))
        axes.set_box_aspect((high - low)[[0, 2, 1]], zoom=1.25)
        axes.view_init(elev=12, azim=115)
        axes.set_axis_off()
        axes.set_title(
            f"{history.percent[frame]:.0f} %: flexion {angles[frame, 0]:.0f}°, "
            f"{history.load[0, frame]:.0f} N",
            fontsize=8,
        )
    return figure


@styled
def draw_forces(history: ContactHistory) -> Figure:
    """Contact forces and torques on the insert through the cycle (Fig. 2-7).

    Parameters
    ----------
    history : ContactHistory
        One case.
    """
    figure = Figure(figsize=(WIDTH, 4.4), layout="constrained")
    panels = figure.subplots(2, 3)
    forces = ("Posterior force (N)", "Superior force (N)", "Medial force (N)")
    torques = ("Adduction torque, x (N m)", "Axial torque, y (N m)", "Flexion torque, z (N m)")
    for row, (titles, values) in enumerate(
        ((forces, history.force[0]), (torques, 1e-3 * history.torque[0]))
    ):
        for axis, title in enumerate(titles):
            axes = panels[row, axis]
            for number, side in enumerate(history.sides):
                colour = SIDE_COLOURS[side]
                draw_cycle(axes, history.percent, values[:, number, axis], colour, side)
            draw_cycle(axes, history.percent, values[..., axis].sum(axis=1), INK, "both")
            axes.set_title(title)
    panels[0, 0].legend()
    return figure


@styled
def draw_contact_areas(grid: ElementGrid, history: ContactHistory) -> Figure:
    """Pressure on the insert at moments of the cycle, and the contact areas (Fig. 2-8).

    Parameters
    ----------
    grid : ElementGrid
        Elements.
    history : ContactHistory
        One case, with its element pressures.
    """
    frames = shown_frames(history)
    columns = 4
    rows = -(-frames.size // columns)
    figure = Figure(figsize=(WIDTH, 1.75 * rows + 2.3), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=[1.75 * rows, 2.1])
    above, below = parts
    panels = above.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    top = float(history.pressure[0, frames].max())
    mesh = None
    for axes, frame in zip(panels.flat, frames, strict=False):
        mesh = draw_plateaus(axes, grid, history.pressure[0, frame], top, PRESSURE_COLOURS)
        axes.set_title(f"{history.percent[frame]:.0f} %", fontsize=8)
        axes.label_outer()
    for axes in list(panels.flat)[frames.size :]:
        axes.set_axis_off()
    # Every plan turned the shared axes round once; one turn is wanted.
    if frames.size % 2 == 0:
        panels[0, 0].invert_xaxis()
        panels[0, 0].invert_yaxis()
    if mesh is not None:
        above.colorbar(mesh, ax=panels, label="pressure (MPa)", shrink=0.7, pad=0.01)
    left, right = below.subplots(1, 2)
    for number, side in enumerate(history.sides):
        colour = SIDE_COLOURS[side]
        draw_cycle(left, history.percent, history.contact_area[0, :, number], colour, side)
        place = history.centre_of_pressure[0, :, number, 0]
        draw_cycle(right, history.percent, place, colour, side)
    left.set(title="Contact area (mm²)", ylim=(0.0, None))
    right.set_title("Centre of pressure, posterior (mm)")
    left.legend()
    return figure


def _sampled(surface: Surface) -> Array:
    """Points of a surface on a regular grid of its parameters."""
    (u0, u1), (v0, v1) = surface.domain
    u, v = np.meshgrid(
        np.linspace(u0, u1, SAMPLES[0]), np.linspace(v0, v1, SAMPLES[1]), indexing="ij"
    )
    return surface.evaluate(u.ravel(), v.ravel()).reshape(*SAMPLES, 3)


def _draw_patch(axes: Any, points: Array, colour: str, alpha: float) -> None:
    """Shaded patch in space, with y drawn upwards."""
    axes.plot_surface(
        points[..., 0], points[..., 2], points[..., 1],
        color=colour, alpha=alpha, linewidth=0, rstride=1, cstride=1, rasterized=True,
    )  # fmt: skip
