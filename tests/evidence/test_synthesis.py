"""Factors of laboratories, and predictions that were stored before results were looked for."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kneewear.analysis.literature import published_rows
from kneewear.evidence.synthesis import blind, blind_hierarchy
from kneewear.evidence.synthesis.blind_comparison import MODELS, compare_blind
from kneewear.evidence.synthesis.factors import factors_by_laboratory, write_factors
from kneewear.wear.interval import FILE
from kneewear.wear.posterior import measured_draws

PACKAGE = files("kneewear.evidence.synthesis")
SNAPSHOT = Path(__file__).parents[2] / "docs/snapshot/measured_wear/tables/measured_wear.csv"


def test_stored_factors_are_those_of_the_measured_wear(tmp_path):
    write_factors(SNAPSHOT, 1.63e-6, tmp_path / FILE)
    stored = files("kneewear.wear").joinpath(FILE).read_text(encoding="utf-8")
    assert (tmp_path / FILE).read_text(encoding="utf-8") == stored


def test_ratios_marks_and_straight_paths_have_no_factor():
    measured = published_rows("kneewear.evidence.measured_wear", "measured_wear")
    kept = (measured["over"] == "") & (measured["quantity"] != "mark_diameter")
    kept &= measured["motion"] == "multidirectional"
    factors = factors_by_laboratory(pd.read_csv(SNAPSHOT), 1.63e-6)
    factors = factors[factors["law"] == "archard"]
    assert factors["measurements"].sum() == kept.sum()
    assert set(factors["laboratory"]) == set(measured.loc[kept, "laboratory"])


@pytest.mark.parametrize("stored", [blind.PREDICTIONS, blind_hierarchy.PREDICTIONS])
def test_digest_of_stored_predictions(stored):
    text = PACKAGE.joinpath(stored).read_text(encoding="utf-8")
    digest, name = PACKAGE.joinpath(stored + ".sha256").read_text(encoding="utf-8").split()
    assert name == stored
    assert digest == blind.digest(text)


def test_stored_predictions_are_what_the_ranges_give():
    with PACKAGE.joinpath(blind.PREDICTIONS).open("r", encoding="utf-8") as file:
        stored = pd.read_csv(file)
    again = blind.predict()
    columns = ["low", "median", "high", "work_low", "work_median", "work_high"]
    np.testing.assert_allclose(again[columns], stored[columns], rtol=1e-3)
    assert list(again["id"]) == list(stored["id"])
    assert set(stored["id"]) == set(blind.conditions()["id"])


@pytest.mark.slow
def test_stored_predictions_of_laws_are_what_the_stored_posterior_gives():
    with PACKAGE.joinpath(blind_hierarchy.PREDICTIONS).open("r", encoding="utf-8") as file:
        stored = pd.read_csv(file)
    again = blind_hierarchy.predict(measured_draws())
    columns = ["median", "high", "cross_shear_median", "cross_shear_high"]
    np.testing.assert_allclose(again[columns], stored[columns], rtol=1e-3)
    assert set(stored["id"]) == set(blind.conditions()["id"])


def test_cross_shear_of_an_ellipse_is_that_of_its_limits():
    one = np.ones(1)
    assert blind_hierarchy.ellipse_cross_shear(one, one) == pytest.approx(0.5)
    assert blind_hierarchy.ellipse_cross_shear(one, 0.0 * one) == pytest.approx(0.0, abs=1e-12)


def test_knee_that_only_flexes_has_no_cross_shear():
    given = {name: np.array([0.0]) for name in ("translation", "rotation", "rotation_phase")}
    given |= {name: np.array([0.5]) for name in ("translation_centre", "translation_width")}
    given |= {"radius": np.array([25.0]), "half_distance": np.array([22.0])}
    given |= {"lever": np.array([8.0])}
    assert blind_hierarchy.knee_cross_shear(given) == pytest.approx(0.0, abs=1e-12)
    turning = given | {"rotation": np.array([5.0])}
    assert blind_hierarchy.knee_cross_shear(turning)[0] > 1e-3


def test_results_of_blind_conditions_are_counted_inside_their_intervals():
    results, counts = compare_blind()
    assert set(results["id"]) == set(blind.conditions()["id"])
    for model in MODELS:
        known = results[results[f"{model} low"].notna()]
        inside = known["measured"].between(known[f"{model} low"], known[f"{model} high"])
        own = counts[counts["model"] == model]
        assert own["inside"].sum() == inside.sum()
        assert own["asked"].sum() == len(known)
    ratio = results.set_index(["id", "quantity"]).at[("H05b", "ratio to H05a"), "measured"]
    assert ratio == pytest.approx(14.58 / 7.97)


def test_length_of_an_ellipse():
    assert blind.ellipse_length(np.array([2.0]), np.array([2.0])) == pytest.approx(4.0 * np.pi)
    assert blind.ellipse_length(np.array([0.0]), np.array([3.0])) == pytest.approx(12.0)


def test_work_of_a_knee_that_only_flexes():
    given = {name: np.array([1.0]) for name in ("load_share", "pressure_share")}
    given |= {name: np.array([0.5]) for name in ("translation_centre", "translation_width")}
    given |= {name: np.array([0.0]) for name in ("translation", "rotation", "rotation_phase")}
    given |= {"radius": np.array([25.0]), "half_distance": np.array([22.0])}
    percent = np.arange(101)
    force = np.interp(percent, *np.transpose(blind.FORCE))
    flexion = np.radians(np.interp(percent, *np.transpose(blind.FLEXION)))
    expected = 25.0 * np.sum(0.5 * (force[1:] + force[:-1]) * np.abs(np.diff(flexion)))
    assert blind.knee_work(given)[0] == pytest.approx(expected)
    # Rotation of the tray comes on top, at a mean distance from its axis.
    turning = given | {"rotation": np.array([5.0]), "backside_radius": np.array([15.0])}
    assert blind.knee_work(turning)[0] > expected
