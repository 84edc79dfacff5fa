"""Figures of a multibody study: every panel of its curves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kneewear.report import style
from kneewear.report.curves import draw_curves
from kneewear.report.tables import words
from kneewear.report.viewer import ON_BONES, body, build_view, matrices

# Poses that are drawn, and what places a body.
POSES = 4
PLACES = ("rotation", "translation")
BODIES = ("#8d9296", style.BLUE, style.GREEN)
BONE = "#e9e2cf"
# Panels that are drawn over the whole width, at most.
WIDE = 10


def draw_jobs(
    tables: Mapping[str, pd.DataFrame], records: Mapping[str, Any], files: Mapping[str, Path]
) -> dict[str, Figure]:
    """Figures of the motion of all bodies."""
    return draw_multibody_figures(tables, records["scene"])


def view_jobs(records: Mapping[str, Any], files: Mapping[str, Path]) -> dict[str, Any]:
    """View of the bodies in motion."""
    return scene_view(records["scene"]) if "scene" in records else {}


def draw_multibody_figures(
    tables: Mapping[str, pd.DataFrame], scene: Mapping[str, Any]
) -> dict[str, Figure]:
    """Draw poses, motion, forces and laxity, of the curves one panel for each name in `panel`."""
    kinematics, forces = tables["kinematics"], tables["forces"]
    poses = {"multibody_poses": draw_poses(scene)} if scene else {}
    laxity = (
        {"multibody_laxity": draw_tibial_laxity(tables["laxity"])} if "laxity" in tables else {}
    )
    return (
        poses
        | laxity
        | {
            "multibody_kinematics": draw_curves(kinematics, 3),
            "multibody_forces": draw_curves(forces, 1 if forces["panel"].nunique() <= WIDE else 2),
        }
    )


def draw_tibial_laxity(laxity: pd.DataFrame) -> Figure:
    """Displacement in each laxity test over flexion; tests without equilibrium are left out."""
    borne = laxity[laxity["borne"] == 1.0]
    names = {"coordinate": "panel", "test": "series", "flexion_deg": "at", "change": "value"}
    curves = borne.rename(columns=names).assign(over="flexion (deg)")
    return draw_curves(curves.assign(panel=curves["panel"].map(words)), 3)


def scene_view(scene: Mapping[str, Any]) -> dict[str, Any]:
    """View (:mod:`kneewear.report.viewer`) of the bodies in motion; empty for an empty scene."""
    if not scene:
        return {}
    numbers = {name: scene["bodies"].index(name) for name in (*scene["meshes"], *scene["bones"])}
    turns, places = (np.array(scene[key]) for key in PLACES)
    bodies = {
        name: body(mesh["points"], mesh["triangles"], BODIES[number % len(BODIES)])
        for number, (name, mesh) in enumerate(scene["meshes"].items())
    }
    bones = {
        f"{name} bone": body(mesh["points"], mesh["triangles"], BONE, group="bones")
        for name, mesh in scene["bones"].items()
    }
    poses = {name: matrices(turns[:, at], places[:, at]) for name, at in numbers.items()}
    groups = {"lines": {"label": "Bundles", "shown": True}}
    if bones:
        groups["bones"] = {"label": "Bones", "shown": True}
    return build_view(
        bodies | bones,
        [
            {
                "of": {},
                "title": ", ".join(scene["bodies"]),
                "bodies": [*bodies, *bones],
                "frames": scene["labels"],
                "lines": scene["lines"],
                "poses": poses | {f"{name} bone": poses[name] for name in scene["bones"]},
            }
        ],
        groups=groups,
        directions=ON_BONES,
        line_colour=style.RED,
        hint=f"{scene['shapes']}, simplified to about {scene['most_points']} points each. "
        "Lines are ligaments and muscles.",
    )


@style.styled
def draw_poses(scene: Mapping[str, Any]) -> Figure:
    """Bearing surfaces and bundles from the side and from the front, at some times.

    Of bundles within the sagittal plane there is no view from the front.
    """
    chosen = np.linspace(0, len(scene["labels"]) - 1, POSES).round().astype(int)
    views = [("from the side (mm)", 0)]
    if any(np.any(np.array(line)[:, 2]) for lines in scene["lines"] for line in lines):
        views.append(("from the front (mm)", 2))
    figure, panels = style.new_figure(
        3.0 * len(views), rows=len(views), columns=POSES, sharex="row", sharey=True
    )
    for column, frame in zip(panels.T, chosen, strict=True):
        for axes, (_, across) in zip(column, views, strict=True):
            _draw_pose(axes, scene, frame, across)
        column[0].set_title(scene["labels"][frame])
    for axes, (label, _) in zip(panels[:, 0], views, strict=True):
        axes.set_ylabel(label)
    return figure


def _draw_pose(axes: Axes, scene: Mapping[str, Any], frame: int, across: int) -> None:
    """Surfaces and bundles of one pose; `across` is the horizontal axis of the view."""
    for order, (name, mesh) in enumerate(scene["meshes"].items()):
        number = scene["bodies"].index(name)
        turn, place = (np.array(scene[key][frame][number]) for key in PLACES)
        moved = np.array(mesh["points"]) @ turn.T + place
        corners = moved[np.array(mesh["triangles"], dtype=int)]
        axes.add_collection(_surface(corners, across, BODIES[order % len(BODIES)]))
    lines = [np.array(line)[:, [across, 1]] for line in scene["lines"][frame]]
    axes.add_collection(LineCollection(lines, colors=style.RED, lw=0.8))
    axes.autoscale_view()
    axes.set_aspect("equal", adjustable="box")


def _surface(corners: NDArray[np.float64], across: int, colour: str) -> PolyCollection:
    """Triangles (n, 3, 3) seen along an axis, the farthest first, darker where they turn away."""
    along = 2 - across
    ordered = corners[np.argsort(corners[:, :, along].mean(axis=1))]
    normal = np.cross(ordered[:, 1] - ordered[:, 0], ordered[:, 2] - ordered[:, 0])
    length = np.maximum(np.linalg.norm(normal, axis=1), np.finfo(float).tiny)
    light = 0.45 + 0.55 * np.abs(normal[:, along]) / length
    faces = light[:, None] * np.array(to_rgb(colour))
    return PolyCollection(
        list(ordered[:, :, [across, 1]]),
        facecolors=faces,
        edgecolors=faces,
        lw=0.6,
        rasterized=True,
    )
