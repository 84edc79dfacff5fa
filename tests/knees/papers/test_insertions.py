"""Insertions: balance of force and moment, invariance, and adjointness of means and tractions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kneewear.knees.papers.fe_knee.insertions import insertion
from kneewear.knees.papers.rotation_vectors import exponential
from tests.knees.papers.volumes import block

MESH = block((12.0, 9.0, 10.0), (4, 3, 3))
# A curved patch: the mesh is bent, so that its top is not plane.
NODES = MESH.nodes + 0.05 * MESH.nodes[:, [1, 2, 0]] ** 2 * [0.0, 1.0, 0.0]
TRIANGLES = MESH.patches["top"]
PATCH = insertion(NODES, TRIANGLES, MESH.tetrahedra)

vectors = st.tuples(*[st.floats(-2.0, 2.0)] * 3).map(np.array)


def quadratic_field(seed: int):
    """A displacement that no rigid motion can describe."""
    coefficients = np.random.default_rng(seed).normal(size=(3, 3, 3))
    return 1e-3 * np.einsum("ijk,nj,nk->ni", coefficients, NODES, NODES)


@given(vectors, vectors)
@settings(max_examples=30)
def test_nodal_forces_have_the_given_force_and_moment(force, moment):
    forces = PATCH.nodal_forces(100.0 * force, 1000.0 * moment)
    assert np.allclose(np.sum(forces, axis=0), 100.0 * force, atol=1e-10)
    arms = PATCH.position - PATCH.centroid
    assert np.allclose(np.sum(np.cross(arms, forces), axis=0), 1000.0 * moment, atol=1e-9)


@given(vectors, vectors, st.integers(0, 10))
@settings(max_examples=20)
def test_traction_has_the_least_norm(force, moment, seed):
    traction = PATCH.traction(force, moment)
    other = np.random.default_rng(seed).normal(size=traction.shape)
    forces = PATCH.mass @ other
    balance = np.sum(forces, axis=0), np.sum(np.cross(PATCH.arms, forces), axis=0)
    neutral = other - PATCH.traction(*balance)
    assert np.sum(neutral * (PATCH.mass @ traction)) == pytest.approx(0.0, abs=1e-11)


def test_a_force_alone_gives_a_constant_traction():
    traction = PATCH.traction([10.0, -20.0, 30.0], np.zeros(3))
    assert np.allclose(traction, np.array([10.0, -20.0, 30.0]) / PATCH.area, atol=1e-15)


def test_area_and_centroid_are_those_of_the_triangles():
    corner = NODES[TRIANGLES]
    area = np.linalg.norm(
        np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1
    )
    assert pytest.approx(np.sum(area) / 2) == PATCH.area
    assert np.allclose(PATCH.centroid, np.average(corner.mean(axis=1), axis=0, weights=area))


@given(vectors, vectors)
@settings(max_examples=30)
def test_means_follow_rigid_motions_of_any_size(turn, shift):
    rotation = exponential(turn)
    displacement = NODES @ rotation.T + shift - NODES
    assert np.allclose(PATCH.mean_rotation(displacement), rotation, atol=1e-12)
    assert np.allclose(PATCH.mean_position(displacement), rotation @ PATCH.centroid + shift)


def test_mean_rotation_ignores_stretch():
    displacement = NODES @ np.diag([0.1, -0.05, 0.02])
    assert np.allclose(PATCH.mean_rotation(displacement), np.eye(3), atol=1e-14)


@given(vectors, vectors, vectors)
@settings(max_examples=30)
def test_tractions_turn_with_the_body(turn, force, moment):
    rotation = exponential(turn)
    turned = insertion(NODES @ rotation.T + 5.0, TRIANGLES, MESH.tetrahedra)
    forces = turned.nodal_forces(rotation @ force, rotation @ moment)
    assert np.allclose(forces, PATCH.nodal_forces(force, moment) @ rotation.T, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_forces_do_the_work_of_the_mean_displacement(seed):
    field, force = quadratic_field(seed), np.array([3.0, -4.0, 5.0])
    work = np.sum(PATCH.nodal_forces(force, np.zeros(3)) * field[PATCH.numbers])
    assert work == pytest.approx(force @ (PATCH.mean_position(field) - PATCH.centroid))


@given(vectors, vectors, vectors, vectors)
@settings(max_examples=20)
def test_forces_and_moments_do_their_work_in_rigid_motions(force, moment, turn, shift):
    field = np.cross(turn, NODES - PATCH.centroid) + shift
    work = np.sum(PATCH.nodal_forces(force, moment) * field[PATCH.numbers])
    assert work == pytest.approx(force @ shift + moment @ turn, abs=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_moments_do_the_work_of_the_least_squares_rotation(seed):
    field, moment = quadratic_field(seed)[PATCH.numbers], np.array([3.0, -4.0, 5.0])
    weighted = PATCH.mass @ field
    turn = np.linalg.solve(PATCH.inertia, np.sum(np.cross(PATCH.arms, weighted), axis=0))
    work = np.sum(PATCH.nodal_forces(np.zeros(3), moment) * field)
    assert work == pytest.approx(moment @ turn)


def test_triangles_without_tetrahedron_are_refused():
    with pytest.raises(ValueError):
        insertion(NODES, np.array([[0, 1, len(NODES) - 1]]), MESH.tetrahedra)
    with pytest.raises(ValueError):
        insertion(NODES, np.empty((0, 3), dtype=int), MESH.tetrahedra)
