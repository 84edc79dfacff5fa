"""Surfaces of the implant: where they deviate from their source, and what was cut out of solids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kneewear.geometry.extraction import Extraction
from kneewear.geometry.fit_quality import FitQuality
from kneewear.geometry.meshes import circle_centre
from kneewear.report.style import ERROR_COLOURS, WIDTH, styled

_LEFT_OUT = "#c9ccce"
_BEARING = "#0072B2"
# Below this (mm) deviations are rounding, and the map says so.
ROUNDING = 1e-9


@styled
def draw_deviation(quality: Sequence[FitQuality]) -> Figure:
    """Signed deviation of every judged point from its patch.

    Parameters
    ----------
    quality : sequence of FitQuality
        With their points.

    Notes
    -----
    Plateaus are seen from above; condyles are unrolled about the circle that fits them best.
    """
    figure = Figure(figsize=(WIDTH, 7.0), layout="constrained")
    panels = figure.subplots(2, 2)
    order = sorted(quality, key=lambda fit: (fit.component != "femoral", fit.side != "medial"))
    for axes, fit in zip(panels.ravel(), order, strict=False):
        axes.grid(False)
        across, along = _placed(fit)
        limit = max(float(np.quantile(np.abs(fit.deviation), 0.995)), ROUNDING)
        dots = axes.scatter(
            across, along, c=1e3 * fit.deviation, s=3, cmap=ERROR_COLOURS,
            vmin=-1e3 * limit, vmax=1e3 * limit, linewidths=0, rasterized=True,
        )  # fmt: skip
        figure.colorbar(dots, ax=axes, label="deviation (µm)", pad=0.01)
        name = "condyle" if fit.component == "femoral" else "plateau"
        axes.set_title(
            f"{fit.side.capitalize()} {name}, {fit.n_u} x {fit.n_v} lines\n{_deviation(fit)}"
        )
        axes.set_xlabel("z, medial (mm)")
        axes.set_ylabel("angle (deg)" if fit.component == "femoral" else "x, posterior (mm)")
        axes.invert_xaxis()
        axes.invert_yaxis()
    return figure


@styled
def draw_extraction(extractions: Mapping[str, Extraction]) -> Figure:
    """Triangles cut out of the components as bearing, beside those left out.

    Parameters
    ----------
    extractions : mapping
        "insert" and "femoral" to their extraction.
    """
    figure = Figure(figsize=(WIDTH, 7.0), layout="constrained")
    panels: Any = figure.subplots(2, 2)
    views = {
        "insert": ((2, 0, 1.0, "from above"), (2, 1, -1.0, "from the front")),
        "femoral": ((2, 1, 1.0, "from behind"), (0, 1, 1.0, "from the medial side")),
    }
    labels = ("x, posterior (mm)", "y (mm)", "z, medial (mm)")
    for row, part in zip(panels, ("insert", "femoral"), strict=True):
        extraction = extractions[part]
        share = _area_share(extraction)
        for axes, (across, up, towards, name) in zip(row, views[part], strict=True):
            _draw_triangles(axes, extraction, (across, up), towards)
            axes.set(xlabel=labels[across], ylabel=labels[up])
            axes.set_title(f"{part.capitalize()}, {name}; {100 * share:.0f} % of the area bears")
            axes.set_aspect("equal")
            axes.grid(False)
            if across == 2:
                axes.invert_xaxis()
            if up == 0:
                axes.invert_yaxis()
    return figure


def _draw_triangles(
    axes: Axes, extraction: Extraction, directions: tuple[int, int], towards: float
) -> None:
    """Triangles that face the viewer, the nearest drawn last."""
    across, up = directions
    depth = 3 - across - up
    mesh = extraction.mesh
    facing = np.flatnonzero(towards * mesh.face_normals[:, depth] > 0)
    corners = mesh.vertices[mesh.faces[facing]]
    order = np.argsort(towards * corners[:, :, depth].mean(axis=1))
    colours = np.where(extraction.kept[facing], _BEARING, _LEFT_OUT)[order]
    drawn = PolyCollection(
        list(corners[order][:, :, [across, up]]), facecolors=list(colours), rasterized=True,
        edgecolors="white", linewidths=0.1,
    )  # fmt: skip
    axes.add_collection(drawn)
    axes.autoscale_view()


def _area_share(extraction: Extraction) -> float:
    """Part of the component's area that was kept."""
    area = np.linalg.norm(extraction.mesh.face_normals, axis=1)
    return float(area[extraction.kept].sum() / area.sum())


def _placed(fit: FitQuality) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Place of points on the map: z, and x or the angle about the condyle's axis."""
    if fit.component == "insert":
        return fit.points[:, 2], fit.points[:, 0]
    offset = fit.points[:, :2] - np.array(circle_centre(fit.points[:, :2]))
    return fit.points[:, 2], np.degrees(np.arctan2(offset[:, 0], -offset[:, 1]))


def _deviation(fit: FitQuality) -> str:
    """Largest, mean and standard deviation as text."""
    if fit.max_mm < ROUNDING:
        return "no deviation but rounding"
    largest, mean, spread = (1e3 * value for value in (fit.max_mm, fit.mean_mm, fit.sd_mm))
    return f"max {largest:.2f}, mean {mean:.2f}, SD {spread:.2f} µm"
