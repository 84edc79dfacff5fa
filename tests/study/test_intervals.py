"""Interval of the wear of studies of cases, of every model that wears."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from kneewear.runs.chains import chain_of
from kneewear.study.files import FileReader
from kneewear.study.inputs import built_in_activities, exact_knee
from kneewear.study.jobs import JobInputs
from kneewear.study.run import settings_of_case
from kneewear.study.settings import merge_settings, validate_study
from kneewear.study.side_jobs import compute_chosen_job, list_chosen_jobs
from kneewear.wear.posterior import ALL_LAWS
from tests.study.studies import CHECKOUT, coarse_study, shipped

PIN = {
    "bearing": {"shape": "flat_pin", "radius_mm": 4.5, "thickness_mm": 10.0},
    "motion": {"path": "rectangle", "length_mm": 7.0, "width_mm": 3.0},
    "load": {"low_n": 70.0, "high_n": 70.0},
    "million_cycles": 2.0,
    "frames": 40,
    "element_mm": 1.5,
}


def interval(study):
    """Rows of all laws together, by side and quantity."""
    inputs = JobInputs(None, {}, FileReader(".").activity, reader=FileReader("."))
    if study.has_knee:
        inputs = replace(inputs, knee=exact_knee(study), activities=built_in_activities(study))
    table = compute_chosen_job(study, "interval", inputs).tables["wear_intervals"]
    return table[table["law"] == ALL_LAWS].set_index(["side", "quantity"])


def pins(law):
    block = {"model": "wear_test", "wear_test": {"test": "pin", "tests": {"pin": PIN}}}
    return validate_study(merge_settings(shipped("defaults.yaml"), block | {"wear": law}))


def test_interval_of_a_test_does_not_depend_on_its_law():
    one, other = (interval(pins({"wear_law": law})) for law in ("archard", "directional_work"))
    pd.testing.assert_frame_equal(one, other)
    rate = one.loc["both", "wear_volume_per_million_cycles"]
    assert rate["high"] == pytest.approx(0.5 * one.loc["both", "wear_volume"]["high"])
    assert rate["low"] < rate["median"] < rate["high"]


def test_interval_of_a_plan_is_of_the_case_without_changes():
    factor = {"settings": ["patient.body_mass_kg"], "values": [50.0, 110.0]}
    study = coarse_study({"mass": factor})
    alone = coarse_study({})
    pd.testing.assert_frame_equal(interval(study), interval(alone))
    heavy = settings_of_case(study, {"mass": 110.0})
    volume = ("both", "wear_volume")
    assert interval(heavy).loc[volume]["median"] > interval(alone).loc[volume]["median"]


@pytest.mark.parametrize(
    "file",
    ["cohort_example", "sweep", "monte_carlo", "rotating_platform", "patellar_button"],
)
def test_every_study_of_cases_that_wear_has_an_interval(file):
    study = validate_study(merge_settings(shipped("defaults.yaml"), shipped(f"{file}.yaml")))
    assert "interval" in list_chosen_jobs(study)
    chain = chain_of(study, str(CHECKOUT))
    assert "wear_intervals" in chain.copied["Results"]


def test_studies_without_wear_have_none():
    study = validate_study(merge_settings(shipped("defaults.yaml"), shipped("laxity.yaml")))
    assert "interval" not in list_chosen_jobs(study)
