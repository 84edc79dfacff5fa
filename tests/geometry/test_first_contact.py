"""A femoral component lowered straight down."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.geometry.grid import build_grid
from kneewear.geometry.knee import find_first_contact
from kneewear.mechanics.rotations import body_three_123
from tests.physics.bodies import UPRIGHT, flat_implant, sphere

RADIUS = 30.0
HEIGHT = 8.0


@pytest.fixture(scope="module")
def implant():
    return flat_implant(sphere(RADIUS), 9.0, 9.0)


@pytest.fixture(scope="module")
def grid(implant):
    return build_grid(implant, 41, 41)


def sagitta(grid):
    """Depth of a sphere's lowest point between two centres."""
    return float(grid.area[0].max()) / (4.0 * RADIUS)


def test_spheres_touch_at_their_lowest_points(implant, grid):
    found = find_first_contact(grid, implant.femoral, UPRIGHT, [1.3, -900.0, -0.7])
    # Above the exact height by no more than the sagitta.
    assert 0.0 <= found.translation[1] - (HEIGHT + RADIUS) + sagitta(grid) <= sagitta(grid)
    assert found.translation[[0, 2]] == pytest.approx([1.3, -0.7])
    edge = float(np.sqrt(grid.area[0].max()))
    for side, middle in (("medial", 23.0), ("lateral", -23.0)):
        assert found.point[side][[0, 2]] == pytest.approx([1.3, middle - 0.7], abs=edge)
        assert found.clearance[side] <= sagitta(grid)


@pytest.mark.parametrize(("varus", "side"), [(0.01, "medial"), (-0.01, "lateral")])
def test_varus_lifts_one_side(implant, grid, varus, side):
    rotation = body_three_123([varus, 0.0, 0.0])
    found = find_first_contact(grid, implant.femoral, rotation, np.zeros(3))
    # Centres of the spheres are 46 mm apart.
    lifted = 46.0 * np.sin(abs(varus))
    assert found.side == side
    assert found.clearance[side] == 0.0
    assert max(found.clearance.values()) == pytest.approx(lifted, abs=sagitta(grid))
