"""Draws of laws and constants, and intervals of the wear of a study."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.motion.history import only_case
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.draws import DRAWS, WEIGHTED, drawn_constants, law_draws, measured_works
from kneewear.wear.interval import WearingSurface, factor_interval, wear_intervals
from kneewear.wear.law_settings import WEAR_LAWS
from kneewear.wear.posterior import losses_of_draws
from tests.wear.conftest import make_grid, make_history, make_settings

LIVES = {"mixed": {"gait": 0.25, "stairs": 0.75}}


@pytest.fixture(scope="module")
def cycles():
    """Cycles of the first case."""
    grid = make_grid()
    found = {
        "gait": make_history(grid=grid),
        "stairs": make_history("stairs", seed=1, grid=grid),
    }
    return {name: only_case(one, one["case"].values[0]) for name, one in found.items()}


def volume(cycles, settings):
    """Worn volume of both sides by the accumulation of a study."""
    grid = make_grid()
    maps = accumulate_wear(cycles, grid, settings)
    return float((maps.wear_depth.values[0, 0] * grid.area).sum())


def test_interval_is_of_archards_volume(cycles):
    settings = make_settings(
        wear_law="archard", wear_factor_mm3_per_n_m=1e-6, lives=LIVES, material_class="conventional"
    )
    whole = wear_intervals([WearingSurface(cycles, make_grid())], settings)
    whole = whole[whole["law"] == "archard"]
    row = whole[(whole["side"] == "both") & (whole["quantity"] == "wear_volume")].iloc[0]
    factor, archard = factor_interval("conventional"), volume(cycles, settings)
    for end in ("low", "median", "high"):
        assert row[end] == pytest.approx(getattr(factor, end) / 1e-6 * archard, rel=1e-12)
    mass = whole[(whole["side"] == "both") & (whole["quantity"] == "wear_mass")].iloc[0]
    assert mass["high"] == pytest.approx(settings.density_mg_per_mm3 * row["high"])


def test_interval_does_not_depend_on_law_and_factor_of_the_study(cycles):
    one, other = (
        wear_intervals([WearingSurface(cycles, make_grid())], make_settings(lives=LIVES, **changes))
        for changes in ({}, {"wear_law": "contact_area", "wear_factor_mm3_per_n_m": 5e-7})
    )
    assert one.equals(other)


def test_interval_of_the_other_law_is_of_its_volume(cycles):
    law = "cross_shear_saturation"
    settings = make_settings(wear_law=law, wear_factor_mm3_per_n_m=1e-6, lives=LIVES)
    whole = wear_intervals([WearingSurface(cycles, make_grid())], settings)
    own = whole[(whole["law"] == law) & (whole["side"] == "both")]
    median = own[own["quantity"] == "wear_volume"]["median"].item()
    factor = factor_interval("conventional", law=law)
    assert median == pytest.approx(factor.median / 1e-6 * volume(cycles, settings), rel=1e-12)


def test_undecided_constants_change_no_feature():
    for law in WEAR_LAWS.values():
        assert not set(law.undecided) & set(law.history_constants)


def test_class_without_laboratories_has_no_rows(cycles):
    settings = make_settings(lives=LIVES, material_class="crosslinked")
    assert wear_intervals([WearingSurface(cycles, make_grid())], settings).empty


def test_draws_are_volumes_of_the_laws_with_these_constants(cycles):
    table = law_draws(cycles, make_grid(), make_settings(lives=LIVES))
    for name, constants in drawn_constants().items():
        own = table[table["law"] == name].set_index("draw")["work"]
        assert len(own) == (DRAWS if constants else 1)
        for number in (0, len(own) - 1):
            law = WEAR_LAWS[name](**{key: values[number] for key, values in constants.items()})
            settings = make_settings(wear_law=name, wear_factor_mm3_per_n_m=1e-6, lives=LIVES)
            coefficients = settings.laws.model_copy(update={name: law} if constants else {})
            settings = settings.model_copy(update={"laws": coefficients})
            cycle = settings.cycles_per_year * settings.months / 12.0
            expected = volume(cycles, settings) / cycle / 1e-9
            assert own[number] == pytest.approx(expected, rel=1e-9)


def test_works_of_measured_wear_are_the_volumes_of_its_draws(cycles):
    settings, surfaces = make_settings(lives=LIVES), [WearingSurface(cycles, make_grid())]
    works = measured_works(surfaces, settings)
    losses = losses_of_draws(surfaces, settings)
    expected = losses[losses["side"] == "both"]["volume"]
    np.testing.assert_array_equal(works["work"], expected)
    assert set(works["law"]) == {WEIGHTED}
    crosslinked = make_settings(lives=LIVES, material_class="crosslinked")
    assert measured_works(surfaces, crosslinked).empty


def test_draws_are_the_same_in_every_study_and_within_their_intervals():
    for name, constants in drawn_constants().items():
        again = drawn_constants()[name]
        for key, (low, high) in WEAR_LAWS[name].undecided.items():
            np.testing.assert_array_equal(constants[key], again[key])
            assert low <= constants[key].min() < constants[key].max() <= high
            assert constants[key].mean() == pytest.approx(0.5 * (low + high), rel=0.1)
