"""The plane that carries the cells of a bearing, and from which its elements are projected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from kneewear.geometry import _kernels
from kneewear.geometry.surface import Surface

Array = NDArray[np.float64]
Projection = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Plane:
    """Plane through the origin with rows and columns of cells, and the lines perpendicular to it.

    `direction` (not zero) is the plane's normal, up, which leaves the material of the bearing. The
    directions of rows and columns are +x and +z, rotated the shortest way that takes +y to the
    normal; a position in the plane has a coordinate along each, mm, called the plan.
    """

    direction: tuple[float, float, float] = (0.0, 1.0, 0.0)

    def __post_init__(self) -> None:
        if not np.linalg.norm(self.direction) > 0.0:
            raise ValueError("a plane needs a direction that is not zero")

    @cached_property
    def frame(self) -> Array:
        """Rows' direction, up and columns' direction as rows of a matrix."""
        return upright_frame(self.direction)

    def plan(self, points: Array) -> Array:
        """Positions in the plane of points (..., 3), mm, shape (..., 2)."""
        return points @ self.frame[[0, 2]].T

    def height(self, points: Array) -> Array:
        """Heights of points (..., 3) above the plane, mm."""
        return points @ self.frame[1]

    def projection(self, surface: Surface) -> Projection:
        """Function from positions (n, 2) to the parameters u, v at which their lines meet a patch.

        Where a line misses the patch, parameters on its border are returned.
        """
        sample_u, sample_v = surface.sample_parameters
        tree = scipy.spatial.cKDTree(self.plan(surface.sample_points))

        def project(plan: Array) -> tuple[Array, Array]:
            _, nearest = tree.query(plan)
            u, v = sample_u[nearest], sample_v[nearest]
            origins = np.ascontiguousarray(plan @ self.frame[[0, 2]])
            directions = np.ascontiguousarray(np.broadcast_to(self.frame[1], origins.shape))
            met = np.empty(u.size, dtype=bool)
            _kernels.meet_many(surface.arrays, origins, directions, u, v, met)
            if not met.all():
                # Near a pole or the seam of the patch the search may start on the wrong side.
                missed = np.flatnonzero(~met)
                ray_u, ray_v, _, hit = surface.ray_hits(origins[missed], directions[missed])
                u[missed[hit]], v[missed[hit]] = ray_u[hit], ray_v[hit]
            return u, v

        return project


def upright_frame(direction: ArrayLike) -> Array:
    """Axes rotated the shortest way that takes +y to a direction, as the rows of a matrix.

    Straight down rotates about z; +y gives exactly the unit matrix.
    """
    x, y, z = np.asarray(direction, dtype=float) / np.linalg.norm(direction)
    if y < -1.0 + 1e-12:
        return np.diag([-1.0, -1.0, 1.0])
    return np.array(
        [
            [1.0 - x * x / (1.0 + y), -x, -x * z / (1.0 + y)],
            [x, y, z],
            [-x * z / (1.0 + y), -z, 1.0 - z * z / (1.0 + y)],
        ]
    )
