"""Simple surfaces on which cells are laid and from which elements are projected onto a bearing."""

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
    def rates(self, points: Array) -> Array:
        """Derivative of the plan over points (..., 3), shape (..., 2, 3)."""

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

    def rates(self, points: Array) -> Array:
        """Rows' and columns' directions."""
        return np.broadcast_to(self.frame[[0, 2]], (*points.shape[:-1], 2, 3))

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


@dataclass(frozen=True)
class Cylinder(ElementSurface):
    """A cylinder, for a bearing bent about one axis such as an ankle's; lines run radially.

    Rows are laid along the arc and columns along the axis: a plan of arc length x length.

    Parameters
    ----------
    point : sequence of 3 floats
        A point of the axis, mm; lengths are counted from it.
    axis : sequence of 3 floats
        Direction of the columns, of any length but zero.
    middle : sequence of 3 floats
        Direction from the axis to the middle of the bearing, where the arc is zero. The bearing
        must end before it reaches the half plane on the other side of the axis.
    radius : float
        Radius of the cylinder, mm: the one on which arcs are measured.
    hollow : bool
        Whether the bearing looks at the axis (a trough) or away from it (a dome).

    Raises
    ------
    ValueError
        If the radius is not positive or the middle lies along the axis.

    Notes
    -----
    The lines of a unit of plan area cut the area rho / radius from a surface square to them at
    distance rho from the axis.
    """

    point: tuple[float, float, float]
    axis: tuple[float, float, float]
    middle: tuple[float, float, float]
    radius: float
    hollow: bool = True

    def __post_init__(self) -> None:
        _check_radius(self.radius)
        if not np.linalg.norm(np.cross(self.axis, self.middle)) > 0.0:
            raise ValueError("the middle of a cylinder must lie off its axis, which is not zero")

    @property
    def turnable(self) -> bool:
        """False: rows follow the arc."""
        return False

    @cached_property
    def frame(self) -> Array:
        """Rows' direction, up and columns' direction over the middle, as rows of a matrix."""
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

    def projection(self, surface: Surface) -> Projection:
        """Where radial lines meet a patch."""

        def lines(plan: Array) -> tuple[Array, Array]:
            angle = plan[:, :1] / self.radius
            out = np.sin(angle) * self.frame[0] + np.cos(angle) * (self._sense * self.frame[1])
            return self.point + plan[:, 1:] * self.frame[2], out

        return _meeting(surface, self, lines)

    @property
    def _sense(self) -> float:
        return -1.0 if self.hollow else 1.0

    def _across(self, points: Array) -> Array:
        """From the nearest points of the axis to points."""
        offset = points - np.asarray(self.point)
        return offset - (offset @ self.frame[2])[..., None] * self.frame[2]


@dataclass(frozen=True)
class Sphere(ElementSurface):
    """A sphere, for a bearing bent about a point such as a hip's; lines run radially.

    The plan is Lambert's azimuthal map about the middle, which keeps areas: a place at the angle
    theta from the middle lies 2 radius sin(theta / 2) from the origin of the plan. Unlike rows of
    latitude it has no pole, and its cells, all of the same solid angle, stay near square in a cup
    (twice as long as wide at its rim, a right angle from the middle).

    Parameters
    ----------
    centre : sequence of 3 floats
        Centre of the sphere, mm.
    middle : sequence of 3 floats
        Direction from the centre to the middle of the bearing, of any length but zero. The bearing
        must not reach the point on the other side.
    radius : float
        Radius of the sphere, mm: the one on which the plan is measured.
    hollow : bool
        Whether the bearing looks at the centre (a cup) or away from it (a ball).

    Raises
    ------
    ValueError
        If the radius is not positive or the middle is zero.

    Notes
    -----
    The lines of a unit of plan area cut the area (rho / radius)^2 from a surface square to them at
    distance rho from the centre.
    """

    centre: tuple[float, float, float]
    middle: tuple[float, float, float]
    radius: float
    hollow: bool = True

    def __post_init__(self) -> None:
        _check_radius(self.radius)
        if not np.linalg.norm(self.middle) > 0.0:
            raise ValueError("the middle of a sphere needs a direction that is not zero")

    @property
    def turnable(self) -> bool:
        """True: the plan has no direction of its own."""
        return True

    @cached_property
    def frame(self) -> Array:
        """Rows' direction, up and columns' direction over the middle, as rows of a matrix."""
        return upright_frame(self._sense * np.asarray(self.middle))

    def plan(self, points: Array) -> Array:
        """Places on Lambert's map, mm."""
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
        # Only what is square to the radius turns the unit vector.
        turned = turned - (turned * out[..., None, :]).sum(-1, keepdims=True) * out[..., None, :]
        return turned * (self.radius / np.abs(self.height(points)))[..., None, None]

    def projection(self, surface: Surface) -> Projection:
        """Where radial lines meet a patch."""

        def lines(plan: Array) -> tuple[Array, Array]:
            flat = plan / self.radius
            # Twice the sine squared of half the angle from the middle.
            drop = 0.5 * np.minimum((flat**2).sum(axis=-1, keepdims=True), 4.0)
            out = np.sqrt(1.0 - 0.5 * drop) * (flat @ self.frame[[0, 2]])
            out += (1.0 - drop) * (self._sense * self.frame[1])
            return np.broadcast_to(np.asarray(self.centre, dtype=float), out.shape), out

        return _meeting(surface, self, lines)

    @property
    def _sense(self) -> float:
        return -1.0 if self.hollow else 1.0

    def _out(self, points: Array) -> Array:
        """Unit vectors from the centre to points."""
        offset = points - np.asarray(self.centre)
        return offset / np.linalg.norm(offset, axis=-1, keepdims=True)


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
    from scipy.spatial import cKDTree  # noqa: PLC0415 - see kneewear.geometry.surface

    u, v = surface.sample_parameters
    tree = cKDTree(plan)

    def look_up(places: Array) -> tuple[Array, Array]:
        _, number = tree.query(places)
        return u[number], v[number]

    return look_up


def _meeting(
    surface: Surface,
    projection_surface: ElementSurface,
    lines: Callable[[Array], tuple[Array, Array]],
) -> Projection:
    """Where lines of an element surface meet a patch, sought from its nearest sample in plan."""
    nearest = _nearest_sample(surface, projection_surface.plan(surface.sample_points))

    def project(plan: Array) -> tuple[Array, Array]:
        u, v = nearest(plan)
        origins, directions = (np.ascontiguousarray(array) for array in lines(plan))
        met = np.empty(u.size, dtype=bool)
        _kernels.meet_many(surface.arrays, origins, directions, u, v, met)
        if not met.all():
            # Round a pole of the patch, or along its seam, the search may start on the wrong side.
            missed = np.flatnonzero(~met)
            ray_u, ray_v, _, hit = surface.ray_hits(origins[missed], directions[missed])
            u[missed[hit]], v[missed[hit]] = ray_u[hit], ray_v[hit]
        return u, v

    return project


def _check_radius(radius: float) -> None:
    if not radius > 0.0:
        raise ValueError(f"an element surface needs a positive radius; found {radius:g} mm")
