"""Bearing of an insert as heights over its plan, and the mean deviations of blocks of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.geometry.meshes import TriangleMesh
from kneewear.models.retrieval._raster_kernels import raise_heights

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Points of the plan at which heights are read, mm, and smoothing of slopes, mm.
STEP = 0.25
_SLOPE_SMOOTHING = 0.75
# Fraction of a block's points that a scan must have.
_MIN_FRACTION = 0.5


@dataclass(frozen=True)
class Raster:
    """Grid of points of the plan, x and z, mm."""

    x: Array
    z: Array

    @classmethod
    def around(cls, low: Array, high: Array) -> Raster:
        """Points about the box of a plan from `low` (2,) to `high` (2,), mm."""
        counts = np.ceil((high - low) / STEP).astype(int) + 1
        return cls(*(start + STEP * np.arange(n) for start, n in zip(low, counts, strict=True)))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of points along x and z."""
        return self.x.size, self.z.size

    def heights(self, mesh: TriangleMesh) -> Array:
        """Height of the highest surface at each point, mm; NaN where no triangle faces up."""
        top = np.full(self.shape, -np.inf)
        vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
        raise_heights(vertices, faces, float(self.x[0]), float(self.z[0]), STEP, top)
        return np.where(np.isfinite(top), top, np.nan)


def normals_of(heights: Array) -> Array:
    """Unit normals (n, m, 3) of smoothed heights (n, m), mm; NaN where they are missing."""
    known = np.isfinite(heights)
    sigma = _SLOPE_SMOOTHING / STEP
    weight = scipy.ndimage.gaussian_filter(known.astype(float), sigma)
    # Heights from a plane, so that a border does not pull towards zero.
    base = float(np.nanmean(heights))
    smooth = scipy.ndimage.gaussian_filter(np.where(known, heights - base, 0.0), sigma)
    smooth = np.divide(smooth, weight, out=np.zeros_like(smooth), where=weight > 1e-3)
    along, across = np.gradient(smooth, STEP)
    normal = np.stack([-along, np.ones_like(along), -across], axis=-1)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    return np.where(known[..., None], normal, np.nan)


@dataclass(frozen=True)
class Blocks:
    """Squares of the plan with means over the points in them.

    Parameters
    ----------
    points : array, shape (n, 3)
        Position on the reference, mm.
    normals : array, shape (n, 3)
        Unit normal of the reference.
    area : array, shape (n,)
        Area of the surface, mm2.
    deviation : array, shape (n,)
        Height of the scan above the reference along the normal, mm; NaN in holes of the scan.
    count : array, shape (n,)
        Number of points with a height of the scan.
    side : array, shape (n,)
        Number of the plateau, 0 medial and 1 lateral.
    row, column : array of int, shape (n,)
        Position among the squares.
    size : float
        Side of a square, mm.
    """

    points: Array
    normals: Array
    area: Array
    deviation: Array
    count: Array
    side: NDArray[np.int64]
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    size: float

    def image(self, values: Array, missing: float = np.nan) -> Array:
        """Values of blocks as a matrix of squares."""
        matrix = np.full((self.row.max() + 1, self.column.max() + 1), missing)
        matrix[self.row, self.column] = values
        return matrix

    def masked(self, values: Bools) -> Bools:
        """Booleans of blocks as a matrix of squares, false outside."""
        matrix = np.zeros((self.row.max() + 1, self.column.max() + 1), dtype=bool)
        matrix[self.row, self.column] = values
        return matrix

    def rigid_drift(self) -> Array:
        """Deviations by a unit offset, translation (3) and rotation (3) of the scan, (n, 7)."""
        arms = self.points - self.points.mean(axis=0)
        # Rotations act at the distance of the border, so that columns have one size.
        arms = arms / np.abs(arms).max()
        return np.column_stack([np.ones(len(arms)), self.normals, np.cross(arms, self.normals)])


def make_blocks(
    raster: Raster, reference: Array, scan: Array, regions: NDArray[np.int64], size: float
) -> Blocks:
    """Blocks of the regions of a reference.

    Parameters
    ----------
    raster : Raster
    reference, scan : array, shape (n, m)
        Heights, mm; NaN where missing.
    regions : array of int, shape (n, m)
        Number of the plateau at each point, -1 outside.
    size : float
        Side of a block, mm; a multiple of the raster's step is used.

    Returns
    -------
    Blocks
    """
    per = max(round(size / STEP), 1)
    normal = normals_of(reference)
    # A point belongs to the bearing where reference and normal exist.
    inside = (regions >= 0) & np.isfinite(reference)
    rows, columns = np.indices(raster.shape) // per
    width = int(columns.max()) + 1
    number = (rows * width + columns) * 2 + np.maximum(regions, 0)
    total = (int(rows.max()) + 1) * width * 2

    def sums(values: Array, where: Bools) -> Array:
        return np.bincount(number[where], weights=values[where], minlength=total).astype(float)

    ones = np.ones(raster.shape)
    size_of = sums(ones, inside)
    seen = inside & np.isfinite(scan)
    count = sums(ones, seen)
    along = np.broadcast_to(raster.x[:, None], raster.shape)
    across = np.broadcast_to(raster.z, raster.shape)
    kept = np.flatnonzero(size_of >= 1)
    difference = (scan - reference) * normal[..., 1]
    with np.errstate(invalid="ignore"):
        deviation = sums(difference, seen)[kept] / count[kept]
    deviation = np.where(count[kept] >= _MIN_FRACTION * size_of[kept], deviation, np.nan)

    def mean(values: Array) -> Array:
        return sums(values, inside)[kept] / size_of[kept]

    points = np.column_stack([mean(along), mean(reference), mean(across)])
    normals = np.column_stack([mean(normal[..., axis]) for axis in range(3)])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    area = sums(STEP**2 / np.where(inside, normal[..., 1], 1.0), inside)[kept]
    row, column = np.divmod(kept // 2, width)
    return Blocks(points, normals, area, deviation, count[kept], kept % 2, row, column, per * STEP)
