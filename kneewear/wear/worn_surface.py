"""The insert's surface after wear and creep."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.surface import Surface

Array = NDArray[np.float64]

# Elements steeper than this (80 deg) cannot be lowered along y.
MIN_UPRIGHT = 0.17
# Largest fraction of a difference that two neighbours may exchange at once.
STABLE_EXCHANGE = 0.25


def lower_surface(
    grid: ElementGrid, damage: Array, wear: Array, smoothing: float, thins: bool
) -> ElementGrid:
    """Elements of a worn insert: new heights, normals, tangents, areas and thicknesses.

    `grid` are the elements of the fresh insert, projected on the plane y = 0; `damage` and `wear`
    (side, row, column) the depths of wear and creep, and of wear, normal to it, mm; `smoothing` is
    the length over which the lowering is smoothed, mm; `thins` whether wear makes the layer
    thinner, and so stiffer. ValueError if an element to be lowered is steeper than 80 deg.

    Notes
    -----
    A depth d normal to an element of normal n lowers it by d / n_y along y. Over its projection
    that removes area x d, exactly what `kneewear.wear.summary.damage_volume` counts. Both ways of
    lowering agree while depths are small against the surface's radii.

    The lowering is smoothed before it is applied because single elements are worn by few frames.
    Smoothed over much more than an element's width the surface would no longer follow its own wear
    at edges. Reported depths are not smoothed. Slopes are those of the fresh surface less the
    gradient of the lowering.
    """
    upright = np.where(grid.valid, grid.normal[..., 1], 1.0)
    if (upright[damage > 0.0] < MIN_UPRIGHT).any():
        raise ValueError(
            "an element to be worn is steeper than 80 deg; surfaces that are not projected on the "
            "plane y = 0, such as a post, cannot be updated: set wear.blocks to 1"
        )
    plan_area = grid.area * upright
    drops, slopes = np.empty_like(damage), np.empty((*damage.shape, 2))
    for side in range(len(grid.sides)):
        corners = grid.corners[side]
        # Steps (dx, dz) from an element to the next row and to the next column.
        steps = np.stack([corners[1, 0] - corners[0, 0], corners[0, 1] - corners[0, 0]])
        drop = damage[side] / upright[side]
        drops[side] = smooth_drop(drop, plan_area[side], np.linalg.norm(steps, axis=1), smoothing)
        per_cell = [_difference(drops[side], grid.valid[side], axis) for axis in (0, 1)]
        slopes[side] = np.stack(per_cell, axis=-1) @ np.linalg.inv(steps).T
    centre = grid.centre.copy()
    centre[..., 1] -= drops
    valid = grid.valid[..., None]
    # Normals and tangents are zero where there is no surface.
    leaning = np.where(valid, grid.normal / upright[..., None], [0.0, 1.0, 0.0])
    leaning[..., [0, 2]] += slopes
    normal = leaning / np.linalg.norm(leaning, axis=-1, keepdims=True)
    # The unit vector across the normal nearest to +x.
    along = np.array([1.0, 0.0, 0.0]) - normal * normal[..., :1]
    tangent_row = np.where(valid, along / np.linalg.norm(along, axis=-1, keepdims=True), 0.0)
    normal = np.where(valid, normal, 0.0)
    return replace(
        grid,
        centre=centre,
        normal=normal,
        tangent_row=tangent_row,
        tangent_column=np.cross(tangent_row, normal),
        area=np.where(grid.valid, plan_area / np.where(grid.valid, normal[..., 1], 1.0), 0.0),
        thickness=grid.thickness - wear / upright if thins else grid.thickness,
    )


def worn_patches(grid: ElementGrid) -> dict[str, Surface]:
    """B-spline surface through the element centres of each side, for CAD.

    Cubic along rows and columns, normals upwards. It ends at the border, to which it continues
    straight from the last two elements, and is level where the elements have no surface (beyond an
    outline that is not a rectangle).
    """
    found = {}
    for side, name in enumerate(grid.sides):
        nearest = scipy.ndimage.distance_transform_edt(
            ~grid.valid[side], return_distances=False, return_indices=True
        )
        height = grid.centre[side, ..., 1][tuple(nearest)]
        rows, columns = (
            np.concatenate([[-0.5], np.arange(count), [count - 0.5]]) for count in height.shape
        )
        height = _to_border(_to_border(height).T).T
        # Along columns (+z) first: S_u x S_v then points up.
        knots_u, knots_v, levels = scipy.interpolate.RectBivariateSpline(
            columns, rows, height.T
        ).tck
        # A spline reproduces a plane with these abscissae of its control points.
        u, v = ((knots[1:-3] + knots[2:-2] + knots[3:-1]) / 3.0 for knots in (knots_u, knots_v))
        corners = grid.corners[side]
        next_column, next_row = corners[0, 1] - corners[0, 0], corners[1, 0] - corners[0, 0]
        plan = corners[0, 0] + (u[:, None, None] + 0.5) * next_column
        plan = plan + (v[None, :, None] + 0.5) * next_row
        points = np.stack([plan[..., 0], levels.reshape(len(u), len(v)), plan[..., 1]], axis=-1)
        found[name] = Surface(points, np.ones(points.shape[:2]), knots_u, knots_v, 3, 3)
    return found


def _to_border(height: Array) -> Array:
    """Heights with those at both ends of the rows' border, half an element beyond the last ones."""
    ends = 1.5 * height[[0, -1]] - 0.5 * height[[1, -2]]
    return np.concatenate([ends[:1], height, ends[1:]])


def smooth_drop(drop: Array, plan_area: Array, widths: Array, length: float) -> Array:
    """Smooth a lowering, mm, by diffusion with a standard deviation `length`, mm.

    Neighbours along rows and columns of `widths`, mm, exchange volume, so that the sum of
    `plan_area` x `drop` is conserved.
    """
    for axis, width in enumerate(widths):
        passes = ceil((length / width) ** 2 / (2.0 * STABLE_EXCHANGE))
        exchange = (length / width) ** 2 / (2.0 * passes) if passes else 0.0
        for _ in range(passes):
            drop = _exchanged(drop, plan_area, exchange, axis)
    return drop


def _exchanged(drop: Array, plan_area: Array, exchange: float, axis: int) -> Array:
    """One exchange of volume between neighbours along an axis."""
    height, area = np.moveaxis(drop, axis, 0), np.moveaxis(plan_area, axis, 0)
    shared = exchange * np.minimum(area[1:], area[:-1])
    flow = shared * np.diff(height, axis=0)
    volume = area * height
    volume[:-1] += flow
    volume[1:] -= flow
    level = np.divide(volume, area, out=height.copy(), where=area > 0.0)
    return np.moveaxis(level, 0, axis)


def _difference(drop: Array, valid: NDArray[np.bool_], axis: int) -> Array:
    """Mean of the differences to the valid neighbours before and after, mm per element."""
    height, known = np.moveaxis(drop, axis, 0), np.moveaxis(valid, axis, 0)
    both = known[1:] & known[:-1]
    step = np.where(both, np.diff(height, axis=0), 0.0)
    total, count = np.zeros_like(height), np.zeros(height.shape, dtype=int)
    total[:-1] += step
    total[1:] += step
    count[:-1] += both
    count[1:] += both
    return np.moveaxis(total / np.maximum(count, 1), 0, axis)
