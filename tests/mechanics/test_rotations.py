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


@given(angles)
def test_mirroring_left_and_right_flips_the_last_two_angles(theta):
    mirror = np.diag([-1.0, 1.0, 1.0])
    flipped = body_three_123(theta * [1.0, -1.0, -1.0])
    assert mirror @ body_three_123(theta) @ mirror == pytest.approx(flipped, abs=EXACT)
