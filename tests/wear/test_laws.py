"""Wear laws: factors on a straight and a square path, and properties that every law has."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from kneewear.wear.law_settings import WEAR_LAWS, Archard, WearLaw
from kneewear.wear.laws import (
    ScaledDepth,
    ScaledLaw,
    choose_wear_law,
    cycles_of_life,
    worn_depth,
)
from kneewear.wear.settings import WearSettings
from tests.wear.conftest import make_settings

FACTOR = 2.6e-10  # mm3/(N mm)
LAWS = {
    name: choose_wear_law(make_settings(wear_law=name, wear_factor_mm3_per_n_m=FACTOR * 1e3))
    for name, law in WEAR_LAWS.items()
    if issubclass(law, WearLaw)
}
# Depth of a millimetre of sliding under 2 MPa, mm, from the equations as published.
STRAIGHT = {
    "archard": 2.0 * FACTOR,
    "unified_theory": 0.0,
    "directional_work": 2.0 * FACTOR * 2.0 / 7.4,
    "cross_shear_saturation": 2.0 * FACTOR * 0.036,
    "pressure_power": 2.0 * 2.0e-9 * 2.0**-0.84,
    "cross_shear_and_pressure": 0.0,
    "contact_area": 0.3e-9,
}
SQUARE = {
    "archard": 2.0 * FACTOR,
    "unified_theory": 2.0 * FACTOR,
    "directional_work": 2.0 * FACTOR,
    "cross_shear_saturation": 2.0 * FACTOR,
    "pressure_power": 2.0 * 2.0e-9 * 2.0**-0.84,
    "cross_shear_and_pressure": 2.0e-3 * np.exp(-13.1 + 0.19 * np.log(0.5) - 0.29 * 2.0),
    "contact_area": (1.9 * 0.5 + 1.6) * 1e-9,
}
by_name = pytest.mark.parametrize("name", LAWS)


def depth(name, cross_shear, pressure=2.0, frames=10):
    """Depth of a path of one millimetre in so many frames."""
    slip = np.zeros((frames, 1, 2))
    slip[..., 0] = 1.0 / frames
    return float(worn_depth(np.full((frames, 1), pressure), slip, [cross_shear], LAWS[name])[0])


@by_name
def test_factor_on_a_straight_path(name):
    assert depth(name, 0.0) == pytest.approx(STRAIGHT[name], rel=1e-12)


@by_name
def test_factor_on_a_square_path(name):
    assert depth(name, 0.5) == pytest.approx(SQUARE[name], rel=1e-12)


@by_name
def test_no_sliding_no_wear(name):
    still = worn_depth(np.full((5, 3), 10.0), np.zeros((5, 3, 2)), np.full(3, 0.2), LAWS[name])
    assert still.max() == 0.0


@by_name
def test_no_pressure_no_wear(name):
    apart = worn_depth(np.zeros((5, 3)), np.ones((5, 3, 2)), np.full(3, 0.2), LAWS[name])
    assert apart.max() == 0.0


@by_name
def test_wear_is_proportional_to_the_length_of_the_path(name):
    slip = np.full((4, 1, 2), 0.3)
    once, thrice = (
        worn_depth(np.full((4, 1), 5.0), scale * slip, [0.1], LAWS[name]) for scale in (1.0, 3.0)
    )
    np.testing.assert_allclose(thrice, 3.0 * once, rtol=1e-14)


@by_name
def test_more_cross_shear_never_wears_less(name):
    ratios = np.linspace(0.0, 0.5, 51)
    factors = np.broadcast_to(LAWS[name].factor(ratios), ratios.shape)
    assert (np.diff(factors) >= 0.0).all()
    assert (factors >= 0.0).all()


def test_pressure_law_makes_wear_grow_with_the_sixth_root_of_pressure():
    ratio = depth("pressure_power", 0.1, pressure=20.0) / depth("pressure_power", 0.1, pressure=2.0)
    assert ratio == pytest.approx(10.0**0.16, rel=1e-12)


def test_settings_offer_exactly_the_registered_laws(settings):
    offered = get_args(WearSettings.model_fields["wear_law"].annotation)
    assert set(offered) == set(WEAR_LAWS)
    for name in offered:
        law = choose_wear_law(settings(wear_law=name))
        form = law.law if isinstance(law, ScaledLaw | ScaledDepth) else law
        assert type(form) is WEAR_LAWS[name]
        assert form.multiplies_wear_factor == isinstance(law, ScaledLaw | ScaledDepth)
        assert form.summary
        assert form.references


def test_unknown_law_is_refused(settings):
    with pytest.raises((KeyError, ValueError)):
        choose_wear_law(settings(wear_law="magic"))


def test_life_of_51_months_at_one_million_cycles():
    assert cycles_of_life(1e6, 51) == 4.25e6


def test_factor_of_contact_area_rises_steeply_first():
    factor = LAWS["contact_area"].factor(np.array([0.0, 0.02, 0.05, 0.5]))
    np.testing.assert_allclose(factor, [0.3e-9, 0.94e-9, 1.695e-9, 2.55e-9], rtol=1e-12)


def test_pressures_stored_in_single_precision_make_depths_in_double():
    pressure, slip = np.full((3, 2), 2.0, np.float32), np.ones((3, 2, 2), np.float32)
    depth = worn_depth(pressure, slip, np.full(2, 0.5, np.float32), ScaledLaw(Archard(), FACTOR))
    assert depth.dtype == np.float64
    np.testing.assert_allclose(depth, 3 * np.sqrt(2.0) * 2.0 * FACTOR, rtol=1e-14)
