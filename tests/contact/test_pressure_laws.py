"""Pressure laws of the layer: their numbers, limits, inputs, derivatives and energies."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from kneewear.contact._force_kernels import LARGEST_STRAIN
from kneewear.contact.foundation import (
    MATERIALS,
    ElasticLayer,
    LargeStrain,
    SmallStrain,
    ThreeParameter,
    ThreeParameterMaterial,
    confined_modulus,
)
from kneewear.motion.settings import PressureLawSettings
from tests.contact.inverse_laws import energy, penetration

MODULUS = confined_modulus(463.0, 0.46)
FACTOR = confined_modulus(1.0, 0.46)
COLD = MATERIALS["polyethylene_23c"]
LAWS = (
    SmallStrain(MODULUS),
    LargeStrain(MODULUS),
    *(
        ThreeParameter(material, 0.46, form, strain)
        for material in MATERIALS.values()
        for form in ("published", "integrated")
        for strain in ("small", "large")
    ),
    ThreeParameter(ThreeParameterMaterial(2.5, 0.03, 12.0), 0.4, "integrated", "large"),
)
laws = st.sampled_from(LAWS)
capped_laws = st.sampled_from(
    [SmallStrain(MODULUS, 20.0), LargeStrain(MODULUS, 20.0), ThreeParameter(COLD, 0.46, cap=20.0)]
)

# Penetrations as parts of the thickness, from first touch to far beyond any material.
strains = st.floats(1e-9, 0.85)
thicknesses = st.floats(0.5, 20.0)


def test_published_numbers_of_the_linear_layer():
    # Bei (2003), sections 2.3 and 3.2: constraint factor at 0.46, polyethylene, cartilage.
    assert pytest.approx(4.6233, abs=5e-5) == FACTOR
    assert pytest.approx(2140.6, abs=0.05) == MODULUS
    assert confined_modulus(4.0, 0.45) == pytest.approx(15.172, abs=5e-4)
    assert SmallStrain(MODULUS).pressure(0.08, 8.0) == pytest.approx(0.01 * MODULUS, rel=1e-14)


@pytest.mark.parametrize(
    ("name", "pressures", "moduli"),
    [
        ("polyethylene_23c", [0, 20, 50], [1229.6, 211.7, 39.6]),
        ("polyethylene_37c", [0, 20, 50], [616.4, 135.6, 26.6]),
        ("polyethylene_tuned_linear", [0, 10, 50], [400.0, 400.0, 400.0]),
    ],
)
def test_published_tangent_moduli(name, pressures, moduli):
    # To the decimal given.
    assert MATERIALS[name].tangent_modulus(pressures) == pytest.approx(moduli, abs=0.05)


@given(st.floats(0.005, 0.2), st.floats(1.0, 500.0), st.floats(0.0, 100.0))
def test_exponent_one_is_a_linear_material(strain, scale, pressure):
    material = ThreeParameterMaterial(1.0, strain, scale)
    assert material.tangent_modulus(pressure) == pytest.approx(scale / strain, rel=1e-14)
    layer = ThreeParameter(material, 0.46)
    linear = SmallStrain(confined_modulus(scale / strain, 0.46))
    assert layer.pressure(0.1, 8.0) == pytest.approx(linear.pressure(0.1, 8.0), rel=1e-13)


@pytest.mark.parametrize("material", MATERIALS.values())
def test_tangent_modulus_is_the_derivative_of_pressure_over_strain(material):
    pressure, step = np.linspace(1.0, 50.0, 20), 1e-4
    slope = (material.strain(pressure + step) - material.strain(pressure - step)) / (2 * step)
    # Central differences of a cubic over 1e-4 MPa: their rounding, 1e-16 / 1e-4 of the strain.
    assert 1.0 / slope == pytest.approx(material.tangent_modulus(pressure), rel=1e-8)


@given(st.floats(1e-6, 0.02))
def test_large_strain_stiffens_by_half_the_strain(strain):
    ratio = float(
        LargeStrain(MODULUS).pressure(strain, 1.0) / SmallStrain(MODULUS).pressure(strain, 1.0)
    )
    # The next term of the logarithm is strain^2 / 3.
    assert ratio - 1.0 == pytest.approx(0.5 * strain, abs=0.4 * strain**2 + 1e-15)


def test_large_strain_is_the_logarithm_until_nine_tenths_and_finite_beyond():
    law = LargeStrain(MODULUS)
    strain = np.linspace(0.01, LARGEST_STRAIN, 50)
    assert law.pressure(strain, 1.0) == pytest.approx(-MODULUS * np.log(1.0 - strain), rel=1e-13)
    beyond = np.array([0.9, 0.95, 0.99, 1.0, 1.5, 1e6])
    for each in (law, ThreeParameter(COLD, 0.46, "published", "large")):
        pressure, rate = each.pressure(beyond, 1.0), each.rate(beyond, 1.0)
        assert np.isfinite(pressure).all()
        assert np.isfinite(rate).all()
        assert (np.diff(pressure) > 0).all()
    # Value and slope go on without a step.
    edge = LARGEST_STRAIN + np.array([-1e-9, 1e-9])
    assert np.diff(law.pressure(edge, 1.0)) == pytest.approx(2e-9 * 10 * MODULUS, rel=1e-5)
    assert np.diff(law.rate(edge, 1.0)) == pytest.approx(0.0, abs=1e-6 * 10 * MODULUS)


@given(
    st.floats(1e-12, 0.9),
    st.floats(1.0, 12.0),
    st.floats(0.005, 1.0),
    st.floats(1.0, 400.0),
    st.sampled_from(["published", "integrated"]),
    st.sampled_from(["small", "large"]),
)
def test_pressure_of_a_softening_material_solves_its_equation(
    strain, exponent, reference, scale, form, measure
):
    material = ThreeParameterMaterial(exponent, reference, scale)
    pressure = float(ThreeParameter(material, 0.46, form, measure).pressure(strain, 1.0))
    stretch = strain if measure == "small" else -math.log1p(-strain)
    left = (
        pressure / float(material.tangent_modulus(pressure))
        if form == "published"
        else float(material.strain(pressure))
    )
    assert abs(left - FACTOR * stretch) / (FACTOR * stretch) < 1e-10
    assert pressure > 0.0


def test_the_published_form_is_softer_by_the_exponent_in_its_power():
    published, integrated = (
        ThreeParameter(COLD, 0.46, form) for form in ("published", "integrated")
    )
    pressure = np.linspace(1.0, 40.0, 9)
    power = (pressure / COLD.reference_pressure) ** 3
    linear = pressure / COLD.reference_pressure
    for law, weight in ((published, 3.0), (integrated, 1.0)):
        strain = penetration(law, pressure, 8.0) / 8.0
        assert strain == pytest.approx(
            0.5 * COLD.reference_strain * (linear + weight * power) / FACTOR, rel=1e-13
        )
        # The tangent modulus is the slope of the integrated law only.
        slope = law.rate(penetration(law, pressure, 8.0), 8.0) * 8.0
        is_tangent = np.allclose(slope, FACTOR * COLD.tangent_modulus(pressure), rtol=1e-10)
        assert is_tangent == (law is integrated)


@given(laws, strains, thicknesses)
def test_rate_is_the_derivative_of_the_pressure(law, strain, thickness):
    depth = strain * thickness
    step = 1e-5 * depth
    numerical = (law.pressure(depth + step, thickness) - law.pressure(depth - step, thickness)) / (
        2 * step
    )
    # Truncation 1e-10 times a third derivative that grows to (1 - 0.85)^-2, rounding 1e-16 / 1e-5.
    assert law.rate(depth, thickness) == pytest.approx(numerical, rel=1e-7)
    # Every law rises strictly, so that no pressure has two penetrations.
    assert law.rate(depth, thickness) > 0.0


@given(laws, strains, thicknesses)
def test_law_and_its_inverse_agree(law, strain, thickness):
    depth = strain * thickness
    pressure = law.pressure(depth, thickness)
    assert penetration(law, pressure, thickness) == pytest.approx(depth, rel=1e-11)


@given(st.one_of(laws, capped_laws), st.floats(1e-4, 0.85), thicknesses)
def test_energy_is_the_integral_of_the_pressure(law, strain, thickness):
    depth = strain * thickness
    kink = float(penetration(law, min(law.arrays.cap, 1e9), thickness))
    points = [kink] if kink < depth else None
    work = quad(lambda d: float(law.pressure(d, thickness)), 0, depth, epsrel=1e-11, points=points)
    assert energy(law, depth, thickness) == pytest.approx(work[0], rel=1e-8)


@given(capped_laws, strains)
def test_cap_limits_pressure_and_nothing_below(law, strain):
    free = replace(law, cap=math.inf)
    assert law.pressure(strain, 1.0) == min(free.pressure(strain, 1.0), 20.0)
    capped = free.pressure(strain, 1.0) > 20.0
    assert law.rate(strain, 1.0) == (0.0 if capped else free.rate(strain, 1.0))


@given(st.one_of(laws, capped_laws), st.floats(-5.0, 0.0), thicknesses)
def test_nothing_pulls(law, gap, thickness):
    assert law.pressure(gap, thickness) == 0.0
    assert law.rate(gap, thickness) == 0.0
    assert energy(law, gap, thickness) == 0.0


def test_settings_know_every_material():
    choices = get_args(PressureLawSettings.model_fields["material"].annotation)
    assert choices == ("linear", *MATERIALS, "own")


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


NOT_POSITIVE = (0.0, -1.0, np.nan, np.inf, -np.inf)


@pytest.mark.parametrize("ratio", [0.5, 0.6, -0.1, 1.0, np.nan, np.inf])
def test_impossible_poisson_ratios_are_refused(ratio):
    with pytest.raises(ValueError):
        confined_modulus(463.0, ratio)
    with pytest.raises(ValueError):
        ThreeParameter(COLD, ratio)


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
        lambda bad: ElasticLayer(SmallStrain(100.0), np.array([6.0, bad])),
    ],
)
def test_values_no_material_has_are_refused(build, value):
    with pytest.raises(ValueError):
        build(value)


@pytest.mark.parametrize("cap", [0.0, -5.0, np.nan, -np.inf])
def test_impossible_caps_are_refused(cap):
    for law in (SmallStrain, LargeStrain):
        with pytest.raises(ValueError):
            law(100.0, cap)
    with pytest.raises(ValueError):
        ThreeParameter(COLD, 0.46, cap=cap)
    assert SmallStrain(100.0, np.inf).pressure(0.6, 6.0) == 10.0


def test_unknown_forms_and_exponents_below_one_are_refused():
    with pytest.raises(ValueError):
        ThreeParameterMaterial(0.5, 0.0257, 15.8)
    with pytest.raises(ValueError):
        ThreeParameter(COLD, 0.46, "secant")
    with pytest.raises(ValueError):
        ThreeParameter(COLD, 0.46, strain="huge")


def test_large_strain_has_an_inverse_beyond_nine_tenths_too():
    depth = np.array([[5.3, 5.5, 5.8], [5.99, 6.2, 7.0]])
    law = LargeStrain(100.0)
    np.testing.assert_allclose(penetration(law, law.pressure(depth, 6.0), 6.0), depth, rtol=1e-12)
    # The tangent at nine tenths: the rate stays K / (0.1 h).
    np.testing.assert_allclose(law.rate(depth, 6.0)[1], 100.0 / 0.6, rtol=1e-12)


@pytest.mark.parametrize("strain", [0.02, 0.3, 0.8])
def test_energy_is_the_integral_of_pressure(strain):
    # Closed forms: K d^2 / (2 h), and K h ((1 - e) ln(1 - e) + e) at the strain e = d / h.
    modulus, thickness = 46.3, 5.0
    small, large = (
        float(law(modulus).energy(strain * thickness, thickness))
        for law in (SmallStrain, LargeStrain)
    )
    assert small == pytest.approx(0.5 * modulus * thickness * strain**2, rel=1e-12)
    closed = modulus * thickness * ((1.0 - strain) * np.log(1.0 - strain) + strain)
    assert large == pytest.approx(closed, rel=1e-8)
    assert SmallStrain(modulus).energy(-0.1, thickness) == 0.0
