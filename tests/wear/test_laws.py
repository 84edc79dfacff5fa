"""Wear and creep laws against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.wear import (
    archard_depth,
    creep_from_pressure,
    creep_from_strain,
    creep_strain_per_pressure,
    cycles_of_life,
    minutes_of_life,
)


def test_no_sliding_no_wear():
    assert archard_depth(np.full((5, 3), 10.0), np.zeros((5, 3, 2)), 1e-9).max() == 0.0


def test_no_pressure_no_wear():
    assert archard_depth(np.zeros((5, 3)), np.ones((5, 3, 2)), 1e-9).max() == 0.0


def test_uniform_wear_is_factor_times_pressure_times_distance():
    slip = np.zeros((4, 1, 2))
    slip[..., 0], slip[..., 1] = 3.0, 4.0
    depth = archard_depth(np.full((4, 1), 2.0), slip, 1e-3)
    np.testing.assert_allclose(depth, [1e-3 * 4 * 2.0 * 5.0], rtol=1e-14)


def test_wear_does_not_depend_on_the_direction_of_sliding():
    pressure = np.array([[3.0], [5.0]])
    slip = np.array([[[1.0, 0.0]], [[0.0, 2.0]]])
    turned = slip @ np.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]])
    np.testing.assert_allclose(
        archard_depth(pressure, slip, 1.0), archard_depth(pressure, turned, 1.0), rtol=1e-14
    )


def test_pressure_creep_is_proportional():
    np.testing.assert_allclose(creep_from_pressure([0.0, 10.0], 0.0184), [0.0, 0.184])


def test_strain_creep_closed_form_at_ten_thousand_minutes():
    # The logarithm vanishes there: depth = 3.491e-3 p h.
    np.testing.assert_allclose(creep_from_strain(20.0, 7.0, 1e4), 3.491e-3 * 20.0 * 7.0)


def test_strain_creep_grows_by_one_coefficient_a_decade():
    gain = creep_strain_per_pressure(1e6) - creep_strain_per_pressure(1e5)
    assert gain == pytest.approx(7.966e-4, rel=1e-12)


def test_strain_creep_at_51_months():
    assert creep_strain_per_pressure(minutes_of_life(51)) == pytest.approx(5.36e-3, abs=5e-6)


def test_strain_creep_needs_positive_time():
    with pytest.raises(ValueError, match="positive time"):
        creep_from_strain(1.0, 1.0, 0.0)


def test_life_of_51_months_at_one_million_cycles():
    assert cycles_of_life(1e6, 51) == 4.25e6
