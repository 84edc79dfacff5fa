"""Signed distance to a condyle from a table with smooth interpolation, and the table's errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.geometry import _distance_kernels
from kneewear.geometry.surface import Surface
from kneewear.mechanics.arrays import read_only_record

Array = NDArray[np.float64]

# At edges rounded more sharply than this radius, mm, the accepted error is so many times the wanted
# one, because contact is away from them.
EDGE_RADIUS = 4.0
EDGE_RELAXATION = 4.0
# An edge has an influence within this distance, mm, along the surface.
EDGE_REACH = 1.0
# Largest error of the normal where curvature is smooth.
NORMAL_ERROR_DEG = 0.02
# Into a sharp edge the band is only this part of the edge's radius deep: level surfaces turn more
# sharply with depth until they break, and no smooth table represents them.
DEPTH_OF_RADIUS = 0.3
# Points along either side of the raster on which sharp edges are searched for.
RASTER = 300


@dataclass(frozen=True)
class TableQuality:
    """Error and size of a distance table."""

    wanted_error_um: float
    max_error_um: float  # of the distance, away from sharp edges
    max_edge_error_um: float  # of the distance, within `EDGE_REACH` of sharp edges
    rms_error_um: float
    max_normal_error_deg: float
    smooth_normal_error_deg: float  # away from jumps of curvature and sharp edges
    covered_percent: float  # of the band; the rest is along the patch's borders
    spacing_turn_mm: float  # of the nodes along the angle, at the mean radius
    spacing_across_mm: float  # along z
    spacing_out_mm: float  # along the radius
    memory_mb: float

    def faults(self) -> tuple[str, ...]:
        """Sentences on the criteria that are missed, each with its cure."""
        found, wanted = [], self.wanted_error_um
        raising = f"raise table.distance_error_um (now {wanted:g} um)"
        if self.max_error_um > wanted:
            found.append(f"its distances err by {self.max_error_um:.3g} um: {raising}")
        if self.max_edge_error_um > EDGE_RELAXATION * wanted:
            found.append(
                f"its distances at edges rounded below {EDGE_RADIUS:g} mm err by "
                f"{self.max_edge_error_um:.3g} um: {raising}, end the femoral region before them, "
                "or make the surface smoother if the edge is not real (smoothing_length_mm)"
            )
        if self.smooth_normal_error_deg > NORMAL_ERROR_DEG:
            found.append(
                f"its normals err by {self.smooth_normal_error_deg:.3g} deg, at most "
                f"{NORMAL_ERROR_DEG:g} deg are accepted with any table.distance_error_um: lower "
                "that, or make the surface smoother (smoothing_length_mm, knot_spacing_mm)"
            )
        return tuple(found)

    def excess(self) -> float:
        """Largest error as a multiple of the accepted one."""
        return max(
            self.max_error_um / self.wanted_error_um,
            self.max_edge_error_um / (EDGE_RELAXATION * self.wanted_error_um),
            self.smooth_normal_error_deg / NORMAL_ERROR_DEG,
        )


@dataclass(frozen=True)
class DistanceTable:
    """Signed distance in a band along one condyle, as a tricubic B-spline.

    The grid runs along angle, radius and z about the axis of the circle that fits the condyle best.
    A condyle is nearly a body of revolution, so few nodes suffice along the angle; only the spacing
    along z has to be fine, where the curvature of the profile jumps (the error of a cubic spline
    there is 0.032 times the jump times the spacing squared). Each column crosses the band once, so
    a table is a list of runs. The interpolant is twice continuously differentiable.
    """

    arrays: _distance_kernels.DistanceArrays  # grid and coefficients, read-only
    depth: float  # how far the band reaches into the metal, mm
    outside: float  # and out of it
    quality: TableQuality

    def __post_init__(self) -> None:
        arrays = self.arrays
        # Kernels would compile again for arrays that are read-only.
        object.__setattr__(self, "_writable", arrays)
        object.__setattr__(self, "arrays", read_only_record(arrays))

    @property
    def kernel_arrays(self) -> _distance_kernels.DistanceArrays:
        """Grid and coefficients as kernels read them."""
        writable: _distance_kernels.DistanceArrays = self.__dict__["_writable"]
        return writable

    def look_up(self, points: Array) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
        """Distance and its derivatives at points (n, 3) in the femoral frame, mm.

        Returned are the signed distance, mm, positive outside the metal; its gradient (n, 3), the
        normal, of unit length within the error of the table; its second derivatives (n, 3, 3),
        1/mm; and where the table has values: the others are NaN elsewhere.
        """
        count = len(points)
        found, coordinates = np.empty((10, count)), np.empty((4, count))
        state = np.empty(count, dtype=np.int64)
        columns = np.ascontiguousarray(np.asarray(points, dtype=float).T)
        _distance_kernels.look_up_projections(
            self.kernel_arrays, columns, 0, count, coordinates, state, found
        )
        inside = state == _distance_kernels.TABLED
        found[:, ~inside] = np.nan
        hessian = found.T[:, [4, 7, 8, 7, 5, 9, 8, 9, 6]].reshape(-1, 3, 3)
        return found[0].copy(), np.ascontiguousarray(found[1:4].T), hessian, inside


def measure_table(
    surface: Surface, table: DistanceTable, wanted_error: float, count: int
) -> TableQuality:
    """Quality of a table of a surface at random points of its band; `wanted_error` in mm."""
    arrays = table.arrays
    u, v, height, edge = band_samples(surface, table.depth, table.outside, count, seed=2)
    normal = surface.normal(u, v)
    distance, gradient, _, inside = table.look_up(surface.evaluate(u, v) + height[:, None] * normal)
    smooth = ~(edge | _near_jump(surface, u, v, 6 / float(arrays.rate[1])))[inside]
    error, edge = np.abs(distance - height)[inside], edge[inside]
    angle = _angle(gradient[inside], normal[inside])
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
    """Errors of a distance table over its condyle, at positions (n_u, n_v).

    `angle` about the table's axis and the error of the normal in rad, z (`across`) and the error of
    the distance in mm; NaN where nothing is tabulated.
    """

    angle: Array
    across: Array
    distance_error: Array
    normal_error: Array


def map_errors(
    surface: Surface, table: DistanceTable, size: tuple[int, int] = (160, 400), layers: int = 5
) -> ErrorMap:
    """Errors of a table on its condyle, maximum over heights of the band."""
    u, v = np.meshgrid(
        *(np.linspace(low, high, n) for (low, high), n in zip(surface.domain, size, strict=True)),
        indexing="ij",
    )
    points, normal = surface.evaluate(u, v), surface.normal(u, v)
    deepest = local_depth(-surface.curvature(u, v)[0], table.depth)
    errors = np.full((2, layers, *size), np.nan)
    for layer, part in enumerate(np.linspace(0.0, 1.0, layers)):
        height = (table.outside + deepest) * part - deepest
        raised = points + height[..., None] * normal
        distance, gradient, _, _ = table.look_up(raised.reshape(-1, 3))
        errors[0, layer] = np.abs(distance.reshape(size) - height)
        errors[1, layer] = _angle(gradient.reshape(*size, 3), normal)
    known = ~np.isnan(errors)
    worst = np.where(known.any(axis=1), np.max(np.where(known, errors, 0.0), axis=1), np.nan)
    away = points[..., :2] - table.arrays.axis
    angle = np.arctan2(away[..., 0], -away[..., 1])
    return ErrorMap(angle, points[..., 2], worst[0], worst[1])


def _angle(gradient: Array, normal: Array) -> Array:
    """Angle between vectors (..., 3), rad."""
    return np.asarray(
        np.arctan2(
            np.linalg.norm(np.cross(gradient, normal), axis=-1), (gradient * normal).sum(axis=-1)
        )
    )


def _near_jump(
    surface: Surface, u: Array, v: Array, reach: float, least: float = 1e-3
) -> NDArray[np.bool_]:
    """True where curvature jumps (by `least`, 1/mm) at a joint of pieces within `reach`, mm."""
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
        before, after = (np.stack(surface.curvature(*one)) for one in sides)
        jump = np.abs(after - before).max(axis=0)
        away = np.abs(value - nearest) * np.linalg.norm(along[number], axis=-1)
        near |= (jump > least) & (away < reach)
    return near


def band_samples(
    surface: Surface, depth: float, outside: float, count: int, seed: int
) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
    """Random points of a band, every other one near a line where the patch's pieces join or end.

    Returned are the parameters u and v of their projections, the signed height along the normal, mm
    (not as deep where the surface turns sharply), and whether the projection is within `EDGE_REACH`
    of an edge sharper than `EDGE_RADIUS`; each of shape (count,).
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
    height *= np.where(height > 0, outside, local_depth(convex, depth))
    return u, v, height, _near_edge(surface, surface.evaluate(u, v))


def _near_edge(surface: Surface, points: Array) -> NDArray[np.bool_]:
    """True where points of a patch lie within EDGE_REACH of a sharp edge or groove."""
    raster = (np.linspace(*ends, RASTER) for ends in surface.domain)
    u, v = np.meshgrid(*raster, indexing="ij")
    sharp = np.abs(np.stack(surface.curvature(u, v))).max(axis=0) > 1.0 / EDGE_RADIUS
    if not sharp.any():
        return np.zeros(len(points), dtype=bool)
    away, _ = scipy.spatial.cKDTree(surface.evaluate(u[sharp], v[sharp])).query(
        points, distance_upper_bound=EDGE_REACH
    )
    return np.isfinite(away)


def local_depth(convex: Array, depth: float) -> Array:
    """Depth of the band, mm, under points whose largest convex curvature (1/mm) is given."""
    return np.minimum(depth, DEPTH_OF_RADIUS / np.maximum(convex, 1e-9))
