"""Equations of motion against Lagrange's, and motions with analytical solutions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from kneewear.mechanics.loads import Load
from kneewear.mechanics.rigid_body import RigidBody, solid_body
from kneewear.mechanics.rotations import body_three_123, turn_axes

few = settings(max_examples=25, deadline=None, derandomize=True)
poses = arrays(float, 6, elements=st.floats(-1.25, 1.25, width=32))
rates = arrays(float, 6, elements=st.floats(-3.0, 3.0, width=32))

# Not symmetric in any way, and with its centre of mass far off.
TURN = Rotation.from_euler("xyz", [0.3, -0.8, 1.1]).as_matrix()
BODY = RigidBody(2.0, TURN @ np.diag([3.0, 5.0, 6.5]) @ TURN.T, [0.7, -0.4, 1.3])


def particles(body):
    """Twelve mass points with the body's mass, centre and inertia, in the body's frame."""
    values, axes = np.linalg.eigh(body.inertia)
    # Two points on each principal axis: half the trace minus a moment is m x^2 summed.
    second = 0.5 * values.sum() - values
    offsets = axes * np.sqrt(3.0 * second / body.mass)
    points = np.concatenate([offsets.T, -offsets.T]) + np.asarray(body.centre_of_mass)
    return np.full(6, body.mass / 6.0), points


def kinetic_energy(body, pose, rate):
    """T = q' . M q' / 2, N mm."""
    mass, _ = body.equations(pose, rate)
    return 0.5 * rate @ mass @ rate


def lagrangian_energy(pose, rate, step=1e-4):
    """Kinetic energy of the mass points from differences of their coordinates along the motion."""
    masses, points = particles(BODY)

    def at(q):
        return q[:3] + points @ body_three_123(q[3:]).T

    velocity = (at(pose + step * rate) - at(pose - step * rate)) / (2 * step)
    return 0.5 * float(masses @ (velocity**2).sum(-1))


@given(poses, rates)
@few
def test_kinetic_energy_is_that_of_mass_points(pose, rate):
    expected = lagrangian_energy(pose, rate)
    assert kinetic_energy(BODY, pose, rate) == pytest.approx(expected, rel=1e-5, abs=1e-6)


@given(poses, rates, rates)
@few
def test_equations_are_those_of_lagrange(pose, rate, acceleration):
    """d/dt dT/dq' - dT/dq = M q'' + b, with T from mass points and differences only."""
    mass, bias = BODY.equations(pose, rate)
    h = 1e-3

    def momentum(q, v):
        change = np.eye(6) * h
        return np.array(
            [(lagrangian_energy(q, v + c) - lagrangian_energy(q, v - c)) / (2 * h) for c in change]
        )

    def along(s):
        return momentum(pose + s * rate + 0.5 * s**2 * acceleration, rate + s * acceleration)

    change = np.eye(6) * h
    slope = [lagrangian_energy(pose + c, rate) - lagrangian_energy(pose - c, rate) for c in change]
    expected = (along(h) - along(-h)) / (2 * h) - np.array(slope) / (2 * h)
    scale = 1.0 + np.abs(expected).max()
    assert mass @ acceleration + bias == pytest.approx(expected, abs=1e-4 * scale)
    assert mass == pytest.approx(mass.T, abs=1e-12)
    assert np.linalg.eigvalsh(mass)[0] > 0.0


def simulate(body, pose, rate, duration, load=None):
    """Free motion under a load, integrated tightly."""

    def right(_, state):
        mass, bias = body.equations(state[:6], state[6:])
        force = np.zeros(6)
        if load is not None:
            wrench, _ = load.wrench(state[:3], body_three_123(state[3:6]))
            force = np.concatenate([wrench[:3], turn_axes(state[3:6]).T @ wrench[3:]])
        return np.concatenate([state[6:], np.linalg.solve(mass, force - bias)])

    start = np.concatenate([pose, rate])
    return solve_ivp(right, (0.0, duration), start, "DOP853", rtol=1e-11, atol=1e-12)


def test_thrown_body_falls_on_a_parabola_and_keeps_its_spin():
    gravity = np.array([0.0, -9810.0, 0.0])
    centre = np.asarray(BODY.centre_of_mass)
    weight = Load(BODY.mass * gravity, point=centre)
    pose, rate = (
        np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3]),
        np.array([5.0, 300.0, 2.0, 2.0, 1.0, -3.0]),
    )
    way = simulate(BODY, pose, rate, 0.05, weight)

    def state(column):
        q, v = way.y[:6, column], way.y[6:, column]
        rotation = body_three_123(q[3:])
        spin = turn_axes(q[3:]) @ v[3:]
        lever = rotation @ centre
        momentum = rotation @ BODY.inertia @ rotation.T @ spin
        return q[:3] + lever, v[:3] + np.cross(spin, lever), momentum

    (start, speed, before), (end, _, after) = state(0), state(-1)
    t = way.t[-1]
    assert end == pytest.approx(start + speed * t + 0.5 * gravity * t**2, abs=1e-7)
    # Weight has no moment about the centre of mass: angular momentum stays in space.
    assert after == pytest.approx(before, rel=1e-8)


def test_spinning_body_follows_the_quaternion_form_of_eulers_equations():
    """Torque-free tumbling: an independent formulation without any angles."""
    body = RigidBody(1.0, np.diag([1.0, 2.0, 3.0]))
    spin = np.array([0.5, 2.0, 0.3])
    way = simulate(body, np.zeros(6), np.concatenate([np.zeros(3), spin]), 0.6)
    inertia = np.diag(body.inertia)

    def quaternion_form(_, state):
        q, w = state[:4], state[4:]  # (vector, scalar), rates in the body's frame
        vector = 0.5 * (q[3] * w + np.cross(q[:3], w))
        return np.concatenate([vector, [-0.5 * q[:3] @ w], np.cross(inertia * w, w) / inertia])

    start = np.concatenate([[0.0, 0.0, 0.0, 1.0], spin])
    other = solve_ivp(quaternion_form, (0.0, 0.6), start, "DOP853", rtol=1e-11, atol=1e-12)
    rotation = Rotation.from_quat(other.y[:4, -1]).as_matrix()
    assert body_three_123(way.y[3:6, -1]) == pytest.approx(rotation, abs=1e-8)
    energy = [kinetic_energy(body, column[:6], column[6:]) for column in way.y.T]
    assert energy == pytest.approx(np.full(len(energy), energy[0]), rel=1e-9)


def test_small_swings_of_a_compound_pendulum_last_as_long_as_huygens_says():
    """T = 2 pi sqrt((k^2 + l^2) / (g l)) for one hung 40 mm above its centre of mass."""
    length, radius, gravity = 40.0, 25.0, 9810.0
    body = solid_body(4e-4, [radius] * 3, [0.0, -length, 0.0])
    weight = Load([0.0, -body.mass * gravity, 0.0], point=body.centre_of_mass)

    def swing(_, state):
        pose, rate = np.zeros(6), np.zeros(6)
        pose[5], rate[5] = state
        mass, bias = body.equations(pose, rate)
        wrench, _ = weight.wrench(np.zeros(3), body_three_123(pose[3:]))
        return [state[1], (wrench[5] - bias[5]) / mass[5, 5]]

    def passes(_, state):
        return state[0]

    passes.direction = 1.0
    way = solve_ivp(swing, (0.0, 2.0), [1e-3, 0.0], "DOP853", events=passes, rtol=1e-10, atol=1e-13)
    period = np.diff(way.t_events[0])
    expected = 2 * np.pi * np.sqrt((radius**2 + length**2) / (gravity * length))
    # Swings of a milliradian last 6e-8 longer than infinitely small ones.
    assert period == pytest.approx(np.full(period.size, expected), rel=1e-6)
