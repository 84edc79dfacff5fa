"""Surfaces of several patches: splitting, neighbours, queries without holes at seams."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import BSpline
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from kneewear.geometry.surface import Surface

Array = NDArray[np.float64]

EDGES = ("u_low", "u_high", "v_low", "v_high")
# Points along a border at which neighbours are determined.
_BORDER_POINTS = 33
# Number of nearest samples of all patches whose owners may hold the nearest point.
_NEAREST = 12


@dataclass(frozen=True)
class Seam:
    """Part of one patch's border that lies on another patch.

    Parameters
    ----------
    patch : int
        Number of the patch.
    edge : str
        One of "u_low", "u_high", "v_low", "v_high".
    neighbour : int
        Number of the patch it lies on.
    share : float
        Fraction of the border that lies there.
    gap : float
        Largest distance between the two along it, mm.
    """

    patch: int
    edge: str
    neighbour: int
    share: float
    gap: float


class _Border(NamedTuple):
    """One edge of one patch, sampled."""

    patch: int
    edge: str
    points: Array  # (n, 3), mm
    distances: dict[int, Array]  # to each patch nearby, mm


@dataclass(frozen=True)
class PatchSet:
    """Several untrimmed patches that form one surface.

    Parameters
    ----------
    patches : tuple of Surface
        The patches, normals on the same side.
    tolerance : float
        Distance up to which borders are joined, mm.
    """

    patches: tuple[Surface, ...]
    tolerance: float = 1e-3

    @cached_property
    def seams(self) -> tuple[Seam, ...]:
        """Every border part that lies on a neighbour, in both directions."""
        found = []
        for border in self._borders:
            for other, distance in border.distances.items():
                on = distance <= self.tolerance
                # A corner alone is no seam.
                if (on[1:] & on[:-1]).any():
                    gap = float(distance[on].max())
                    found.append(Seam(border.patch, border.edge, other, float(on.mean()), gap))
        return tuple(found)

    def hole_count(self) -> int:
        """Number of closed free borders beyond the outline of each connected group of patches."""
        joined = np.array([(seam.patch, seam.neighbour) for seam in self.seams], dtype=np.int64)
        bodies = np.unique(_labels(joined.reshape(-1, 2), len(self.patches))).size
        links = []
        for number, border in enumerate(self._borders):
            free = np.ones(_BORDER_POINTS, dtype=bool)
            for distance in border.distances.values():
                free &= distance > self.tolerance
            # A corner lies on a neighbour; it is free if the next point of the border is.
            free[0], free[-1] = free[1], free[-2]
            start = number * _BORDER_POINTS + np.flatnonzero(free[1:] & free[:-1])
            links.append(np.column_stack([start, start + 1]))
        points = np.concatenate([border.points for border in self._borders])
        meeting = cKDTree(points).query_pairs(self.tolerance, output_type="ndarray")
        free_links = np.concatenate(links)
        label = _labels(np.concatenate([free_links, meeting]), len(points))
        return int(np.unique(label[np.unique(free_links)]).size - bodies)

    def closest_points(
        self, points: ArrayLike
    ) -> tuple[NDArray[np.int64], Array, Array, Array, Array, NDArray[np.bool_]]:
        """Nearest points of the whole surface.

        Parameters
        ----------
        points : array, shape (n, 3)
            Points, mm.

        Returns
        -------
        patch : int array, shape (n,)
            Number of the patch the nearest point lies on.
        u, v, signed_distance, normal, interior
            As `Surface.closest_points`, on that patch. On a seam `interior` is true.
        """
        points = np.ascontiguousarray(points, dtype=float)
        owners, tree = self._samples
        count = min(_NEAREST, owners.size)
        candidates = owners[tree.query(points, k=count)[1].reshape(len(points), count)]
        patch = np.zeros(len(points), dtype=np.int64)
        u, v, signed = (np.full(len(points), np.nan) for _ in range(3))
        normal = np.full((len(points), 3), np.nan)
        interior = np.zeros(len(points), dtype=bool)
        least = np.full(len(points), np.inf)
        for number in np.unique(candidates):
            rows = np.flatnonzero((candidates == number).any(axis=1))
            at_u, at_v, distance, outward, inside = self.patches[number].closest_points(
                points[rows]
            )
            offset = points[rows] - self.patches[number].evaluate(at_u, at_v)
            length = np.linalg.norm(offset, axis=1)
            # A projection inside a patch takes precedence over the same point on a border.
            better = length < least[rows] - np.where(inside, 0.0, 1e-9)
            taken = rows[better]
            least[taken], patch[taken] = length[better], number
            u[taken], v[taken], normal[taken] = at_u[better], at_v[better], outward[better]
            side = np.where(distance >= 0.0, 1.0, -1.0)
            signed[taken] = np.where(inside, distance, side * length)[better]
            interior[taken] = inside[better]
        beside = np.flatnonzero(~interior)
        if beside.size:
            nearest = points[beside]
            for number in np.unique(patch[beside]):
                rows = patch[beside] == number
                nearest[rows] = self.patches[number].evaluate(u[beside][rows], v[beside][rows])
            corner = self._at_corner(u[beside], v[beside], patch[beside])
            # A corner with a single neighbour is on the free border.
            interior[beside] = self._meeting(nearest, patch[beside]) > np.where(corner, 1, 0)
        return patch, u, v, signed, normal, interior

    def ray_hits(
        self, origins: ArrayLike, directions: ArrayLike
    ) -> tuple[NDArray[np.int64], Array, Array, Array, NDArray[np.bool_]]:
        """First intersections of rays with the surface.

        Parameters
        ----------
        origins, directions : array, shape (n, 3)
            As `Surface.ray_hits`.

        Returns
        -------
        patch : int array, shape (n,)
            Number of the patch hit; -1 for none.
        u, v, distance, hit
            As `Surface.ray_hits`, on that patch.
        """
        origins = np.ascontiguousarray(origins, dtype=float)
        directions = np.ascontiguousarray(np.broadcast_to(directions, origins.shape), dtype=float)
        patch = np.full(len(origins), -1)
        u, v = np.full(len(origins), np.nan), np.full(len(origins), np.nan)
        distance = np.full(len(origins), np.inf)
        for number, surface in enumerate(self.patches):
            at_u, at_v, along, _ = surface.ray_hits(origins, directions)
            better = along < distance
            patch[better], distance[better] = number, along[better]
            u[better], v[better] = at_u[better], at_v[better]
        return patch, u, v, distance, patch >= 0

    @cached_property
    def _samples(self) -> tuple[NDArray[np.int64], cKDTree]:
        """Patch of every sample, and the tree of the samples."""
        points = [patch.sample_points for patch in self.patches]
        owners = np.repeat(np.arange(len(points)), [len(part) for part in points])
        return owners, cKDTree(np.concatenate(points))

    @cached_property
    def _borders(self) -> tuple[_Border, ...]:
        """All edges, with their distances to the patches nearby."""
        return tuple(
            _Border(
                number,
                edge,
                points,
                {
                    other: _apart(self.patches[other], points)
                    for other in self._near(points, number)
                },
            )
            for number, patch in enumerate(self.patches)
            for edge in EDGES
            for points in [border_points(patch, edge, _BORDER_POINTS)]
        )

    @cached_property
    def _hulls(self) -> Array:
        """Boxes of the patches, shape (n, 2, 3)."""
        nets = [patch.control_points.reshape(-1, 3) for patch in self.patches]
        return np.array([[net.min(axis=0), net.max(axis=0)] for net in nets])

    def _near(self, points: Array, without: int) -> NDArray[np.int64]:
        """Patches whose box is near any of the points, except one."""
        low, high = points.min(axis=0) - self.tolerance, points.max(axis=0) + self.tolerance
        boxes = self._hulls
        meets = (boxes[:, 0] <= high).all(axis=1) & (boxes[:, 1] >= low).all(axis=1)
        meets[without] = False
        return np.flatnonzero(meets)

    def _meeting(self, points: Array, own: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of other patches on which points of a patch's border lie."""
        found = np.zeros(len(points), dtype=np.int64)
        for number in np.unique(own):
            rows = np.flatnonzero(own == number)
            for other in self._near(points[rows], int(number)):
                found[rows] += _apart(self.patches[other], points[rows]) <= self.tolerance
        return found

    def _at_corner(self, u: Array, v: Array, own: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether parameters are those of a corner of their patch."""
        domains = np.array([patch.domain for patch in self.patches])[own]
        away = np.abs(np.stack([u, v], axis=-1)[..., None] - domains).min(axis=2)
        return np.asarray((away < 1e-9 * np.ptp(domains, axis=2)).all(axis=1))


def border_points(surface: Surface, edge: str, count: int) -> Array:
    """Points along one border of a patch, shape (count, 3), mm."""
    (u0, u1), (v0, v1) = surface.domain
    u, v = np.linspace(u0, u1, count), np.linspace(v0, v1, count)
    at = {"u_low": u0, "u_high": u1, "v_low": v0, "v_high": v1}[edge]
    return surface.evaluate(at, v) if edge.startswith("u") else surface.evaluate(u, at)


def split_surface(surface: Surface, parts_u: int, parts_v: int) -> list[Surface]:
    """Split a surface along parameter lines by inserting knots.

    Parameters
    ----------
    surface : Surface
        Patch to split.
    parts_u, parts_v : int
        Number of equal parts in each direction.

    Returns
    -------
    list of Surface
        parts_u x parts_v patches, u slowest, with unchanged parameters.
    """
    (u0, u1), (v0, v1) = surface.domain
    homogeneous = np.concatenate(
        [surface.control_points * surface.weights[..., None], surface.weights[..., None]], axis=-1
    )
    strips = _cut(surface.knots_u, homogeneous, surface.degree_u, np.linspace(u0, u1, parts_u + 1))
    pieces = []
    for knots_u, strip in strips:
        across = _cut(
            surface.knots_v, strip.swapaxes(0, 1), surface.degree_v,
            np.linspace(v0, v1, parts_v + 1),
        )  # fmt: skip
        for knots_v, part in across:
            net = np.ascontiguousarray(part.swapaxes(0, 1))
            pieces.append(
                Surface(
                    np.ascontiguousarray(net[..., :3] / net[..., 3:]),
                    np.ascontiguousarray(net[..., 3]),
                    knots_u,
                    knots_v,
                    surface.degree_u,
                    surface.degree_v,
                )
            )
    return pieces


def _cut(knots: Array, net: Array, degree: int, cuts: Array) -> list[tuple[Array, Array]]:
    """Knots and control values of the pieces of a spline along its first axis."""
    spline = BSpline(knots, net, degree)
    for cut in cuts[1:-1]:
        # A cut within rounding of a knot is made at that knot.
        near = spline.t[np.abs(spline.t - cut).argmin()]
        knot = near if abs(near - cut) < 1e-12 * (knots[-1] - knots[0]) else cut
        missing = degree - int((spline.t == knot).sum())
        if missing > 0:
            spline = spline.insert_knot(knot, missing)
    pieces = []
    for start, end in pairwise(cuts):
        width = 1e-12 * (knots[-1] - knots[0])
        inner = spline.t[(spline.t > start + width) & (spline.t < end - width)]
        first = int((spline.t < start - width).sum())
        first = max(first - 1, 0) if start > knots[0] + width else 0
        count = inner.size + degree + 1
        low = spline.t[np.abs(spline.t - start).argmin()]
        high = spline.t[np.abs(spline.t - end).argmin()]
        ends = np.full(degree + 1, low), np.full(degree + 1, high)
        pieces.append((np.concatenate([ends[0], inner, ends[1]]), spline.c[first : first + count]))
    return pieces


def _apart(surface: Surface, points: Array) -> Array:
    """Distance of points from a patch, its border included, mm."""
    u, v, *_ = surface.closest_points(points)
    return np.linalg.norm(points - surface.evaluate(u, v), axis=1)


def _labels(links: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Group of each of `count` nodes connected by links."""
    graph = coo_array((np.ones(len(links)), tuple(links.T)), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)
