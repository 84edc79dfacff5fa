"""Penetrations, resultants and searches of one contact pair."""

from __future__ import annotations

import numpy as np
import pytest

from tests.physics.bodies import (
    CASES,
    MODULUS,
    UPRIGHT,
    contact_of,
    cylinder,
    flat_implant,
    gait_study,
    linear_layer,
    pose_of,
    sphere,
)

RADIUS = 30.0
HEIGHT = 8.0
# Newton steps end below 1e-5 mm, which leaves 1e-11 mm in the distance.
DISTANCE = 1e-10


def spread(contact, result):
    everywhere = np.zeros(contact.index.size)
    everywhere[result.element] = result.penetration
    return everywhere


@pytest.mark.parametrize("depth", [0.05, 0.5, 2.0])
def test_penetration_under_a_sphere_is_exact(depth):
    contact, layer = contact_of(flat_implant(sphere(RADIUS)), 40, 40)
    middle = np.array([0.3, HEIGHT + RADIUS - depth, -0.2])
    found = spread(contact, contact.evaluate(UPRIGHT, middle, layer))
    exact = RADIUS - np.linalg.norm(contact.centre - middle - [0.0, 0.0, 23.0], axis=1)
    assert found == pytest.approx(np.maximum(exact, 0.0), abs=DISTANCE)


def test_mid_surface_penetration_is_the_distance_over_half_the_angle():
    contact, layer = contact_of(flat_implant(sphere(RADIUS)), 40, 40, 0, "mid_surface")
    middle = np.array([0.0, HEIGHT + RADIUS - 0.5, 0.0])
    found = spread(contact, contact.evaluate(UPRIGHT, middle, layer))
    arm = contact.centre - middle - [0.0, 0.0, 23.0]
    length = np.linalg.norm(arm, axis=1)
    half = 0.5 * np.arccos(-arm[:, 1] / length)
    exact = np.maximum((RADIUS - length) / np.cos(half), 0.0)
    assert found == pytest.approx(exact, abs=DISTANCE)


def test_penetration_under_a_cylinder_is_the_same_all_along():
    contact, layer = contact_of(flat_implant(cylinder(RADIUS, 20.0)), 40, 12)
    found = spread(
        contact, contact.evaluate(UPRIGHT, np.array([0.1, HEIGHT + RADIUS - 0.3, 0.0]), layer)
    ).reshape(40, 12)
    assert np.ptp(found, axis=1).max() < DISTANCE
    assert found.max() == pytest.approx(0.3, abs=1e-3)


@pytest.mark.compiled
def test_penetration_of_the_implant_is_that_of_the_surface():
    study = gait_study()
    history = study.arrays(CASES[0])
    for side, name in enumerate(history.sides):
        contact, layer = contact_of(study.implant, 40, 30, side)
        for frame in (0, 4, 8):
            rotation, translation = pose_of(history, frame)
            found = spread(contact, contact.evaluate(rotation, translation, layer))
            body = (contact.centre - translation) @ rotation
            _, _, distance, normal, interior = study.implant.femoral[name].closest_points(body)
            facing = ((normal @ rotation.T) * contact.normal).sum(-1) < 0
            exact = np.where(interior & facing, np.maximum(-distance, 0.0), 0.0)
            # Two searches from different starts.
            assert found == pytest.approx(exact, abs=DISTANCE)


@pytest.mark.compiled
def test_searches_do_not_need_a_fine_table():
    """For any resolution of the table, the exact surface is found."""
    implant = flat_implant(sphere(RADIUS))
    pose = UPRIGHT, np.array([0.0, HEIGHT + RADIUS - 0.3, 0.0])
    fine, layer = contact_of(implant, 40, 40, nodes=(201, 201))
    expected = spread(fine, fine.evaluate(*pose, layer))
    for nodes in ((81, 61), (31, 31), (11, 11)):
        coarse, _ = contact_of(implant, 40, 40, nodes=nodes)
        found = spread(coarse, coarse.evaluate(*pose, layer))
        assert found == pytest.approx(expected, abs=DISTANCE)


@pytest.mark.parametrize("depth", [10.0, 20.0])
def test_deep_elements_have_the_depth_of_their_own_nearest_point(depth):
    contact, layer = contact_of(flat_implant(sphere(RADIUS)), 20, 20)
    middle = np.array([0.0, HEIGHT + RADIUS - depth, 0.0])
    found = spread(contact, contact.evaluate(UPRIGHT, middle, layer))
    arm = contact.centre - middle - [0.0, 0.0, 23.0]
    exact = RADIUS - np.linalg.norm(arm, axis=1)
    # The lower part of a sphere ends 1 rad from its pole, front to back and sideways.
    over = np.abs(np.arctan2(arm[:, [0, 2]], -arm[:, [1]])).max(axis=1) < 0.99
    assert over.sum() > 100
    assert found[over] == pytest.approx(exact[over], abs=DISTANCE)


def test_softer_layers_carry_less_in_proportion():
    contact, layer = contact_of(flat_implant(sphere(RADIUS)), 40, 40)
    pose = UPRIGHT, np.array([0.1, HEIGHT + RADIUS - 0.2, 0.2])
    hard = contact.evaluate(*pose, layer)
    contact.reset()
    # A quarter is exact in binary: the same bits, when the search starts from the same nodes.
    soft = contact.evaluate(*pose, linear_layer(layer.thickness, 0.25 * MODULUS))
    assert np.array_equal(soft.wrench, 0.25 * hard.wrench)
    assert np.array_equal(soft.stiffness, 0.25 * hard.stiffness)
    assert np.array_equal(soft.penetration, hard.penetration)
