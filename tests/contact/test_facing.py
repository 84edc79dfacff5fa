"""Only elements that face the indenter act: side faces and undersides never do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kneewear.contact.pair import ContactPair
from kneewear.geometry.grid import build_grid
from kneewear.geometry.table import tabulate_surface
from tests.physics.bodies import UPRIGHT, flat_implant, linear_layer, plate, sphere

RADIUS = 30.0
HEIGHT = 8.0


def turned_grid(grid, motion, shift):
    """All elements of a grid moved rigidly: a top made into a side face or an underside."""
    vectors = {n: getattr(grid, n) @ motion.T for n in ("normal", "tangent_row", "tangent_column")}
    return replace(grid, centre=grid.centre @ motion.T + shift, **vectors)


def pressed(condyle, grid, position, **choices):
    pair = ContactPair(grid, 0, condyle, tabulate_surface(condyle, 41, 41), **choices)
    return pair.evaluate(UPRIGHT, position, linear_layer(np.full(pair.index.size, HEIGHT)))


@pytest.mark.parametrize("method", ["minimum_distance", "ray"])
@pytest.mark.parametrize("condyle", [sphere(RADIUS), plate((-6, 6), (-6, 6)).reversed_normal()])
@pytest.mark.parametrize("depth", [0.05, 0.5, 1.0])
def test_the_underside_of_a_thin_insert_adds_no_force(method, condyle, depth):
    """A sheet thinner than the penetration: its underside lies inside the metal as well."""
    grid = build_grid(flat_implant(condyle, spacing=0.0), 30, 30)
    upside_down = np.diag([1.0, -1.0, -1.0])
    below = turned_grid(grid, upside_down, [0.0, 2 * HEIGHT - 0.02, 0.0])
    lowest = condyle.control_points[..., 1].min()
    position = np.array([0.0, HEIGHT - lowest - depth, 0.0])
    assert pressed(condyle, grid, position, method=method).wrench[1] > 0.0
    result = pressed(condyle, below, position, method=method)
    assert result.active_elements == 0
    assert not result.wrench.any()


@pytest.mark.parametrize("method", ["minimum_distance", "ray"])
@pytest.mark.parametrize("tilt", [0.0, 1e-12, -1e-12, 0.02, -0.02])
def test_a_side_face_below_the_surface_adds_no_force(method, tilt):
    """The wall of a block under a flat stamp that overhangs it, upright to within a degree."""
    stamp = plate((-6, 6), (-6, 6)).reversed_normal()
    grid = build_grid(flat_implant(stamp, 4.0, 4.0, spacing=0.0), 30, 30)
    wall = Rotation.from_rotvec([0.0, 0.0, -0.5 * np.pi + tilt]).as_matrix()
    moved = turned_grid(grid, wall, np.zeros(3))
    # Its top reaches the block's edge at x = 2 mm, half a millimetre inside the stamp.
    top = moved.centre[0].reshape(-1, 3)[np.argmax(moved.centre[0, ..., 1])]
    moved = replace(moved, centre=moved.centre + [2.0 - top[0], HEIGHT - 0.01 - top[1], 0.0])
    result = pressed(stamp, moved, np.array([0.0, HEIGHT - 0.5, 0.0]), method=method)
    assert result.active_elements == 0
    assert not result.wrench.any()


def test_elements_that_lean_are_felt():
    """A slope of 60 deg is no wall."""
    condyle = sphere(RADIUS)
    grid = build_grid(flat_implant(condyle, spacing=0.0), 30, 30)
    slope = Rotation.from_rotvec([0.0, 0.0, np.radians(60.0)]).as_matrix()
    moved = turned_grid(grid, slope, -slope @ [0.0, HEIGHT, 0.0] + [0.0, HEIGHT, 0.0])
    result = pressed(condyle, moved, np.array([0.0, HEIGHT + RADIUS - 0.5, 0.0]))
    assert result.active_elements > 0
