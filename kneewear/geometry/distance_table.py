"""Signed distance to a condyle from a table, with smooth interpolation."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, maximum_filter, minimum_filter
from scipy.spatial import cKDTree

from kneewear.geometry import _distance_kernels, _kernels
from kneewear.geometry.surface import Surface

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)

# Band that contact can reach, mm: beyond what the linear layer bears, and as far out as a search
# keeps elements on its list.
DEPTH = 0.3
OUTSIDE = 0.45
# Into a sharp edge the band is only this part of the edge's radius deep: there level surfaces turn
# sharper with depth until they break, and no smooth table follows.
DEPTH_OF_RADIUS = 0.3
# Edges rounded more sharply than this, mm, may err by so many times the wanted error: contact
# rests on the rest.
EDGE_RADIUS = 4.0
# An edge is felt this far, mm, along the surface.
EDGE_REACH = 1.0
EDGE_RELAXATION = 4.0
# Spacings tried, mm, in steps of about 12 per cent.
SPACINGS = 2.0 ** (np.arange(-30, 7) / 6)
# Part of the wanted error left to each axis; where the surface's curvature jumps one axis decides.
SHARE = 0.7
# Bytes of a table.
LARGEST = 16_000_000
# Largest error of the normal where curvature is smooth.
NORMAL_ERROR_DEG = 0.02
ROUNDS = 5
# Nearer to a border of the patch than this, mm, nothing is tabulated: there the nodes' distances
# rest on the patch's continuation, which may bend sharply.
RIM = 0.2
# Nodes each side that coefficients and interpolation need.
HALO = 2


@dataclass(frozen=True)
class TableQuality:
    """What a distance table costs and how far it misses: a row of a report.

    Parameters
    ----------
    wanted_error_um : float
        Error asked for.
    max_error_um, max_edge_error_um, rms_error_um : float
        Distance errors found: largest away from sharp edges, largest within `EDGE_REACH` of them,
        root of the mean square.
    max_normal_error_deg, smooth_normal_error_deg : float
        Largest error of the normal: anywhere, and away from jumps of curvature and sharp edges.
    covered_percent : float
        Part of the band that is tabulated; the rest lies along the patch's borders.
    spacing_turn_mm, spacing_across_mm, spacing_out_mm : float
        Spacing of the nodes along the turn (at the mean radius), along z and along the radius.
    memory_mb : float
        Size.
    """

    wanted_error_um: float
    max_error_um: float
    max_edge_error_um: float
    rms_error_um: float
    max_normal_error_deg: float
    smooth_normal_error_deg: float
    covered_percent: float
    spacing_turn_mm: float
    spacing_across_mm: float
    spacing_out_mm: float
    memory_mb: float

    def excess(self) -> float:
        """Largest error as a multiple of what is allowed."""
        return max(
            self.max_error_um / self.wanted_error_um,
            self.max_edge_error_um / (EDGE_RELAXATION * self.wanted_error_um),
            self.smooth_normal_error_deg / NORMAL_ERROR_DEG,
        )


@dataclass(frozen=True)
class DistanceTable:
    """Signed distance in a band along one condyle, as a tricubic B-spline.

    Parameters
    ----------
    arrays : DistanceArrays
        Grid and coefficients, as kernels read them.
    depth, outside : float
        How far the band reaches into the metal and out of it, mm.
    quality : TableQuality
        Error and memory.

    Notes
    -----
    The grid runs along angle, radius and z about the axis of the circle that fits the condyle
    best. A condyle is nearly a body of revolution: along the angle its distance hardly changes and
    few nodes do, and where its profile changes curvature at once, which limits every smooth table
    (the error of a cubic spline there is 0.032 times the jump times the spacing squared), only the
    spacing along z has to be fine. Each column crosses the band once, so a table is a list of
    runs. The interpolant is twice continuously differentiable, also where the distance itself is
    only once.
    """

    arrays: _distance_kernels.DistanceArrays
    depth: float
    outside: float
    quality: TableQuality

    def look_up(self, points: Array) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
        """Distance and its derivatives.

        Parameters
        ----------
        points : array, shape (n, 3)
            Points in the femoral frame, mm.

        Returns
        -------
        distance : array, shape (n,)
            Signed distance, mm, positive outside the metal; NaN where nothing is tabulated.
        gradient : array, shape (n, 3)
            Its gradient: the normal, of unit length within the error of the table.
        hessian : array, shape (n, 3, 3)
            Its second derivatives, 1/mm.
        inside : bool array, shape (n,)
            Where the table has values.
        """
        feet, inside = _look_up(self.arrays, points)
        feet[~inside] = np.nan
        hessian = feet[:, [4, 7, 8, 7, 5, 9, 8, 9, 6]].reshape(-1, 3, 3)
        return feet[:, 0], feet[:, 1:4], hessian, inside


def _look_up(
    arrays: _distance_kernels.DistanceArrays, points: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """Numbers of the feet of points, one row a point, and which of them the table has."""
    count = len(points)
    feet, place = np.empty((10, count)), np.empty((4, count))
    state = np.empty(count, dtype=np.int64)
    rows = np.ascontiguousarray(np.asarray(points, dtype=float).T)
    _distance_kernels.look_up_feet(arrays, rows, 0, count, place, state, feet)
    return feet.T.copy(), state == _distance_kernels.TABLED


def empty_table() -> _distance_kernels.DistanceArrays:
    """A table without values, for kernels that take one."""
    nothing = np.zeros((0, 0), dtype=np.int32)
    return _distance_kernels.DistanceArrays(
        axis=np.zeros(2),
        origin=np.zeros(3),
        rate=np.ones(3),
        first=nothing,
        length=nothing,
        base=nothing,
        coefficient=np.zeros(0, dtype=np.float32),
        state=np.zeros(0, dtype=np.uint8),
    )


def build_distance_table(
    surface: Surface, wanted_error: float, depth: float = DEPTH, outside: float = OUTSIDE
) -> DistanceTable:
    """Tabulate the signed distance in the band that contact can reach.

    Parameters
    ----------
    surface : Surface
        Condyle in the femoral frame, roughly a body of revolution about a medial-lateral axis.
    wanted_error : float
        Largest error of the distance, mm; at edges rounded more sharply than `EDGE_RADIUS`,
        `EDGE_RELAXATION` times that.
    depth, outside : float
        How far the band reaches into the metal and out of it, mm.

    Returns
    -------
    DistanceTable

    Raises
    ------
    ValueError
        If the condyle does not surround its axis like a body of revolution, or is far too large.

    Notes
    -----
    The spacing along each axis is the widest at which one-dimensional splines through exact
    distances, along lines through some thousand points of the band, err by no more than `SHARE` of
    the wanted error; the table is then measured at other points, and made finer when it misses.
    Normals, too, are kept within `NORMAL_ERROR_DEG` where curvature is smooth. When all this does
    not fit into `LARGEST` bytes, the best table that does is returned with a warning; its quality
    tells (`TableQuality.excess`).
    """
    band = _Band(surface, condyle_axis(surface), depth, outside)
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
        quality = measure_table(surface, arrays, depth, outside, wanted_error)
        logger.info("%s", quality)
        excess = quality.excess()
        if best is None or excess < best.quality.excess():
            best = DistanceTable(arrays, depth, outside, quality)
        if excess <= 1.0:
            return best
        spacing = spacing * min(0.95, max(0.7, 0.98 * excess**-0.4))
    if best is None:
        raise ValueError(f"no distance table of this condyle fits into {LARGEST / 1e6:g} MB")
    logger.warning(
        "no distance table within %g um fits into %g MB; the best misses by %.3g um (%.3g um at "
        "edges) and %.3g deg",
        1e3 * wanted_error,
        LARGEST / 1e6,
        best.quality.max_error_um,
        best.quality.max_edge_error_um,
        best.quality.smooth_normal_error_deg,
    )
    return best


def condyle_axis(surface: Surface) -> Array:
    """Place (x, y), mm, of the medial-lateral axis round which a condyle turns best."""
    (u0, u1), (v0, v1) = surface.domain
    grid = np.meshgrid(np.linspace(u0, u1, 60), np.linspace(v0, v1, 30), indexing="ij")
    points = surface.evaluate(*grid).reshape(-1, 3)[:, :2]
    # Algebraic circle, then Gauss-Newton on the radii.
    system = np.column_stack([2 * points, np.ones(len(points))])
    x, y, _ = np.linalg.lstsq(system, (points**2).sum(axis=1), rcond=None)[0]
    centre = np.array([x, y])
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
    """Band along a condyle, and points in it whose distance is known without a search."""

    def __init__(self, surface: Surface, axis: Array, depth: float, outside: float) -> None:
        self.surface, self.axis, self.depth, self.outside = surface, axis, depth, outside
        (u0, u1), (v0, v1) = surface.domain
        grid = np.meshgrid(np.linspace(u0, u1, 120), np.linspace(v0, v1, 120), indexing="ij")
        points, normals = surface.evaluate(*grid), surface.normal(*grid)
        away = points[..., :2] - axis
        self.angle = np.arctan2(away[..., 0], -away[..., 1])
        self.radius = float(np.hypot(*away.reshape(-1, 2).T).mean())
        if np.ptp(self.angle) > np.radians(300.0):
            raise ValueError("the condyle turns by more than 300 deg about its axis")
        outward = (normals[..., :2] * away).sum(axis=-1)
        if (outward <= 0).mean() > 0.05:
            raise ValueError("the condyle does not face away from its axis")
        reach = np.stack([points - depth * normals, points + outside * normals])
        out = np.hypot(reach[..., 0] - axis[0], reach[..., 1] - axis[1])
        turn = np.arctan2(reach[..., 0] - axis[0], axis[1] - reach[..., 1])
        self.lowest = np.array([turn.min(), reach[..., 2].min(), out.min()])
        self.highest = np.array([turn.max(), reach[..., 2].max(), out.max()])
        sides = [np.diff(points, axis=a)[tuple([slice(119)] * 2)] for a in (0, 1)]
        self.area = float(np.linalg.norm(np.cross(sides[0], sides[1]), axis=-1).sum())
        # Angle, z and radius, the order of the grid's axes.
        self.coordinates = np.stack(
            [self.angle, points[..., 2], np.hypot(away[..., 0], away[..., 1])], axis=-1
        )

    def inner_domain(self) -> Array:
        """Range of each parameter, a rim left out."""
        domain = np.array(self.surface.domain)
        lines = [np.linspace(low, high, 120) for low, high in domain]
        points = self.surface.evaluate(*np.meshgrid(*lines, indexing="ij"))
        for axis in (0, 1):
            step = np.linalg.norm(np.diff(points, axis=axis), axis=-1).mean(axis=1 - axis)
            rim = RIM * np.ptp(domain[axis]) / (119 * step[[0, -1]])
            domain[axis] += [rim[0], -rim[1]]
        return domain

    def expected_memory(self, spacing: Array) -> float:
        """Bytes of a table, roughly: five for each node of the band and its halo."""
        thickness = self.depth + self.outside + (2 * HALO + 2) * float(spacing[1:].max())
        return 5.0 * self.area * thickness / (self.radius * float(np.prod(spacing)))


def _choose_spacing(band: _Band, wanted: float) -> Array:
    """Spacing along angle, rad, z and radius, mm, that keeps each axis within its share."""
    u, v, height, edge = band_samples(band.surface, band.depth, band.outside, 3000, seed=1)
    normal = band.surface.normal(u, v)
    points = band.surface.evaluate(u, v) + height[:, None] * normal
    allowed = SHARE * wanted * np.where(edge, EDGE_RELAXATION, 1.0)
    chosen = np.empty(3)
    error = np.empty(len(points))
    for number, unit in enumerate([1.0 / band.radius, 1.0, 1.0]):
        for spacing in SPACINGS * unit:
            step = np.zeros(3)
            step[number] = spacing
            patch = _continued(band, step)
            _distance_kernels.half_way_errors(patch, band.axis, points, u, v, step, height, error)
            chosen[number] = spacing
            if np.nanmax(np.abs(error) / allowed, initial=0.0) > 1.0:
                break
    return chosen / 2.0 ** (1 / 6)


def band_samples(
    surface: Surface, depth: float, outside: float, count: int, seed: int
) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
    """Random places of a band, every other near a line where the patch's pieces join or end.

    Parameters
    ----------
    surface : Surface
        Patch.
    depth, outside : float
        Reach of the band, mm.
    count : int
        Number of places.
    seed : int
        Of the random numbers.

    Returns
    -------
    u, v : array, shape (count,)
        Parameters of the foot.
    height : array, shape (count,)
        Signed distance along the normal, mm; not as deep where the surface turns sharply.
    edge : bool array, shape (count,)
        Whether the foot lies on or within `EDGE_REACH` of an edge sharper than `EDGE_RADIUS`.
    """
    random = np.random.default_rng(seed)
    parameters = []
    turn = np.arange(count) % 4
    for number, breaks in enumerate((surface.arrays.breaks_u, surface.arrays.breaks_v)):
        low, high = breaks[0], breaks[-1]
        value = random.uniform(low, high, count)
        joined = random.choice(breaks, count) + random.normal(0.0, 0.005 * (high - low), count)
        joined = low + np.abs(joined - low)
        joined = high - np.abs(high - joined)
        parameters.append(np.where(turn == number, joined, value))
    u, v = parameters
    convex = -surface.curvature(u, v)[0]
    height = np.clip(random.uniform(-1.2, 1.2, count), -1.0, 1.0)
    height *= np.where(height > 0, outside, _local_depth(convex, depth))
    return u, v, height, _near_edge(surface, surface.evaluate(u, v))


def _near_edge(surface: Surface, feet: Array) -> NDArray[np.bool_]:
    """Whether points of a patch lie within EDGE_REACH of a sharp edge or groove."""
    (u0, u1), (v0, v1) = surface.domain
    u, v = np.meshgrid(np.linspace(u0, u1, 300), np.linspace(v0, v1, 300), indexing="ij")
    sharp = np.abs(np.stack(surface.curvature(u, v))).max(axis=0) > 1.0 / EDGE_RADIUS
    if not sharp.any():
        return np.zeros(len(feet), dtype=bool)
    away, _ = cKDTree(surface.evaluate(u[sharp], v[sharp])).query(
        feet, distance_upper_bound=EDGE_REACH
    )
    return np.isfinite(away)


def _local_depth(convex: Array, depth: float) -> Array:
    """Depth of the band under places of a convex curvature, mm."""
    return np.minimum(depth, DEPTH_OF_RADIUS / np.maximum(convex, 1e-9))


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
    _distance_kernels.mark_cells(
        band.surface.arrays,
        band.axis,
        origin,
        spacing,
        u,
        v,
        depth,
        band.outside,
        layers,
        low,
        high,
        start_u,
        start_v,
    )
    nearest = distance_transform_edt(np.isnan(start_u), return_distances=False, return_indices=True)
    start_u, start_v = start_u[tuple(nearest)], start_v[tuple(nearest)]
    # One cell more to every side: marks may just miss a corner of a cell.
    low, high = _widened(low, high, 1, 1)
    first, offset, count = _runs(*_widened(low, high, HALO, HALO))
    first_node, offset_node, count_node = _runs(*_widened(low, high, 2 * HALO, 2 * HALO))
    distance = np.empty(int(count_node.sum()))
    is_foot = np.empty(distance.size, dtype=np.bool_)
    _distance_kernels.fill_columns(
        _continued(band, spacing),
        band.inner_domain(),
        band.axis,
        origin,
        spacing,
        first_node,
        offset_node,
        count_node,
        start_u,
        start_v,
        distance,
        is_foot,
    )
    coefficient = np.empty(int(count.sum()), dtype=np.float32)
    state = np.empty(coefficient.size, dtype=np.uint8)
    _distance_kernels.fill_coefficients(
        low,
        high,
        first_node,
        offset_node,
        distance,
        is_foot,
        first,
        offset,
        count,
        coefficient,
        state,
    )
    return _distance_kernels.DistanceArrays(
        band.axis, origin, 1.0 / spacing, first, count, offset - first, coefficient, state
    )


def _marks(band: _Band, spacing: Array) -> tuple[Array, Array, Array, int]:
    """Parameters of places on the patch, half a cell apart, and depth and layers of the band."""
    cells = band.coordinates / spacing
    values = []
    for axis, (low, high) in enumerate(band.surface.domain):
        # Longest way through cells between neighbouring lines of the sampling.
        step = np.abs(np.diff(cells, axis=axis)).max(axis=(1 - axis, 2))
        way = np.concatenate([[0.0], np.cumsum(step)])
        even = np.linspace(0.0, way[-1], int(np.ceil(2 * way[-1])) + 2)
        values.append(np.interp(even, way, np.linspace(low, high, way.size)))
    u, v = values
    depth = _local_depth(-band.surface.curvature(u[:, None], v[None, :])[0], band.depth)
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
        for end, sign in ((0, -1.0), (-1, 1.0)):
            width = values[1] - values[0] if end == 0 else values[-1] - values[-2]
            # How far a foot moves at most while its point moves through cells.
            cells = np.abs(moved[end]) @ (spacing * scale) / (moved[end] ** 2).sum(axis=-1)
            more = min((2 * HALO + 0.5) * parameter * float(cells.max()), width)
            stretch, shift = 1.0 + more / width, 0.5 * sign * more / width
            pieces[end] = _stretched(pieces[end], stretch, shift)
            values[end] += sign * more
        pieces = np.moveaxis(pieces, (0, 1), (axis, 2 + axis))
        breaks.append(values)
    u, v = breaks
    return _kernels.PatchArrays(u, v, np.ascontiguousarray(pieces), arrays.rational)


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
    """Ranges of columns that also hold their neighbours' ranges, and some cells more."""
    size = 2 * columns + 1
    wide_low, wide_high = minimum_filter(low, size) - cells, maximum_filter(high, size)
    return wide_low, np.where(wide_high >= 0, wide_high + cells, -1).astype(np.int32)


def _runs(
    low: NDArray[np.int32], high: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """First node, place in the flat arrays, and length of every column's run."""
    count = np.where(high >= 0, high - low + 1, 0).astype(np.int32)
    first = np.where(high >= 0, low, 0).astype(np.int32)
    offset = (np.cumsum(count) - count.ravel()).astype(np.int32).reshape(count.shape)
    return first, offset, count


def measure_table(
    surface: Surface,
    arrays: _distance_kernels.DistanceArrays,
    depth: float,
    outside: float,
    wanted_error: float,
    count: int = 100_000,
) -> TableQuality:
    """Compare a table with exact distances at random places of its band.

    Parameters
    ----------
    surface : Surface
        Patch the table was made from.
    arrays : DistanceArrays
        The table.
    depth, outside : float
        Reach of the band, mm.
    wanted_error : float
        Error that was asked for, mm.
    count : int
        Number of places.

    Returns
    -------
    TableQuality
    """
    u, v, height, edge = band_samples(surface, depth, outside, count, seed=2)
    normal = surface.normal(u, v)
    points = surface.evaluate(u, v) + height[:, None] * normal
    feet, inside = _look_up(arrays, points)
    error = np.abs(feet[:, 0] - height)[inside]
    edge, smooth = (
        edge[inside],
        ~(edge | _near_jump(surface, u, v, 6 / float(arrays.rate[1])))[inside],
    )
    gradient = feet[inside, 1:4]
    angle = np.arctan2(
        np.linalg.norm(np.cross(gradient, normal[inside]), axis=1),
        (gradient * normal[inside]).sum(axis=1),
    )
    away = surface.control_points[..., :2] - arrays.axis
    radius = float(np.hypot(away[..., 0], away[..., 1]).mean())
    return TableQuality(
        wanted_error_um=1e3 * wanted_error,
        max_error_um=1e3 * float(error[~edge].max(initial=0.0)),
        max_edge_error_um=1e3 * float(error[edge].max(initial=0.0)),
        rms_error_um=1e3 * float(np.sqrt(np.mean(error**2))),
        max_normal_error_deg=float(np.degrees(angle.max(initial=0.0))),
        smooth_normal_error_deg=float(np.degrees(angle[smooth].max(initial=0.0))),
        covered_percent=100.0 * float(inside[np.arange(count) % 4 > 1].mean()),
        spacing_turn_mm=radius / float(arrays.rate[0]),
        spacing_across_mm=1.0 / float(arrays.rate[1]),
        spacing_out_mm=1.0 / float(arrays.rate[2]),
        memory_mb=sum(array.nbytes for array in arrays) / 1e6,
    )


@dataclass(frozen=True)
class ErrorMap:
    """Where a distance table errs.

    Parameters
    ----------
    angle, across : array, shape (n_u, n_v)
        Places on the condyle: angle about the table's axis, rad (0 distal, posterior positive),
        and z, mm.
    distance_error : array, shape (n_u, n_v)
        Largest error of the distance over the band at each place, mm; NaN where nothing is
        tabulated.
    normal_error : array, shape (n_u, n_v)
        The same of the normal, rad.
    """

    angle: Array
    across: Array
    distance_error: Array
    normal_error: Array


def map_errors(
    surface: Surface, table: DistanceTable, size: tuple[int, int] = (160, 400), layers: int = 5
) -> ErrorMap:
    """Errors of a table over its condyle.

    Parameters
    ----------
    surface : Surface
        Patch the table was made from.
    table : DistanceTable
        The table.
    size : pair of int
        Places along u and v.
    layers : int
        Heights of the band looked at over each place.

    Returns
    -------
    ErrorMap
    """
    u, v = np.meshgrid(
        *(np.linspace(low, high, n) for (low, high), n in zip(surface.domain, size, strict=True)),
        indexing="ij",
    )
    foot, normal = surface.evaluate(u, v), surface.normal(u, v)
    deepest = _local_depth(-surface.curvature(u, v)[0], table.depth)
    errors = np.full((2, layers, *size), np.nan)
    for layer, part in enumerate(np.linspace(0.0, 1.0, layers)):
        height = (table.outside + deepest) * part - deepest
        points = foot + height[..., None] * normal
        distance, gradient, _, _ = table.look_up(points.reshape(-1, 3))
        errors[0, layer] = np.abs(distance.reshape(size) - height)
        gradient = gradient.reshape(*size, 3)
        errors[1, layer] = np.arctan2(
            np.linalg.norm(np.cross(gradient, normal), axis=-1), (gradient * normal).sum(axis=-1)
        )
    known = ~np.isnan(errors)
    worst = np.where(known.any(axis=1), np.max(np.where(known, errors, 0.0), axis=1), np.nan)
    away = foot[..., :2] - table.arrays.axis
    angle = np.arctan2(away[..., 0], -away[..., 1])
    return ErrorMap(angle, foot[..., 2], worst[0], worst[1])


def _near_jump(
    surface: Surface, u: Array, v: Array, reach: float, least: float = 1e-3
) -> NDArray[np.bool_]:
    """Whether curvature jumps (by `least`, 1/mm) at a joint of pieces within `reach`, mm."""
    near = np.zeros(u.size, dtype=bool)
    along = surface.derivatives(u, v)[1:3]
    for number, breaks in enumerate((surface.arrays.breaks_u, surface.arrays.breaks_v)):
        value, inner = (u, v)[number], breaks[1:-1]
        if inner.size == 0:
            continue
        nearest = inner[np.argmin(np.abs(value[:, None] - inner), axis=1)]
        bit = 1e-7 * (breaks[-1] - breaks[0])
        sides = [
            (nearest + side, v) if number == 0 else (u, nearest + side) for side in (-bit, bit)
        ]
        before, after = (np.stack(surface.curvature(*place)) for place in sides)
        jump = np.abs(after - before).max(axis=0)
        away = np.abs(value - nearest) * np.linalg.norm(along[number], axis=-1)
        near |= (jump > least) & (away < reach)
    return near
