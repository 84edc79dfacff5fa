"""Titles of columns as programs and people write them: quantity, sign and unit, or a question.

`column_names.csv` was written before the words that are read from it; of its half `held_back` only
the figures were looked at.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from kneewear.io.column_names import NOT_USED, UNKNOWN, read_name, unit_of

TABLE = Path(__file__).with_name("column_names.csv")
MIN_RIGHT = 0.8
MAX_WRONG = 0.05
# Percent and numbers of frames have one unit each.
WITHOUT_UNIT = ("percent", "frame")


def rows(half):
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["half"] == half]


def judgement(row):
    """Judge a title as right, not found (not used, a question, or no sign), or wrong."""
    name = read_name(row["name"], y_up=row["file"] == "sto")
    quantity = {NOT_USED: "unused", UNKNOWN: "question"}.get(name.quantity, name.quantity)
    if row["quantity"] in ("unused", "question"):
        if quantity == row["quantity"]:
            return "right"
        return "not found" if quantity in ("unused", "question") else "wrong"
    sign = "" if name.sign is None else str(name.sign)
    unit = row["unit"] if quantity in WITHOUT_UNIT else name.unit
    if (quantity, sign, unit) == (row["quantity"], row["direction"], row["unit"]):
        return "right"
    unsigned = quantity == row["quantity"] and unit == row["unit"] and not sign
    return "not found" if unsigned or quantity in ("unused", "question") else "wrong"


@pytest.mark.parametrize("row", rows("developed"), ids=lambda row: row["name"])
def test_known_titles_are_read(row):
    assert judgement(row) == "right"


def test_titles_that_were_held_back_are_found_and_seldom_wrong():
    judged = [judgement(row) for row in rows("held_back")]
    assert len(judged) >= 75
    assert judged.count("right") >= MIN_RIGHT * len(judged)
    assert judged.count("wrong") <= MAX_WRONG * len(judged)


def test_the_list_is_long_enough_and_has_each_title_once():
    titles = [
        (row["name"], row["file"]) for half in ("developed", "held_back") for row in rows(half)
    ]
    assert len(titles) >= 150
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("unit", ["N", "kN", "kgf", "lbf", "BW", "%BW", "N/kg"])
@pytest.mark.parametrize("words", ["superior_inferior", "axial", "AP position", "femur anterior"])
def test_a_force_is_never_a_position(unit, words):
    quantity = read_name(f"{words} [{unit}]").quantity
    assert quantity in ("load", "anterior_posterior_force_n", NOT_USED, UNKNOWN)


@pytest.mark.parametrize(
    ("title", "dimension", "factor"),
    [
        ("Kraft [kN]", "force", 1000.0),
        ("load_kgf", "force", 9.80665),
        ("load (lbf)", "force", 4.4482216152605),
        ("Fz [%BW]", "weight", 0.01),
        ("Fz (N/kg)", "weight", 1.0 / 9.81),
        ("torque [Nmm]", "moment", 0.001),
        ("Frame [200 Hz]", "time", 0.005),
        ("Zeit in ms", "time", 0.001),
        ("Weg/cm", "length", 10.0),
    ],
)
def test_units_have_the_factor_to_those_of_this_project(title, dimension, factor):
    unit = unit_of(title)
    assert (unit.dimension, unit.factor) == (dimension, pytest.approx(factor, rel=1e-12))
