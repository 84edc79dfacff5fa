"""Constraints in the basis that decouples them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kneewear.knees.papers.fe_knee.constraints import HalfSpace, normal_frames
from tests.knees.papers.moving import two

VECTORS = arrays(float, 3, elements=st.floats(-1.0, 1.0)).filter(
    lambda vector: np.linalg.norm(vector) > 1e-3
)


@given(VECTORS)
@example(np.array([0.75, 1.1920929e-07, 1.1920929e-07]))
@example(np.array([0.75, 1e-11, 1e-13]))
def test_frames_are_orthogonal_with_the_normal_as_first_axis(vector):
    normal = vector / np.linalg.norm(vector)
    frame = normal_frames(normal[None])[0]
    assert np.allclose(frame @ frame.T, np.eye(3), atol=1e-12)
    assert np.allclose(frame[:, 0], normal, atol=1e-12)


@given(VECTORS, VECTORS)
def test_distance_from_a_half_space_falls_along_its_direction(normal, at):
    space = HalfSpace(np.array([0.3, -0.2, 0.1]), normal)
    direction, distance = space.conditions(at[None])
    _, moved = space.conditions(at[None] + 0.5 * direction)
    assert moved == pytest.approx(distance - 0.5, abs=1e-12)


@pytest.fixture(scope="module")
def problem():
    return two()


def test_transformation_and_inverse_cancel(problem):
    constraints = problem.constraints
    field = np.random.default_rng(0).normal(size=constraints.forward.shape[1])
    assert np.allclose(constraints.forward @ (constraints.inverse @ field), field, atol=1e-12)


def test_conditions_are_first_components_of_the_transformed_basis(problem):
    constraints = problem.constraints
    field = np.random.default_rng(1).normal(size=problem.positions.shape)
    transformed = (constraints.inverse @ field.ravel()).reshape(-1, 3)
    relative = constraints.matrix @ field.ravel()
    assert np.allclose(transformed[constraints.nodes, 0], relative, atol=1e-14)
    ground = constraints.group == 1
    assert np.allclose(relative[ground], -field[constraints.nodes[ground], 1], atol=1e-14)


def test_rigid_motion_of_both_bodies_opens_no_gap(problem):
    constraints = problem.constraints
    pair = constraints.group == 0
    for axis in np.eye(3):
        moved = np.broadcast_to(axis, problem.positions.shape)
        assert np.allclose((constraints.matrix @ moved.ravel())[pair], 0.0, atol=1e-12)
        # Turning about an axis in the plane of contact changes a gap by its own width only.
        turned = np.cross(axis, problem.positions)
        change = (constraints.matrix @ turned.ravel())[pair]
        assert np.abs(change).max() < 1.01 * np.abs(constraints.gaps[pair]).max()


def test_bounds_shrink_as_bodies_approach(problem):
    constraints = problem.constraints
    lowered = np.zeros(problem.positions.shape)
    lowered[problem.parts["high"], 1] = -0.1
    bound = constraints.bounds(lowered)
    pair = constraints.group == 0
    assert np.allclose(bound[constraints.nodes[pair]], constraints.gaps[pair] - 0.1, atol=1e-12)
    assert np.isinf(np.delete(bound, constraints.nodes)).all()
