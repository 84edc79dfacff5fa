"""Data of the chart of samples."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear import load_study
from kneewear.report.samples import samples_data
from kneewear.report.summary import MAX_ROWS


@pytest.fixture(scope="module")
def settings():
    study = {
        "page": "sweep",
        "analyses": {"effects": {}},
        "report": {"compare_with_published": False},
    }
    variables = {
        "mass": {"settings": ["patient.body_mass_kg"], "low": 60.0, "high": 90.0, "unit": "kg"},
        "share": {"settings": ["simulation.medial_share"], "low": 0.6, "high": 0.7, "unit": "1"},
    }
    plan = {"variables": variables, "cases": {"plan": "latin_hypercube", "samples": 4}}
    return load_study("config/quick.yaml", {"variables": None}, study | plan).model_dump(
        mode="json"
    )


def results(count=3, **columns):
    rising = np.arange(1.0, count + 1.0)
    known = {
        "case": [f"c{number}" for number in range(count)],
        "mass": 60.0 + rising,
        "share": np.full(count, 0.6),
        "both_max_wear_depth": 0.1 * rising,
        "both_wear_volume": 10.0 * rising,
        "both_max_pressure": 20.0 * rising,
    }
    return {"results": pd.DataFrame(known | columns)}


def test_samples_have_the_values_of_their_variables_and_results(settings):
    data = samples_data(results(), settings)
    assert [one["unit"] for one in data["inputs"]] == [
        "kg"
    ]  # a share that does not vary is left out
    assert [one["unit"] for one in data["outputs"]] == ["mm", "mm³", "MPa"]
    assert data["samples"][1] == {"label": "c1", "outside": True, "values": [62.0, 0.2, 20.0, 40.0]}
    assert data["outputs"][2]["limit"] == settings["report"]["pressure_limit_mpa"]


def test_samples_that_failed_are_left_out(settings):
    failed = results(both_max_wear_depth=[0.1, np.nan, 0.3])
    assert [one["label"] for one in samples_data(failed, settings)["samples"]] == ["c0", "c2"]


def test_page_stays_small(settings):
    data = samples_data(results(MAX_ROWS + 5), settings)
    assert len(data["samples"]) == MAX_ROWS
    assert data["count"] == MAX_ROWS + 5


def test_studies_without_numbers_to_draw_over_have_no_chart(settings):
    assert samples_data({}, settings) is None
    assert samples_data(results(mass=["a", "b", "c"]), settings) is None
