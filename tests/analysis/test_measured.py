"""Predicted over measured wear, verdicts by their rule, and the committed snapshot."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.analysis.literature import published_rows
from kneewear.evidence.measured_wear import tables as measured
from kneewear.evidence.measured_wear.tables import AGREES, CALIBRATED, REFUTED, analyse_measured
from kneewear.evidence.synthesis import hierarchy
from kneewear.study.analysis_settings import MeasuredOptions
from kneewear.study.settings import read_study
from kneewear.wear.law_settings import WEAR_LAWS
from tests.study.studies import CHECKOUT

pytestmark = pytest.mark.usefixtures("few_draws")
OPTIONS = MeasuredOptions(test="test", law="law")
SNAPSHOT = CHECKOUT / "docs/snapshot/measured_wear/tables"
LAW = "cross_shear_saturation"


@pytest.fixture
def few_draws(monkeypatch):
    """Simulate few tables for the coverage of intervals, which takes half a minute otherwise."""
    monkeypatch.setattr(hierarchy, "DRAWS", 2)


@pytest.fixture(scope="module")
def study():
    return read_study(
        CHECKOUT / "config/evidence/measured_wear.yaml", defaults=CHECKOUT / "config/defaults.yaml"
    )


@pytest.fixture(scope="module")
def snapshot():
    return {
        name: pd.read_csv(SNAPSHOT / f"{name}.csv") for name in ("measured_wear", "law_verdicts")
    }


def results_of(study, value):
    """Results of all tests and laws: `value` of test and law."""
    return pd.DataFrame(
        [
            {"test": test, "law": law}
            | dict.fromkeys((*measured.WEAR, "mark_diameter"), value(test, law))
            for test in study.wear_test.tests
            for law in WEAR_LAWS
        ]
    )


def test_law_that_predicts_what_was_measured_survives_and_one_that_is_off_is_refuted(study):
    rows = published_rows("kneewear.evidence.measured_wear", "measured_wear")
    hips = rows[rows["over"] == ""].set_index("test")["published"].astype(float)
    off = {"archard": 1.0, "contact_area": 100.0}

    def value(test, law):
        return off.get(law, 1.0) * hips[test] if test in ("hip_22", "hip_28") else 1.0

    table = analyse_measured(results_of(study, value), study, OPTIONS)["measured_wear"]
    hip = table[table["measurement"] == "hip of 22 mm"].set_index("law")
    assert hip.loc["archard", "predicted_over_measured"] == pytest.approx(1.0)
    assert hip.loc["archard", "verdict"] == AGREES
    assert hip.loc["contact_area", "verdict"] == REFUTED
    ratio = table[table["measurement"] == "hip of 28 over hip of 22 mm"].set_index("law")
    # A common factor is no part of a ratio.
    assert ratio.loc["contact_area", "predicted_over_measured"] == pytest.approx(1.0, rel=1e-3)
    # 23 over 100 times 23, of relative deviations of 9 and 60 %.
    deviations = np.log(100.0) / np.hypot(np.log1p(2.1 / 23.0), np.log1p(0.6))
    assert hip.loc["contact_area", "deviations"] == pytest.approx(deviations)


def test_calibrated_rows_do_not_count_and_nothing_predicted_is_refuted(study):
    results = results_of(study, lambda test, law: 0.0 if test == "disc_straight" else 1.0)
    tables = analyse_measured(results, study, OPTIONS)
    straight = tables["measured_wear"].query(
        "measurement == 'straight over elliptic motion of discs'"
    )
    verdicts = straight.set_index("law")["verdict"]
    assert verdicts[LAW] == CALIBRATED
    assert verdicts["unified_theory"] == REFUTED
    judged = tables["law_verdicts"].set_index(["law", "contact"])
    assert judged.loc[(LAW, "moving"), "calibrated"] == 3


def test_sphere_on_flat_has_the_factor_of_flat_pins(snapshot):
    table = snapshot["measured_wear"].query(f"law == '{LAW}'").set_index("measurement")
    ball = table.loc["ball on flat"]
    assert ball["verdict"] == AGREES
    assert ball["predicted_over_measured"] == pytest.approx(1.0, abs=0.10)
    mark = table.loc["ball on flat, diameter of the mark", "predicted_over_measured"]
    assert mark == pytest.approx(1.0, abs=0.08)


def test_constants_reproduce_the_tests_they_were_identified_from(snapshot):
    table = snapshot["measured_wear"].query(f"law == '{LAW}' and verdict == '{CALIBRATED}'")
    hips = table["measurement"].str.startswith("hip")
    ratio = table["predicted_over_measured"]
    assert (hips.sum(), len(table)) == (2, 5)
    # One constant for two sera.
    assert np.log(ratio[hips]).mean() == pytest.approx(0.0, abs=0.03)
    assert (ratio[~hips] - 1.0).abs().max() < 0.03


def test_snapshot_is_of_the_measurements_and_laws_of_today(snapshot, study):
    table = snapshot["measured_wear"]
    rows = published_rows("kneewear.evidence.measured_wear", "measured_wear")
    assert set(table["measurement"]) == set(rows["measurement"])
    first = table.drop_duplicates("measurement").set_index("measurement")["published"]
    printed = rows.set_index("measurement")["published"].astype(float)
    pd.testing.assert_series_equal(first, printed, check_names=False)
