"""Spheres, cylinders and plates as exact NURBS patches, for contacts with analytical solutions."""

from __future__ import annotations

import math

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

    The profile has control points (z, radius, weight), mm, and clamped knots, which give its
    degree; the circle is swept between two angles from straight down, rad, in `count` pieces.
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
