"""Trends that the source states: limits kept by its own tables, and broken ones reported."""

from __future__ import annotations

import pandas as pd
import pytest

from kneewear.analysis.literature import NOT_REPRODUCED, REPRODUCED
from kneewear.analysis.regression import correlate_pressure, fit_regression
from kneewear.evidence.published.comparison import (
    DISTANCE,
    compare_correlation,
    compare_regression,
    compare_trends,
)
from kneewear.evidence.published.tables import published_statements

KEYS = ["quantity", "measure", "predictor", "side"]
# From unrounded values the source reads 0.732 and 0.084; and its wear depth on the medial side is
# worth 2.4 to 2.7 mm, whichever coefficients of Table 4-1 are taken.
ITS_TABLES_BREAK = {
    ("damage_volume", "r2", "max_pressure", "lateral"),
    ("damage_area", "r2", "max_pressure", "lateral"),
    ("wear_depth_at_deepest_damage", "mm_per_10kg", "", "medial"),
}


def compared(cases):
    """Trends of a study's cases beside the stated ones."""
    correlation = compare_correlation(correlate_pressure(cases))
    return compare_trends(correlation, compare_regression(fit_regression(cases)), cases)


def test_the_printed_tables_keep_what_is_stated_of_them_but_for_rounding(published):
    table = compared(published)
    assert len(table) == 44
    broken = table[table["verdict"] != REPRODUCED]
    assert set(broken[KEYS].itertuples(index=False, name=None)) == ITS_TABLES_BREAK
    assert (table["computed"] / table["printed_tables"] - 1.0).abs().max() < 0.01


def test_reversed_trends_are_reported(plane):
    # 100 - 2 h + 0.5 M: 10 kg are worth 2.5 mm of everything, and area shrinks with thickness.
    table = compared(plane()).set_index(KEYS)
    assert table.loc[("damage_area", "a1", "", "medial"), "verdict"] == NOT_REPRODUCED
    worth = table.loc[("damage_volume", "mm_per_10kg", "", "lateral")]
    assert worth["computed"] == pytest.approx(2.5)
    assert worth["verdict"] == NOT_REPRODUCED
    assert set(published_statements(table.reset_index())["expected"]) >= {"≥ 0.732", "6 to 7"}


def test_the_largest_distance_of_damage_from_pressure_has_no_limit(plane):
    cases = plane()
    apart = cases[cases["quantity"] == "damage_area"].assign(quantity=DISTANCE)
    apart["value"] = range(len(apart))
    table = compared(pd.concat([cases, apart], ignore_index=True)).set_index(KEYS)
    for side, own in apart.groupby("side"):
        row = table.loc[(DISTANCE, "largest", "", side)]
        assert row["computed"] == own["value"].max()
        assert row["verdict"] == ""
