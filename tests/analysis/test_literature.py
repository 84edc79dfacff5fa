"""Verdicts on computed numbers beside printed ones."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

from kneewear.analysis.literature import (
    AIM,
    NOT_PRINTED,
    NOT_REPRODUCED,
    REPRODUCED,
    SOURCE_ERROR,
    UNDECIDED,
    ComparedNumber,
    computed_rows,
    judge_number,
    judge_numbers,
    published_rows,
    rms_number,
)
from kneewear.knees.replications import MULTIBODY_MODELS, replication_room

ROWS = pd.DataFrame(
    [
        ("a", 10.0, 1.0, np.nan, np.nan, None),
        ("b", np.nan, np.nan, 2.0, np.nan, None),
        ("c", np.nan, np.nan, np.nan, 3.0, None),
        ("d", 10.0, 1.0, np.nan, np.nan, NOT_PRINTED),
        ("e", 10.0, 1.0, np.nan, np.nan, SOURCE_ERROR),
        ("f", 10.0, np.nan, np.nan, np.nan, None),
    ],
    columns=["quantity", "published", "tolerance", "low", "high", "remark"],
).assign(source="a paper", unit="N")


@pytest.mark.parametrize(
    ("quantity", "value", "verdict"),
    [
        ("a", 9.0, REPRODUCED),
        ("a", 11.0, REPRODUCED),
        ("a", 11.1, NOT_REPRODUCED),
        ("a", np.nan, NOT_REPRODUCED),
        ("b", 2.0, REPRODUCED),
        ("b", 1.9, NOT_REPRODUCED),
        ("c", -5.0, REPRODUCED),
        ("c", 3.1, NOT_REPRODUCED),
        ("d", 10.0, NOT_PRINTED),
        ("d", 50.0, NOT_PRINTED),
        ("e", 10.0, REPRODUCED),
        ("e", 50.0, SOURCE_ERROR),
        ("f", 10.0, ""),
    ],
)
def test_limits_and_remarks_decide(quantity, value, verdict):
    (row,) = judge_number(ROWS, computed_rows({quantity: value})).to_dict("records")
    assert row["verdict"] == verdict


def test_a_number_that_input_was_chosen_for_is_no_evidence():
    computed = computed_rows({"a": 10.0, "b": 0.0, "d": 10.0, "e": 50.0})
    judged = judge_number(ROWS, computed, aims=("a", "d", "e"))
    assert judged["verdict"].tolist() == [AIM, NOT_REPRODUCED, AIM, AIM]


def test_a_case_whose_test_cannot_fail_is_not_decided():
    computed = computed_rows({"a": {"few": 10.0, "many": 10.0}, "b": {"few": 0.0}})
    judged = judge_number(ROWS, computed, undecided=[("a", "few")])
    assert judged["verdict"].tolist() == [UNDECIDED, REPRODUCED, NOT_REPRODUCED]


PAPERS = {name: replication_room(name) for name in MULTIBODY_MODELS} | {
    "fe_knee": "kneewear.knees.papers.fe_knee"
}
COMPARED = [
    name for name, package in PAPERS.items() if files(package).joinpath("literature.csv").is_file()
]


def test_all_replications_are_compared():
    assert {*PAPERS} == {*COMPARED}


@pytest.mark.parametrize("name", COMPARED)
def test_printed_numbers_of_replications_have_limits_or_a_remark(name):
    rows = published_rows(PAPERS[name])
    assert rows["quantity"].is_unique and rows["source"].notna().all()
    limits = rows["low"].notna() | rows["high"].notna() | rows["tolerance"].notna()
    assert (limits | (rows["remark"] != "")).all()


def test_rms_differences_stand_beside_the_constant_mean_of_the_measurement():
    measured = np.array([1.0, 3.0, 5.0, 3.0])
    models = {"exact": measured, "mean": np.full(4, 3.0), "worse": measured[::-1] * 2.0}
    numbers = [
        rms_number("rms", name, own, measured, "mm", "a test", 9.0) for name, own in models.items()
    ]
    table = judge_numbers([*numbers, ComparedNumber("range", "x", 4.0, "mm", "a test")])
    by_case = table.set_index("case")
    assert by_case.loc["mean", "computed"] == pytest.approx(np.sqrt(2.0))
    assert by_case["constant_mean"].iloc[:3].tolist() == pytest.approx([np.sqrt(2.0)] * 3)
    assert by_case["skill"].iloc[:2].tolist() == pytest.approx([1.0, 0.0])
    assert by_case.loc["worse", "skill"] < 0.0
    assert np.isnan(by_case.loc["x", "skill"])
    assert "skill" not in judge_numbers([ComparedNumber("range", "x", 4.0, "mm", "a test")])
