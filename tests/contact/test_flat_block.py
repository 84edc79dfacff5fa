"""Free ends of a flat block along both directions: size, symmetry, and where there is no effect."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.contact.flat_block import joint_ends
from kneewear.contact.material import Elastic

UHMWPE = Elastic(463.0, 0.46)


def matrix(ends):
    """Deflections (n, n, n, n) at a place along x and z per force on another."""
    return np.einsum("tik,tjl->ijkl", ends.along, ends.across)


def test_joint_effect_is_symmetric_and_that_of_a_symmetric_block():
    found = matrix(joint_ends(36.0, 28.6, 14.0, UHMWPE))
    largest = np.abs(found).max()
    assert np.array_equal(found, found.transpose(2, 3, 0, 1))
    # Rounding of the decomposition.
    assert found[::-1, :, ::-1] == pytest.approx(found, abs=1e-9 * largest)
    assert found[:, ::-1, :, ::-1] == pytest.approx(found, abs=1e-9 * largest)


def test_joint_effect_depends_on_proportions_and_scales_with_size_and_modulus():
    one, other = (
        matrix(joint_ends(36.0 * size, 28.6 * size, 14.0 * size, Elastic(modulus, 0.46)))
        for size, modulus in ((1.0, 463.0), (0.5, 200.0))
    )
    assert other == pytest.approx(one * 2.0 * 463.0 / 200.0, rel=1e-12)
    turned = matrix(joint_ends(28.6, 36.0, 14.0, UHMWPE)).transpose(1, 0, 3, 2)
    inside = np.s_[2:-2, 2:-2, 2:-2, 2:-2]
    # Products of few terms.
    assert turned[inside] == pytest.approx(one[inside], abs=0.03 * np.abs(one[inside]).max())


def test_two_pairs_of_ends_soften_the_middle_less_than_their_sum():
    middle = matrix(joint_ends(36.0, 28.6, 14.0, UHMWPE))[4, 4, 4, 4]
    assert middle < 0.0
    far = matrix(joint_ends(120.0, 120.0, 14.0, UHMWPE))[4, 4, 4, 4]
    assert abs(far) < 0.01 * abs(middle)
