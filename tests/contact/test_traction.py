"""Friction and damping of one element: they oppose, they dissipate, and they keep their bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from kneewear.contact import _force_kernels as kernels
from kneewear.contact.traction import Damping, Friction, traction_law

number = st.floats(-1e3, 1e3)
vectors = st.tuples(number, number, number).map(np.array)
frictions = st.builds(
    lambda dynamic, extra, transition: Friction(dynamic + extra, dynamic, transition),
    st.floats(0.0, 0.5),
    st.floats(0.0, 0.5),
    st.floats(0.1, 10.0),
)
dampings = st.builds(Damping, st.floats(0.0, 0.1))
UNEVEN = Friction(0.12, 0.07, 2.0)


def coefficient_of(friction, speed):
    """Friction over pressure at a slip speed."""
    law = traction_law(friction, None)
    return kernels.friction_coefficient(np.asarray(speed, dtype=float), *law[:3])


def damped_pressure(damping, elastic, rate):
    """Damped pressure at a penetration rate."""
    factor = kernels.damping_factor(np.asarray(rate, dtype=float), damping.coefficient)
    return np.asarray(elastic) * factor


def friction_traction(pressure, slip_velocity, friction):
    """Traction -p mu(v) v / |v| on the slipping body, zero at rest."""
    slip = np.asarray(slip_velocity, dtype=float)
    speed = np.linalg.norm(slip, axis=-1)
    direction = slip / np.where(speed > 0.0, speed, 1.0)[..., None]
    return -(np.asarray(pressure) * coefficient_of(friction, speed))[..., None] * direction


def unit(vector):
    """Its direction, or the first axis."""
    length = np.linalg.norm(vector)
    return vector / length if length > 1e-6 else np.array([1.0, 0.0, 0.0])


def traction_of(friction, damping, normal, velocity):
    """Return traction per elastic pressure, and its derivative, from the kernel."""
    traction, over_velocity, _ = tractions_of(friction, damping, normal, velocity)
    return traction, over_velocity


def tractions_of(friction, damping, normal, velocity):
    """The same with the derivative over the normal."""
    found = np.empty(3), np.empty((3, 3)), np.empty((3, 3))
    kernels.tractions(traction_law(friction, damping), normal, velocity, *found)
    return found


@settings(deadline=None)  # kernels compile at their first call
@given(frictions, st.floats(0.0, 100.0), vectors)
def test_friction_opposes_slip_and_stays_below_the_static_bound(friction, pressure, slip):
    traction = friction_traction(pressure, slip, friction)
    # Squares of numbers below 1e-154 lose digits.
    bound = friction.static_coefficient * pressure * (1 + 1e-12) + 1e-150
    assert np.linalg.norm(traction) <= bound
    assert traction @ slip <= 0.0
    assert np.linalg.norm(np.cross(traction, slip)) <= 1e-12 * pressure * np.linalg.norm(slip)


def test_friction_is_largest_at_the_transition_and_falls_to_the_dynamic_one():
    speed = np.linspace(0.0, 60.0, 30001)
    coefficient = coefficient_of(UNEVEN, speed)
    # tanh(4 x) still rises there: the largest lies a little beyond, both within 1e-3.
    assert coefficient.max() == pytest.approx(0.12, rel=1e-3)
    assert speed[coefficient.argmax()] == pytest.approx(2.0, rel=0.02)
    # The static surplus decays as 16 / ratio^3.
    assert coefficient_of(UNEVEN, 40.0) == pytest.approx(0.07 + 0.05 * 16 / 20**3, rel=1e-3)


@settings(deadline=None)  # kernels compile at their first call
@given(frictions, st.floats(0.0, 100.0))
def test_friction_is_odd_and_its_slope_is_its_derivative(friction, ratio):
    speed = ratio * friction.transition_velocity
    constants = traction_law(friction, None)[:3]
    assert coefficient_of(friction, -speed) == pytest.approx(
        -coefficient_of(friction, speed), rel=1e-15
    )
    step = 1e-5 * friction.transition_velocity
    difference = coefficient_of(friction, speed + step) - coefficient_of(friction, speed - step)
    # Steepest is 4 mu_d / v_t; the central difference errs by its third derivative.
    assert kernels.friction_slope(speed, *constants) == pytest.approx(
        difference / (2 * step), abs=1e-7 / friction.transition_velocity
    )


@settings(deadline=None)  # kernels compile at their first call
@given(dampings, st.floats(0.0, 100.0), number)
def test_damped_pressure_is_never_tensile_and_always_dissipates(damping, elastic, rate):
    damped = float(damped_pressure(damping, elastic, rate))
    assert damped >= 0.0
    assert (damped - elastic) * rate >= 0.0
    assert damped_pressure(damping, elastic, 0.0) == elastic
    assert damped_pressure(damping, 0.0, rate) == 0.0


def test_damped_pressure_is_continuous_where_the_layer_is_left_behind():
    damping = Damping(0.02)
    around = damped_pressure(damping, 10.0, np.array([-50.0 - 1e-9, -50.0, -50.0 + 1e-9]))
    assert around[:2].tolist() == [0.0, 0.0]
    assert 0.0 < around[2] < 1e-8


@settings(deadline=None)  # kernels compile at their first call
@given(frictions, dampings, vectors, vectors)
def test_kernel_and_formulas_agree(friction, damping, direction, velocity):
    normal = unit(direction)
    rate = velocity @ normal
    slip = velocity - rate * normal
    pressure = damped_pressure(damping, 1.0, rate)
    expected = -pressure * normal + friction_traction(pressure, slip, friction)
    found, _ = traction_of(friction, damping, normal, velocity)
    # The direction of a slip of rounding size is noise, as is then the slip itself.
    noise = 1e-11 * (1 + pressure) * (1 + 8 / friction.transition_velocity)
    assert found == pytest.approx(expected, abs=noise * (1 + np.linalg.norm(velocity)))


@settings(deadline=None)  # kernels compile at their first call
@given(frictions, dampings, vectors, vectors)
def test_motion_loses_energy_whatever_its_direction(friction, damping, direction, velocity):
    normal = unit(direction)
    found, _ = traction_of(friction, damping, normal, velocity)
    lost = (found + normal) @ velocity  # without the elastic part
    assert lost <= 1e-9 * (1.0 + velocity @ velocity)


@pytest.mark.parametrize("velocity", [(0, 0, 0), (0, 3, 0), (1, -2, 0.5), (-40, 5, 30), (1, 80, 1)])
def test_kernel_slope_is_the_derivative_over_velocity(velocity):
    normal, velocity = unit(np.array([0.3, -0.9, 0.2])), np.array(velocity, dtype=float)
    _, slope = traction_of(UNEVEN, Damping(0.01), normal, velocity)
    step = 1e-5
    for axis in range(3):
        shift = step * np.eye(3)[axis]
        after, _ = traction_of(UNEVEN, Damping(0.01), normal, velocity + shift)
        before, _ = traction_of(UNEVEN, Damping(0.01), normal, velocity - shift)
        assert slope[:, axis] == pytest.approx((after - before) / (2 * step), abs=1e-8)


@pytest.mark.parametrize("velocity", [[5.0, -20.0, 3.0], [0.0, 0.0, 0.0], [0.3, 8.0, -0.2]])
def test_slope_over_the_normal_is_the_derivative(velocity):
    normal, velocity = unit(np.array([0.3, -0.9, 0.2])), np.array(velocity)
    _, _, slope = tractions_of(UNEVEN, Damping(0.01), normal, velocity)
    # Normals turn; what their length would change is no concern.
    for axis in (np.array([1.0, 0.0, 0.0]), np.array([0.2, 0.5, -1.0])):
        way = 1e-6 * np.cross(axis, normal)
        after, _ = traction_of(UNEVEN, Damping(0.01), unit(normal + way), velocity)
        before, _ = traction_of(UNEVEN, Damping(0.01), unit(normal - way), velocity)
        assert slope @ way == pytest.approx(0.5 * (after - before), abs=1e-13)


def test_sliding_block_stops_after_the_distance_of_coulomb():
    # v0^2 / (2 mu g); the regularisation adds the creep at the end, of the order of v_t / v0.
    friction, start, gravity = Friction(0.1, 0.1, 1.0), 500.0, 9810.0

    def slide(_, state):
        return state[1], friction_traction(gravity, [state[1], 0.0, 0.0], friction)[0]

    end = solve_ivp(slide, (0.0, 0.7), [0.0, start], method="LSODA", rtol=1e-9, atol=1e-9)
    assert end.y[0, -1] == pytest.approx(start**2 / (2 * 0.1 * gravity), rel=1e-4)
    assert abs(end.y[1, -1]) < 1e-6


def test_block_held_on_a_slope_creeps_slower_than_the_transition():
    # Below the static bound: the creep velocity is where friction equals the downhill pull.
    pull, weight = 0.1, 1.0

    def creep(_, state):
        return 9810.0 * (pull + friction_traction(weight, [state[0], 0.0, 0.0], UNEVEN)[0])

    end = solve_ivp(creep, (0.0, 1.0), [0.0], method="LSODA", rtol=1e-8, atol=1e-10)
    speed = end.y[0, -1]
    assert 0.0 < speed < UNEVEN.transition_velocity
    assert coefficient_of(UNEVEN, speed) == pytest.approx(pull, rel=1e-6)


@pytest.mark.parametrize(
    ("law", "values"),
    [
        (Friction, (0.05, 0.1, 1.0)),
        (Friction, (0.1, -0.1, 1.0)),
        (Friction, (0.1, 0.05, 0.0)),
        (Friction, (float("nan"), 0.0, 1.0)),
        (Damping, (-1.0,)),
    ],
)
def test_values_out_of_range_are_refused(law, values):
    with pytest.raises(ValueError):
        law(*values)
