"""The elastic foundation's formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kneewear.contact.foundation import LargeStrain, Layer, SmallStrain, confined_modulus
from tests.contact.inverse_laws import penetration as inverse_of


@given(st.floats(1.0, 1e4), st.floats(0.0, 0.49))
def test_confined_modulus_is_that_of_uniaxial_strain(youngs_modulus, poisson_ratio):
    # From the Lame constants: K = lambda + 2 mu.
    shear = youngs_modulus / (2 * (1 + poisson_ratio))
    first = youngs_modulus * poisson_ratio / ((1 + poisson_ratio) * (1 - 2 * poisson_ratio))
    # 1 - 2 nu loses two digits near 0.49.
    assert confined_modulus(youngs_modulus, poisson_ratio) == pytest.approx(
        first + 2 * shear, rel=1e-12
    )


def test_without_poisson_effect_the_modulus_is_youngs():
    assert confined_modulus(463.0, 0.0) == 463.0


@given(st.floats(-5.0, 5.0), st.floats(1.0, 20.0))
def test_pressure_is_strain_times_modulus_and_never_negative(penetration, thickness):
    found = float(SmallStrain(2000.0).pressure(penetration, thickness))
    assert found == pytest.approx(2000.0 * max(penetration, 0.0) / thickness, rel=1e-14)
    assert found >= 0.0


def test_pressure_of_arrays():
    found = SmallStrain(2000.0).pressure([-1.0, 0.0, 0.1], [5.0, 5.0, 10.0])
    assert found.tolist() == [0.0, 0.0, 20.0]


def test_layer_has_a_thickness_everywhere():
    assert Layer(SmallStrain(100.0), np.array([6.0, 0.5])).thickness[1] == 0.5
    with pytest.raises(ValueError, match="a layer must have a positive thickness"):
        Layer(SmallStrain(100.0), np.array([6.0, 0.0]))


def test_large_strain_has_an_inverse_beyond_nine_tenths_too():
    depth = np.array([[5.3, 5.5, 5.8], [5.99, 6.2, 7.0]])
    law = LargeStrain(100.0)
    np.testing.assert_allclose(inverse_of(law, law.pressure(depth, 6.0), 6.0), depth, rtol=1e-12)
    # The tangent at nine tenths: the rate stays K / (0.1 h).
    np.testing.assert_allclose(law.rate(depth, 6.0)[1], 100.0 / 0.6, rtol=1e-12)
