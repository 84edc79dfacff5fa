"""Implicit Euler steps: damping of a vibration, order of the errors, rest."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from kneewear.errors import ConvergenceError
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rigid_body import solid_body
from kneewear.mechanics.springs import Spring
from kneewear.motion.dynamics import Stepping, integrate_system
from kneewear.motion.system import Body, System
from kneewear.motion.system_settling import settle_system, step_implicitly

STIFFNESS = dict(
    zip(
        ("x", "y", "z", "theta_1", "theta_2", "theta_3"),
        (50.0, 20.0, 5.0, 9e3, 4e3, 2e4),
        strict=True,
    )
)
EVERY = np.arange(6)
# Error of the forces of a step, N, of some 100 N.
ROUNDING = 1e-9


def on_springs(mass=2e-3, centre=(0.0, 0.0, 0.0), **load):
    """A body, t, on a spring along each coordinate."""
    springs = {name: Spring(name, k, body="bone") for name, k in STIFFNESS.items()}
    loads = {"load": Load(**load, body="bone")} if load else {}
    body = Body("bone", inertia=solid_body(mass, [20.0, 30.0, 25.0], centre))
    return System("ground", (body,), springs | loads)


def step_on(system, start, duration, count):
    """States, coordinates and rates, after each of `count` equal steps."""
    states = [(np.array(start, dtype=float), np.zeros(6))]
    for _ in range(count):
        step = step_implicitly(system, *states[-1], duration, EVERY, ROUNDING)
        states.append((states[-1][0] + step, step / duration))
    return states


@pytest.mark.parametrize("ratio", [0.05, 0.5, 5.0, 500.0])
def test_a_step_damps_a_vibration_as_theory_says(ratio):
    """Each step multiplies its amplitude by 1 / sqrt(1 + (w h)^2), the energy by its square."""
    frequency = np.sqrt(STIFFNESS["x"] / 2e-3)
    states = step_on(on_springs(), [1.0, 0, 0, 0, 0, 0], ratio / frequency, 2)
    amplitude = [np.hypot(place[0], speed[0] / frequency) for place, speed in states]
    factors = np.array([after / before for before, after in pairwise(amplitude)])
    # 1e-9 N over 50 N/mm, relative to the 4e-6 mm that two steps of the largest ratio leave.
    np.testing.assert_allclose(factors, 1.0 / np.hypot(1.0, ratio), rtol=1e-5)


@pytest.mark.slow
def test_small_steps_follow_the_motion_to_first_order():
    """Half the step halves the distance from backward differentiation of a high order."""
    system = on_springs(centre=(4.0, -9.0, 6.0), force=(30.0, -60.0, 10.0))
    start, end = np.array([1.0, 2.0, -1.0, 0.3, -0.2, 0.4]), 0.02
    stepping = Stepping(relative_tolerance=1e-10, largest_step=1e-3)
    true = integrate_system(system, [0.0, end], start, ["bone"], stepping=stepping)
    errors = [
        step_on(system, start, end / count, count)[-1][0] - true.coordinates[-1]
        for count in (1000, 2000)
    ]
    assert np.abs(errors[0]).max() > 1e-3
    # The second order is this part of the first: the fastest frequency times the step.
    np.testing.assert_allclose(errors[0] / errors[1], 2.0, rtol=0.05)


def test_a_body_comes_to_rest_where_its_springs_balance_the_load():
    system = on_springs(centre=(4.0, -9.0, 6.0), force=(30.0, -60.0, 10.0))
    found = settle_system(
        lambda _: system, [1.0, 9.0, 0, 0.1, 0, 0], ["bone"], step_error=0.1, tolerance=1e-6
    )
    # The load is at the body's origin; w^2 is at least 1000 / s2.
    rest = np.array([30.0 / 50.0, -60.0 / 20.0, 10.0 / 5.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(found.coordinates[-1], rest, atol=1e-8)
    assert np.abs(found.accelerations[-1]).max() < 1e-6
    assert np.abs(found.rates[-1]).max() < 1e-6
    assert found.kinetic[0] == 0.0 < found.kinetic.max()
    assert (np.diff(found.time) > 0.0).all()


def test_coordinates_that_are_not_free_keep_their_values():
    system = on_springs(centre=(4.0, -9.0, 6.0))
    start = [1.0, 9.0, 0.5, 0.1, 0.2, 0.3]
    free = ["bone.y", "bone.theta_1"]
    found = settle_system(lambda _: system, start, free, step_error=0.1, tolerance=1e-6)
    assert (found.coordinates[:, [0, 2, 4, 5]] == np.array(start)[[0, 2, 4, 5]]).all()
    np.testing.assert_allclose(found.coordinates[-1, [1, 3]], 0.0, atol=1e-8)


def test_a_body_that_nothing_holds_does_not_settle():
    body = Body("bone", inertia=solid_body(2e-3, [20.0, 20.0, 20.0], (0.0, 0.0, 0.0)))
    load = Load((0.0, -10.0, 0.0), body="bone")
    system = System("ground", (body,), {"load": load})
    with pytest.raises(ConvergenceError):
        settle_system(lambda _: system, np.zeros(6), ["bone"], step_error=0.1, tolerance=1e-6)
