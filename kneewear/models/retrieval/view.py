"""Depths on the scanned surface: coloured mesh, and the view in space of a page."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.models.retrieval.evaluate import Evaluation
from kneewear.models.retrieval.scans import sheet_of
from kneewear.models.retrieval.surfaces import STEP, normals_of
from kneewear.report.style import DEPTH_COLOURS
from kneewear.report.viewer import ENDS, body, build_view, colour_steps, packed, scale

Array = NDArray[np.float64]

# Grey of surface that was not evaluated.
_GREY = 150
# Points of the raster of heights per point of the view.
_EVERY = 4
# Heights between a vertex and the evaluated surface, mm: further away is another surface.
_SAME_SURFACE = 1.5
# Depth that is coloured, in its standard deviations.
_SHOWN = 3.0


def _depths_at(evaluation: Evaluation, points: Array) -> Array:
    """Depth of points (n, 3) of the scan on the reference, mm; NaN where not evaluated."""
    raster, blocks = evaluation.raster, evaluation.blocks
    grid = (raster.x, raster.z)
    height = scipy.interpolate.RegularGridInterpolator(
        grid, evaluation.reference, bounds_error=False, fill_value=np.nan
    )(points[:, [0, 2]])
    upright = scipy.interpolate.RegularGridInterpolator(
        grid, normals_of(evaluation.reference)[..., 1], bounds_error=False, fill_value=np.nan
    )(points[:, [0, 2]])
    known = np.isfinite(evaluation.offset)
    plan = blocks.points[known][:, [0, 2]]
    offset = scipy.interpolate.LinearNDInterpolator(plan, evaluation.offset[known])
    below = (height - points[:, 1]) * upright
    depth = below + offset(points[:, [0, 2]])
    near = scipy.spatial.cKDTree(plan).query(points[:, [0, 2]])[0] < blocks.size
    return np.where(near & (np.abs(below) < _SAME_SURFACE), depth, np.nan)


def coloured_scan(
    evaluation: Evaluation,
) -> tuple[Array, NDArray[np.int64], Array, NDArray[np.uint8]]:
    """Vertices of the scan on the reference, faces, depths, mm, and colours (n, 3)."""
    mesh = evaluation.moved
    depth = _depths_at(evaluation, mesh.vertices)
    top = _top(evaluation)
    shade = mpl.colormaps[DEPTH_COLOURS](np.clip(np.nan_to_num(depth) / top, 0.0, 1.0))
    colours = np.where(np.isfinite(depth)[:, None], np.rint(255 * shade[:, :3]), _GREY)
    return mesh.vertices, mesh.faces, depth, colours.astype(np.uint8)


def build_depth_view(evaluation: Evaluation) -> dict[str, Any]:
    """View in space of the unworn surface, coloured by depth."""
    heights = evaluation.reference[::_EVERY, ::_EVERY]
    mesh = sheet_of(evaluation.raster, heights, _EVERY)
    blocks, depth = evaluation.blocks, evaluation.scar.depth
    known = np.isfinite(depth)
    plan = mesh.vertices[:, [0, 2]]
    plan_of = blocks.points[known][:, [0, 2]]
    at = scipy.interpolate.LinearNDInterpolator(plan_of, depth[known])(plan)
    near = scipy.spatial.cKDTree(blocks.points[:, [0, 2]]).query(plan)[0] < blocks.size
    sd = scipy.interpolate.NearestNDInterpolator(plan_of, evaluation.scar.depth_sd[known])(plan)
    # Noise is no wear.
    values = np.where(near & (np.nan_to_num(at) > _SHOWN * sd), at, 0.0)
    top = _top(evaluation)
    scene = {
        "of": {},
        "title": "Depth removed",
        "bodies": ["insert"],
        "scale": "depth",
        "coloured": "insert",
        "colours": packed(colour_steps(1e3 * values, 1e3 * top)),
        "texts": [f"largest {1e3 * float(values.max()):.0f} µm"],
    }
    return build_view(
        {"insert": body(mesh.vertices, mesh.faces)},
        [scene],
        scales={"depth": scale("Depth removed", "µm", 1e3 * top, DEPTH_COLOURS)},
        ends=ENDS,
        hint=f"Point at a place for its value. Points are {STEP * _EVERY:g} mm apart.",
    )


def _top(evaluation: Evaluation) -> float:
    """End of the colour scale, mm."""
    return max(float(np.nanquantile(evaluation.scar.depth, 0.999)), 1e-3)
