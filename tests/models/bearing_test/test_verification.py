"""Wear and worn geometry of simple bearings against analytical solutions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kneewear import default_study
from kneewear.models.bearing_test import sliding_wear, verification
from kneewear.models.bearing_test.settings import BearingTest
from kneewear.models.bearing_test.simulation import BearingContact
from kneewear.wear.law_settings import Archard
from kneewear.wear.laws import ScaledLaw, worn_depth

QUICK = {verification._cylinder_on_plate, verification._socket}
SOLUTIONS = [
    one if one in QUICK else pytest.param(one, marks=pytest.mark.slow)
    for one in verification.SOLUTIONS
]
# Forces, factors and lengths of one bearing: mm3/(N mm), N, mm.
K = 1.0e-9
LOAD = 73.0
RADIUS = 28.0


@pytest.mark.compiled
@pytest.mark.parametrize("solution", SOLUTIONS, ids=lambda one: one.__name__)
def test_wear_is_that_of_the_analytical_solution(solution):
    study = default_study()
    rows = list(solution(study.simulation, study.wear))
    assert rows
    for test, quantity, _, exact, computed in rows:
        target = 0.01 * verification.TARGET_PERCENT
        assert computed == pytest.approx(exact, rel=target), (test, quantity)


@pytest.mark.slow
def test_groove_tends_to_the_self_similar_one_and_is_wider_before():
    strokes = 2.0e7
    off = []
    for stiffness in (300.0, 3000.0, 30000.0):
        z, depth = sliding_wear.elastic_groove(K, LOAD, RADIUS, stiffness, strokes, 1000)
        limit = sliding_wear.self_similar_groove(K, LOAD, RADIUS, strokes)
        found = verification._parabola(z, depth)
        # The area is the same at all times.
        assert np.trapezoid(depth, z) == pytest.approx(K * LOAD * strokes, rel=1e-6)
        off.append(abs(found.half_width / limit.half_width - 1.0))
    assert off[0] > off[1] > off[2]
    assert off[2] < 0.001


def test_self_similar_groove_widens_with_the_third_root_of_the_strokes():
    one, eight = (sliding_wear.self_similar_groove(K, LOAD, RADIUS, n) for n in (1e6, 8e6))
    assert eight.half_width == pytest.approx(2.0 * one.half_width)
    assert eight.depth == pytest.approx(4.0 * one.depth)


def test_socket_has_the_closed_forms_of_a_hemisphere():
    angle = 2.0
    cosine = sliding_wear.socket_volume(K, LOAD, RADIUS, angle)
    uniform = sliding_wear.socket_volume(K, LOAD, RADIUS, angle, np.ones_like)
    assert cosine == pytest.approx(4.0 / math.pi * K * LOAD * RADIUS * angle, rel=1e-4)
    assert uniform == pytest.approx(math.pi / 2.0 * K * LOAD * RADIUS * angle, rel=1e-4)


def test_small_socket_contact_wears_by_load_times_sliding():
    small = sliding_wear.socket_volume(K, LOAD, RADIUS, 2.0, cap=0.05)
    assert small == pytest.approx(K * LOAD * RADIUS * 2.0, rel=2e-3)


@pytest.mark.compiled
def test_uniform_pressure_in_a_socket_wears_as_its_solution():
    radius = 14.0
    test = BearingTest.model_validate(
        {
            "bearing": {
                "shape": "ball_in_socket",
                "radius_mm": radius,
                "clearance_mm": 0.01,
                "thickness_mm": 8.0,
            },
            "motion": {"path": "rotations", "flexion": {"low_deg": -15, "high_deg": 15}},
            "load": {"low_n": 8000.0, "high_n": 8000.0},
            "million_cycles": 1.0,
            "frames": 72,
            "element_mm": 0.5,
        }
    )
    contact = BearingContact(test, default_study().simulation)
    history, grid = contact.fresh, contact.bearing.grid
    touching = (history.pressure.values[0, :, 0] > 0.0).all(axis=0)
    assert touching.sum() == grid.valid[0].sum()  # so that sliding is known everywhere
    slip = history.slip.values[0, :, 0]
    pressure = np.broadcast_to(touching, slip.shape[:-1])
    depth = worn_depth(pressure, slip, np.zeros(touching.shape), ScaledLaw(Archard(), K))
    force = np.sum(grid.area[0] * grid.normal[0, ..., 1], where=touching)
    turned = 4.0 * math.radians(15.0)
    exact = sliding_wear.socket_volume(K, force, radius, turned, np.ones_like, math.radians(75.0))
    assert np.sum(depth * grid.area[0], where=touching) == pytest.approx(exact, rel=0.01)
