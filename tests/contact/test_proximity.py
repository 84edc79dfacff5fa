"""The map of the space round a surface never rules out a position inside the body."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.contact.pair import TILE_EDGE
from kneewear.contact.search import map_proximity
from kneewear.geometry.table import tabulate_surface
from tests.contact.closed_bodies import closed_sphere, stretched
from tests.contact.indenters import bumps
from tests.physics.bodies import cylinder, gait_study, plate, sphere

pytestmark = pytest.mark.compiled


def plateau():
    return gait_study().implant.insert["medial"].reversed_normal()


SURFACES = {
    "condyle": lambda: gait_study().implant.femoral["medial"],
    "plateau as indenter": plateau,
    "sphere": lambda: sphere(30.0),
    "small sphere": lambda: sphere(4.0),
    "cup": lambda: sphere(20.0).reversed_normal(),
    "cylinder": lambda: cylinder(20.0, 10.0),
    "stamp": lambda: plate((-8.0, 8.0), (-5.0, 5.0)).reversed_normal(),
    "bumps": bumps,
    # Much narrower than a voxel, and as high as those of a fitted surface.
    "ripples": lambda: bumps(0.008, 2.0),
    "closed sphere": closed_sphere,
    "closed ellipsoid": lambda: stretched(closed_sphere()),
}


def positions(surface, space, random, count=8_000):
    """Positions of the map, two of three near the surface, and their signed distance if inside."""
    high = space.origin + space.voxel * np.array(space.shape)
    (u0, u1), (v0, v1) = surface.domain
    u, v = random.uniform(u0, u1, count), random.uniform(v0, v1, count)
    near = surface.evaluate(u, v) + random.normal(0, 0.5, (count, 1)) * surface.normal(u, v)
    points = np.concatenate([near, random.uniform(space.origin, high, (count // 2, 3))])
    _, _, distance, _, projected = surface.closest_points(points)
    return points, projected & (distance < 0.0), np.where(projected, distance, np.inf)


def bound(space, points, seen_from):
    """Bounds at points, of the voxels that hold other points; None where there is no voxel."""
    position = np.floor((seen_from - space.origin) / space.voxel).astype(int)
    there = ((position >= 0) & (position < space.shape)).all(axis=1)
    i, j, k = np.clip(position, 0, np.array(space.shape) - 1).T
    planes = space.planes[(i * space.shape[1] + j) * space.shape[2] + k].astype(float)
    inside = (points - space.origin) / space.voxel
    return (planes[:, :3] * inside).sum(axis=1) + planes[:, 3], there


@pytest.mark.parametrize("name", SURFACES)
@pytest.mark.parametrize("reach", [0.0, 1.0])
def test_no_place_inside_is_ruled_out(name, reach):
    """Neither by its own voxel nor by one as far away as the middle of an element's tile."""
    surface = SURFACES[name]()
    space = map_proximity((surface,), (tabulate_surface(surface, 121, 61),))
    random = np.random.default_rng(8)
    points, inside, _ = positions(surface, space, random)
    way = random.normal(size=points.shape)
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    # Half the diagonal of a square tile.
    far = reach * TILE_EDGE * np.sqrt(0.5) * space.voxel * random.uniform(0, 1, (len(points), 1))
    value, there = bound(space, points, points + far * way)
    assert (inside & there).sum() > 2000
    assert value[inside & there].max() <= 0.0


@pytest.mark.parametrize("name", ["condyle", "sphere", "cylinder", "stamp", "closed sphere"])
def test_bounds_of_convex_bodies_are_tight(name):
    surface = SURFACES[name]()
    space = map_proximity((surface,), (tabulate_surface(surface, 121, 61),))
    points, _, distance = positions(surface, space, np.random.default_rng(9))
    value, there = bound(space, points, points)
    near = there & (distance > 0.0) & (distance < 2.0)
    loss = (distance - value)[near]
    # A tangent plane over half a voxel; condyles bend most at their rounded edges.
    assert np.median(loss) < 0.02
    assert np.quantile(loss, 0.8) < 0.1


def test_a_map_is_kept_for_equal_bodies_and_no_others():
    one, same, other = (sphere(radius) for radius in (5.0, 5.0, 5.1))
    table = tabulate_surface(one, 21, 21)
    kept = map_proximity((one,), (table,))
    assert map_proximity((same,), (tabulate_surface(same, 21, 21),)) is kept
    assert map_proximity((other,), (tabulate_surface(other, 21, 21),)) is not kept
    assert map_proximity((one,), (table,), 0.25) is not kept


def test_starts_lie_near_the_feet():
    surface = SURFACES["condyle"]()
    space = map_proximity((surface,), (tabulate_surface(surface, 121, 61),))
    points, _, _ = positions(surface, space, np.random.default_rng(10), 4000)
    points = points[:4000]
    u, v, _, _, projected = surface.closest_points(points)
    position = np.floor((points - space.origin) / space.voxel).astype(int)
    i, j, k = position.T
    starts = space.starts[(i * space.shape[1] + j) * space.shape[2] + k].astype(float)
    away = points - (space.origin + space.voxel * (position + 0.5))
    guess = [
        np.clip(starts[:, n] + (starts[:, m : m + 3] * away).sum(axis=1), 0.0, 1.0)
        for n, m in ((0, 2), (1, 5))
    ]
    missed = np.linalg.norm(surface.evaluate(*guess) - surface.evaluate(u, v), axis=1)[projected]
    # One Newton step from here leaves some micrometres, the second nothing.
    assert np.median(missed) < 0.02
    assert np.quantile(missed, 0.95) < 0.2
