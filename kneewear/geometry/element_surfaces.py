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


@dataclass(frozen=True)
class Cylinder(ElementSurface):
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
        Radius of the cylinder, mm: the one on which arcs are measured.
    hollow : bool
        Whether the bearing faces the axis (a trough) or away from it (a dome).

    Raises
    ------
    ValueError
        If the radius is not positive or the middle lies along the axis.

    Notes
    -----
    At distance rho from the axis, the lines of a unit of plan area cut the area rho / radius from a
    surface perpendicular to them.
    """

    turnable = False
    point: tuple[float, float, float]
    axis: tuple[float, float, float]
    middle: tuple[float, float, float]
    radius: float
    hollow: bool = True

    def __post_init__(self) -> None:
        _check_radius(self.radius)
        if not np.linalg.norm(np.cross(self.axis, self.middle)) > 0.0:
            raise ValueError("the middle of a cylinder must lie off its axis, which is not zero")

    @cached_property
    def frame(self) -> Array:
        """See `ElementSurface`."""
        columns = np.asarray(self.axis, dtype=float) / np.linalg.norm(self.axis)
        out = self.middle - columns * (columns @ np.asarray(self.middle, dtype=float))
        up = self._sense * out / np.linalg.norm(out)
        return np.stack([np.cross(up, columns), up, columns])

    def plan(self, points: Array) -> Array:
        """Arc length from the middle and length along the axis, mm."""
        along_rows, up, along_columns = np.moveaxis((points - self.point) @ self.frame.T, -1, 0)
        arc = self.radius * np.arctan2(along_rows, self._sense * up)
        return np.stack([arc, along_columns], axis=-1)

    def up(self, points: Array) -> Array:
        """Towards the axis of a trough, away from that of a dome."""
        across = self._across(points)
        return self._sense * across / np.linalg.norm(across, axis=-1, keepdims=True)

    def along_rows(self, points: Array) -> Array:
        """Round the axis."""
        return np.cross(self.up(points), self.frame[2])

    def height(self, points: Array) -> Array:
        """Distance from the axis, mm; of a trough its negative."""
        return self._sense * np.linalg.norm(self._across(points), axis=-1)

    def stretch(self, points: Array) -> Array:
        """Distance from the axis over the radius."""
        return np.linalg.norm(self._across(points), axis=-1) / self.radius

    def rates(self, points: Array) -> Array:
        """Rows' direction over the stretch, and columns' direction."""
        rows = self.along_rows(points) / self.stretch(points)[..., None]
        return np.stack([rows, np.broadcast_to(self.frame[2], points.shape)], axis=-2)

    def lines(self, plan: Array) -> tuple[Array, Array]:
        """Radial lines from the axis."""
        angle = plan[:, :1] / self.radius
        out = np.sin(angle) * self.frame[0] + np.cos(angle) * (self._sense * self.frame[1])
        return self.point + plan[:, 1:] * self.frame[2], out

    @property
    def _sense(self) -> float:
        return -1.0 if self.hollow else 1.0

    def _across(self, points: Array) -> Array:
        """From the nearest points of the axis to points."""
        offset = points - np.asarray(self.point)
        return offset - (offset @ self.frame[2])[..., None] * self.frame[2]


@dataclass(frozen=True)
class Sphere(ElementSurface):
    """A sphere, for a bearing curved about a point such as a hip's; lines run radially.

    The plan is Lambert's azimuthal map about the middle, which keeps areas: a position at the angle
    theta from the middle lies 2 radius sin(theta / 2) from the origin of the plan. Unlike rows of
    latitude it has no pole, and its cells, all of the same solid angle, stay near square in a cup
    (twice as long as wide at its rim, a right angle from the middle).

    Parameters
    ----------
    centre : sequence of 3 floats
        Centre of the sphere, mm.
    middle : sequence of 3 floats
        Direction from the centre to the middle of the bearing, of any non-zero length. The bearing
        must not reach the point on the other side.
    radius : float
        Radius of the sphere, mm: the one on which the plan is measured.
    hollow : bool
        Whether the bearing faces the centre (a cup) or away from it (a ball).

    Raises
    ------
    ValueError
        If the radius is not positive or the middle is zero.

    Notes
    -----
    At distance rho from the centre, the lines of a unit of plan area cut the area (rho / radius)^2
    from a surface perpendicular to them.
    """

    centre: tuple[float, float, float]
    middle: tuple[float, float, float]
    radius: float
    hollow: bool = True

    def __post_init__(self) -> None:
        _check_radius(self.radius)
        if not np.linalg.norm(self.middle) > 0.0:
            raise ValueError("the middle of a sphere needs a direction that is not zero")

    @cached_property
    def frame(self) -> Array:
        """See `ElementSurface`."""
        return upright_frame(self._sense * np.asarray(self.middle))

    def plan(self, points: Array) -> Array:
        """Positions on Lambert's map, mm."""
        along_rows, up, along_columns = np.moveaxis(self._out(points) @ self.frame.T, -1, 0)
        scale = self.radius * np.sqrt(2.0 / (1.0 + self._sense * up))
        return np.stack([scale * along_rows, scale * along_columns], axis=-1)

    def up(self, points: Array) -> Array:
        """Towards the centre of a cup, away from that of a ball."""
        return self._sense * self._out(points)

    def along_rows(self, points: Array) -> Array:
        """The rows' direction over the middle, carried along the great circle to points."""
        out = self._out(points)
        middle = self._sense * self.frame[1]
        share = (out @ self.frame[0]) / (1.0 + out @ middle)
        return self.frame[0] - share[..., None] * (out + middle)

    def height(self, points: Array) -> Array:
        """Distance from the centre, mm; of a cup its negative."""
        return self._sense * np.linalg.norm(points - np.asarray(self.centre), axis=-1)

    def stretch(self, points: Array) -> Array:
        """Square of the distance from the centre over the radius."""
        return (self.height(points) / self.radius) ** 2

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

    @property
    def _sense(self) -> float:
        return -1.0 if self.hollow else 1.0

    def _out(self, points: Array) -> Array:
        """Unit vectors from the centre to points."""
        offset = points - np.asarray(self.centre)
        return offset / np.linalg.norm(offset, axis=-1, keepdims=True)


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


def _check_radius(radius: float) -> None:
    if not radius > 0.0:
        raise ValueError(f"an element surface needs a positive radius; found {radius:g} mm")
