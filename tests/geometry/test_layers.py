"""Cartilage layers: exact on concentric spheres, bilinear on the moving body, both added."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.base.sides import SIDES
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant import Implant, InsertLayer
from kneewear.geometry.table import tabulate_surface
from kneewear.geometry.thickness import joint_thickness, layer_thickness, with_layer_thickness
from tests.geometry.plans import on_circle, polygon
from tests.physics.bodies import UPRIGHT, plate, sphere

WIDE = (0.1, 50.0)
# Newton stops within 1e-6 mm of the projection, which leaves the square of it in the distance.
ROUNDING = 1e-9


def cup(radius):
    """Hollow of a sphere about the origin, its inside facing up."""
    return sphere(radius).reversed_normal()


def knee_of_spheres(femur=(30.0, 27.5), tibia=(40.0, 43.0), limits=(WIDE, WIDE)):
    """Condyles and hollow plateaus between concentric spheres: (cartilage, bone) radii."""
    disc = polygon(on_circle(20.0, 0.0, 2 * np.pi, 300)[:-1])
    return Implant(
        "spheres",
        dict.fromkeys(SIDES, sphere(femur[0])),
        dict.fromkeys(SIDES, cup(tibia[0])),
        np.nan,
        limits[1][0],
        coverage=dict.fromkeys(SIDES, disc),
        femoral_layer=InsertLayer(dict.fromkeys(SIDES, sphere(femur[1])), limits[0]),
        insert_layer=InsertLayer(dict.fromkeys(SIDES, cup(tibia[1])), limits[1]),
    )


def test_concentric_spheres_give_the_exact_thickness_of_both_layers():
    knee = knee_of_spheres()
    grid = build_grid(knee, 20, 16)
    assert grid.thickness[grid.valid] == pytest.approx(3.0, abs=ROUNDING)
    condyle, layer = knee.femoral["medial"], knee.femoral_layer
    samples = tabulate_surface(condyle, 31, 21)
    table = with_layer_thickness(samples, layer.bone["medial"], layer.limits)
    assert table.column("thickness_mm") == pytest.approx(2.5, abs=ROUNDING)
    # Where each element's nearest point on the condyle is, both layers lie one over the other.
    u, v, *_ = condyle.closest_points(grid.centre[0][grid.valid[0]])
    fixed = grid.thickness[0][grid.valid[0]]
    assert joint_thickness(fixed, table, u, v) == pytest.approx(5.5, abs=ROUNDING)
    assert fixed == pytest.approx(3.0, abs=ROUNDING)


def test_shifted_spheres_give_the_distance_along_the_line_through_the_bones_centre():
    bone = sphere(27.0).transformed(UPRIGHT, [0.4, 0.3, -0.2])
    points = sphere(30.0).evaluate(np.full(9, 0.5), np.linspace(0.3, 0.7, 9))
    exact = np.linalg.norm(points - [0.4, 0.3, -0.2], axis=1) - 27.0
    assert layer_thickness(points, bone, WIDE) == pytest.approx(exact, abs=ROUNDING)


def test_thickness_along_the_normal_is_that_of_the_ray():
    # A bone that slopes 3 to 4 under flat cartilage: the shortest distance is 4/5 of the ray.
    slope = np.arctan(0.75)
    turned = np.array(
        [[np.cos(slope), -np.sin(slope), 0.0], [np.sin(slope), np.cos(slope), 0.0], [0.0, 0.0, 1.0]]
    )
    bone = plate((-19, 19), (-19, 19)).transformed(turned, np.zeros(3))
    points = np.array([[0.0, 4.0, 0.0], [1.0, 4.0, 2.0], [17.0, 14.0, 0.0]])
    up = np.tile([0.0, 1.0, 0.0], (3, 1))
    ray = points[:, 1] - 0.75 * points[:, 0]
    assert layer_thickness(points[:2], bone, WIDE) == pytest.approx(0.8 * ray[:2], abs=ROUNDING)
    # The last one is beyond the end of the bone, at 15.2 mm.
    found = layer_thickness(points, bone, WIDE, up)
    assert found[:2] == pytest.approx(ray[:2], abs=ROUNDING)
    assert found[2] == layer_thickness(points[2:], bone, WIDE)[0]


def test_thickness_is_bilinear_between_samples():
    samples = tabulate_surface(sphere(30.0), 9, 7)
    u, v = samples.u, samples.v
    table = samples.with_columns(
        thickness_mm=1.0 + 2.0 * u[:, None] - 0.5 * v + 0.25 * u[:, None] * v
    )
    at_u, at_v = np.random.default_rng(3).uniform([u[0], v[0]], [u[-1], v[-1]], (50, 2)).T
    exact = 2.0 * at_u - 0.5 * at_v + 0.25 * at_u * at_v
    assert joint_thickness(-1.0, table, at_u, at_v) == pytest.approx(exact, abs=1e-12)
    found = joint_thickness(0.0, table, u[:, None], v[None, :])
    assert found == pytest.approx(table.column("thickness_mm"), abs=1e-12)


def test_error_of_the_table_falls_with_the_square_of_the_spacing():
    surface = sphere(30.0)
    bone = sphere(27.0).transformed(UPRIGHT, [0.8, 0.5, -0.6])
    u, v = np.random.default_rng(4).uniform(0.05, 0.95, (2, 2000))
    exact = layer_thickness(surface.evaluate(u, v), bone, WIDE)
    error = [
        np.abs(joint_thickness(-exact, with_layer_thickness(table, bone, WIDE), u, v)).max()
        for table in (tabulate_surface(surface, n, n) for n in (11, 21, 41))
    ]
    assert np.log2(np.array(error[:-1]) / error[1:]) == pytest.approx(2.0, abs=0.3)
