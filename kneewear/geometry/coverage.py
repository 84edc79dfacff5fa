"""Coverage of a bearing in plan: of its elements, and of the cells of a rectangle."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.geometry.plane import Plane
from kneewear.geometry.surface import Surface
from kneewear.mechanics.arrays import make_read_only

Array = NDArray[np.float64]

# Segments of the polygon of each border curve of a patch: on a plateau 40 mm long with border radii
# of 100 mm or more the polygon deviates by 1e-5 mm from the curve.
_BORDER_PIECES = 400
# A turned rectangle must save this part of the area: 1 % is 0.3 deg of turn for a plateau of 40 by
# 30 mm; below it, rows parallel to x are preferred.
_WORTH_TURNING = 0.01
# Segments of the polygon of a circle.
_CIRCLE_PIECES = 360


@dataclass(frozen=True)
class Coverage:
    """Part of the plan over which a bearing surface exists.

    The plan is the horizontal plane, or the bearing's `Plane`, whose coordinates are then called x
    and z. `edges` (n, 2, 2) are border segments, start and end of each as (x, z),
    mm, insert's frame. Together they are closed, run counter-clockwise (from +x to +z) around what
    is covered and clockwise around holes.
    """

    edges: Array

    def __post_init__(self) -> None:
        make_read_only(self, ("edges",))

    def contains(self, x: Array, z: Array) -> NDArray[np.bool_]:
        """True where positions x, z (mm, of equal shape) are covered."""
        x, z = np.asarray(x, dtype=float), np.asarray(z, dtype=float)
        winding = np.zeros(x.shape, dtype=int)
        for (x0, z0), (x1, z1) in self.edges:
            if z0 == z1:
                continue
            crossed = (z >= min(z0, z1)) & (z < max(z0, z1))
            if crossed.any():
                right = x0 + (z - z0) * ((x1 - x0) / (z1 - z0)) > x
                winding += (crossed & right) * (1 if z1 > z0 else -1)
        return winding > 0

    @property
    def area(self) -> float:
        """Covered area, mm2."""
        (x0, z0), (x1, z1) = np.moveaxis(self.edges, 0, -1)
        return float(0.5 * (x0 * z1 - x1 * z0).sum())


@dataclass(frozen=True)
class Rectangle:
    """Rectangle of the plan, divided into rows and columns of equal cells."""

    origin: Array  # corner at the start of rows and columns, (x, z), mm
    angle: float  # turn of the rows' direction from +x towards +z, rad, within 45 deg of zero
    length: float  # along the rows' direction, nearest +x, mm
    width: float  # along the columns' direction, nearest +z, mm
    rows: int  # number of cells along the length
    columns: int  # and along the width

    @property
    def cell_area(self) -> float:
        """Projected area of one cell, mm2."""
        return (self.length / self.rows) * (self.width / self.columns)

    @property
    def _axes(self) -> Array:
        """Directions of the rows and of the columns, as rows of a matrix."""
        cosine, sine = np.cos(self.angle), np.sin(self.angle)
        return np.array([[cosine, sine], [-sine, cosine]])

    def at(self, row: Array, column: Array) -> Array:
        """Positions (x, z), mm, of coordinates in cells from the origin, shape (..., 2)."""
        size = np.array([self.length / self.rows, self.width / self.columns])
        return self.origin + np.stack(np.broadcast_arrays(row, column), -1) * size @ self._axes

    def cells(self, points: Array) -> Array:
        """Coordinates of positions (x, z) counted in cells from the origin, shape (..., 2)."""
        per_mm = np.array([self.rows / self.length, self.columns / self.width])
        return (points - self.origin) @ self._axes.T * per_mm

    def cut(self, rows: int, columns: int) -> Rectangle:
        """The same rectangle, divided into other cells."""
        return replace(self, rows=rows, columns=columns)

    def moved(self, row_part: float, column_part: float) -> Rectangle:
        """The same cells moved back by parts of a cell (0 to 1), with one more row and column."""
        return replace(
            self,
            origin=self.at(np.array(-row_part), np.array(-column_part)),
            length=self.length * (1.0 + 1.0 / self.rows),
            width=self.width * (1.0 + 1.0 / self.columns),
            rows=self.rows + 1,
            columns=self.columns + 1,
        )

    @property
    def corners(self) -> Array:
        """Positions (x, z) of all corners of cells, mm, shape (rows + 1, columns + 1, 2)."""
        row, column = np.arange(self.rows + 1.0), np.arange(self.columns + 1.0)
        return self.at(*np.meshgrid(row, column, indexing="ij"))


def polygon_coverage(corners: Array) -> Coverage:
    """Plan inside a polygon with corners (n, 2), x and z, in either sense of rotation."""
    x, z = corners.T
    if (x * np.roll(z, -1) - np.roll(x, -1) * z).sum() < 0.0:
        corners = corners[::-1]
    return Coverage(np.stack([corners, np.roll(corners, -1, axis=0)], axis=1))


def patch_coverage(surface: Surface, plane: Plane) -> Coverage:
    """Plan of a whole patch without overhang, bounded by its four border curves."""
    (u0, u1), (v0, v1) = surface.domain
    along = np.linspace(0.0, 1.0, _BORDER_PIECES, endpoint=False)
    start, end = np.zeros_like(along), np.ones_like(along)
    u = u0 + (u1 - u0) * np.concatenate([along, end, 1 - along, start])
    v = v0 + (v1 - v0) * np.concatenate([start, along, end, 1 - along])
    border = plane.plan(surface.evaluate(u, v))
    edges = np.stack([border, np.roll(border, -1, axis=0)], axis=1)
    coverage = Coverage(edges)
    return coverage if coverage.area > 0 else Coverage(edges[::-1, ::-1].copy())


def mesh_coverage(
    corners: Array, x: tuple[float, float] | None = None, z: tuple[float, float] | None = None
) -> Coverage:
    """Plan of triangles that face up, with corners (n_triangles, 3, 2) as (x, z), mm.

    Shared corners are identical; the borders left between neighbours bound the plan, within a
    window if limits x and z are given.
    """
    first = corners - corners[:, :1]
    turn = first[:, 1, 0] * first[:, 2, 1] - first[:, 1, 1] * first[:, 2, 0]
    corners = np.where((turn < 0)[:, None, None], corners[:, ::-1], corners)
    edges = np.stack([corners, np.roll(corners, -1, axis=1)], axis=2).reshape(-1, 2, 2)
    edges = _without_pairs(edges)
    for axis, limits in enumerate((x, z)):
        if limits is not None:
            edges = _split(edges, axis, np.asarray(limits, dtype=float))
            # What lies outside collapses onto the window's sides and closes the border there.
            edges[..., axis] = np.clip(edges[..., axis], *limits)
    return Coverage(edges[(edges[:, 0] != edges[:, 1]).any(axis=1)])


def bounding_rectangle(coverage: Coverage, rows: int, columns: int) -> Rectangle:
    """Smallest rectangle around what is covered, divided into rows and columns.

    It is parallel to x and z unless a turned one saves 1 % of the area. A
    rectangle of minimum area shares one side's direction with the convex hull (Freeman and Shapira
    1975, doi:10.1145/360881.360919), so only those directions are tried.
    """
    if not coverage.area > 0.0:
        raise ValueError("the bearing surface covers nothing of the plane of its elements")
    points = coverage.edges[:, 0]  # borders are closed
    hull = points[scipy.spatial.ConvexHull(points).vertices]
    side = np.roll(hull, -1, axis=0) - hull
    angles = np.arctan2(side[:, 1], side[:, 0])
    angles = np.concatenate([[0.0], (angles + np.pi / 4) % (np.pi / 2) - np.pi / 4])
    turned = np.stack([np.cos(angles), np.sin(angles)])
    along = hull @ turned
    across = hull @ np.stack([-turned[1], turned[0]])
    areas = np.ptp(along, axis=0) * np.ptp(across, axis=0)
    best = int(np.argmin(areas))
    if areas[best] > (1.0 - _WORTH_TURNING) * areas[0]:
        best = 0
    cosine, sine = turned[:, best]
    low = np.array([along[:, best].min(), across[:, best].min()])
    origin = low @ np.array([[cosine, sine], [-sine, cosine]])
    extent = (float(np.ptp(along[:, best])), float(np.ptp(across[:, best])))
    return Rectangle(origin, float(angles[best]), *extent, rows, columns)


def cover_cells(coverage: Coverage, rectangle: Rectangle) -> tuple[Array, Array]:
    """Covered part of each cell, 0 to 1, and its centroid (x, z), mm, exactly for straight edges.

    Shapes are (rows, columns) and (rows, columns, 2); the centroid is that of the cell where it is
    covered completely or not. Green's theorem, edge by edge: a piece of border inside one cell adds
    the area and the moments between itself and the cell's start, and of whole strips in the cells
    before it. Sheets that overlap in plan count once where they cover a cell completely.
    """
    rows, columns = rectangle.rows, rectangle.columns
    row, column = np.meshgrid(np.arange(float(rows)), np.arange(float(columns)), indexing="ij")
    pieces = rectangle.cells(coverage.edges)
    pieces = _split(pieces, 1, np.arange(columns + 1.0))
    pieces = _split(pieces, 0, np.arange(rows + 1.0))
    middle = pieces.mean(axis=1)
    seen = (middle[:, 1] > 0) & (middle[:, 1] < columns) & (middle[:, 0] > 0)
    pieces, middle = pieces[seen], middle[seen]
    pieces[..., 0] = np.minimum(pieces[..., 0], rows)
    # Borders beyond the last row cover whole strips of all rows: they count as row `rows`.
    cell = np.floor(np.minimum(middle, [rows, columns - 0.5])).astype(int)
    (s0, t0), (s1, t1) = np.moveaxis(pieces - cell[:, None], 0, -1)
    strip = t1 - t0
    inside = _summed(
        cell,
        (rows + 1, columns),
        strip * (s0 + s1) / 2,
        strip * (s0**2 + s0 * s1 + s1**2) / 6,
        strip * (2 * s0 * t0 + s0 * t1 + s1 * t0 + 2 * s1 * t1) / 6,
    )
    whole = _summed(cell, (rows + 1, columns), strip, strip / 2, strip * (t0 + t1) / 2)
    # Strips reach from the border back to the first row.
    before = np.cumsum(whole[:, ::-1], axis=1)[:, ::-1] - whole
    area, *moments = (inside + before)[:, :rows]
    partial = (area > 1e-12) & (area < 1.0 - 1e-9)
    local = np.full((rows, columns, 2), 0.5)
    for axis in range(2):
        local[partial, axis] = np.clip(moments[axis][partial] / area[partial], 0.0, 1.0)
    fraction = np.where(area >= 1.0 - 1e-9, 1.0, np.where(partial, area, 0.0))
    return fraction, rectangle.at(row + local[..., 0], column + local[..., 1])


def _summed(cell: NDArray[np.int64], shape: tuple[int, int], *values: Array) -> Array:
    """Sum values that share a cell, shape (n_values, rows + 1, columns)."""
    flat = cell[:, 0] * shape[1] + cell[:, 1]
    sums = [np.bincount(flat, value, shape[0] * shape[1]).reshape(shape) for value in values]
    return np.stack(sums)


def _split(edges: Array, axis: int, cuts: Array) -> Array:
    """Divide segments where one coordinate takes given ascending values."""
    start, end = edges[:, 0, axis], edges[:, 1, axis]
    low, high = np.minimum(start, end), np.maximum(start, end)
    first = np.searchsorted(cuts, low, side="right")
    count = np.maximum(np.searchsorted(cuts, high, side="left") - first, 0)
    which = np.repeat(np.arange(len(edges)), count + 1)
    number = np.arange(which.size) - np.repeat(np.cumsum(count + 1) - count - 1, count + 1)
    forward = end >= start

    def cut_value(index: NDArray[np.int64]) -> Array:
        """Value of the cut with a number along the segment."""
        step = np.where(forward[which], index, count[which] - 1 - index)
        return cuts[np.clip(first[which] + step, 0, cuts.size - 1)]

    begins = np.where(number == 0, start[which], cut_value(number - 1))
    ends = np.where(number == count[which], end[which], cut_value(number))
    run = np.where(end == start, 1.0, end - start)[which]
    rise = edges[which, 1, 1 - axis] - edges[which, 0, 1 - axis]
    pieces = np.empty((which.size, 2, 2))
    for side, value, exact in ((0, begins, number == 0), (1, ends, number == count[which])):
        pieces[:, side, axis] = value
        slid = edges[which, 0, 1 - axis] + (value - start[which]) / run * rise
        # The ends of a segment are kept exactly.
        pieces[:, side, 1 - axis] = np.where(exact, edges[which, side, 1 - axis], slid)
    return pieces


def _without_pairs(edges: Array) -> Array:
    """Leave out edges that are used in both directions."""
    _, number = np.unique(edges.reshape(-1, 2), axis=0, return_inverse=True)
    start, end = number.reshape(-1, 2).T
    return edges[~np.isin(start * len(edges) * 2 + end, end * len(edges) * 2 + start)]


def ring(outer: float, inner: float = 0.0) -> Coverage:
    """Plan of a circle or ring about the origin, whose polygons have the area of the circles."""
    angle = 2.0 * np.pi * np.arange(_CIRCLE_PIECES) / _CIRCLE_PIECES
    unit = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    unit *= math.sqrt(2.0 * np.pi / _CIRCLE_PIECES / math.sin(2.0 * np.pi / _CIRCLE_PIECES))
    around = np.stack([unit, np.roll(unit, -1, axis=0)], axis=1)
    hole = [inner * around[:, ::-1]] if inner > 0.0 else []
    return Coverage(np.concatenate([outer * around, *hole]))


def rectangle_plan(half_x: float, half_z: float) -> Coverage:
    """Plan of a rectangle about the origin."""
    corners = np.array([[-half_x, -half_z], [half_x, -half_z], [half_x, half_z], [-half_x, half_z]])
    return Coverage(np.stack([corners, np.roll(corners, -1, axis=0)], axis=1))
