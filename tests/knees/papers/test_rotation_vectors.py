"""Laws of rotations from vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

from kneewear.knees.papers.rotation_vectors import (
    cayley,
    cross_product,
    exponential,
    inverse_cayley,
    logarithm,
    polar_rotation,
    skew_matrix,
    turned,
)

vectors = st.tuples(*[st.floats(-1.5, 1.5)] * 3).map(np.array)


@given(vectors, vectors)
def test_skew_matrices_are_vector_products(a, b):
    assert np.allclose(skew_matrix(a) @ b, np.cross(a, b), atol=1e-15)
    assert np.allclose(cross_product(a, b), np.cross(a, b), atol=1e-15)


@given(vectors)
def test_cayley_maps_are_rotations_by_twice_the_arctangent_of_half_the_length(a):
    rotation = cayley(a)
    assert np.allclose(rotation.T @ rotation, np.eye(3), atol=1e-14)
    assert np.trace(rotation) == pytest.approx(1 + 2 * np.cos(2 * np.arctan(np.linalg.norm(a) / 2)))
    assert np.allclose(turned(rotation, a), a, atol=1e-14)
    assert np.allclose(inverse_cayley(rotation), a, atol=1e-13)


@given(vectors)
def test_inverse_cayley_is_the_quotient_of_the_source(a):
    rotation = exponential(a)
    quotient = 2 * np.linalg.solve(rotation + np.eye(3), rotation - np.eye(3))
    assert np.allclose(skew_matrix(inverse_cayley(rotation)), quotient, atol=1e-12)


@given(vectors)
def test_exponential_and_logarithm_are_inverse(a):
    assert np.allclose(exponential(a), expm(skew_matrix(a)), atol=1e-13)
    assert np.allclose(logarithm(exponential(a)), a, atol=1e-13)


@given(vectors, st.tuples(*[st.floats(0.2, 3.0)] * 3))
def test_polar_rotation_removes_stretch(a, stretches):
    axes = exponential(np.array([0.3, -0.5, 0.2]))
    stretch = axes @ np.diag(stretches) @ axes.T
    assert np.allclose(polar_rotation(exponential(a) @ stretch), exponential(a), atol=1e-12)


def test_polar_rotation_refuses_reflections():
    with pytest.raises(ValueError, match="determinant"):
        polar_rotation(-np.eye(3))
