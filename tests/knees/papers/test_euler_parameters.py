"""Euler parameters: rotation, rates, and what they cannot follow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kneewear.knees.papers.point_contact.euler_parameters import (
    integrate_euler_parameters,
    parameter_rates,
    rotations_of,
)
from kneewear.knees.papers.rotation_vectors import skew_matrix
from kneewear.mechanics.rigid_body import solid_body
from kneewear.mechanics.springs import Spring
from kneewear.motion.system import Body, System

NUMBERS = st.lists(st.floats(-1.0, 1.0), min_size=7, max_size=7).filter(
    lambda numbers: np.linalg.norm(numbers[:4]) > 0.1
)


@given(NUMBERS)
def test_rotation_is_that_of_the_source_with_its_missing_factor(numbers):
    e = np.array(numbers[:4]) / np.linalg.norm(numbers[:4])
    a, b, c, d = e
    printed = np.array(
        [
            [a * a + b * b - 0.5, b * c - a * d, b * d + a * c],
            [b * c + a * d, a * a + c * c - 0.5, c * d - a * b],
            [b * d - a * c, c * d + a * b, a * a + d * d - 0.5],
        ]
    )
    np.testing.assert_allclose(rotations_of(e), 2.0 * printed, atol=1e-14)


@given(NUMBERS)
def test_rates_keep_the_norm_and_turn_the_body_with_its_angular_velocity(numbers):
    e = np.array(numbers[:4]) / np.linalg.norm(numbers[:4])
    spin, step = np.array(numbers[4:]), 1e-5
    rates = parameter_rates(e, spin)
    assert abs(e @ rates) < 1e-15
    change = (rotations_of(e + step * rates) - rotations_of(e - step * rates)) / (2.0 * step)
    np.testing.assert_allclose(change, skew_matrix(spin) @ rotations_of(e), atol=1e-9)


def test_springs_and_bodies_without_inertia_are_refused():
    start = np.zeros(6)
    with pytest.raises(ValueError):
        integrate_euler_parameters(System("ground", (Body("a"),), {}), [0.0, 1.0], start)
    body = Body("a", inertia=solid_body(1.0, (1.0, 1.0, 1.0), np.zeros(3)))
    system = System("ground", (body,), {"spring": Spring("x", 1.0, body="a")})
    with pytest.raises(ValueError):
        integrate_euler_parameters(system, [0.0, 1.0], start)
