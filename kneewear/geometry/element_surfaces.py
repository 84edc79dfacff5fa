"""Simple surfaces that carry cells and from which elements are projected onto a bearing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.geometry import _kernels
from kneewear.geometry.surface import Surface

Array = NDArray[np.float64]
Projection = Callable[[Array], tuple[Array, Array]]


class ElementSurface(ABC):
    """Rows and columns of cells on a simple surface, and lines across it that meet a bearing.

    A position on it has two coordinates, mm, called the plan: one along the rows' direction and one
    along the columns'. One line crosses the surface at every position; up is the direction along it
    that leaves the material of the bearing. Rows' direction x up = columns' direction.

    Attributes
    ----------
    turnable : bool
        Whether rows may be turned from the rows' direction to save area.
    """

    turnable = True

    @property
    @abstractmethod
    def frame(self) -> Array:
        """Rows' direction, up and columns' direction (over the middle), as rows of a matrix."""

    @abstractmethod
    def plan(self, points: Array) -> Array:
        """Positions in the plan of points (..., 3), shape (..., 2), mm."""

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
        """Area that the lines of a unit of plan area cut from a surface perpendicular to them."""

    @abstractmethod
    def rates(self, points: Array) -> Array:
        """Derivative of the plan over points (..., 3), shape (..., 2, 3)."""

    @abstractmethod
    def lines(self, plan: Array) -> tuple[Array, Array]:
        """Origins and unit directions of the lines at positions (n, 2), each of shape (n, 3)."""

    def projection(self, surface: Surface) -> Projection:
        """Function from positions (n, 2) to the parameters u, v at which their lines meet a patch.

        Where a line misses the patch, parameters on its border are returned.
        """
        from scipy.spatial import cKDTree  # noqa: PLC0415 - see kneewear.geometry.surface

        sample_u, sample_v = surface.sample_parameters
        tree = cKDTree(self.plan(surface.sample_points))

        def project(plan: Array) -> tuple[Array, Array]:
            _, nearest = tree.query(plan)
            u, v = sample_u[nearest], sample_v[nearest]
            origins, directions = (np.ascontiguousarray(array) for array in self.lines(plan))
            met = np.empty(u.size, dtype=bool)
            _kernels.meet_many(surface.arrays, origins, directions, u, v, met)
            if not met.all():
                # Near a pole or the seam of the patch the search may start on the wrong side.
                missed = np.flatnonzero(~met)
                ray_u, ray_v, _, hit = surface.ray_hits(origins[missed], directions[missed])
                u[missed[hit]], v[missed[hit]] = ray_u[hit], ray_v[hit]
            return u, v

        return project


@dataclass(frozen=True)
class Plane(ElementSurface):
    """A plane through the origin; lines are perpendicular to it.

    Parameters
    ----------
    direction : sequence of 3 floats
        Up, of any non-zero length: +y for a plateau, +x for the posterior face of a post. The
        rows' and columns' directions are +x and +z, rotated the shortest way that takes +y there.

    Raises
    ------
    ValueError
        If the direction is zero.
    """

    direction: tuple[float, float, float] = (0.0, 1.0, 0.0)

    def __post_init__(self) -> None:
        if not np.linalg.norm(self.direction) > 0.0:
            raise ValueError("a plane needs a direction that is not zero")

    @cached_property
    def frame(self) -> Array:
        """See `ElementSurface`."""
        return upright_frame(self.direction)

    def plan(self, points: Array) -> Array:
        """Coordinates along rows and columns, mm."""
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

    def rates(self, points: Array) -> Array:
        """Rows' and columns' directions."""
        return np.broadcast_to(self.frame[[0, 2]], (*points.shape[:-1], 2, 3))

    def lines(self, plan: Array) -> tuple[Array, Array]:
        """Parallel lines from the plane."""
        origins = plan @ self.frame[[0, 2]]
        return origins, np.broadcast_to(self.frame[1], origins.shape)


class _Radial(ElementSurface):
    """Lines perpendicular to an axis or through a centre; a hollow bearing faces it."""

    radius: float
    hollow: bool
    _order: int

    @abstractmethod
    def _offset(self, points: Array) -> Array:
        """Vectors from the axis or centre to points."""

    @property
    def _sense(self) -> float:
        return -1.0 if self.hollow else 1.0

    def _out(self, points: Array) -> Array:
        """Unit vectors from the axis or centre to points."""
        offset = self._offset(points)
        return offset / np.linalg.norm(offset, axis=-1, keepdims=True)

    def up(self, points: Array) -> Array:
        """Towards the axis or centre of a hollow bearing, away from that of another."""
        return self._sense * self._out(points)

    def height(self, points: Array) -> Array:
        """Distance from the axis or centre, mm; of a hollow bearing its negative."""
        return self._sense * np.linalg.norm(self._offset(points), axis=-1)

    def stretch(self, points: Array) -> Array:
        """Distance over the radius, squared for a sphere."""
        return (np.linalg.norm(self._offset(points), axis=-1) / self.radius) ** self._order

    def _check(self, direction: ArrayLike) -> None:
        if not self.radius > 0.0:
            raise ValueError(
                f"an element surface needs a positive radius; found {self.radius:g} mm"
            )
        if not np.linalg.norm(direction) > 0.0:
            raise ValueError(
                "the middle of an element surface needs a direction that is not zero and that is "
                "off its axis"
            )


@dataclass(frozen=True)
class Cylinder(_Radial):
    """A cylinder, for a bearing curved about one axis such as an ankle's; lines run radially.

    Rows run along the arc and columns along the axis: a plan of arc length x length.

    Parameters
    ----------
    point : sequence of 3 floats
        A point of the axis, mm; lengths are counted from it.
    axis : sequence of 3 floats
        Direction of the columns, of any non-zero length.
    middle : sequence of 3 floats
        Direction from the axis to the middle of the bearing, where the arc is zero. The bearing
        must end before it reaches the half plane on the other side of the axis.
    radius : float
        Radius of the cylinder on which arcs are measured, mm.
    hollow : bool
        Whether the bearing faces the axis (a trough) or away from it (a dome).

    Raises
    ------
    ValueError
        If the radius is not positive or the middle lies along the axis.
    """

    turnable = False
    point: tuple[float, float, float]
    axis: tuple[float, float, float]
    middle: tuple[float, float, float]
    radius: float
    hollow: bool = True
    _order = 1

    def __post_init__(self) -> None:
        self._check(np.cross(self.axis, self.middle))

    @cached_property
    def frame(self) -> Array:
        """See `ElementSurface`."""
        columns = np.asarray(self.axis, dtype=float) / np.linalg.norm(self.axis)
        out = self.middle - columns * (columns @ np.asarray(self.middle, dtype=float))
        up = self._sense * out / np.linalg.norm(out)
        return np.stack([np.cross(up, columns), up, columns])

    def _offset(self, points: Array) -> Array:
        offset = points - np.asarray(self.point)
        return offset - (offset @ self.frame[2])[..., None] * self.frame[2]

    def plan(self, points: Array) -> Array:
        """Arc length from the middle and length along the axis, mm."""
        along_rows, up, along_columns = np.moveaxis((points - self.point) @ self.frame.T, -1, 0)
        arc = self.radius * np.arctan2(along_rows, self._sense * up)
        return np.stack([arc, along_columns], axis=-1)

    def along_rows(self, points: Array) -> Array:
        """Tangential direction about the axis."""
        return np.cross(self.up(points), self.frame[2])

    def rates(self, points: Array) -> Array:
        """Rows' direction over the stretch, and columns' direction."""
        rows = self.along_rows(points) / self.stretch(points)[..., None]
        return np.stack([rows, np.broadcast_to(self.frame[2], points.shape)], axis=-2)

    def lines(self, plan: Array) -> tuple[Array, Array]:
        """Radial lines from the axis."""
        angle = plan[:, :1] / self.radius
        out = np.sin(angle) * self.frame[0] + np.cos(angle) * (self._sense * self.frame[1])
        return self.point + plan[:, 1:] * self.frame[2], out


@dataclass(frozen=True)
class Sphere(_Radial):
    """A sphere, for a bearing curved about a point such as a hip's; lines run radially.

    The plan is Lambert's azimuthal map about the middle, which preserves areas: a position at the
    angle theta from the middle lies 2 radius sin(theta / 2) from the origin of the plan. Unlike
    rows of latitude it has no pole, and its cells, all of the same solid angle, stay near square in
    a cup (twice as long as wide at its rim, a right angle from the middle).

    Parameters
    ----------
    centre : sequence of 3 floats
        Centre of the sphere, mm.
    middle : sequence of 3 floats
        Direction from the centre to the middle of the bearing, of any non-zero length. The bearing
        must not reach the point on the other side.
    radius : float
        Radius of the sphere on which the plan is measured, mm.
    hollow : bool
        Whether the bearing faces the centre (a cup) or away from it (a ball).

    Raises
    ------
    ValueError
        If the radius is not positive or the middle is zero.
    """

    centre: tuple[float, float, float]
    middle: tuple[float, float, float]
    radius: float
    hollow: bool = True
    _order = 2

    def __post_init__(self) -> None:
        self._check(self.middle)

    @cached_property
    def frame(self) -> Array:
        """See `ElementSurface`."""
        return upright_frame(self._sense * np.asarray(self.middle))

    def _offset(self, points: Array) -> Array:
        return points - np.asarray(self.centre)

    def plan(self, points: Array) -> Array:
        """Positions on Lambert's map, mm."""
        along_rows, up, along_columns = np.moveaxis(self._out(points) @ self.frame.T, -1, 0)
        scale = self.radius * np.sqrt(2.0 / (1.0 + self._sense * up))
        return np.stack([scale * along_rows, scale * along_columns], axis=-1)

    def along_rows(self, points: Array) -> Array:
        """The rows' direction over the middle, transported along the great circle to points."""
        out = self._out(points)
        middle = self._sense * self.frame[1]
        share = (out @ self.frame[0]) / (1.0 + out @ middle)
        return self.frame[0] - share[..., None] * (out + middle)

    def rates(self, points: Array) -> Array:
        """Derivative of Lambert's map."""
        out = self._out(points)
        middle = self._sense * self.frame[1]
        flat = self.frame[[0, 2]]
        cosine = 1.0 + out @ middle
        share = (out @ flat.T)[..., None] * (0.5 * middle / cosine[..., None])[..., None, :]
        turned = np.sqrt(2.0 / cosine)[..., None, None] * (flat - share)
        # Only the component perpendicular to the radius turns the unit vector.
        turned = turned - (turned * out[..., None, :]).sum(-1, keepdims=True) * out[..., None, :]
        return turned * (self.radius / np.abs(self.height(points)))[..., None, None]

    def lines(self, plan: Array) -> tuple[Array, Array]:
        """Radial lines from the centre."""
        flat = plan / self.radius
        # Twice the sine squared of half the angle from the middle.
        drop = 0.5 * np.minimum((flat**2).sum(axis=-1, keepdims=True), 4.0)
        out = np.sqrt(1.0 - 0.5 * drop) * (flat @ self.frame[[0, 2]])
        out += (1.0 - drop) * (self._sense * self.frame[1])
        return np.broadcast_to(np.asarray(self.centre, dtype=float), out.shape), out


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
