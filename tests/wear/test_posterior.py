"""Draws of laws and laboratories from measured wear, and intervals of a study by them."""

from __future__ import annotations

import hashlib
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

from kneewear.errors import InputDataError
from kneewear.motion.history import only_case
from kneewear.wear import posterior
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.interval import WearingSurface, wear_intervals
from kneewear.wear.laws import cycles_of_life
from kneewear.wear.posterior import (
    BY_ROWS,
    FILE,
    LARGER_FILE,
    WORN_IN_DEPTH,
    WornIn,
    intervals_of_laws,
    losses_of_draws,
    measured_draws,
    posterior_intervals,
)
from kneewear.wear.settings import LawCoefficients
from tests.wear.conftest import make_grid, make_history, make_settings

LIVES = {"gait": {"gait": 1.0}}


@pytest.fixture(scope="module")
def cycles():
    """Cycle of the first case."""
    found = make_history(grid=make_grid())
    return {"gait": only_case(found, found["case"].values[0])}


@pytest.mark.parametrize(("name", "rows"), [(FILE, "first"), (LARGER_FILE, "larger")])
def test_stored_draws_have_their_digest_and_size(name, rows):
    text = files("kneewear.wear").joinpath(name).read_bytes()
    digest = files("kneewear.wear").joinpath(name + ".sha256").read_text(encoding="utf-8")
    assert digest.split() == [hashlib.sha256(text).hexdigest(), name]
    assert len(text) < 2e6
    assert len(measured_draws(rows=rows)) >= 1000


def test_class_that_was_not_measured_is_refused():
    with pytest.raises(InputDataError, match="crosslinked"):
        measured_draws("crosslinked")


@pytest.mark.parametrize(
    ("law", "constants", "laws"),
    [
        ("archard", {}, {}),
        ("cross_shear_saturation", {"straight_factor": 0.05, "saturation": 0.2}, None),
        ("direction_memory", {"straight_factor": 0.05, "memory_mm": 2.0}, None),
        (
            "cross_shear_and_pressure",
            {"cross_shear_exponent": 0.3, "pressure_rate_per_mpa": -0.1},
            {"constant": float(np.log(1e-6))},
        ),
        ("pressure_power", {"exponent": -0.5}, {"coefficient_mm3_per_n_m": 1e-6}),
    ],
)
def test_volume_of_a_draw_is_that_of_a_study(monkeypatch, cycles, law, constants, laws):
    draw = pd.DataFrame([{"law": law, "log_level": 0.5, "tau": 0.0, "sigma": 0.0, **constants}])
    monkeypatch.setattr(posterior, "_stored", lambda name: draw)
    block = LawCoefficients(**({law: constants | (laws or {})} if constants else {}))
    settings = make_settings(wear_law=law, wear_factor_mm3_per_n_m=1e-6, lives=LIVES, laws=block)
    grid = make_grid()
    maps = accumulate_wear(cycles, grid, settings)
    expected = float((maps.wear_depth.values[0, 0] * grid.area).sum()) * np.exp(0.5)
    losses = losses_of_draws([WearingSurface(cycles, grid)], settings)
    both = losses[losses["side"] == "both"].iloc[0]
    assert both["volume"] == pytest.approx(expected, rel=1e-9)
    assert both["volume"] * both["laboratory"] == pytest.approx(expected, rel=1e-9)


def test_faces_of_an_insert_share_law_and_laboratory(cycles):
    settings, grid = make_settings(lives=LIVES), make_grid()
    faces = [WearingSurface(cycles, grid, name) for name in ("upper", "lower")]
    losses = losses_of_draws(faces, settings)
    volume = losses.pivot(index="draw", columns="side", values="volume")
    np.testing.assert_array_equal(volume["upper"], volume["lower"])
    np.testing.assert_allclose(volume["both"], 2.0 * volume["upper"], rtol=1e-12)
    assert (losses.groupby("draw")["laboratory"].nunique() == 1).all()
    one = losses_of_draws([WearingSurface(cycles, grid)], settings)
    whole = one[one["side"] == "both"].set_index("draw")
    np.testing.assert_allclose(whole["volume"], volume["upper"], rtol=1e-12)
    by_factor = wear_intervals(faces, settings).set_index(["law", "quantity", "side"])["median"]
    both = by_factor["archard", "wear_volume", "both"]
    assert both == pytest.approx(2.0 * by_factor["archard", "wear_volume", "lower"], rel=1e-12)


def test_depth_has_an_interval_only_with_a_surface_that_follows_its_wear(monkeypatch, cycles):
    draw = pd.DataFrame([{"law": "archard", "log_level": 0.5, "tau": 0.0, "sigma": 0.0}])
    monkeypatch.setattr(posterior, "_stored", lambda name: draw)
    settings = make_settings(wear_law="archard", wear_factor_mm3_per_n_m=1e-6, lives=LIVES)
    surfaces = [WearingSurface(cycles, make_grid())]
    assert WORN_IN_DEPTH not in set(posterior_intervals(surfaces, settings)["quantity"])
    depth = accumulate_wear(cycles, make_grid(), settings).wear_depth.values[0, 0]
    fresh = np.exp(0.5) * depth.max(axis=(1, 2))
    factors = dict(zip(make_grid().sides, (0.8, 0.5), strict=True))
    worn_in = {
        ("gait", side): WornIn(np.array([0.0, 1e9]), np.array([0.0, 1e9 * factor]))
        for side, factor in factors.items()
    }
    table = posterior_intervals(surfaces, settings, worn_in=worn_in)
    medians = table[table["quantity"] == WORN_IN_DEPTH].set_index("side")["median"]
    expected = fresh * list(factors.values())
    assert medians[list(factors)].to_numpy() == pytest.approx(expected, rel=1e-9)
    assert medians["both"] == pytest.approx(expected.max(), rel=1e-9)


def test_interval_holds_its_part_of_the_draws(cycles):
    settings = make_settings(lives=LIVES)
    table = posterior_intervals([WearingSurface(cycles, make_grid())], settings, 0.8)
    row = table[(table["side"] == "both") & (table["quantity"] == "wear_volume")].iloc[0]
    drawn = losses_of_draws([WearingSurface(cycles, make_grid())], settings)
    drawn = drawn[drawn["side"] == "both"]
    drawn = drawn["volume"] * drawn["laboratory"]
    assert drawn.between(row["low"], row["high"]).mean() == pytest.approx(0.8, abs=0.002)
    rate = table[(table["side"] == "both") & (table["quantity"] == "volumetric_wear_rate")]
    years = settings.months / 12.0
    assert rate["high"].iloc[0] == pytest.approx(row["high"] / years)
    assert cycles_of_life(settings.cycles_per_year, settings.months) > 0.0


def test_intervals_of_a_study_are_of_all_laws_together_and_of_each(cycles):
    settings = make_settings(lives=LIVES)
    table = intervals_of_laws([WearingSurface(cycles, make_grid())], settings)
    for name, rows in BY_ROWS.items():
        expected = posterior_intervals([WearingSurface(cycles, make_grid())], settings, rows=rows)
        together = table[table["law"] == name].reset_index(drop=True)
        pd.testing.assert_frame_equal(together[expected.columns], expected)
    by_law = table[~table["law"].isin(list(BY_ROWS))]
    expected = wear_intervals([WearingSurface(cycles, make_grid())], settings)
    pd.testing.assert_frame_equal(
        by_law.reset_index(drop=True), expected, check_dtype=False, rtol=1e-12
    )
    unmeasured = make_settings(lives=LIVES, material_class="crosslinked")
    assert intervals_of_laws([WearingSurface(cycles, make_grid())], unmeasured).empty
