"""The elastic foundation's formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kneewear.contact.foundation import (
    MATERIALS,
    LargeStrain,
    Layer,
    SmallStrain,
    ThreeParameter,
    ThreeParameterMaterial,
    confined_modulus,
)
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


NOT_POSITIVE = (0.0, -1.0, np.nan, np.inf, -np.inf)
POLYETHYLENE = MATERIALS["polyethylene_23c"]


@pytest.mark.parametrize("ratio", [0.5, 0.6, -0.1, 1.0, np.nan, np.inf])
def test_impossible_poisson_ratios_are_refused(ratio):
    with pytest.raises(ValueError, match=r"Poisson's ratio is .*; it must be from 0 to below 0.5"):
        confined_modulus(463.0, ratio)
    with pytest.raises(ValueError, match=r"Poisson's ratio is .*; it must be from 0 to below 0.5"):
        ThreeParameter(POLYETHYLENE, ratio)


@pytest.mark.parametrize("value", NOT_POSITIVE)
@pytest.mark.parametrize(
    "build",
    [
        lambda bad: confined_modulus(bad, 0.46),
        SmallStrain,
        LargeStrain,
        lambda bad: ThreeParameterMaterial(bad, 0.0257, 15.8),
        lambda bad: ThreeParameterMaterial(3.0, bad, 15.8),
        lambda bad: ThreeParameterMaterial(3.0, 0.0257, bad),
        lambda bad: Layer(SmallStrain(100.0), np.array([6.0, bad])),
    ],
)
def test_values_no_material_has_are_refused(build, value):
    with pytest.raises(ValueError, match=r"must be positive|must be at least 1|a positive thick"):
        build(value)


@pytest.mark.parametrize("cap", [0.0, -5.0, np.nan, -np.inf])
def test_impossible_caps_are_refused(cap):
    for law in (SmallStrain, LargeStrain):
        with pytest.raises(ValueError, match=r"the cap is .* it must be positive"):
            law(100.0, cap)
    with pytest.raises(ValueError, match=r"the cap is .* it must be positive"):
        ThreeParameter(POLYETHYLENE, 0.46, cap=cap)
    assert SmallStrain(100.0, np.inf).pressure(0.6, 6.0) == 10.0


def test_unknown_forms_of_a_law_are_refused():
    with pytest.raises(ValueError, match="form is 'secant'; it must be published or integrated"):
        ThreeParameter(POLYETHYLENE, 0.46, "secant")
    with pytest.raises(ValueError, match="strain is 'huge'; it must be small or large"):
        ThreeParameter(POLYETHYLENE, 0.46, strain="huge")


def test_large_strain_has_an_inverse_beyond_nine_tenths_too():
    depth = np.array([[5.3, 5.5, 5.8], [5.99, 6.2, 7.0]])
    law = LargeStrain(100.0)
    np.testing.assert_allclose(inverse_of(law, law.pressure(depth, 6.0), 6.0), depth, rtol=1e-12)
    # The tangent at nine tenths: the rate stays K / (0.1 h).
    np.testing.assert_allclose(law.rate(depth, 6.0)[1], 100.0 / 0.6, rtol=1e-12)
