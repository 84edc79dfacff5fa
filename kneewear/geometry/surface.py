"""Bearing surfaces: single untrimmed NURBS patches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from kneewear.geometry import _kernels
from kneewear.mechanics.arrays import make_read_only

Array = NDArray[np.float64]

# Minimum number of cells of bounding boxes in each direction.
_MIN_CELLS = 8
# Margin of the boxes for rounding, mm.
_BOX_MARGIN = 1e-9
# Borders nearer to each other than this, mm, are one: rounding.
_SEAM_GAP = 1e-6


@dataclass(frozen=True)
class Surface:
    """A single untrimmed NURBS patch whose normal S_u x S_v points out of the material.

    `control_points` (n_u, n_v, 3), mm, have positive `weights` (n_u, n_v), all one for a plain
    B-spline; `knots_u` (n_u + degree_u + 1,) and `knots_v` are clamped and ascending; ValueError
    otherwise (Piegl and Tiller 1997, The NURBS Book, doi:10.1007/978-3-642-59223-2).
    """

    control_points: Array
    weights: Array
    knots_u: Array
    knots_v: Array
    degree_u: int
    degree_v: int

    def __post_init__(self) -> None:
        n_u, n_v = self.control_points.shape[:2]
        if self.weights.shape != (n_u, n_v) or not (self.weights > 0).all():
            raise ValueError("weights must be positive, one per control point")
        along_u = n_u, self.knots_u, self.degree_u
        for count, knots, degree in (along_u, (n_v, self.knots_v, self.degree_v)):
            size = count + degree + 1
            clamped = np.ptp(knots[: degree + 1]) == 0 and np.ptp(knots[-degree - 1 :]) == 0
            if knots.size != size or (np.diff(knots) < 0).any() or not clamped:
                raise ValueError(f"a clamped ascending knot vector of {size} values is needed")
        make_read_only(self, ("control_points", "weights", "knots_u", "knots_v"))

    @property
    def domain(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Parameter range along u and along v."""
        u, v = self.knots_u, self.knots_v
        return (float(u[0]), float(u[-1])), (float(v[0]), float(v[-1]))

    @cached_property
    def arrays(self) -> _kernels.PatchArrays:
        """Polynomial pieces, as kernels read them."""
        breaks_u, powers_u = _basis_powers(self.knots_u, self.degree_u)
        breaks_v, powers_v = _basis_powers(self.knots_v, self.degree_v)
        homogeneous = np.concatenate(
            [self.control_points * self.weights[..., None], self.weights[..., None]], axis=-1
        )
        pieces = np.einsum("ika,jlb,abc->ijklc", powers_u, powers_v, homogeneous, optimize=True)
        rational = bool(np.ptp(self.weights) > 0)
        if not rational:
            pieces = pieces / self.weights[0, 0]
        return _kernels.PatchArrays(
            breaks_u, breaks_v, np.ascontiguousarray(pieces), rational, self._closed
        )

    @cached_property
    def _closed(self) -> int:
        """Which borders of the patch join each other or shrink to a pole, as kernels read it."""
        closed = _kernels.OPEN
        for axis in (0, 1):
            points, weights = (np.moveaxis(a, axis, 0) for a in (self.control_points, self.weights))
            ends = points[[0, -1]]
            small = [bool((np.abs(end - end[0]) < _SEAM_GAP).all()) for end in ends]
            for end in (0, 1):
                closed += small[end] * _kernels.POLE_U0 << (2 * axis + end)
            ratio = weights[0] / weights[-1]
            joined = (np.abs(ends[0] - ends[1]) < _SEAM_GAP).all() and np.ptp(ratio) < 1e-9
            if joined and not all(small):
                closed += _kernels.SEAM_U << axis
        return closed

    def off_poles(
        self, u: ArrayLike, v: ArrayLike, part: float = 1e-7
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Parameters moved off the poles of the patch by a part of its domain at least."""
        moved = []
        for axis, values in enumerate((u, v)):
            low, high = self.domain[axis]
            ends = [bool(self._closed & (_kernels.POLE_U0 << (2 * axis + end))) for end in (0, 1)]
            step = part * (high - low)
            limits = low + step * ends[0], high - step * ends[1]
            moved.append(np.clip(np.asarray(values, dtype=float), *limits) if any(ends) else values)
        return np.asarray(moved[0], dtype=float), np.asarray(moved[1], dtype=float)

    @cached_property
    def _samples(self) -> tuple[Array, Array, scipy.spatial.cKDTree]:
        """Parameters of a regular sampling and the tree of its points."""
        u, v = (np.append(span_parts(b, 4, 0.0), b[-1]) for b in self.arrays[:2])
        grid_u, grid_v = (a.ravel() for a in np.meshgrid(u, v, indexing="ij"))
        return grid_u, grid_v, scipy.spatial.cKDTree(self.evaluate(grid_u, grid_v))

    @property
    def sample_points(self) -> Array:
        """Points of a regular sampling, four per knot span, shape (n, 3)."""
        return np.asarray(self._samples[2].data)

    @property
    def sample_parameters(self) -> tuple[Array, Array]:
        """Parameters u and v of the sample points, each of shape (n,)."""
        return self._samples[0], self._samples[1]

    def border_points(self, count: int = 200) -> Array:
        """Points of the borders that are neither a seam nor a pole, `count` each, shape (n, 3)."""
        (u0, u1), (v0, v1) = self.domain
        along = np.linspace(0.0, 1.0, count)
        points = [np.empty((0, 3))]
        for axis in (0, 1):
            for end in (0, 1):
                pole = self._closed & (_kernels.POLE_U0 << (2 * axis + end))
                if pole or self._closed & (_kernels.SEAM_U << axis):
                    continue
                at = [along, along]
                at[axis] = np.full(count, float(end))
                points.append(self.evaluate(u0 + (u1 - u0) * at[0], v0 + (v1 - v0) * at[1]))
        return np.concatenate(points)

    def derivatives(self, u: ArrayLike, v: ArrayLike) -> tuple[Array, ...]:
        """Point, first and second derivatives (S, Su, Sv, Suu, Suv, Svv), each of shape (..., 3).

        Parameters u and v lie inside the domain and are broadcast together.
        """
        u, v = np.broadcast_arrays(np.asarray(u, dtype=float), np.asarray(v, dtype=float))
        out = np.empty((6, u.size, 3))
        _kernels.evaluate_many(self.arrays, u.ravel(), v.ravel(), out)
        return tuple(part.reshape(*u.shape, 3) for part in out)

    def evaluate(self, u: ArrayLike, v: ArrayLike) -> Array:
        """Points, mm, at parameters u and v (broadcast together), shape (..., 3)."""
        return self.derivatives(u, v)[0]

    def normal(self, u: ArrayLike, v: ArrayLike) -> Array:
        """Outward unit normals at parameters u and v, shape (..., 3); at a pole the limit."""
        _, along_u, along_v, *_ = self.derivatives(*self.off_poles(u, v))
        normal = np.cross(along_u, along_v)
        return normal / np.linalg.norm(normal, axis=-1, keepdims=True)

    def curvature(self, u: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """Smaller and larger principal curvature at parameters u and v (broadcast together), 1/mm.

        Positive where the surface is concave: a convex condyle of radius R has -1/R.
        """
        _, s_u, s_v, s_uu, s_uv, s_vv = self.derivatives(*self.off_poles(u, v, 1e-4))
        normal = np.cross(s_u, s_v)
        normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
        e, f, g = ((a * b).sum(-1) for a, b in ((s_u, s_u), (s_u, s_v), (s_v, s_v)))
        b_uu, b_uv, b_vv = ((normal * s).sum(-1) for s in (s_uu, s_uv, s_vv))
        determinant = e * g - f * f
        gauss = (b_uu * b_vv - b_uv**2) / determinant
        mean = 0.5 * (e * b_vv - 2 * f * b_uv + g * b_uu) / determinant
        spread = np.sqrt(np.maximum(mean**2 - gauss, 0.0))
        return mean - spread, mean + spread

    def closest_points(self, points: ArrayLike) -> tuple[Array, Array, Array, Array, NDArray[Any]]:
        """Nearest points of the patch to points (n, 3), mm.

        Returned are their parameters u and v, the signed distance, mm, positive outside the
        material, the outward unit normal there, shape (n, 3), and whether the connecting line is
        perpendicular to the patch (False where the nearest point is on the patch's border).
        """
        points = np.ascontiguousarray(points, dtype=float)
        grid_u, grid_v, tree = self._samples
        _, nearest = tree.query(points)
        u, v = grid_u[nearest], grid_v[nearest]
        projections = np.empty((len(points), 10))
        status = np.empty(len(points), dtype=np.int64)
        _kernels.project_many(self.arrays, points, u, v, projections, status)
        return u, v, projections[:, 0], projections[:, 1:4], status == _kernels.INTERIOR

    def ray_hits(
        self, origins: ArrayLike, directions: ArrayLike
    ) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
        """Where rays from origins (n, 3), mm, along directions (n, 3) or (3,) first meet the patch.

        Returned are the parameters u and v of the intersections (NaN where there is none), the
        distance from the origin, mm, never negative (inf where a ray misses), and whether the ray
        meets the patch, from either side. A direction of length zero raises a ValueError. Bounding
        boxes of the control points of the patch's pieces are searched from near to far; in each,
        Newton's method starts from the middle.
        """
        origins = np.ascontiguousarray(origins, dtype=float)
        directions = np.broadcast_to(np.asarray(directions, dtype=float), origins.shape)
        length = np.linalg.norm(directions, axis=-1, keepdims=True)
        if not (length > 0).all():
            raise ValueError("a ray needs a direction that is not zero")
        u, v = np.full(len(origins), np.nan), np.full(len(origins), np.nan)
        distance = np.empty(len(origins))
        unit = np.ascontiguousarray(directions / length)
        _kernels.ray_many(self.arrays, self._boxes, origins, unit, u, v, distance)
        hit = np.isfinite(distance)
        return u, v, np.where(hit, np.maximum(distance, 0.0), np.inf), hit

    @cached_property
    def _boxes(self) -> _kernels.BoxTree:
        """Bounding boxes of the pieces of the patch and of their groups."""
        breaks_u, breaks_v, pieces, *_ = self.arrays
        parts = [max(1, -(-_MIN_CELLS // (breaks.size - 1))) for breaks in (breaks_u, breaks_v)]
        hulls = [
            _to_bernstein(degree, part)
            for degree, part in zip((self.degree_u, self.degree_v), parts, strict=True)
        ]
        points = np.einsum("pak,qbl,ijklc->ipjqabc", *hulls, pieces, optimize=True)
        points = points[..., :3] / (points[..., 3:] if self.arrays.rational else 1.0)
        rows, columns = (breaks_u.size - 1) * parts[0], (breaks_v.size - 1) * parts[1]
        points = points.reshape(rows, columns, -1, 3)
        low, high = points.min(axis=2) - _BOX_MARGIN, points.max(axis=2) + _BOX_MARGIN
        levels = [np.concatenate([low, high], axis=-1)]
        while levels[-1].shape[:2] != (1, 1):
            levels.append(_joined_boxes(levels[-1]))
        starts = np.cumsum([0, *(level.shape[0] * level.shape[1] for level in levels[:-1])])
        return _kernels.BoxTree(
            np.concatenate([level.reshape(-1, 6) for level in levels]),
            starts.astype(np.int64),
            np.array([level.shape[0] for level in levels], dtype=np.int64),
            np.array([level.shape[1] for level in levels], dtype=np.int64),
            span_parts(breaks_u, parts[0]),
            span_parts(breaks_v, parts[1]),
        )

    def transformed(self, rotation: ArrayLike, translation: ArrayLike) -> Surface:
        """The patch after a rigid motion: each point p becomes rotation @ p + translation."""
        moved = self.control_points @ np.asarray(rotation, dtype=float).T
        return replace(self, control_points=moved + np.asarray(translation, dtype=float))

    def mirrored(self) -> Surface:
        """The patch of the other knee: x changes sign, the normal stays outward."""
        flipped = replace(self, control_points=self.control_points * np.array([-1.0, 1.0, 1.0]))
        return flipped.reversed_normal()

    def reversed_normal(self) -> Surface:
        """The same patch with u reversed, so that the normal changes sign."""
        return self._reversed(0, "knots_u")

    def reversed_across(self) -> Surface:
        """The same patch with v reversed, so that the normal changes sign."""
        return self._reversed(1, "knots_v")

    def _reversed(self, axis: int, name: str) -> Surface:
        knots = getattr(self, name)
        changed: dict[str, Any] = {
            "control_points": np.ascontiguousarray(np.flip(self.control_points, axis)),
            "weights": np.ascontiguousarray(np.flip(self.weights, axis)),
            name: np.ascontiguousarray(knots[0] + knots[-1] - knots[::-1]),
        }
        return replace(self, **changed)


def _basis_powers(knots: Array, degree: int) -> tuple[Array, Array]:
    """Breaks, and power coefficients of every basis function on every span.

    The second result has shape (n_spans, degree + 1, n_control); the local coordinate of a span
    runs from -1/2 to 1/2.
    """
    breaks = np.unique(knots)
    middle = 0.5 * (breaks[1:] + breaks[:-1])[:, None]
    width = np.diff(breaks)[:, None, None]
    # The recursion of Cox and de Boor on coefficients. SciPy's B-splines take 0.4 s to load.
    powers = np.zeros((middle.size, degree + 1, knots.size - 1))
    powers[:, 0] = (knots[:-1] < middle) & (middle < knots[1:])
    for order in range(1, degree + 1):
        span = knots[order:] - knots[:-order]
        share = np.divide(1.0, span, out=np.zeros_like(span), where=span > 0.0)
        rising = powers * ((middle - knots[:-order]) * share)[:, None]
        rising[:, 1:] += powers[:, :-1] * (width * share)
        powers = rising[..., :-1] + (powers - rising)[..., 1:]
    return breaks, powers


def _to_bernstein(degree: int, parts: int) -> Array:
    """Bernstein coefficients of equal parts of a span (-1/2 to 1/2) from powers about its middle.

    Shape (parts, degree + 1, degree + 1); both bases are equated at degree + 1 points of each part.
    """
    power = np.arange(degree + 1)
    at = np.linspace(0.0, 1.0, degree + 1)[:, None]
    binomial = [comb(degree, k) for k in power]
    bernstein = binomial * at**power * (1.0 - at) ** (degree - power)
    values = ((np.arange(parts)[:, None, None] + at) / parts - 0.5) ** power
    return np.asarray(np.linalg.solve(bernstein, values), dtype=float)


def _joined_boxes(boxes: Array) -> Array:
    """Bounding boxes of every two by two."""
    rows, columns = boxes.shape[:2]
    padded = np.pad(boxes, ((0, rows % 2), (0, columns % 2), (0, 0)), mode="edge")
    quads = padded.reshape(-(-rows // 2), 2, -(-columns // 2), 2, 6)
    low, high = quads[..., :3].min(axis=(1, 3)), quads[..., 3:].max(axis=(1, 3))
    return np.concatenate([low, high], axis=-1)


def span_parts(breaks: Array, count: int, position: float = 0.5) -> Array:
    """Values at one position (0 start, 1 end) of equal parts of each span."""
    fraction = (np.arange(count) + position) / count
    return (breaks[:-1, None] + np.diff(breaks)[:, None] * fraction).ravel()
