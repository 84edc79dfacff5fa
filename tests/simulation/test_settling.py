"""Settling by numerical damping ends at the equilibrium of Newton's method, for any mass."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.errors import ConvergenceError
from kneewear.mechanics.loads import Load, Spring
from kneewear.mechanics.rigid_body import solid_body
from kneewear.simulation.static import settle, solve_static
from tests.physics.bodies import knee

LOAD = Load([0.0, -3000.0, 0.0], point=[0.0, 0.0, 9.2])
POSITION = np.array([0.0, 37.6, -0.4])
FLEXED = np.array([0.0, 0.0, -0.3])
FREEDOMS = [["y", "z", "theta_1"], ["x", "y", "z", "theta_1", "theta_2"]]


def body(mass_kg):
    return solid_body(1e-3 * mass_kg, [20.0, 25.0, 30.0], [2.0, 10.0, 1.0])


@pytest.mark.compiled
@pytest.mark.parametrize("mass_kg", [0.3, 10.0, 1000.0])
@pytest.mark.parametrize("free", FREEDOMS, ids="-".join)
def test_numerical_damping_ends_in_the_static_equilibrium(free, mass_kg):
    """From 10 mm above and 5 degrees off in every angle that is free."""
    rest = solve_static(*knee(), (POSITION, FLEXED), free, loads=[LOAD])
    off = np.radians(5.0) * np.array([f"theta_{n}" in free for n in (1, 2, 3)])
    high = POSITION + [0.0, 10.0, 0.0]
    found = settle(*knee(), (high, FLEXED + off), free, body(mass_kg), loads=[LOAD])
    assert found.acceleration < 1e-5
    # A tonne that accelerates by 1e-5 mm/s2 lacks 1e-5 N of force; the dish restores 8 N per mm.
    assert found.translation == pytest.approx(rest.translation, abs=2e-6)
    assert found.rotation == pytest.approx(rest.rotation, abs=2e-7)


def test_an_overlapping_start_is_lifted_first():
    free = ["y", "z", "theta_1"]
    rest = solve_static(*knee(), (POSITION, FLEXED), free, loads=[LOAD])
    deep = POSITION - [0.0, 9.0, 0.0]
    for start in (deep, POSITION - [0.0, 1.0, 0.0]):
        found = settle(*knee(), (start, FLEXED), free, body(5.0), loads=[LOAD])
        assert found.translation == pytest.approx(rest.translation, abs=1e-6)


def test_a_body_on_springs_comes_to_rest_where_they_balance():
    found = settle(
        [],
        [],
        (np.zeros(3), np.zeros(3)),
        ["x", "theta_3"],
        body(2.0),
        loads=[Load([6.0, 0.0, 0.0], moment=[0.0, 0.0, 10.0])],
        springs=[Spring("x", 3.0, gap=1.0), Spring("theta_3", 50.0)],
    )
    assert found.translation[0] == pytest.approx(3.0, abs=1e-7)
    assert found.rotation[2] == pytest.approx(0.2, abs=1e-7)


def test_a_body_that_falls_for_ever_never_settles():
    with pytest.raises(ConvergenceError, match="Settling of case away") as caught:
        settle(
            *knee(),
            (POSITION + [90.0, 0.0, 0.0], FLEXED),
            ["y"],
            body(0.3),
            loads=[LOAD],
            case="away",
        )
    # What is left is the free fall: force over mass.
    assert caught.value.residual == pytest.approx(3000.0 / 3e-4, rel=1e-6)
