"""Figures and the animation of a dynamic finite-element knee."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kneewear.knees.papers.fe_knee.literature import phases
from kneewear.knees.papers.fe_knee.run import KneeFrames
from kneewear.report import style
from kneewear.report.viewer import ON_BONES, body, build_view, colour_steps, packed, scale
from kneewear.study import netcdf

Array = NDArray[np.float64]

# Frames of the figure, and the percentile of stress at which its colours end.
SHOWN = 6
TOP_PERCENTILE = 99.5
COLOURS = style.DEPTH_COLOURS
# Height of the shown end of the tibia, mm, and direction from which it is seen, deg: to the side
# and from above.
MESH_HEIGHT = 40.0
MESH_VIEW = (25.0, 30.0)
PHASES = {"obstacle": "#e9e3d3", "cartilage": "#d9e6ee"}
ENERGIES = {
    "total_mj": ("all", style.INK),
    "bone_kinetic_mj": ("kinetic, bones", style.BLUE),
    "bone_elastic_mj": ("elastic, bones", style.SKY),
    "rod_kinetic_mj": ("kinetic, ligaments", style.RED),
    "rod_elastic_mj": ("elastic, ligaments", style.AMBER),
}
LOSSES = {
    "viscous_loss_mj": ("viscosity", style.PURPLE),
    "contact_loss_mj": ("contact", style.RED),
    "stabilisation_loss_mj": ("stabilisation", style.GREEN),
    "coupling_loss_mj": ("coupling", style.INK),
}
LIGAMENTS = (style.BLUE, style.RED, style.GREEN, style.PURPLE, style.AMBER, style.SKY)


def draw_jobs(
    tables: Mapping[str, pd.DataFrame], records: Mapping[str, Any], files: Mapping[str, Path]
) -> dict[str, Figure]:
    """Figures of a study from its tables and files by name."""
    return draw_knee(tables["knee_history"], netcdf.load(KneeFrames, files["frames.nc"]))


def view_jobs(records: Mapping[str, Any], files: Mapping[str, Path]) -> dict[str, Any]:
    """View in space of a study from its files by name."""
    return knee_view(netcdf.load(KneeFrames, files["frames.nc"]))


def draw_knee(history: pd.DataFrame, frames: KneeFrames) -> dict[str, Figure]:
    """Figures of a run from its history and frames."""
    return {
        "knee_frames": draw_frames(frames, shown_times(history)),
        "knee_mesh": draw_mesh(frames),
        "knee_energy": draw_energy(history),
        "knee_contact": draw_knee_contact(history, frames.ligaments),
        "knee_solvers": draw_solvers(history),
    }


def _shade(axes: Axes, history: pd.DataFrame) -> None:
    """Shade the times of contact."""
    time = history["time_ms"].to_numpy()
    for name, colour in PHASES.items():
        for number, (first, last) in enumerate(phases(history[f"{name}_nodes"].to_numpy())):
            label = f"contact, {name}" if number == 0 else None
            axes.axvspan(time[max(first - 1, 0)], time[last], color=colour, lw=0, label=label)


def _lines(axes: Axes, history: pd.DataFrame, lines: dict[str, tuple[str, str]]) -> None:
    for column, (label, colour) in lines.items():
        axes.plot(history["time_ms"], history[column], color=colour, label=label)


@style.styled
def draw_energy(history: pd.DataFrame) -> Figure:
    """Energies, and energy lost since the start."""
    figure, panels = style.new_figure(5.4, 2, 1, sharex=True)
    for axes, lines, title in (
        (panels[0, 0], ENERGIES, "Energy"),
        (panels[1, 0], LOSSES, "Energy lost since the start"),
    ):
        _shade(axes, history)
        _lines(axes, history, lines)
        axes.set(title=title, ylabel="energy (mJ)")
        # On white, so that the colours of the shaded times are seen within them.
        axes.legend(ncols=4, fontsize=style.SMALL, frameon=True, facecolor="white", framealpha=1.0)
        low, high = axes.get_ylim()
        axes.set_ylim(low, high + 0.25 * (high - low))
    panels[1, 0].set_xlabel("time (ms)")
    return figure


@style.styled
def draw_knee_contact(history: pd.DataFrame, ligaments: tuple[str, ...]) -> Figure:
    """Contact forces, numbers of contact nodes, and tension of the ligaments.

    Each contact has its own axis of nodes: the obstacle has hundreds, the cartilages few.
    """
    own = {"obstacle": style.AMBER, "cartilage": style.BLUE}
    rows = 2 + len(own) if ligaments else 1 + len(own)
    figure, panels = style.new_figure(2.0 * rows, rows, 1, sharex=True)
    for axes, title, what, label, shown in (
        (panels[0, 0], "Contact force", "force_n", "force (N)", own),
        *(
            (panels[1 + at, 0], f"Contact nodes, {name}", "nodes", "nodes", {name: colour})
            for at, (name, colour) in enumerate(own.items())
        ),
    ):
        _shade(axes, history)
        for name, colour in shown.items():
            axes.plot(history["time_ms"], history[f"{name}_{what}"], color=colour, label=name)
        axes.set(title=title, ylabel=label)
        axes.legend(*_named(axes, shown))
    if ligaments:
        axes = panels[-1, 0]
        _shade(axes, history)
        _lines(
            axes,
            history,
            {
                f"{name}_tension_n": (name, LIGAMENTS[at % len(LIGAMENTS)])
                for at, name in enumerate(ligaments)
            },
        )
        axes.set(title="Mean tension of the ligaments", ylabel="tension (N)")
        axes.legend(*_named(axes, dict.fromkeys(ligaments)), ncols=len(ligaments))
    panels[-1, 0].set_xlabel("time (ms)")
    return figure


def _named(axes: Axes, names: Any) -> tuple[list[Any], list[str]]:
    """Handles and labels of some curves."""
    pairs = [
        pair for pair in zip(*axes.get_legend_handles_labels(), strict=True) if pair[1] in names
    ]
    return [one for one, _ in pairs], [label for _, label in pairs]


@style.styled
def draw_solvers(history: pd.DataFrame) -> Figure:
    """Iterations, rates and processor time of every step."""
    figure, panels = style.new_figure(6.4, 3, 1, sharex=True)
    rows = history.iloc[1:]
    time = rows["time_ms"]
    contents = {
        "Iterations": {"coupling_iterations": "coupling", "solver_iterations": "contact solver"},
        "Rate": {"coupling_rate": "coupling", "solver_rate": "contact solver, of a cycle"},
        "Processor time (s)": {"bone_seconds": "bones", "rod_seconds": "ligaments"},
    }
    for axes, (title, lines) in zip(panels[:, 0], contents.items(), strict=True):
        _shade(axes, history)
        for (column, label), colour in zip(lines.items(), (style.RED, style.BLUE), strict=True):
            axes.plot(time, rows[column], ".-", ms=3, lw=0.8, color=colour, label=label)
        axes.set(title=title)
        axes.set_ylim(bottom=0.0)
        axes.legend(*_named(axes, set(lines.values())))
    panels[2, 0].set_xlabel("time (ms)")
    return figure


def shown_times(history: pd.DataFrame) -> Array:
    """Times that the settings choose for the figure of frames, s; none in older results."""
    if "shown" not in history:
        return np.empty(0)
    return 1e-3 * history.loc[history["shown"].astype(bool), "time_ms"].to_numpy(dtype=float)


@style.styled
def draw_frames(frames: KneeFrames, times: Array) -> Figure:
    """Von Mises stress on the bones from the front and from the medial side, at some times.

    Frames at `times`, s, are shown; without any, even ones.
    """
    chosen = _nearest(frames, times) if len(times) else _interesting(frames)
    figure, panels = style.new_figure(5.6, 2, len(chosen), sharex="row", sharey=True)
    top = stress_top(frames)
    drawn = None
    for column, frame in zip(panels.T, chosen, strict=True):
        for axes, across, towards in zip(column, (2, 0), (-1.0, -1.0), strict=True):
            drawn = _draw_surface(axes, frames, frame, across, towards, top)
        column[0].set_title(f"{1e3 * frames.time[frame]:.2f} ms")
    panels[0, 0].set_ylabel("from the front (mm)")
    panels[1, 0].set_ylabel("from the side (mm)")
    if drawn is not None:
        figure.colorbar(drawn, ax=panels, label="von Mises stress (MPa)", shrink=0.7, pad=0.01)
    return figure


def _nearest(frames: KneeFrames, times: Array) -> NDArray[np.int64]:
    """Frames nearest to some times."""
    return np.unique(np.abs(frames.time[:, None] - times).argmin(axis=0))


def _interesting(frames: KneeFrames) -> NDArray[np.int64]:
    """Frames of the figure, evenly over the run, without the start."""
    count = len(frames.time)
    return np.unique(np.linspace(min(1, count - 1), count - 1, SHOWN).round().astype(int))


def stress_top(frames: KneeFrames) -> float:
    """Stress at which colours end, MPa: high enough for nearly all nodes of bone at all times."""
    bone = frames.stress[:, ~frames.is_cartilage]
    peak = np.percentile(bone, TOP_PERCENTILE, axis=1).max() if bone.size else 0.0
    return float(f"{max(float(peak), 1e-3):.1g}")


def _draw_surface(
    axes: Axes, frames: KneeFrames, frame: int, across: int, towards: float, top: float
) -> PolyCollection:
    """Triangles that face the viewer, the farthest first, in the colours of their stress."""
    points = frames.positions[frame].astype(float)
    depth = 2 - across
    corners = points[frames.triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, depth]
    facing = np.flatnonzero(towards * normal > 0.0)
    order = facing[np.argsort(towards * corners[facing, :, depth].mean(axis=1))]
    cells = PolyCollection(
        corners[order][:, :, [across, 1]],
        array=frames.stress[frame][frames.triangles[order]].mean(axis=1),
        cmap=COLOURS,
        clim=(0.0, top),
        edgecolors="face",
        linewidths=0.2,
        rasterized=True,
    )
    axes.add_collection(cells)
    rods = [line[:, [across, 1]] for line in frames.rods[frame]]
    axes.add_collection(LineCollection(rods, colors=style.SKY, lw=1.5))
    axes.autoscale_view()
    axes.set_aspect("equal", adjustable="box")
    axes.grid(visible=False)
    return cells


@style.styled
def draw_mesh(frames: KneeFrames) -> Figure:
    """Upper end of the finest mesh of the tibia at the start, seen obliquely from the front."""
    tibia = frames.triangle_body == frames.bodies.index("tibia")
    points, triangles = frames.positions[0].astype(float), frames.triangles[tibia]
    top = points[triangles][..., 1].max()
    triangles = triangles[points[triangles][..., 1].mean(axis=1) > top - MESH_HEIGHT]
    across, high, towards = _mesh_view()
    corners = points[triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facing = np.flatnonzero(normal @ towards > 0.0)
    order = facing[np.argsort(corners[facing].mean(axis=1) @ towards)]
    cartilage = frames.is_cartilage[triangles[order]].all(axis=1)
    figure, ((axes,),) = style.new_figure(4.2, width=0.7 * style.WIDTH)
    axes.add_collection(
        PolyCollection(
            corners[order] @ np.stack([across, high], axis=1),
            facecolors=[style.SKY if covered else "white" for covered in cartilage],
            edgecolors=style.INK,
            linewidths=0.15,
            rasterized=True,
        )
    )
    axes.autoscale_view()
    axes.set_aspect("equal")
    axes.set_axis_off()
    return figure


def _mesh_view() -> tuple[Array, Array, Array]:
    """Unit vectors to the right and up in the picture of a mesh, and towards the viewer."""
    turn, up = np.radians(MESH_VIEW)
    # x is posterior.
    ahead = np.array([-np.cos(turn), 0.0, np.sin(turn)])
    across = np.array([np.sin(turn), 0.0, np.cos(turn)])
    towards = np.cos(up) * ahead + np.array([0.0, np.sin(up), 0.0])
    high = np.cross(towards, across)
    return across, high * np.sign(high[1]), towards


def knee_view(frames: KneeFrames) -> dict[str, Any]:
    """View (:mod:`kneewear.report.viewer`) of the bones' stress and the ligaments in motion.

    In axes anterior, superior, lateral of a right knee, mm.
    """
    flip = np.array([-1.0, 1.0, -1.0])
    points = frames.positions * flip
    top = stress_top(frames)
    has_rods = len(frames.ligaments) > 0
    scene = {
        "of": {},
        "title": "Bones and ligaments",
        "bodies": ["bones"],
        "frames": [f"{1e3 * time:.2f} ms" for time in frames.time],
        "points": {"bones": [packed(point.astype("<f4")) for point in points]},
        "scale": "stress",
        "coloured": "bones",
        "colours": packed(colour_steps(frames.stress, top)),
    }
    if has_rods:
        scene["lines"] = np.round(frames.rods * flip, 3).tolist()
    return build_view(
        {"bones": body(points[0], frames.triangles)},
        [scene],
        groups={"lines": {"label": "Ligaments", "shown": True}} if has_rods else {},
        scales={"stress": scale("Von Mises stress", "MPa", top, COLOURS)},
        directions=ON_BONES,
        enlarge=[1, 5, 20],
        line_colour=style.SKY,
        hint="Stress is that of the surface. Lines are the axes of the ligaments.",
    )
