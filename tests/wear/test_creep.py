"""Creep laws at known ages, and their growth with time."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.wear.creep import (
    creep_beside_curve,
    creep_development,
    creep_strain_per_pressure,
    minutes_of_life,
    recovered_part,
)


def test_strain_creep_at_51_months():
    assert creep_strain_per_pressure(minutes_of_life(51)) == pytest.approx(5.36e-3, abs=5e-6)


def test_strain_creep_needs_positive_time():
    with pytest.raises(ValueError):
        creep_strain_per_pressure(0.0)


def test_development_is_one_at_the_reference_and_grows_with_time():
    reference = minutes_of_life(51)
    assert creep_development(reference, reference) == 1.0
    ages = np.logspace(0.0, 8.0, 40)
    developed = [creep_development(age, reference) for age in ages]
    assert (np.diff(developed) > 0.0).all()
    assert min(developed) > 0.0


def test_creep_is_there_from_the_first_minute():
    reference = minutes_of_life(51)
    assert creep_development(0.0, reference) == creep_development(1.0, reference) > 0.0


def test_half_of_the_creep_comes_back_in_ten_thousand_minutes():
    # 51 % in the end, 73 % of it in the first of the ten thousand minutes' tenth.
    assert recovered_part(1e4) == pytest.approx(0.51)
    assert recovered_part(1e3) == pytest.approx(0.51 * 0.73)
    assert recovered_part(1e6) == recovered_part(1e4)


def test_an_insert_in_use_recovers_nothing():
    assert recovered_part(0.0) == 0.0
    assert recovered_part(1.0) == 0.0


def test_strain_of_the_first_minute_is_in_the_curve_alone():
    age, pressure = minutes_of_life(51), np.array([0.0, 5.0, 8.0, 32.0])
    strain = creep_strain_per_pressure(age) * pressure
    limits = creep_beside_curve(strain, pressure, age)
    first = creep_strain_per_pressure(1.0) * pressure
    np.testing.assert_allclose(limits.most + first, strain, rtol=1e-12)
    # Half recovers, and nothing was measured beyond 8 MPa.
    np.testing.assert_allclose(limits.least, 0.49 * limits.most * [1.0, 1.0, 1.0, 0.25])
    assert not creep_beside_curve(strain, pressure, 0.5).most.any()
