"""Closed and open bodies of one or several patches whose distances have closed forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from kneewear.contact.pair import ContactPair
from kneewear.geometry.grid import Bearing, build_elements
from kneewear.geometry.primitives import arc, plate, revolved
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import tabulate_surface

ROUND = (-np.pi, np.pi)
RADIUS = 12.0
HALF = 9.0


@dataclass(frozen=True)
class Body:
    """Patches, and the signed distance and its gradient in closed form, at points inside.

    Points outside have any positive distance.
    """

    patches: tuple[Surface, ...]
    distance: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def turned(*profile, sweep=ROUND, count=4):
    """Polygon (z, radius) revolved about z."""
    points = np.column_stack([np.array(profile, dtype=float), np.ones(len(profile))])
    knots = np.concatenate([[0.0], np.linspace(0.0, 1.0, len(profile)), [1.0]])
    return revolved(points, knots, sweep, count)


def meridian(first, last, radius=RADIUS, count=2):
    """Arc of a profile (z, radius) between two latitudes, its ends at the poles exact."""
    points, knots = arc(first, last, count)
    points = points * np.array([radius, -radius, 1.0])
    points[np.abs(points[:, 1]) < 1e-12, 1] = 0.0
    return points, knots


def closed_sphere():
    return revolved(*meridian(-np.pi / 2, np.pi / 2), ROUND, 4)


def stretched(patch, factors=(0.8, 1.0, 1.5)):
    """A sphere's patch as an ellipsoid's, exactly."""
    return replace(patch, control_points=patch.control_points * np.array(factors))


def hemispheres():
    """Two halves that meet on the equator z = 0."""
    return tuple(
        revolved(*meridian(*ends, count=1), ROUND, 4)
        for ends in ((-np.pi / 2, 0.0), (0.0, np.pi / 2))
    )


def from_sphere(points):
    length = np.linalg.norm(points, axis=1)
    return length - RADIUS, points / length[:, None]


def _outward(points):
    away = np.hypot(points[:, 0], points[:, 1])
    flat = points * np.array([1.0, 1.0, 0.0]) / np.maximum(away, 1e-300)[:, None]
    return away, flat


def _nearest_face(distances, normals):
    """The largest signed distance to the planes of convex faces is that to the body, inside."""
    nearest = np.argmax(distances, axis=0)
    row = np.arange(nearest.size)
    return np.stack(distances)[nearest, row], np.stack(normals)[nearest, row]


def from_cylinder(points):
    away, flat = _outward(points)
    up = np.broadcast_to([0.0, 0.0, 1.0], points.shape)
    z = points[:, 2]
    return _nearest_face([away - RADIUS, z - HALF, -HALF - z], [flat, up, -up])


def from_cone(points):
    away, flat = _outward(points)
    up = np.broadcast_to([0.0, 0.0, 1.0], points.shape)
    sine, cosine = np.array([RADIUS, HALF]) / np.hypot(RADIUS, HALF)
    side = away * cosine - (points[:, 2] + HALF) * sine
    return _nearest_face([side, points[:, 2]], [flat * cosine - up * sine, up])


@cache
def bodies():
    wall = turned((-HALF, RADIUS), (HALF, RADIUS))
    top, bottom = turned((HALF, RADIUS), (HALF, 0.0)), turned((-HALF, 0.0), (-HALF, RADIUS))
    mantle, base = turned((-HALF, 0.0), (0.0, RADIUS)), turned((0.0, RADIUS), (0.0, 0.0))
    return {
        "sphere": Body((closed_sphere(),), from_sphere),
        "hemispheres": Body(hemispheres(), from_sphere),
        "cylinder": Body((wall, top, bottom), from_cylinder),
        "cone": Body((mantle, base), from_cone),
    }


@cache
def plate_grid(cells=80, half=14.0, thickness=8.0):
    bearing = Bearing("plate", plate((-half, half), (-half, half)), thickness)
    return build_elements(bearing, bearing.rectangle(cells, cells))


@cache
def body_pair(name, **choices):
    """Pair of a body and the plate, made once: the search maps each body."""
    return pair_of(bodies()[name].patches, **choices)


def pair_of(patches, grid=None, **choices):
    tables = tuple(tabulate_surface(patch, 81, 61) for patch in patches)
    return ContactPair(plate_grid() if grid is None else grid, 0, patches, tables, **choices)


def lowest(patches, rotation):
    """Height of the lowest of many points of the patches."""
    heights = []
    for patch in patches:
        u, v = np.meshgrid(np.linspace(*patch.domain[0], 241), np.linspace(*patch.domain[1], 121))
        heights.append((patch.evaluate(u, v) @ rotation.T)[..., 1].min())
    return float(min(heights))
