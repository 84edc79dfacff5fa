"""Tests of bearings and a blind comparison from end to end, at small size."""

from __future__ import annotations

import pandas as pd
import pytest

from kneewear.io.documents import load_json
from kneewear.io.result_files import file_hash
from tests.workflow.conftest import Checkout

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

TESTS = ["pin_half_area", "pin_double_area", "disc_straight", "disc_elliptic"]
LAWS = ["archard", "cross_shear_saturation", "contact_area"]
SMALL = {
    "study": "bearings",
    "variables": {
        "test": {"settings": ["wear_test.test"], "values": TESTS},
        "law": {"settings": ["wear.wear_law"], "values": LAWS},
    },
    "analyses": {"measured": {"test": "test", "law": "law"}},
}


def test_tests_of_bearings_are_judged_without_a_knee(finished, tmp_path_factory):
    copy = Checkout(
        tmp_path_factory.mktemp("bearings"),
        "config/evidence/measured_wear.yaml",
        origin=finished.folder,
    )
    copy.snakemake(overrides=SMALL)
    results = copy.folder / "results/bearings"
    assert not (results / "geometry").exists()
    table = pd.read_csv(results / "tables/measured_wear.csv")
    assert set(table["law"]) == set(LAWS)
    verdicts = table.set_index(["measurement", "law"])["verdict"]
    area = "twice the area of pins at one load"
    assert verdicts[area, "contact_area"] == "agrees"
    assert verdicts[area, "archard"] == "refuted"
    assert verdicts["straight over elliptic motion of discs", "archard"] == "refuted"
    assert {path.stem for path in (results / "figures").glob("*.svg")} == {"wear_over_measured"}
    assert (results / "report/index.html").stat().st_size > 10_000


def test_prediction_is_stored_before_measured_wear_is_read(finished, tmp_path_factory):
    copy = Checkout(
        tmp_path_factory.mktemp("blind"), "config/simulator_test.yaml", origin=finished.folder
    )
    small = {
        "grid": {"rows": 20, "columns": 15},
        "simulation": {"analysis": "quasi_static", "frames": 20},
        "report": {"spread": {"blocks": 1, "samples": 0}},
    }
    copy.snakemake("results/simulator_test/tables/simulator_tests.csv", overrides=small)
    blind = copy.folder / "results/simulator_test/blind"
    digest = file_hash(blind / "prediction.csv")
    assert load_json(blind / "prediction.json")["sha256"] == digest
    table = pd.read_csv(copy.folder / "results/simulator_test/tables/simulator_tests.csv")
    assert set(table["test"]) == {"station 1", "station 2", "station 3"}
    assert set(table["prediction_sha256"]) == {digest}
    rate = pd.read_csv(blind / "prediction.csv")["wear_mm3_per_million_cycles"].item()
    last = table[table["million_cycles"] == 2.0]
    assert last["predicted_low_mm3"].tolist() == pytest.approx([2.0 * rate] * 3)
    # Other measured wear computes no prediction again.
    with copy.edited("config/example_simulator/wear.csv", "20.9", "21.9"):
        planned = copy.planned(small)
    assert "freeze_prediction" not in planned
    assert "analyse_cases" in planned
