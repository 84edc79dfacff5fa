"""The search of active elements: groups of elements, and a map of the space round a surface.

    all             the distance of every element (brute force)
    bounds          the distance of those that a lower bound does not exclude
    breadth_first   the elements active before, outward ring by ring, then what bounds leave

All three find the same active elements, independent of the elements active before, and the same
numbers to the last digit: the distance of an element never depends on another pose. Bounds come
from a map of the indenter's surroundings (`map_proximity`), first for tiles of elements
(`build_tiles`), then for the elements of the tiles left.

Breadth-first search is Bei's (2003, section 2.2.2). His misses a contact region that appears apart
from the others while these stay active; here bounds find it.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import product

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.contact import _distance_kernels as kernels
from kneewear.geometry import _kernels
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import SurfaceTable

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]

# How far the map reaches beyond the box round the surface, mm. It is also the greatest depth of
# contact: an element farther behind a flat patch than this has left the body on the other side.
REACH = 10.0
# Target number of voxels, those of a condyle are 2 mm wide, and the part of them that serves for a
# few hundred poses: a map costs as much as several thousand evaluations. Of a map and one cycle of
# equilibria 0.25 and 0.06 of them take longer.
VOXELS = 50_000
FEW_POSES = 0.1
# Part of the distance two neighbouring voxels disagree by that a bound gives way, and what it gives
# way always, mm: rounding, and the error of a distance table.
CAUTION = 5.0
SLACK = 2e-3
# Beside a border of the surface bounds give way this part of a voxel more: borders bend.
BORDER_SLACK = 0.5
# How many voxels round a point have bounds it must keep to: those an element's tile may ask.
NEIGHBOURS = 2
# Samples of the surface along the edge of a voxel: ripples of a fitted surface are shorter.
SAMPLES = 3
# Where nothing is known of a voxel, no bound rules its points out.
UNKNOWN = -1e9


@dataclass(frozen=True)
class Proximity:
    """Bounds and starts of projections for all voxels around a surface.

    `origin` is the corner of the map and `voxel` the edge of a voxel, mm. `planes` (n_voxels, 4)
    are numbers a, b, c, d of a bound: where a x + b y + c z + d > 0, with x, y and z counted in
    voxels from the corner, no point in or near the voxel is inside the body. `starts` (n_voxels, 8)
    are the parameters u and v of the projection of the voxel's centre, and their derivatives over
    x, y and z; those of each patch in turn.

    A point is inside the body if its nearest point of the surface is an interior point (not at a
    border) and the point is behind it. The distance from the body of a point outside grows with
    slope one, so the tangent plane of the distance in the middle of a voxel bounds it from below,
    up to the concavity of the surface. The concavity follows from the distances in the neighbouring
    voxels, and where it is narrower than a voxel, such as the ripples of a fitted surface, from
    dense samples of the surface itself. The map does not depend on poses.
    """

    origin: Array
    voxel: float
    shape: tuple[int, int, int]
    planes: NDArray[np.float32]
    starts: NDArray[np.float32]


class _Body:
    """Patches and samples of a body, equal if their numbers are equal."""

    def __init__(self, surfaces: Sequence[Surface], tables: Sequence[SurfaceTable]) -> None:
        self.surfaces, self.tables = tuple(surfaces), tuple(tables)
        digest = blake2b()
        for surface in self.surfaces:
            digest.update(
                repr((surface.degree_u, surface.degree_v, surface.control_points.shape)).encode()
            )
            for array in (
                surface.control_points,
                surface.weights,
                surface.knots_u,
                surface.knots_v,
            ):
                digest.update(array.tobytes())
        for table in self.tables:
            digest.update(repr(table.rows.shape).encode() + table.rows.tobytes())
        self._content = digest.digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Body) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)


def map_proximity(
    surfaces: Sequence[Surface], tables: Sequence[SurfaceTable], share: float = 1.0
) -> Proximity:
    """Map the space around the patches of a body; the `tables` of samples start projections.

    A `share` of the voxels is quicker to map, and leaves more elements to be tested. The maps of
    the last bodies are kept: cases of a study often differ in load and elements alone.
    """
    return _map(_Body(surfaces, tables), share)


@lru_cache(maxsize=8)
def _map(body: _Body, share: float) -> Proximity:
    """Map of a body; 2.4 MB with all voxels."""
    surfaces, tables = body.surfaces, body.tables
    samples = [table.point.reshape(-1, 3) for table in tables]
    nodes = np.concatenate(samples)
    low, high = nodes.min(axis=0) - REACH, nodes.max(axis=0) + REACH
    voxel = float((np.prod(high - low) / (share * VOXELS)) ** (1 / 3))
    shape = np.ceil((high - low) / voxel).astype(int)
    axes = [low[a] + voxel * (np.arange(shape[a]) + 0.5) for a in range(3)]
    middle = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    parts = []
    for surface, table, points in zip(surfaces, tables, samples, strict=True):
        nearest = _nearest_nodes(points, low, shape, voxel)
        parts.append(_Projections(surface, table, middle, nearest))
    size = (int(shape[0]), int(shape[1]), int(shape[2]))
    planes = _planes(_nearest_of(parts), low, size, voxel)
    clouds = [_sampled(*part, voxel) for part in zip(surfaces, tables, strict=True)]
    planes[:, 3] -= _overshoot(planes, clouds, low, size, voxel)
    starts = np.concatenate([_starts(part) for part in parts])
    return Proximity(low, voxel, size, planes.astype(np.float32), starts)


def _nearest_nodes(
    nodes: Array, origin: Array, shape: NDArray[np.int64], voxel: float
) -> NDArray[np.int64]:
    """Node nearest the middle of every voxel, of those nearest the blocks of 2 x 2 x 2 round it."""
    blocks = [origin[a] + voxel * (2.0 * np.arange(-1, shape[a] // 2 + 2) + 1.0) for a in range(3)]
    grid = np.stack(np.meshgrid(*blocks, indexing="ij"), axis=-1)
    # Most blocks are far from all nodes: coarse boxes are tested faster.
    of_block = scipy.spatial.cKDTree(nodes, leafsize=32, compact_nodes=False).query(grid)[1]
    chosen = np.empty(shape.prod(), dtype=np.int64)
    kernels.nearest_of_blocks(nodes, of_block, origin, voxel, tuple(shape), chosen)
    return chosen


class _Projections:
    """Nearest points of the middles of all voxels."""

    def __init__(
        self, surface: Surface, table: SurfaceTable, middle: Array, nearest: NDArray[np.int64]
    ) -> None:
        u, v = table.u[nearest // table.v.size], table.v[nearest % table.v.size]
        # Of an open patch a voxel without a projection belongs to its first corner.
        corner = tuple(np.array(low) for low, _ in surface.domain)
        begin = (u.copy(), v.copy()) if surface.arrays.closed else corner
        projections, status = np.empty((len(middle), 10)), np.empty(len(middle), dtype=np.int64)
        _kernels.project_many(surface.arrays, middle, u, v, projections, status)
        self.failed = (status == _kernels.FAILED) | ~np.isfinite(projections).all(axis=1)
        self.u, self.v = (np.where(self.failed, a, b) for a, b in zip(begin, (u, v), strict=True))
        self.middle, self.interior = middle, (status == _kernels.INTERIOR) & ~self.failed
        self.distance = np.where(self.interior, projections[:, 0], np.inf)
        self.normal = np.where(self.interior[:, None], projections[:, 1:4], 0.0)
        self.derivatives = surface.derivatives(self.u, self.v)
        away = middle - self.derivatives[0]
        border = ~self.interior & ~self.failed
        outward = np.cross(self.derivatives[1], self.derivatives[2])
        height = (away * outward).sum(axis=1) / np.maximum(np.linalg.norm(outward, axis=1), 1e-300)
        # Beyond a border and outside: nothing of the body is nearer than the border itself.
        self.beyond = border & (height > 0)
        # Beyond a border and behind: the body ends on a wall along the border's normals.
        self.behind = border & (height <= 0)
        self.away = np.where(self.beyond[:, None], away, 0.0)
        wall = away - height[:, None] * _unit(outward)
        self.away[self.behind] = wall[self.behind]

    @cached_property
    def reach(self) -> Array:
        """Distance from the middle to the patch; an inner point before a border that meets it."""
        to_border = np.linalg.norm(self.middle - self.derivatives[0], axis=1)
        return np.where(self.interior, np.abs(self.distance) - kernels.JOINT, to_border)


def _nearest_of(parts: Sequence[_Projections]) -> _Projections:
    """Of every voxel the projection on the patch nearest to it."""
    chosen = copy(parts[0])
    for part in parts[1:]:
        nearer = part.reach < chosen.reach
        # Borders that meet behind the surface are a groove, which no plane bounds.
        groove = part.behind & chosen.behind & (abs(part.reach - chosen.reach) < kernels.JOINT)
        failed = chosen.failed | part.failed | groove
        for name in ("interior", "distance", "normal", "beyond", "behind", "away", "reach"):
            one, other = getattr(chosen, name), getattr(part, name)
            chose = nearer if one.ndim == 1 else nearer[:, None]
            setattr(chosen, name, np.where(chose, other, one))
        chosen.failed = failed
    return chosen


def _unit(vectors: Array) -> Array:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(length > 0, length, 1.0)


def _planes(found: _Projections, origin: Array, shape: tuple[int, int, int], voxel: float) -> Array:
    """Bounds from below of the distance to the body."""
    slope = np.where(found.interior[:, None], found.normal, _unit(found.away))
    value = np.where(found.interior, found.distance, np.linalg.norm(found.away, axis=1))
    # Where the signed distance is known; beside a wall only that it is not above that inside.
    known = np.where(found.interior | found.beyond, value, np.inf).reshape(shape)
    excess = np.zeros(shape)
    slopes, values = slope.reshape(*shape, 3), value.reshape(shape)
    walls = found.behind.reshape(shape)
    for step in product((-1, 0, 1), repeat=3):
        if step == (0, 0, 0):
            continue
        here = tuple(slice(max(-s, 0), n - max(s, 0)) for s, n in zip(step, shape, strict=True))
        there = tuple(slice(max(s, 0), n - max(-s, 0)) for s, n in zip(step, shape, strict=True))
        expected = values[here] + voxel * (slopes[here] @ np.array(step, dtype=float))
        beside = known[there]
        # A wall only has to leave points inside the body alone.
        target = np.where(walls[here], np.where(beside < 0, 0.0, np.inf), beside)
        excess[here] = np.maximum(excess[here], expected - target)
    value = value - CAUTION * excess.ravel() - SLACK - 1e-5 * voxel
    value = value - np.where(found.interior, 0.0, BORDER_SLACK * voxel)
    constant = value - (slope * (found.middle - origin)).sum(axis=1)
    planes = np.column_stack([voxel * slope, constant])
    planes[found.failed] = [0.0, 0.0, 0.0, UNKNOWN]
    return planes


def _sampled(surface: Surface, table: SurfaceTable, voxel: float) -> Array:
    """Points of the surface, several to the edge of a voxel."""
    point = table.point
    lines = [
        np.linspace(
            *domain, int(SAMPLES * np.linalg.norm(steps, axis=-1).sum(axis).max() / voxel) + 2
        )
        for axis, (domain, steps) in enumerate(
            zip(surface.domain, (np.diff(point, axis=0), np.diff(point, axis=1)), strict=True)
        )
    ]
    u, v = np.meshgrid(*lines, indexing="ij")
    return surface.evaluate(u.ravel(), v.ravel())


def _overshoot(
    planes: Array,
    clouds: Sequence[Array],
    origin: Array,
    shape: tuple[int, int, int],
    voxel: float,
) -> Array:
    """By how much each bound rules out points of the surface in and near its voxel."""
    most = np.full(len(planes), -SLACK)
    for points in clouds:
        kernels.largest_bounds(planes, (points - origin) / voxel, shape, NEIGHBOURS, most)
    return most + SLACK


def _starts(found: _Projections) -> NDArray[np.float32]:
    """Parameters of the projections and how they move with the point: (G - m B)^-1 T.

    With metric G, second form B, signed distance m and rows T = (Su, Sv). Near centres of
    curvature, where projections diverge, the metric alone serves.
    """
    _, s_u, s_v, s_uu, s_uv, s_vv = found.derivatives
    distance = np.where(found.interior, found.distance, 0.0)
    e, f, g = ((a * b).sum(-1) for a, b in ((s_u, s_u), (s_u, s_v), (s_v, s_v)))
    b_uu, b_uv, b_vv = ((found.normal * s).sum(-1) for s in (s_uu, s_uv, s_vv))
    m_uu, m_uv, m_vv = e - distance * b_uu, f - distance * b_uv, g - distance * b_vv
    determinant, plain = m_uu * m_vv - m_uv**2, e * g - f**2
    poor = (determinant < 0.05 * plain) | (m_uu < 0.05 * e)
    m_uu, m_uv, m_vv = np.where(poor, e, m_uu), np.where(poor, f, m_uv), np.where(poor, g, m_vv)
    determinant = np.where(poor, plain, determinant)
    usable = (found.interior & (determinant > 0.0))[:, None]
    inverse = 1.0 / np.where(usable, determinant[:, None], 1.0)
    along_u = (m_vv[:, None] * s_u - m_uv[:, None] * s_v) * inverse
    along_v = (m_uu[:, None] * s_v - m_uv[:, None] * s_u) * inverse
    starts = np.empty((found.u.size, 8), dtype=np.float32)
    starts[:, 0], starts[:, 1] = found.u, found.v
    starts[:, 2:5], starts[:, 5:] = np.where(usable, along_u, 0.0), np.where(usable, along_v, 0.0)
    return starts


# Elements of a chunk, at least: what a thread takes at a time. Fixed, because sums are added chunk
# by chunk.
CHUNK = 1024


def build_tiles(
    valid: NDArray[np.bool_], centre: Array, normal: Array, edge: float
) -> tuple[kernels.TileArrays, Integers, Integers]:
    """Group the valid elements of a grid into tiles with edges of about `edge`, mm.

    `valid` (rows, columns) states where the grid has elements; `centre` and `normal` (n, 3) belong
    to these. Returns the tiles, the number among the valid elements of each element in the order of
    the tiles, and the elements beside each (n, 8) in that order, -1 where there is none.
    """
    rows, columns = np.nonzero(valid)
    number = np.full(np.array(valid.shape) + 2, -1)
    number[1:-1, 1:-1][valid] = np.arange(rows.size)
    steps = [max(1, round(edge / spacing)) for spacing in _spacings(number, centre)]
    block = (rows // steps[0]) * (valid.shape[1] // steps[1] + 1) + columns // steps[1]
    order = np.argsort(block, kind="stable")
    first = np.append(np.flatnonzero(np.diff(block[order], prepend=-1)), rows.size)
    rank = np.empty(rows.size + 1, dtype=np.int64)
    rank[order], rank[-1] = np.arange(rows.size), -1
    around = [(a, b) for a in (0, 1, 2) for b in (0, 1, 2) if (a, b) != (1, 1)]
    beside = np.stack([number[rows + a, columns + b] for a, b in around], axis=-1)
    tiles = _measure_tiles(centre[order], normal[order], first)
    return tiles, order, np.ascontiguousarray(rank[beside[order]])


def _spacings(number: Integers, centre: Array) -> list[float]:
    """Usual distance between neighbours along rows and along columns, mm; inf without any."""
    spacings = []
    for one, other in ((number[1:], number[:-1]), (number[:, 1:], number[:, :-1])):
        both = (one >= 0) & (other >= 0)
        apart = np.linalg.norm(centre[one[both]] - centre[other[both]], axis=-1)
        spacings.append(float(np.median(apart)) if apart.size else np.inf)
    return spacings


def _chunks(tile_first: Integers) -> Integers:
    """First tile of each chunk: whole tiles, `CHUNK` elements or more."""
    starts, last = [0], 0
    for tile, first in enumerate(tile_first[:-1]):
        if first - last >= CHUNK:
            starts.append(tile)
            last = first
    return np.array([*starts, tile_first.size - 1])


def _measure_tiles(centre: Array, normal: Array, first: Integers) -> kernels.TileArrays:
    """Tiles of elements that are in the order of the tiles."""
    count = np.diff(first)
    middle = np.add.reduceat(centre, first[:-1]) / count[:, None]
    upward = np.add.reduceat(normal, first[:-1])
    length = np.linalg.norm(upward, axis=1, keepdims=True)
    upward = np.where(length > 1e-6 * count[:, None], upward / np.maximum(length, 1e-12), [0, 1, 0])
    away = centre - np.repeat(middle, count, axis=0)
    height = (away * np.repeat(upward, count, axis=0)).sum(axis=1)
    aside = np.sqrt(np.maximum((away**2).sum(axis=1) - height**2, 0.0))
    return kernels.TileArrays(
        centre=middle,
        normal=upward,
        radius=np.maximum.reduceat(aside, first[:-1]),
        depth=np.maximum.reduceat(np.abs(height), first[:-1]),
        first=first,
        chunk_first=_chunks(first),
    )
