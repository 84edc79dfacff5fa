"""Distances corrected to the mid-surface (Bei 2003, 2.2.2), of pairs that conform or do not."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kneewear.contact.foundation import ElasticLayer, SmallStrain
from kneewear.contact.pair import ContactPair
from kneewear.geometry.grid import Bearing, build_elements
from kneewear.geometry.primitives import cylinder, plate, sphere
from kneewear.geometry.table import tabulate_surface
from kneewear.mechanics.rotations import body_three_123

# What is laid under what, the height of the indenter's origin at first touch, mm, and whether both
# are curved the same way.
UPSIDE_DOWN = np.diag([1.0, -1.0, -1.0])
FLAT = plate((-8.0, 8.0), (-8.0, 8.0))
DOME = sphere(40.0).transformed(UPSIDE_DOWN, np.zeros(3))
PAIRS = {
    "sphere on a plate": (FLAT, sphere(30.0), 30.0),
    "cylinder on a plate": (FLAT, cylinder(20.0, 30.0), 20.0),
    "sphere on a dome": (DOME, sphere(30.0), 70.0),
    "sphere in a cup": (sphere(40.0).reversed_normal(), sphere(30.0), -10.0),
    "sphere in a close cup": (sphere(30.5).reversed_normal(), sphere(30.0), -0.5),
    "bowl on a dome": (
        DOME,
        sphere(50.0).transformed(UPSIDE_DOWN, np.zeros(3)).reversed_normal(),
        -10.0,
    ),
    "plate on a plate": (FLAT, plate((-20.0, 20.0), (-20.0, 20.0)).reversed_normal(), 0.0),
}
MEASURES = {
    "minimum": {"method": "minimum_distance", "correction": "none"},
    "corrected minimum": {"method": "minimum_distance", "correction": "mid_surface"},
    "corrected ray": {"method": "ray", "correction": "mid_surface"},
    "ray": {"method": "ray", "correction": "none"},
}
# Feet are found to 1e-6 mm.
FOOT = 2e-6


@cache
def pairs_of(name):
    """A contact pair for every measure, on one grid."""
    bearing, indenter, _ = PAIRS[name]
    bearing = Bearing("bearing", bearing, 8.0)
    grid = build_elements(bearing, bearing.rectangle(25, 23))
    table = tabulate_surface(indenter, 61, 41)
    return {name: ContactPair(grid, 0, indenter, table, **how) for name, how in MEASURES.items()}


def penetrations(name, depth, shift=(0.0, 0.0), tilt=0.0):
    """Penetration of every element by every measure; zero where apart."""
    pose = body_three_123(np.array([0.0, 0.0, tilt]))
    position = np.array([shift[0], PAIRS[name][2] - depth, shift[1]])
    found = {}
    for measure, pair in pairs_of(name).items():
        layer = ElasticLayer(SmallStrain(1.0), np.full(pair.index.size, 8.0))
        result = pair.evaluate(pose, position, layer)
        found[measure] = np.zeros(pair.index.size)
        found[measure][result.element] = result.penetration
    return found


@pytest.mark.compiled
@pytest.mark.parametrize("name", PAIRS)
@settings(max_examples=15, deadline=None)
@given(
    depth=st.floats(0.02, 1.0),
    shift=st.tuples(st.floats(-0.2, 0.2), st.floats(-0.2, 0.2)),
    tilt=st.floats(-0.05, 0.05),
)
def test_corrected_distances_lie_between_the_minimum_and_the_ray(name, depth, shift, tilt):
    found = penetrations(name, depth, shift, tilt)
    least, corrected, by_ray, most = (found[measure] for measure in MEASURES)
    # Inside the indenter is inside by every measure, but where projections or rays leave its patch.
    inside = np.all([part > 0.0 for part in found.values()], axis=0)
    assert inside.any()
    for middle in (corrected, by_ray):
        assert (middle[inside] >= least[inside] - FOOT).all()
        assert (middle[inside] <= most[inside] + FOOT).all()


@pytest.mark.compiled
@settings(max_examples=25, deadline=None)
@given(depth=st.floats(0.02, 1.0), tilt=st.floats(-0.2, 0.2))
def test_both_corrections_agree_on_a_plane(depth, tilt):
    found = penetrations("plate on a plate", depth, tilt=tilt)
    assert found["corrected ray"] == pytest.approx(found["corrected minimum"], abs=FOOT)
    # A plane through the axis at the depth: its distance, and that along the element's normal.
    x = pairs_of("plate on a plate")["ray"].centre[:, 0]
    along = np.maximum(depth - x * math.tan(tilt), 0.0)
    assert found["ray"] == pytest.approx(along, abs=FOOT)
    assert found["minimum"] == pytest.approx(along * math.cos(tilt), abs=FOOT)
    half = along * math.cos(tilt) / math.cos(0.5 * tilt)
    assert found["corrected ray"] == pytest.approx(half, abs=FOOT)


@pytest.mark.parametrize("name", ["sphere in a close cup", "sphere on a plate"])
def test_corrections_are_nearly_identical_where_penetration_is_shallow(name):
    """They differ by the part theta^2: some parts in a thousand at 0.2 mm under 30 mm."""
    found = penetrations(name, 0.2)
    inside = found["minimum"] > 0.02
    apart = found["corrected ray"][inside] / found["corrected minimum"][inside] - 1.0
    assert np.abs(apart).max() < 0.005
