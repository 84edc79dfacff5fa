"""The distance search against brute force: random poses, patches and depths."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from kneewear.contact.foundation import ElasticLayer, SmallStrain
from kneewear.contact.pair import ContactPair
from kneewear.geometry._kernels import SEAM_U
from kneewear.geometry.distance_tabulation import build_distance_table
from kneewear.geometry.primitives import revolved
from kneewear.geometry.table import tabulate_surface
from tests.contact.closed_bodies import (
    ROUND,
    closed_sphere,
    hemispheres,
    lowest,
    meridian,
    plate_grid,
    stretched,
)
from tests.contact.test_distance_table import tables
from tests.geometry.patches import split_surface
from tests.physics.bodies import gait_study

pytestmark = pytest.mark.compiled

FACING = 0.1
# Largest error of the tables below, mm. That of its normals a table states.
TABLE_ERROR = 2e-4
NODES = 240
ROUNDS = 40
STEPS = 4


@cache
def indenter(name):
    """Patches, how far poses turn, rad, and the table of a single patch."""
    condyle = gait_study().implant.femoral["medial"]
    if name.startswith("condyle"):
        if name == "condyle, two patches":
            return tuple(split_surface(condyle, 1, 2)), 0.3, None
        return (condyle,), 0.3, tables()["medial"]
    if name == "cap with a pole":
        cap = stretched(revolved(*meridian(-np.pi / 2, -0.9), ROUND, 4), (1.0, 1.1, 1.1))
        down = Rotation.from_rotvec([-np.pi / 2, 0.0, 0.0]).as_matrix()
        cap = cap.transformed(down, np.zeros(3))
        return (cap,), 0.3, build_distance_table(cap, TABLE_ERROR / 4)
    if name == "ellipsoid":
        return (stretched(closed_sphere()),), np.pi, None
    return tuple(stretched(half) for half in hemispheres()), np.pi, None


NAMES = ("condyle", "condyle, two patches", "cap with a pole", "ellipsoid", "two half ellipsoids")


@cache
def pair_for(name, source, search):
    patches, _, table = indenter(name)
    samples = tuple(tabulate_surface(patch, 81, 61) for patch in patches)
    grid = plate_grid(26, 13.0)
    return ContactPair(
        grid, 0, patches, samples, search=search, distance_table=table if source else None
    )


@cache
def nodes_of(name):
    """Of each patch the tree of dense nodes, and their parameters.

    No node is at a pole, where any of its parameters would be as near, and the raster round one
    of them may miss the nearest point.
    """
    share = (np.arange(NODES) + 0.5) / NODES
    found = []
    for patch in indenter(name)[0]:
        axes = (low + share * (high - low) for low, high in patch.domain)
        u, v = (a.ravel() for a in np.meshgrid(*axes))
        found.append((cKDTree(patch.evaluate(u, v)), np.stack([u, v])))
    return found


def nearest_of(patch, nodes, points):
    """Parameters of the nearest points by rasters, each finer than the last.

    A raster whose best point is on its border moves there and stays as coarse: near a pole the
    nearest point may be many nodes away from the nearest node.
    """
    tree, parameters = nodes
    middle = parameters[:, tree.query(points)[1]]
    low, high = np.array(patch.domain).T[:, :, None, None, None]
    reach = np.full_like(middle, 3.0 / NODES) * (high - low)[:, :, 0, 0]
    line = np.linspace(-1.0, 1.0, 2 * STEPS + 1)
    steps = np.stack(np.meshgrid(line, line))[:, None]
    border = np.abs(steps.reshape(2, -1)) == 1.0
    for _ in range(ROUNDS):
        raster = middle[:, :, None, None] + steps * reach[:, :, None, None]
        for axis in (0, 1):
            if patch.arrays.closed & (SEAM_U << axis):
                raster[axis] = low[axis] + (raster[axis] - low[axis]) % (high - low)[axis]
        raster = np.clip(raster, low, high)
        away = points[:, None, None] - patch.evaluate(*raster)
        best = (away**2).sum(axis=-1).reshape(len(points), -1).argmin(axis=1)
        moved = raster.reshape(2, len(points), -1)[:, np.arange(len(points)), best]
        reach = np.where(border[:, best] & (moved != middle), reach, reach / 2)
        middle = moved
    return middle


def brute_force(name, points):
    """Signed distance of points and its gradient, and where the nearest point is at an open end.

    Nothing of the search is used: no Newton steps, no bounds, no starts.
    """
    least = np.full(len(points), np.inf)
    distance, gradient = np.empty(len(points)), np.empty((len(points), 3))
    ends = np.zeros(len(points), dtype=bool)
    for patch, nodes in zip(indenter(name)[0], nodes_of(name), strict=True):
        u, v = nearest_of(patch, nodes, points)
        away, normal = points - patch.evaluate(u, v), patch.normal(u, v)
        length, height = np.linalg.norm(away, axis=1), (away * normal).sum(axis=1)
        sideways = np.linalg.norm(away - height[:, None] * normal, axis=1)
        # On a shared border both patches find one point, of which the one inside counts.
        nearer = length < least - 1e-9
        least[nearer], distance[nearer] = length[nearer], height[nearer]
        gradient[nearer], ends[nearer] = normal[nearer], (sideways > 1e-5)[nearer]
    return distance, gradient, ends


poses = st.fixed_dictionaries(
    {
        "name": st.sampled_from(NAMES),
        "search": st.sampled_from(["bounds", "breadth_first", "all"]),
        "tabled": st.booleans(),
        "seed": st.integers(0, 2**32 - 1),
        "depth": st.sampled_from([0.02, 0.2, 1.0, 3.0]),
    }
)


def check(name, search, tabled, seed, depth):
    """Compare one pose with brute force; returns how many elements touch, and the wrench."""
    patches, turn, table = indenter(name)
    random = np.random.default_rng(seed)
    axis = random.normal(size=3)
    angle = random.uniform(-turn, turn)
    rotation = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)).as_matrix()
    points = np.concatenate([patch.sample_points for patch in patches]) @ rotation.T
    bottom = points[points[:, 1].argmin()]
    place = random.uniform(-3.0, 3.0, 3) - bottom
    place[1] = -lowest(patches, rotation) - depth
    tabled = tabled and table is not None
    pair = pair_for(name, tabled, search)
    found = pair.evaluate(rotation, place, ElasticLayer(SmallStrain(1.0), np.ones(pair.index.size)))
    distance, gradient, ends = brute_force(name, (pair.centre - place) @ rotation)
    facing = -((gradient @ rotation.T) * pair.normal).sum(axis=1)
    error, lean = 1e-7, 1e-4
    if tabled:
        turn_error = np.radians(table.quality.max_normal_error_deg)
        error, lean = TABLE_ERROR, max(lean, turn_error)
    active = np.zeros(pair.index.size, dtype=bool)
    active[found.element] = True
    expected = (distance < 0.0) & (facing > FACING) & ~ends
    # Where brute force cannot tell: touching, and at the limit of facing.
    doubtful = (np.abs(distance) < 2 * error) | (np.abs(facing - FACING) < lean)
    assert not ((active != expected) & ~doubtful).any()
    known = found.element[expected[found.element] & ~doubtful[found.element]]
    row = np.isin(found.element, known)
    assert found.penetration[row] == pytest.approx(-distance[known], abs=error)
    turned = gradient[known] @ rotation.T
    assert found.direction[row] == pytest.approx(turned, abs=lean)
    return int(expected.sum()), found.wrench


@pytest.mark.slow
@given(poses)
@settings(max_examples=120, deadline=None)
def test_search_finds_what_brute_force_finds(given_pose):
    check(**given_pose)


@pytest.mark.parametrize(
    "name", [NAMES[0], *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[1:])]
)
def test_search_of_every_kind_of_patch(name):
    touching = []
    for seed, depth in enumerate((0.2, 1.0, 1.0, 3.0, 3.0)):
        count, wrench = check(name, "bounds", False, seed, depth)
        _, tabled = check(name, "bounds", True, seed, depth)
        # The table is asked where there is one.
        assert np.array_equal(wrench, tabled) == (count == 0 or indenter(name)[2] is None)
        touching.append(count)
    assert sum(count > 10 for count in touching) >= 3


def test_cut_and_whole_condyle_touch_alike():
    condyle = gait_study().implant.femoral["medial"]
    grid = plate_grid(60, 13.0)
    whole = ContactPair(grid, 0, condyle, tabulate_surface(condyle, 81, 61))
    parts = tuple(split_surface(condyle, 2, 2))
    cut = ContactPair(grid, 0, parts, [tabulate_surface(part, 61, 41) for part in parts])
    layer = ElasticLayer(SmallStrain(1.0), np.ones(whole.index.size))
    for turn in ([0.0, 0.0, 0.0], [0.02, 0.1, 0.3], [0.0, -0.1, -0.2]):
        rotation = Rotation.from_rotvec(turn).as_matrix()
        points = condyle.sample_points @ rotation.T
        place = -points[points[:, 1].argmin()] - [0.0, 0.4, 0.0]
        one, other = (pair.evaluate(rotation, place, layer) for pair in (whole, cut))
        assert one.active_elements > 50
        assert np.array_equal(np.sort(one.element), np.sort(other.element))
        scale = np.linalg.norm(one.wrench[:3])
        assert other.wrench == pytest.approx(one.wrench, abs=1e-8 * scale)
