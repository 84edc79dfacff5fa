"""Exact NURBS patches: spheres, cylinders, plates, and profiles swept along sagittal arcs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.geometry.surface import Surface

Array = NDArray[np.float64]


def arc(first: float, last: float, count: int) -> tuple[Array, Array]:
    """Control points (sin, -cos, weight) and knots from 0 to 1 of a unit arc, a quadratic NURBS.

    It runs between two angles from straight down, rad, in equal pieces below half a turn.
    """
    angles = np.linspace(first, last, 2 * count + 1)
    half_piece = 0.5 * (last - first) / count
    weights = np.where(np.arange(angles.size) % 2, math.cos(half_piece), 1.0)
    points = np.column_stack([np.sin(angles) / weights, -np.cos(angles) / weights, weights])
    breaks = np.linspace(0.0, 1.0, count + 1)
    return points, np.concatenate([[0.0], np.repeat(breaks, 2), [1.0]])


def revolved(
    profile: Array, knots: ArrayLike, sweep: tuple[float, float] = (-1.0, 1.0), count: int = 2
) -> Surface:
    """Surface of revolution about the z axis, normals outward.

    The profile has control points (z, radius, weight), mm, and clamped knots; the circle is swept
    between two angles from straight down, rad, in `count` pieces.
    """
    circle, knots_u = arc(*sweep, count)
    points = np.empty((len(circle), len(profile), 3))
    points[..., :2] = circle[:, None, :2] * profile[:, 1, None]
    points[..., 2] = profile[:, 0]
    knots = np.asarray(knots, dtype=float)
    degree = int(np.count_nonzero(knots == knots[0])) - 1
    return Surface(points, circle[:, None, 2] * profile[:, 2], knots_u, knots, 2, degree)


def sphere(radius: float, middle: float = 0.0) -> Surface:
    """Lower part, one radian to every side, of a sphere centred at z = `middle`, mm."""
    profile, knots = arc(-1.0, 1.0, 2)
    profile = profile * np.array([radius, -radius, 1.0])
    return revolved(profile, knots).transformed(np.eye(3), [0.0, 0.0, middle])


def cylinder(radius: float, half_width: float, middle: float = 0.0) -> Surface:
    """Lower part of a cylinder about the z axis, one radian to either side, normals outward; mm."""
    ends = np.array([-half_width, half_width])
    profile = np.column_stack([ends + middle, [radius, radius], [1.0, 1.0]])
    return revolved(profile, [0.0, 0.0, 1.0, 1.0])


def plate(x: ArrayLike, z: ArrayLike, height: float = 0.0, slope: float = 0.0) -> Surface:
    """Flat rectangle facing up with limits x and z, mm; its height rises by `slope` per mm of x."""
    across, along = np.meshgrid(np.asarray(z, float), np.asarray(x, float), indexing="ij")
    points = np.stack([along, height + slope * along, across], axis=-1)
    knots = np.array([0.0, 0.0, 1.0, 1.0])
    return Surface(points, np.ones((2, 2)), knots, knots, 1, 1)


@dataclass(frozen=True)
class Profile:
    """A symmetric coronal arc between two rims that fall away; lengths in mm.

    Heights count out of the bearing surface and are zero in the middle of the arc.
    """

    middle: float  # medial-lateral position
    arc_radius: float
    half_width: float  # of the arc
    rim_radius: float
    rim_sweep: float  # angle of each rounded rim, rad; negative for a rim that rises
    hollow: bool = False  # a plateau, whose arc rises to both sides, and not a condyle

    @property
    def control_points(self) -> Array:
        """Position z, height and weight of the control points of three arcs, shape (7, 3)."""
        up = 1.0 if self.hollow else -1.0
        tilt = math.asin(self.half_width / self.arc_radius) * up
        start = self.middle - self.half_width
        rise = self.arc_radius * (1.0 - math.cos(tilt)) * up
        land = _arc(np.array([start, rise]), -tilt, 2.0 * tilt, self.arc_radius)
        right = _arc(land[-1, :2], tilt, -self.rim_sweep, self.rim_radius)
        left = right[::-1] * np.array([-1.0, 1.0, 1.0]) + np.array([2.0 * self.middle, 0.0, 0.0])
        return np.vstack([left, land[1:], right[1:]])

    def revolved(self, radius: float, sweep: tuple[float, float], count: int) -> Surface:
        """Surface of revolution whose middle has a radius about the z axis, mm; see `revolved`."""
        points = self.control_points
        return revolved(points + [0.0, radius, 0.0], _smooth_knots(points), sweep, count)


@dataclass(frozen=True)
class SagittalArc:
    """One arc of a sagittal outline, from anterior to posterior below its centre (x, y), mm.

    `start` and `stop` are the directions of its ends from the centre, rad: 0 straight down,
    positive posterior.
    """

    x: float
    y: float
    radius: float
    start: float
    stop: float


def joined_arcs(
    radii: Sequence[tuple[float, float]], stop: float, centre: tuple[float, float] = (0.0, 0.0)
) -> tuple[SagittalArc, ...]:
    """Arcs that follow each other without a kink, from (start, radius) of each, rad and mm.

    `stop` is the direction at which the last one ends, `centre` that of the first; the centres of
    neighbours lie on the normal of their joint.
    """
    arcs: list[SagittalArc] = []
    stops = [start for start, _ in radii[1:]] + [stop]
    x, y = centre
    for (start, radius), end in zip(radii, stops, strict=True):
        if arcs:
            inward = arcs[-1].radius - radius
            x, y = x + inward * math.sin(start), y - inward * math.cos(start)
        arcs.append(SagittalArc(x, y, radius, start, end))
    return tuple(arcs)


@dataclass(frozen=True)
class Swept:
    """A coronal profile swept along the arcs of a sagittal outline, perpendicular to it.

    The arcs are the outline of the profile's middle. A hollow profile faces their centres, the
    other away from them.
    """

    profile: Profile
    arcs: tuple[SagittalArc, ...]

    @property
    def surface(self) -> Surface:
        """One exact NURBS patch; u runs along the outline and v along z, or both backwards.

        Each arc's part is a surface of revolution about the arc's centre line. Neighbouring parts
        share the profile at their joint and its tangent planes, so the normal is continuous.
        """
        inward = -1.0 if self.profile.hollow else 1.0
        size = self.arcs[0].radius
        profile = self.profile.control_points * np.array([1.0, inward, 1.0])
        profile = profile + np.array([0.0, size, 0.0])
        directions, centres, radii = self._outline()
        radius = profile[None, :, 1] + (radii[:, None] - size)
        control = np.empty((len(directions), len(profile), 3))
        control[..., :2] = centres[:, None] + directions[:, None, :2] * radius[..., None]
        control[..., 2] = profile[None, :, 0]
        outline = (centres + directions[:, :2] * radii[:, None]) / size
        patch = Surface(
            control_points=control,
            weights=directions[:, None, 2] * profile[None, :, 2],
            knots_u=_smooth_knots(outline),
            knots_v=_smooth_knots(profile),
            degree_u=2,
            degree_v=2,
        )
        return patch.reversed_normal() if self.profile.hollow else patch

    def _outline(self) -> tuple[Array, Array, Array]:
        """Direction (with weight), centre and radius of every control point along the outline."""
        rows: list[Array] = []
        for part in self.arcs:
            pieces = math.ceil((part.stop - part.start) / math.radians(75.0))
            turn = (part.stop - part.start) / pieces
            centre = np.tile([part.x, part.y, part.radius], (3, 1))
            for number in range(pieces):
                angle = part.start + number * turn
                piece = _arc(np.array([math.sin(angle), -math.cos(angle)]), angle, turn, 1.0)
                rows.append(np.hstack([piece, centre])[1 if rows else 0 :])
        table = np.vstack(rows)
        return table[:, :3], table[:, 3:5], table[:, 5]


@dataclass(frozen=True)
class Upright:
    """A profile extruded upwards from `bottom` to `top`, mm: the back of a post, facing posterior.

    The heights of the profile count towards posterior; its middle is at x = `posterior`, mm.
    """

    profile: Profile
    posterior: float
    bottom: float
    top: float

    @property
    def surface(self) -> Surface:
        """One exact NURBS patch; u runs upwards, v along z."""
        profile = self.profile.control_points
        control = np.empty((2, len(profile), 3))
        control[..., 0] = self.posterior + profile[:, 1]
        control[..., 1] = np.array([[self.bottom], [self.top]])
        control[..., 2] = profile[:, 0]
        return Surface(
            control_points=control,
            weights=np.tile(profile[:, 2], (2, 1)),
            knots_u=np.array([0.0, 0.0, 1.0, 1.0]),
            knots_v=_smooth_knots(profile),
            degree_u=1,
            degree_v=2,
        )


def _arc(start: Array, heading: float, turn: float, radius: float) -> Array:
    """Three quadratic control points (z, height, weight) of one arc below 180 degrees."""
    half = 0.5 * abs(turn)
    leg = radius * math.tan(half)
    along = np.array([math.cos(heading), math.sin(heading)])
    onward = np.array([math.cos(heading + turn), math.sin(heading + turn)])
    corner = start + leg * along
    return np.vstack([[*start, 1.0], [*corner, math.cos(half)], [*(corner + leg * onward), 1.0]])


def _smooth_knots(points: Array) -> Array:
    """Knots of joined quadratic arcs, spaced by chord so that speed is continuous at the joints."""
    ends = points[::2, :2]
    breaks = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(ends, axis=0), axis=1))])
    breaks = breaks / breaks[-1]
    return np.concatenate([[0.0], np.repeat(breaks, 2), [1.0]])
