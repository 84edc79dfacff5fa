"""Rotation conventions: axes, signs, order, and inverses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from kneewear.mechanics.rotations import angles_123, body_three_123, clinical_angles, grood_suntay

# Far from the quarter turn of the middle angle, where every convention is singular.
angles = arrays(float, 3, elements=st.floats(-1.4, 1.4))
# Arcsine near 1.4 rad magnifies roundings of 1e-16 by 1 / cos = 6, squared sums by a few more.
EXACT = 1e-13
DEGREE = np.pi / 180.0


@given(angles)
def test_body_three_123_is_the_intrinsic_xyz_sequence(theta):
    assert body_three_123(theta) == pytest.approx(
        Rotation.from_euler("XYZ", theta).as_matrix(), abs=EXACT
    )


@given(angles)
def test_grood_suntay_is_the_intrinsic_yxz_sequence(theta):
    flexion, varus, external = theta
    expected = Rotation.from_euler("YXZ", [external, varus, -flexion]).as_matrix()
    assert grood_suntay(flexion, varus, external) == pytest.approx(expected, abs=EXACT)


@given(angles)
def test_angles_are_recovered(theta):
    assert angles_123(body_three_123(theta)) == pytest.approx(theta, abs=EXACT)
    assert clinical_angles(grood_suntay(*theta)) == pytest.approx(theta, abs=EXACT)


@given(angles)
def test_conversion_between_conventions_keeps_the_rotation(theta):
    rotation = grood_suntay(*theta)
    if abs(rotation[0, 2]) < 0.99:
        assert body_three_123(angles_123(rotation)) == pytest.approx(rotation, abs=1e-12)


@given(angles)
def test_rotations_are_proper(theta):
    for rotation in (body_three_123(theta), grood_suntay(*theta)):
        assert rotation @ rotation.T == pytest.approx(np.eye(3), abs=EXACT)
        assert np.linalg.det(rotation) == pytest.approx(1.0, abs=EXACT)


def test_signs_of_a_right_knee():
    """Axes: x posterior, y superior, z medial; the femur moves on the tibia."""
    down = np.array([0.0, -1.0, 0.0])
    posterior = np.array([1.0, 0.0, 0.0])
    flexed = grood_suntay(30 * DEGREE, 0.0, 0.0)
    # The far (proximal) end of a flexed femur leans backward.
    assert (flexed @ -down)[0] > 0.4
    # The tibia's external rotation is the femur's internal one: its back turns away from medial.
    turned = grood_suntay(0.0, 0.0, 10 * DEGREE)
    assert (turned @ posterior)[2] < -0.1
    # In varus the medial condyle comes down on its plateau.
    assert (grood_suntay(0.0, 5 * DEGREE, 0.0) @ [0.0, 0.0, 23.0])[1] < -1.0
    assert body_three_123([0.0, 0.0, -30 * DEGREE]) == pytest.approx(flexed, abs=EXACT)


def test_conventions_differ_enough_to_matter():
    """Copying clinical angles into a 1-2-3 pose is wrong by tenths of a degree."""
    clinical = np.array([50.0, 3.0, 8.0]) * DEGREE
    first, second, third = angles_123(grood_suntay(*clinical))
    error = np.array([-third - clinical[0], first - clinical[1], second - clinical[2]])
    assert 0.02 < np.max(np.abs(error)) / DEGREE < 1.0


@given(angles)
def test_mirroring_left_and_right_flips_the_last_two_angles(theta):
    mirror = np.diag([-1.0, 1.0, 1.0])
    flipped = body_three_123(theta * [1.0, -1.0, -1.0])
    assert mirror @ body_three_123(theta) @ mirror == pytest.approx(flipped, abs=EXACT)


def test_arrays_of_angles_give_arrays_of_rotations():
    theta = np.random.default_rng(0).uniform(-1, 1, (4, 5, 3))
    rotations = body_three_123(theta)
    assert rotations.shape == (4, 5, 3, 3)
    assert rotations[2, 3] == pytest.approx(body_three_123(theta[2, 3]), abs=0)
    assert angles_123(rotations) == pytest.approx(theta, abs=EXACT)
    assert grood_suntay(np.zeros(7), 0.1, 0.2).shape == (7, 3, 3)
