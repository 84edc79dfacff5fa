"""Wear over the cycles and wear that was measured in a simulator."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear import load_study
from kneewear.base.cases import Case
from kneewear.errors import DamagedFileError
from kneewear.io.curves import read_simulator_test
from kneewear.io.documents import save_json
from kneewear.io.result_files import file_hash, frozen_digest
from kneewear.report.wear import draw_wear_over_cycles
from kneewear.study.files import check_inputs
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.gravimetry import predicted_rates, tabulate_wear_over_cycles
from kneewear.wear.records import record_cycles
from kneewear.wear.summary import summarize_cases
from tests.refusals import refusal, refused_at
from tests.wear.conftest import make_grid, make_history, make_settings

COLUMNS = {"million_cycles": "Mc", "loss": "mg", "error": "sd"}
ROWS = "# weighed\nMc,mg,sd\n0,0,0\n1,9.3,1\n2,20.5,2\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "test.csv"
    path.write_text(ROWS)
    return path


@pytest.fixture
def cases():
    rates = {
        ("a", "medial"): 4.0,
        ("a", "lateral"): 2.0,
        ("b", "medial"): 8.0,
        ("b", "lateral"): 4.0,
    }
    return pd.DataFrame(
        [
            {
                "case": case,
                "life": "gait",
                "thickness_mm": 8.0,
                "body_mass_kg": 50.0 if case == "a" else 100.0,
                "side": side,
                "quantity": "mass_loss",
                "value": rate,
                "unit": "mg/million cycles",
            }
            for (case, side), rate in rates.items()
        ]
    )


def test_wear_is_the_rate_of_both_sides_times_the_cycles(cases):
    wear = load_study().wear
    curves = tabulate_wear_over_cycles(cases, wear, {})["wear_over_cycles"]
    last = curves[curves["million_cycles"] == curves["million_cycles"].max()].set_index("case")
    million = 1e-6 * wear.cycles_per_year * wear.months / 12.0
    assert last["million_cycles"].tolist() == pytest.approx([million, million])
    np.testing.assert_allclose(last["wear_mg"], [6.0 * million, 12.0 * million])
    np.testing.assert_allclose(last["wear_mm3"] * wear.density_mg_per_mm3, last["wear_mg"])


def test_test_is_converted_and_laid_beside_the_prediction(cases, file):
    wear = load_study().wear
    test = read_simulator_test(file, COLUMNS, wear.mm3_per("mg"))
    assert test["wear_mm3"].tolist() == pytest.approx([0.0, 9.3 / 0.93, 20.5 / 0.93])
    test["million_cycles"] *= 10.0
    tables = tabulate_wear_over_cycles(cases, wear, {"A": test})
    # Lines reach as far as the longest test.
    assert tables["wear_over_cycles"]["million_cycles"].max() == 20.0
    beside = tables["simulator_tests"].set_index("million_cycles")
    density = wear.density_mg_per_mm3
    assert beside.loc[20.0, "predicted_low_mm3"] == pytest.approx(120.0 / density)
    assert beside.loc[20.0, "predicted_high_mm3"] == pytest.approx(240.0 / density)
    assert beside.loc[20.0, "ratio"] == pytest.approx(180.0 / 20.5)
    assert np.isnan(beside.loc[0.0, "ratio"])
    axes = draw_wear_over_cycles(tables["wear_over_cycles"], tables["simulator_tests"]).axes[0]
    assert "measured: A" in axes.get_legend_handles_labels()[1]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("2,20.5", "1,20.5", "test.csv, column 'Mc'"),
        ("2,20.5", "2000000,20.5", "test.csv, column 'Mc'"),
        ("20.5,2", "20.5,-2", "test.csv, column 'sd'"),
        ("9.3", "9;3", "test.csv, column 'mg', data row 2"),
        ("Mc,mg", "Mc,mass", "test.csv, header"),
    ],
)
def test_faults_of_the_file_stop_the_study_before_its_first_job(file, old, new, place):
    file.write_text(ROWS.replace(old, new, 1))
    test = {"file": str(file), "unit": "mg", "columns": COLUMNS, "source": "made up"}
    study = load_study({"report": {"simulator_tests": {"A": test}}})
    assert refused_at(check_inputs, study, ".") == place
    file.unlink()
    refusal(check_inputs, study, ".")


def test_stored_prediction_is_the_rate_of_the_tables():
    cases = (Case("t06_m050", 6.0, 50.0), Case("t10_m100", 10.0, 100.0))
    grid, settings = make_grid(), make_settings()
    histories = {"gait": make_history(cases=cases, grid=grid)}
    maps = accumulate_wear(histories, grid, settings)
    rates = predicted_rates(maps, grid, settings)
    assert rates["case"].tolist() == [case.name for case in cases]
    summary = summarize_cases(maps, record_cycles(histories), grid, settings)
    curves = tabulate_wear_over_cycles(summary, settings, {})["wear_over_cycles"]
    last = curves[curves["million_cycles"] == curves["million_cycles"].max()]
    np.testing.assert_allclose(
        rates["wear_mm3_per_million_cycles"], last["wear_mm3"] / last["million_cycles"]
    )


def test_a_prediction_that_was_changed_after_it_was_stored_is_refused(tmp_path):
    file, record = tmp_path / "prediction.csv", tmp_path / "prediction.json"
    file.write_text("case,life,wear_mm3_per_million_cycles\na,gait,10\n")
    save_json({"sha256": file_hash(file)}, record)
    assert frozen_digest(file, record) == file_hash(file)
    file.write_text("case,life,wear_mm3_per_million_cycles\na,gait,11\n")
    with pytest.raises(DamagedFileError):
        frozen_digest(file, record)
