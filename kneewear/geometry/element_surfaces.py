"""Simple surfaces that carry cells and from which elements are projected onto a bearing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.geometry import _kernels
from kneewear.geometry.surface import Surface

Array = NDArray[np.float64]
Projection = Callable[[Array], tuple[Array, Array]]


class PlanFrame(NamedTuple):
    """Position in the plan of points (...) of a bearing, and the directions of their lines."""

    plan: Array  # coordinates along rows and along columns, mm, shape (..., 2)
    up: Array  # unit vectors along the lines, out of the material, shape (..., 3)
    along_rows: Array  # unit vectors of the rows' direction, shape (..., 3)
    height: Array  # coordinate along the lines, mm, growing upward, shape (...)
    # Area that the lines of a unit of plan area cut from a surface perpendicular to them.
    stretch: Array
    rates: Array  # derivative of the plan over the point, shape (..., 2, 3)


class ElementSurface(ABC):
    """Rows and columns of cells on a simple surface, and lines across it that meet a bearing.

    A position on it has two coordinates, mm, called the plan: one along the rows' direction and one
    along the columns'. One line crosses the surface at every position; up is the direction along it
    that leaves the material of the bearing. Rows' direction x up = columns' direction. `turnable`
    states whether rows may be turned from the rows' direction to save area.
    """

    turnable = True

    @property
    @abstractmethod
    def frame(self) -> Array:
        """Rows' direction, up and columns' direction (over the middle), as rows of a matrix."""

    @abstractmethod
    def at(self, points: Array) -> PlanFrame:
        """Plan and directions at points (..., 3)."""

    @abstractmethod
    def lines(self, plan: Array) -> tuple[Array, Array]:
        """Origins and unit directions of the lines at positions (n, 2), each of shape (n, 3)."""

    def projection(self, surface: Surface) -> Projection:
        """Function from positions (n, 2) to the parameters u, v at which their lines meet a patch.

        Where a line misses the patch, parameters on its border are returned.
        """
        from scipy.spatial import cKDTree  # noqa: PLC0415 - see kneewear.geometry.surface

        sample_u, sample_v = surface.sample_parameters
        tree = cKDTree(self.at(surface.sample_points).plan)

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
    """A plane through the origin, perpendicular to `direction` (up, not zero); so are its lines.

    The rows' and columns' directions are +x and +z, rotated the shortest way that takes +y there.
    """

    direction: tuple[float, float, float] = (0.0, 1.0, 0.0)

    def __post_init__(self) -> None:
        if not np.linalg.norm(self.direction) > 0.0:
            raise ValueError("a plane needs a direction that is not zero")

    @cached_property
    def frame(self) -> Array:
        """See `ElementSurface`."""
        return upright_frame(self.direction)

    def at(self, points: Array) -> PlanFrame:
        """See `ElementSurface`; the lines are parallel."""
        flat = self.frame[[0, 2]]
        along_rows, up = (np.broadcast_to(self.frame[axis], points.shape) for axis in (0, 1))
        rates = np.broadcast_to(flat, (*points.shape[:-1], 2, 3))
        height, stretch = points @ self.frame[1], np.ones(points.shape[:-1])
        return PlanFrame(points @ flat.T, up, along_rows, height, stretch, rates)

    def lines(self, plan: Array) -> tuple[Array, Array]:
        """See `ElementSurface`."""
        origins = plan @ self.frame[[0, 2]]
        return origins, np.broadcast_to(self.frame[1], origins.shape)


@dataclass(frozen=True)
class Cylinder(ElementSurface):
    """A cylinder, for a bearing curved about one axis such as an ankle's; lines run radially.

    Rows run along the arc and columns along the axis: a plan of arc length x length. The bearing
    must end before it reaches the half plane on the other side of the axis.
    """

    turnable = False
    point: tuple[float, float, float]  # of the axis, mm; lengths are counted from it
    axis: tuple[float, float, float]  # direction of the columns, of any non-zero length
    middle: tuple[float, float, float]  # direction from the axis to where the arc is zero
    radius: float  # on which arcs are measured, mm
    hollow: bool = True  # whether the bearing faces the axis (a trough) or not (a dome)

    def __post_init__(self) -> None:
        _check_radial(self.radius, np.cross(self.axis, self.middle))

    @cached_property
    def frame(self) -> Array:
        """See `ElementSurface`."""
        columns = np.asarray(self.axis, dtype=float) / np.linalg.norm(self.axis)
        out = self.middle - columns * (columns @ np.asarray(self.middle, dtype=float))
        up = (-out if self.hollow else out) / np.linalg.norm(out)
        return np.stack([np.cross(up, columns), up, columns])

    def at(self, points: Array) -> PlanFrame:
        """See `ElementSurface`."""
        sense = -1.0 if self.hollow else 1.0
        along, over, across = np.moveaxis((points - self.point) @ self.frame.T, -1, 0)
        distance = np.hypot(along, over)
        arc = self.radius * np.arctan2(along, sense * over)
        offset = np.stack([along, over], axis=-1) @ self.frame[:2]
        up = sense * offset / distance[..., None]
        rows, stretch = np.cross(up, self.frame[2]), distance / self.radius
        columns = np.broadcast_to(self.frame[2], points.shape)
        rates = np.stack([rows / stretch[..., None], columns], axis=-2)
        plan = np.stack([arc, across], axis=-1)
        return PlanFrame(plan, up, rows, sense * distance, stretch, rates)

    def lines(self, plan: Array) -> tuple[Array, Array]:
        """See `ElementSurface`; radial lines from the axis."""
        angle = plan[:, :1] / self.radius
        middle = -self.frame[1] if self.hollow else self.frame[1]
        out = np.sin(angle) * self.frame[0] + np.cos(angle) * middle
        return self.point + plan[:, 1:] * self.frame[2], out


@dataclass(frozen=True)
class Sphere(ElementSurface):
    """A sphere, for a bearing curved about a point such as a hip's; lines run radially.

    The plan is Lambert's azimuthal map about the middle, which preserves areas: a position at the
    angle theta from the middle lies 2 radius sin(theta / 2) from the origin of the plan. It has no
    pole, and its cells stay near square in a cup (twice as long as wide at its rim, a right angle
    from the middle). The bearing must not reach the point opposite the middle.
    """

    centre: tuple[float, float, float]  # mm
    middle: tuple[float, float, float]  # direction from the centre, of any non-zero length
    radius: float  # on which the plan is measured, mm
    hollow: bool = True  # whether the bearing faces the centre (a cup) or not (a ball)

    def __post_init__(self) -> None:
        _check_radial(self.radius, self.middle)

    @cached_property
    def frame(self) -> Array:
        """See `ElementSurface`."""
        return upright_frame(np.asarray(self.middle) * (-1.0 if self.hollow else 1.0))

    def at(self, points: Array) -> PlanFrame:
        """See `ElementSurface`; rows follow the great circles through the middle."""
        sense = -1.0 if self.hollow else 1.0
        offset = points - np.asarray(self.centre)
        distance = np.linalg.norm(offset, axis=-1)
        out = offset / distance[..., None]
        middle, flat = sense * self.frame[1], self.frame[[0, 2]]
        cosine, along = (1.0 + out @ middle)[..., None], out @ flat.T
        scale = np.sqrt(2.0 / cosine)
        # The rows' direction over the middle, transported along the great circle.
        rows = self.frame[0] - along[..., :1] / cosine * (out + middle)
        turned = flat - along[..., None] * (0.5 * middle / cosine)[..., None, :]
        turned = scale[..., None] * turned
        # Only the component perpendicular to the radius turns the unit vector.
        turned = turned - (turned * out[..., None, :]).sum(-1, keepdims=True) * out[..., None, :]
        rates = turned * (self.radius / distance)[..., None, None]
        stretch = (distance / self.radius) ** 2
        plan = self.radius * scale * along
        return PlanFrame(plan, sense * out, rows, sense * distance, stretch, rates)

    def lines(self, plan: Array) -> tuple[Array, Array]:
        """See `ElementSurface`; radial lines from the centre."""
        flat = plan / self.radius
        # Twice the sine squared of half the angle from the middle.
        drop = 0.5 * np.minimum((flat**2).sum(axis=-1, keepdims=True), 4.0)
        out = np.sqrt(1.0 - 0.5 * drop) * (flat @ self.frame[[0, 2]])
        out += (1.0 - drop) * (-self.frame[1] if self.hollow else self.frame[1])
        return np.broadcast_to(np.asarray(self.centre, dtype=float), out.shape), out


def _check_radial(radius: float, direction: ArrayLike) -> None:
    """Refuse a radius that is not positive, and a middle without direction or along the axis."""
    if not radius > 0.0:
        raise ValueError(f"an element surface needs a positive radius; found {radius:g} mm")
    if not np.linalg.norm(direction) > 0.0:
        raise ValueError(
            "the middle of an element surface needs a direction that is not zero and that is off "
            "its axis"
        )


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
