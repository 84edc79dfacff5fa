"""Forces along coordinates are what the work of the wrench says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from kneewear.mechanics._kernels import rate_along, wrench_along
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rotations import body_three_123, turn_axes

few = settings(max_examples=30, deadline=None, derandomize=True)
angles = arrays(float, 3, elements=st.floats(-1.25, 1.25, width=32))
vectors = arrays(float, 3, elements=st.floats(-50.0, 50.0, width=32))
frames = st.sampled_from(["fixed", "moving"])
STEP = 1e-5


def generalized_forces(wrench, rate, angles):
    """Forces along the coordinates and their derivative over these."""
    force, derivative = np.zeros(6), np.zeros((6, 6))
    axes = turn_axes(angles)
    rate_along(rate, axes, axes, derivative)
    wrench_along(wrench, axes, force, derivative)
    return force, derivative


def differences(function, position, step=STEP):
    """Central differences of a vector function, one column a coordinate."""
    columns = []
    for number in range(len(position)):
        change = np.zeros(len(position))
        change[number] = step
        columns.append((function(position + change) - function(position - change)) / (2 * step))
    return np.stack(columns, axis=-1)


@given(angles)
@few
def test_each_angle_turns_about_its_axis(angle):
    turned = differences(lambda a: body_three_123(a).ravel(), angle).reshape(3, 3, 3)
    rotation = body_three_123(angle)
    for number, axis in enumerate(turn_axes(angle).T):
        spin = turned[..., number] @ rotation.T
        assert spin @ np.arange(3.0) == pytest.approx(np.cross(axis, np.arange(3.0)), abs=1e-8)


@given(vectors, vectors, vectors, frames, frames, vectors, angles)
@few
def test_rate_of_a_load_is_its_derivative(force, moment, point, frame, carried, position, angle):
    load = Load(force, moment, point, frame, carried)
    rotation = body_three_123(angle)

    def moved(twist):
        turn = Rotation.from_rotvec(twist[3:]).as_matrix()
        return load.wrench(position + twist[:3], turn @ rotation)[0]

    _, rate = load.wrench(position, rotation)
    assert np.max(np.abs(rate - differences(moved, np.zeros(6)))) < 1e-4


@given(vectors, vectors, vectors, frames, frames, vectors, angles)
@few
def test_derivative_of_forces_along_coordinates(
    force, moment, point, frame, carried, position, angle
):
    load = Load(force, moment, point, frame, carried)

    def along(coordinates):
        wrench, rate = load.wrench(coordinates[:3], body_three_123(coordinates[3:]))
        return generalized_forces(wrench, rate, coordinates[3:])[0]

    wrench, rate = load.wrench(position, body_three_123(angle))
    _, derivative = generalized_forces(wrench, rate, angle)
    numerical = differences(along, np.concatenate([position, angle]))
    assert np.max(np.abs(derivative - numerical)) < 1e-4


@given(vectors, vectors, vectors, angles)
@few
def test_dead_load_does_the_work_of_its_point(force, point, position, angle):
    """A constant force on a point of the body derives from minus force times position."""
    load = Load(force, point=point)

    def energy(coordinates):
        at = coordinates[:3] + body_three_123(coordinates[3:]) @ point
        return -np.atleast_1d(force @ at)

    coordinates = np.concatenate([position, angle])
    wrench, rate = load.wrench(position, body_three_123(angle))
    along, _ = generalized_forces(wrench, rate, angle)
    assert np.max(np.abs(along + differences(energy, coordinates)[0])) < 1e-4


def test_load_in_the_moving_frame_turns_along():
    quarter = body_three_123([0.0, 0.0, np.pi / 2])
    wrench, _ = Load([1.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 2.0], "moving").wrench(
        np.zeros(3), quarter
    )
    assert wrench == pytest.approx([0, 1, 0, -3 - 2, 0, 0], abs=1e-12)


def test_course_of_a_load_and_its_frames():
    force = np.arange(12.0).reshape(4, 3)
    load = Load(force, point=[1.0, 2.0, 3.0])
    assert load.time_history(4)[:, :3] == pytest.approx(force)
    assert load.time_history(4)[2, 6:] == pytest.approx([1, 2, 3])
    assert load.at(2).wrench(np.zeros(3), np.eye(3))[0][:3] == pytest.approx(force[2])
