"""Contact on a table of distances so coarse that kernels need not be compiled for it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from kneewear.contact.pair import ContactPair
from kneewear.geometry.distance_tabulation import build_distance_table
from kneewear.geometry.grid import build_grid
from kneewear.geometry.primitives import cylinder
from kneewear.geometry.table import tabulate_surface
from tests.physics.bodies import UPRIGHT, flat_implant, linear_layer

# A cylinder's distance has no error along its length and almost none along its radius.
WANTED = 1e-2
RADIUS = 20.0


@cache
def table():
    return build_distance_table(cylinder(RADIUS, 10.0), WANTED)


def test_distances_in_the_band_are_those_of_the_cylinder():
    turn = np.linspace(-0.3, 0.3, 13)
    for height in (-0.25, 0.0, 0.4):
        radius = RADIUS + height
        points = np.column_stack([radius * np.sin(turn), -radius * np.cos(turn), 3.0 * turn])
        distance, gradient, _, inside = table().look_up(points)
        assert inside.all()
        assert distance == pytest.approx(height, abs=WANTED)
        assert gradient == pytest.approx(points / [radius, radius, np.inf], abs=1e-3)


@pytest.mark.parametrize("direction", ["minimum_distance", "mid_surface"])
def test_force_with_the_table_is_that_of_exact_distances(direction):
    condyle = cylinder(RADIUS, 10.0)
    grid = build_grid(flat_implant(condyle), 12, 4)
    surface = condyle.transformed(UPRIGHT, [0.0, 0.0, 23.0])
    nodes = tabulate_surface(surface, 31, 11)
    moved = build_distance_table(surface, WANTED)
    exact, tabled = (
        ContactPair(grid, 0, surface, nodes, direction=direction, distance_table=one)
        for one in (None, moved)
    )
    layer = linear_layer(grid.thickness[0].ravel()[exact.index])
    position = np.array([0.2, RADIUS + 8.0 - 0.1, 0.0])
    force = exact.evaluate(UPRIGHT, position, layer).wrench
    assert force[1] > 100.0
    np.testing.assert_allclose(
        tabled.evaluate(UPRIGHT, position, layer).wrench[:3], force[:3], atol=1e-3 * force[1]
    )
