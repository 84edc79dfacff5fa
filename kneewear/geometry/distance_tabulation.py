"""Tabulation of the distance to a condyle."""

from __future__ import annotations

import logging
import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.base.compilation import by_address
from kneewear.geometry import _distance_kernels, _kernels
from kneewear.geometry.distance_table import (
    EDGE_RELAXATION,
    DistanceTable,
    TableQuality,
    band_samples,
    local_depth,
    measure_table,
)
from kneewear.geometry.meshes import circle_centre
from kneewear.geometry.surface import Surface

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)

# Band that contact can reach, mm: deeper than the linear layer can be compressed, and as far out as
# a search keeps elements on its list.
DEPTH = 0.3
OUTSIDE = 0.45
# Spacings tried, mm, in steps of about 12 per cent.
OCTAVE = 6
SPACINGS = 2.0 ** (np.arange(-30, 7) / OCTAVE)
# Part of the wanted error allowed to each axis; where the curvature jumps one axis decides.
SHARE = 0.7
# Maximum size of a table, bytes.
LARGEST = 16_000_000
# Lines along which the spacing is chosen, and points at which a table is measured.
LINES = 3000
POINTS = 100_000
ROUNDS = 5
# Nearer to a border of the patch than this, mm, nothing is tabulated: the distances of nodes depend
# on the patch's continuation there, which may curve sharply.
RIM = 0.2
# Nodes each side that coefficients and interpolation need.
HALO = 2
# Value half-way between two nodes from eight nodes: their coefficients, then the cubic B-spline.
HALF_WAY = np.convolve(_distance_kernels.COEFFICIENT, np.array([1.0, 23.0, 23.0, 1.0]) / 48.0)

_UNKNOWN = TableQuality(*[math.nan] * len(fields(TableQuality)))


def build_distance_table(
    surface: Surface, wanted_error: float, depth: float = DEPTH, outside: float = OUTSIDE
) -> DistanceTable:
    """Tabulate the signed distance in the band that contact can reach.

    The condyle, in the femoral frame, is roughly a body of revolution about a medial-lateral axis;
    a ValueError is raised if it does not surround that axis or is far too large. `wanted_error` is
    the maximum error of the distance, mm (at edges rounded more sharply than `EDGE_RADIUS`,
    `EDGE_RELAXATION` times that), `depth` and `outside` are the extent of the band into the metal
    and out of it, mm.

    The spacing along each axis is the largest at which one-dimensional splines through exact
    distances, along lines through some thousand points of the band, err by no more than `SHARE` of
    the wanted error; the table is then measured at other points, and refined when its error is too
    large. Normals are kept within `NORMAL_ERROR_DEG` where curvature is smooth. When such a table
    does not fit into `LARGEST` bytes, the best one that does is returned; see
    `TableQuality.excess`.
    """
    band = _Band(surface, revolution_axis(surface), depth, outside)
    spacing = _choose_spacing(band, wanted_error)
    spacing = spacing * max(1.0, band.expected_memory(spacing) / LARGEST) ** (1 / 3)
    best = None
    for _ in range(ROUNDS):
        arrays = _tabulate(band, spacing)
        memory = sum(array.nbytes for array in arrays)
        if memory > LARGEST and best is not None:
            break
        if memory > LARGEST:
            spacing = spacing * 1.05 * (memory / LARGEST) ** 0.5
            continue
        table = DistanceTable(arrays, depth, outside, _UNKNOWN)
        quality = measure_table(surface, table, wanted_error, POINTS)
        logger.info("%s", quality)
        excess = quality.excess()
        if best is None or excess < best.quality.excess():
            best = replace(table, quality=quality)
        if excess <= 1.0:
            return best
        spacing = spacing * min(0.95, max(0.7, 0.98 * excess**-0.4))
    if best is None:
        raise ValueError(f"no distance table of this condyle fits into {LARGEST / 1e6:g} MB")
    # What uses the table warns of it, with its effect (check distance.exact).
    logger.info(
        "a distance table with an error of %g um does not fit into %g MB: %s",
        1e3 * wanted_error,
        LARGEST / 1e6,
        "; ".join(best.quality.faults()),
    )
    return best


def revolution_axis(surface: Surface) -> Array:
    """Position (x, y), mm, of the medial-lateral axis of revolution that fits a condyle best."""
    (u0, u1), (v0, v1) = surface.domain
    u, v = np.linspace(u0, u1, 60), np.linspace(v0, v1, 30)
    points = surface.evaluate(u[:, None], v).reshape(-1, 3)[:, :2]
    # Algebraic circle, then Gauss-Newton on the radii.
    centre = np.array(circle_centre(points))
    for _ in range(50):
        away = points - centre
        radius = np.linalg.norm(away, axis=1)
        system = np.column_stack([-away / radius[:, None], -np.ones(len(points))])
        step = np.linalg.lstsq(system, -radius, rcond=None)[0][:2]
        centre = centre + step
        if np.abs(step).max() < 1e-12:
            break
    return centre


class _Band:
    """Band along a condyle."""

    def __init__(self, surface: Surface, axis: Array, depth: float, outside: float) -> None:
        self.surface, self.axis, self.depth, self.outside = surface, axis, depth, outside
        grid = np.meshgrid(*(np.linspace(*ends, 120) for ends in surface.domain), indexing="ij")
        points, normals = surface.evaluate(*grid), surface.normal(*grid)
        self.points = points
        # Angle, z and radius: the order of the grid's axes.
        self.coordinates = self._coordinates(points)
        away = points[..., :2] - axis
        self.radius = float(np.hypot(*away.reshape(-1, 2).T).mean())
        if np.ptp(self.coordinates[..., 0]) > np.radians(300.0):
            raise ValueError("the condyle turns by more than 300 deg about its axis")
        outward = (normals[..., :2] * away).sum(axis=-1)
        if (outward <= 0).mean() > 0.05:
            raise ValueError("the condyle does not face away from its axis")
        reach = np.stack([points - depth * normals, points + outside * normals])
        reach = self._coordinates(reach).reshape(-1, 3)
        self.lowest, self.highest = reach.min(axis=0), reach.max(axis=0)
        sides = [np.diff(points, axis=a)[tuple([slice(119)] * 2)] for a in (0, 1)]
        self.area = float(np.linalg.norm(np.cross(sides[0], sides[1]), axis=-1).sum())

    def _coordinates(self, points: Array) -> Array:
        away = points[..., :2] - self.axis
        angle = np.arctan2(away[..., 0], -away[..., 1])
        return np.stack([angle, points[..., 2], np.hypot(away[..., 0], away[..., 1])], axis=-1)

    def inner_domain(self) -> Array:
        """Range of each parameter without a rim."""
        domain = np.array(self.surface.domain)
        for axis in (0, 1):
            step = np.linalg.norm(np.diff(self.points, axis=axis), axis=-1).mean(axis=1 - axis)
            rim = RIM * np.ptp(domain[axis]) / (119 * step[[0, -1]])
            domain[axis] += [rim[0], -rim[1]] * ~self.closed_ends(axis)
        return domain

    def closed_ends(self, axis: int) -> NDArray[np.bool_]:
        """True where the patch continues beyond its ends along u (axis 0) or v: seams and poles."""
        closed = self.surface.arrays.closed
        poles = [closed & (_kernels.POLE_U0 << (2 * axis + end)) for end in (0, 1)]
        return (np.array(poles) | (closed & (_kernels.SEAM_U << axis))) > 0

    def expected_memory(self, spacing: Array) -> float:
        """Approximate bytes of a table: five for each node of the band and its halo."""
        thickness = self.depth + self.outside + (2 * HALO + 2) * float(spacing[1:].max())
        return 5.0 * self.area * thickness / (self.radius * float(np.prod(spacing)))


def _choose_spacing(band: _Band, wanted: float) -> Array:
    """Spacing along angle, rad, z and radius, mm, at which each axis is within its share."""
    u, v, height, edge = band_samples(band.surface, band.depth, band.outside, LINES, seed=1)
    normal = band.surface.normal(u, v)
    points = band.surface.evaluate(u, v) + height[:, None] * normal
    allowed = SHARE * wanted * np.where(edge, EDGE_RELAXATION, 1.0)
    chosen = np.empty(3)
    for number, unit in enumerate([1.0 / band.radius, 1.0, 1.0]):

        def too_large(index: int, number: int = number, unit: float = unit) -> bool:
            step = np.zeros(3)
            step[number] = SPACINGS[index] * unit
            error = _half_way_distances(band, points, u, v, step) - height
            return bool(np.nanmax(np.abs(error) / allowed, initial=0.0) > 1.0)

        chosen[number] = SPACINGS[_first_reached(too_large, SPACINGS.size)] * unit
    return chosen / 2.0 ** (1 / OCTAVE)


def _first_reached(reached: Callable[[int], bool], count: int) -> int:
    """First of ascending numbers at which something is reached, the last one if nowhere.

    Octave by octave, then by bisection: far beyond it, where nodes have no projection, nothing is
    known.
    """
    end = 0
    while end < count - 1 and not reached(end):
        end = min(end + OCTAVE, count - 1)
    start = max(0, end - OCTAVE + 1)
    return start + bisect_left(range(start, end), True, key=reached)


def _half_way_distances(band: _Band, points: Array, u: Array, v: Array, step: Array) -> Array:
    """Distance at each point by a spline along one line, half-way between nodes `step` apart.

    A step is (rotation about the axis, dz, dr); NaN where a node has no projection.
    """
    patch = _continued(band, step)
    away = points[:, :2] - band.axis
    radius = np.linalg.norm(away, axis=1)
    projections, status = np.empty((len(points), 10)), np.empty(len(points), dtype=np.int64)
    total = np.zeros(len(points))
    for side in (-1, 1):
        at_u, at_v = u.copy(), v.copy()
        for m in range(4):
            q = side * (m + 0.5)
            cosine, sine = np.cos(q * step[0]), np.sin(q * step[0])
            turned = away @ np.array([[cosine, sine], [-sine, cosine]])
            plan = band.axis + (1.0 + q * step[2] / radius)[:, None] * turned
            nodes = np.column_stack([plan, points[:, 2] + q * step[1]])
            _kernels.project_many(patch, nodes, at_u, at_v, projections, status)
            weight = HALF_WAY[4 + m if side > 0 else 3 - m]
            total += np.where(status == _kernels.INTERIOR, weight * projections[:, 0], np.nan)
    return total


def _tabulate(band: _Band, spacing: Array) -> _distance_kernels.DistanceArrays:
    """Coefficients in the band at one spacing."""
    pad = 2 * HALO + 4
    origin = band.lowest - pad * spacing
    size = np.ceil((band.highest - origin) / spacing).astype(int) + pad
    shape = (int(size[0]), int(size[1]))
    low = np.full(shape, 2**30, dtype=np.int32)
    high = np.full(shape, -1, dtype=np.int32)
    start_u, start_v = np.full(shape, np.nan), np.full(shape, np.nan)
    u, v, depth, layers = _marks(band, spacing)
    nodes = _distance_kernels.Nodes(band.axis, origin, spacing)
    patch = band.surface.arrays
    _distance_kernels.mark_cells(
        patch, nodes, u, v, depth, band.outside, layers, low, high, start_u, start_v
    )
    nearest = scipy.ndimage.distance_transform_edt(
        np.isnan(start_u), return_distances=False, return_indices=True
    )
    start_u, start_v = start_u[tuple(nearest)], start_v[tuple(nearest)]
    # One cell more on every side, because marks may miss a corner of a cell.
    low, high = _widened(low, high, 1, 1)
    cells = _runs(*_widened(low, high, HALO, HALO))
    runs = _runs(*_widened(low, high, 2 * HALO, 2 * HALO))
    distance = np.empty(int(runs.length.sum()))
    interior = np.empty(distance.size, dtype=np.bool_)
    patch = _continued(band, spacing)
    search = _kernels.minimize_distance if patch.closed == _kernels.OPEN else _kernels.closest_point
    end, room = (0.0, 0.0, 0), (np.zeros(10), np.zeros((6, 4)))
    _distance_kernels.fill_columns(
        patch,
        by_address(search, patch, (0.0, 0.0, 0.0), 0.0, 0.0, *room, result=end),
        band.inner_domain(),
        nodes,
        runs,
        start_u,
        start_v,
        distance,
        interior,
    )
    coefficient = np.empty(int(cells.length.sum()), dtype=np.float32)
    state = np.empty(coefficient.size, dtype=np.uint8)
    _distance_kernels.fill_coefficients(
        low, high, runs, distance, interior, cells, coefficient, state
    )
    first, offset, count = cells
    return _distance_kernels.DistanceArrays(
        band.axis, origin, 1.0 / spacing, first, count, offset - first, coefficient, state
    )


def _marks(band: _Band, spacing: Array) -> tuple[Array, Array, Array, int]:
    """Parameters of points on the patch, half a cell apart, and depth and layers of the band."""
    cells = band.coordinates / spacing
    values = []
    for axis, (low, high) in enumerate(band.surface.domain):
        # Largest number of cells between neighbouring lines of the sampling.
        step = np.abs(np.diff(cells, axis=axis)).max(axis=(1 - axis, 2))
        way = np.concatenate([[0.0], np.cumsum(step)])
        even = np.linspace(0.0, way[-1], int(np.ceil(2 * way[-1])) + 2)
        values.append(np.interp(even, way, np.linspace(low, high, way.size)))
    u, v = band.surface.off_poles(values[0], values[1])
    depth = local_depth(-band.surface.curvature(u[:, None], v[None, :])[0], band.depth)
    layers = int(np.ceil(2 * (band.depth + band.outside) / spacing[1:].min()))
    return u, v, depth, layers


def _continued(band: _Band, spacing: Array) -> _kernels.PatchArrays:
    """The patch with its outermost pieces continued as far as nodes of tabulated cells need.

    Ended at its border, the distance would change its curvature there, which no table follows.
    """
    arrays = band.surface.arrays
    scale = np.array([band.radius, 1.0, 1.0])
    breaks, pieces = [], arrays.coefficients
    for axis, own in enumerate((arrays.breaks_u, arrays.breaks_v)):
        values = own.copy()
        moved = np.moveaxis(np.diff(band.coordinates, axis=axis), axis, 0) * scale
        parameter = (values[-1] - values[0]) / len(moved)
        pieces = np.moveaxis(pieces, (axis, 2 + axis), (0, 1)).copy()
        ends = band.closed_ends(axis)
        for end, sign in ((0, -1.0), (-1, 1.0)):
            if ends[end]:
                continue
            width = values[1] - values[0] if end == 0 else values[-1] - values[-2]
            # Maximum displacement of a projection while its point moves through cells.
            cells = np.abs(moved[end]) @ (spacing * scale) / (moved[end] ** 2).sum(axis=-1)
            more = min((2 * HALO + 0.5) * parameter * float(cells.max()), width)
            stretch, shift = 1.0 + more / width, 0.5 * sign * more / width
            pieces[end] = _stretched(pieces[end], stretch, shift)
            values[end] += sign * more
        pieces = np.moveaxis(pieces, (0, 1), (axis, 2 + axis))
        breaks.append(values)
    u, v = breaks
    return _kernels.PatchArrays(u, v, np.ascontiguousarray(pieces), arrays.rational, arrays.closed)


def _stretched(powers: Array, stretch: float, shift: float) -> Array:
    """Coefficients, along the first axis, of a polynomial of (stretch x + shift) in powers of x."""
    result = np.zeros_like(powers)
    for power in range(len(powers)):
        for kept in range(power + 1):
            factor = math.comb(power, kept) * stretch**kept * shift ** (power - kept)
            result[kept] += factor * powers[power]
    return result


def _widened(
    low: NDArray[np.int32], high: NDArray[np.int32], columns: int, cells: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Ranges of columns extended by their neighbours' ranges and some cells."""
    size = 2 * columns + 1
    wide_low = scipy.ndimage.minimum_filter(low, size) - cells
    wide_high = scipy.ndimage.maximum_filter(high, size)
    return wide_low, np.where(wide_high >= 0, wide_high + cells, -1).astype(np.int32)


def _runs(low: NDArray[np.int32], high: NDArray[np.int32]) -> _distance_kernels.Runs:
    """Runs that cover the ranges of all columns."""
    count = np.where(high >= 0, high - low + 1, 0).astype(np.int32)
    first = np.where(high >= 0, low, 0).astype(np.int32)
    offset = (np.cumsum(count) - count.ravel()).astype(np.int32).reshape(count.shape)
    return _distance_kernels.Runs(first, offset, count)
