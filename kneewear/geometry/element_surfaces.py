"""Simple surfaces on which cells are laid and from which elements are projected onto a bearing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from kneewear.geometry import _kernels
from kneewear.geometry.surface import Surface

Array = NDArray[np.float64]
Projection = Callable[[Array], tuple[Array, Array]]


class ElementSurface(ABC):
    """Rows and columns of cells on a simple surface, and lines across it that meet a bearing.

    Places on it are counted by two coordinates, mm, called the plan: one along the rows' direction
    and one along the columns'. One line runs across the surface at every place; up is the way along
    it that leaves the material of the bearing. Rows' direction x up = columns' direction.
    """

    @property
    @abstractmethod
    def turnable(self) -> bool:
        """Whether rows may be turned from the rows' direction to save area."""

    @abstractmethod
    def plan(self, points: Array) -> Array:
        """Places over which points (..., 3) lie, shape (..., 2), mm."""

    @abstractmethod
    def up(self, points: Array) -> Array:
        """Unit vectors along the lines through points (..., 3), out of the material."""

    @abstractmethod
    def along_rows(self, points: Array) -> Array:
        """Unit vectors of the rows' direction on the lines through points (..., 3)."""

    @abstractmethod
    def height(self, points: Array) -> Array:
        """Coordinate of points (..., 3) along their lines, mm, growing upward."""

    @abstractmethod
    def stretch(self, points: Array) -> Array:
        """Area that the lines of a unit of plan area cut from a surface square to them."""

    @abstractmethod
    def projection(self, surface: Surface) -> Projection:
        """Function from places (n, 2) to the parameters u, v at which their lines meet a patch.

        Where a line misses the patch, parameters on its border are given.
        """


@dataclass(frozen=True)
class Plane(ElementSurface):
    """A plane through the origin; lines run square to it.

    Parameters
    ----------
    direction : sequence of 3 floats
        Up, of any length but zero: +y for a plateau, +x for the posterior face of a post. The
        rows' and columns' directions are +x and +z, turned the shortest way that takes +y there.

    Raises
    ------
    ValueError
        If the direction is zero.
    """

    direction: tuple[float, float, float] = (0.0, 1.0, 0.0)

    def __post_init__(self) -> None:
        if not np.linalg.norm(self.direction) > 0.0:
            raise ValueError("a plane needs a direction that is not zero")

    @property
    def turnable(self) -> bool:
        """True."""
        return True

    @cached_property
    def frame(self) -> Array:
        """Rows' direction, up and columns' direction as the rows of a matrix."""
        return upright_frame(self.direction)

    def plan(self, points: Array) -> Array:
        """Places under points, mm."""
        return points @ self.frame[[0, 2]].T

    def up(self, points: Array) -> Array:
        """The plane's direction."""
        return np.broadcast_to(self.frame[1], points.shape)

    def along_rows(self, points: Array) -> Array:
        """The rows' direction, the same everywhere."""
        return np.broadcast_to(self.frame[0], points.shape)

    def height(self, points: Array) -> Array:
        """Height above the plane, mm."""
        return points @ self.frame[1]

    def stretch(self, points: Array) -> Array:
        """One: the lines are parallel."""
        return np.ones(points.shape[:-1])

    def projection(self, surface: Surface) -> Projection:
        """Where lines square to the plane meet a patch."""
        turned = surface.transformed(self.frame, np.zeros(3))
        nearest = _nearest_sample(turned, turned.sample_points[:, [0, 2]])

        def project(plan: Array) -> tuple[Array, Array]:
            u, v = nearest(plan)
            x, z = np.ascontiguousarray(plan[:, 0]), np.ascontiguousarray(plan[:, 1])
            _kernels.drop_many(turned.arrays, x, z, u, v, np.empty(u.size, dtype=bool))
            return u, v

        return project


def upright_frame(direction: ArrayLike) -> Array:
    """Axes turned the shortest way that takes +y to a direction, as the rows of a matrix.

    Parameters
    ----------
    direction : array, shape (3,)
        Of any length but zero; straight down turns about z.

    Returns
    -------
    array, shape (3, 3)
        Where +x, +y and +z have gone; the unit matrix, to the last bit, for +y.
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


def _nearest_sample(surface: Surface, plan: Array) -> Projection:
    """Function from places to the parameters of the sample of a patch that lies nearest in plan."""
    u, v = surface.sample_parameters
    tree = cKDTree(plan)

    def look_up(places: Array) -> tuple[Array, Array]:
        _, number = tree.query(places)
        return u[number], v[number]

    return look_up
