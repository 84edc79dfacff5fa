"""Surfaces of several patches: nearest points and rays without holes at seams."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from kneewear.geometry.surface import Surface

Array = NDArray[np.float64]

# Number of nearest samples of all patches whose owners may hold the nearest point.
_NEAREST = 12


@dataclass(frozen=True)
class PatchSet:
    """Several untrimmed patches that form one surface."""

    patches: tuple[Surface, ...]  # normals on the same side
    tolerance: float = 1e-3  # distance up to which borders are joined, mm

    def closest_points(
        self, points: ArrayLike
    ) -> tuple[NDArray[np.int64], Array, Array, Array, Array, NDArray[np.bool_]]:
        """Nearest points of the whole surface, from points of shape (n, 3), mm.

        The patch each of them is on, and u, v, signed_distance, normal and interior as
        `Surface.closest_points` on that patch; on a seam `interior` is true.
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
        """First intersections of rays with the surface, see `Surface.ray_hits`.

        The patch that is hit (-1 for none), and u, v, distance and hit on that patch.
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
        """True if parameters are those of a corner of their patch."""
        domains = np.array([patch.domain for patch in self.patches])[own]
        away = np.abs(np.stack([u, v], axis=-1)[..., None] - domains).min(axis=2)
        return np.asarray((away < 1e-9 * np.ptp(domains, axis=2)).all(axis=1))


def _apart(surface: Surface, points: Array) -> Array:
    """Distance of points from a patch, its border included, mm."""
    u, v, *_ = surface.closest_points(points)
    return np.linalg.norm(points - surface.evaluate(u, v), axis=1)
