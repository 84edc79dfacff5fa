"""Figures and tables of the source documents that no study has: `kneewear paper` makes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kneewear.evidence.published.bei_numbers import compare_numbers
from kneewear.evidence.published.values import published_table
from kneewear.geometry.table import COLUMNS, SurfaceTable, frame_samples
from kneewear.report import style
from kneewear.report.tables import words

Array = NDArray[np.float64]

MACHADO = "kneewear.evidence.published.machado"
# Sphere of Table 6.2: radius, m, and samples along u (0 to pi / 2) and v (-pi to -pi / 2).
TABLE_RADIUS = 0.006
TABLE_SAMPLES = (17, 9)
# Samples along each parameter of the spheres of Figure 6.17, and points of a drawn line.
SPHERES = (9, 33, 333, 999)
LINE_POINTS = 61
# Direction of view of these spheres, deg: longitude and latitude.
VIEW = (30.0, 25.0)
# Outlines of sphere pairs are drawn so far to both sides of the contact, mm.
HALF_WIDTH = 22.0


def sphere_of_table_6_2(tangents: str) -> SurfaceTable:
    """Sphere of Eq. 6.11 over the parameters of Table 6.2, m; its normals are inward, as there."""
    u, v = (
        np.linspace(low, low + np.pi / 2, count)
        for low, count in zip((0.0, -np.pi), TABLE_SAMPLES, strict=True)
    )
    a, b = u[:, None], v[None, :]
    none = 0.0 * a * b
    point = np.stack([np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a) + none], axis=-1)
    along_u = np.stack([-np.sin(a) * np.cos(b), -np.sin(a) * np.sin(b), np.cos(a) + none], axis=-1)
    # Without the factor cos u, which vanishes at the pole and with it the derivative along v.
    along_v = np.stack([-np.sin(b) + none, np.cos(b) + none, none], axis=-1)
    point, along_u, along_v = (TABLE_RADIUS * values for values in (point, along_u, along_v))
    return frame_samples(u, v, point, along_u, along_v, tangents)


def table_6_2(results: Path | None = None) -> pd.DataFrame:
    """Sample rows of Machado's Table 6.2 as printed and as computed, a row for each column of it.

    Columns row, column, quantity (one of the 14 columns), published and computed. Tangent and
    binormal of the first sample are left out: its normal is the first axis, where the reflection is
    undefined, and the print is round-off.
    """
    printed = published_table("table_6_2_lookup", MACHADO)
    table = sphere_of_table_6_2("householder")
    tidy = printed.melt(["row", "column"], COLUMNS, "quantity", "published")
    at = tidy["row"] - 1, tidy["column"] - 1, tidy["quantity"].map(COLUMNS.index)
    tidy["computed"] = table.rows[tuple(index.to_numpy(dtype=int) for index in at)]
    degenerate = (tidy["row"] == 1) & (tidy["column"] == 1)
    return tidy[~(degenerate & tidy["quantity"].isin(COLUMNS[8:]))].reset_index(drop=True)


@style.styled
def draw_sphere_meshes(results: Path | None = None) -> Figure:
    """Lines of constant parameter of spheres of 81 to 998001 points, on the side that is seen."""
    figure, panels = style.new_figure(2.6, 1, len(SPHERES))
    for axes, count in zip(panels[0], SPHERES, strict=True):
        lines = visible_lines(count)
        width = 0.7 if count < 100 else 0.05
        axes.add_collection(
            LineCollection(lines, colors=style.INK, linewidths=width, rasterized=True)
        )
        axes.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.05), aspect="equal", title=f"{count**2} points")
        axes.set_axis_off()
    return figure


def visible_lines(count: int) -> list[Array]:
    """Visible parts of the parallels and meridians of a unit sphere, as seen (n, 2)."""
    latitude = np.linspace(-0.5 * np.pi, 0.5 * np.pi, count)
    longitude = np.linspace(0.0, 2.0 * np.pi, count)
    fine = [np.linspace(angle[0], angle[-1], LINE_POINTS) for angle in (latitude, longitude)]
    parts = []
    for a, b in ((latitude[:, None], fine[1][None]), (fine[0][None], longitude[:, None])):
        parts.append(np.stack(np.broadcast_arrays(a, b), -1))
    visible: list[Array] = []
    for line in np.concatenate(parts):
        seen = _seen(*line.T)
        edges = np.flatnonzero(np.diff(seen[:, 2] > 0.0)) + 1
        visible += [run[:, :2] for run in np.split(seen, edges) if run[0, 2] > 0.0 and len(run) > 1]
    return visible


def _seen(latitude: Array, longitude: Array) -> Array:
    """Points across, up and towards the viewer."""
    turned, up = np.radians(VIEW)
    along, across = (np.cos(latitude) * turn(longitude - turned) for turn in (np.cos, np.sin))
    high = np.sin(latitude)
    return np.stack(
        [
            across,
            high * np.cos(up) - along * np.sin(up),
            high * np.sin(up) + along * np.cos(up),
        ],
        axis=-1,
    )


@style.styled
def draw_sphere_pairs(results: Path | None = None) -> Figure:
    """Outlines of the three pairs of Table 5.3 where they touch, to scale."""
    pairs = published_table("table_5_3_stiffness", MACHADO)
    figure, panels = style.new_figure(2.9, 1, len(pairs), sharey=True)
    for axes, row in zip(panels[0], pairs.to_dict("records"), strict=True):
        own, other = float(row["radius_mm"]), float(row["other_radius_mm"])
        _outline(axes, own, 1.0, style.BLUE, "femur")
        _outline(axes, other, -1.0, style.RED, "tibia")
        name = words(str(row["pair"])).replace(" ", ", ")
        below = "plane" if np.isinf(other) else f"{other:g} mm"
        axes.set(title=f"{name}: {own:g} mm, {below}", xlabel="x (mm)", aspect="equal")
    panels[0, 0].set_ylabel("y (mm)")
    panels[0, 0].legend(loc="upper right")
    return figure


def _outline(axes: Axes, radius: float, side: float, colour: str, label: str) -> None:
    """A circle above (1) or below (-1) the contact; a hollow one on the other side of it."""
    reach = min(HALF_WIDTH, 0.98 * abs(radius))
    x = np.linspace(-reach, reach, 121)
    rise = np.zeros_like(x)
    if np.isfinite(radius):
        rise = side * np.sign(radius) * (abs(radius) - np.sqrt(radius**2 - x**2))
    axes.plot(x, rise, color=colour, label=label)


# By the names in the table of source items.
TABLES: Mapping[str, Callable[[Path], pd.DataFrame]] = {
    "table_6_2": table_6_2,
    "bei_numbers": compare_numbers,
}
FIGURES: Mapping[str, Callable[[Path], Figure]] = {
    "sphere_meshes": draw_sphere_meshes,
    "sphere_pairs": draw_sphere_pairs,
}
