"""What the source states in words: limits kept by its own tables, and broken ones reported."""

from __future__ import annotations

import pytest

from kneewear.regression.comparison import check_statements, compare_correlation, compare_regression
from kneewear.regression.fit import correlate_pressure, fit_regression
from kneewear.report.facts import statement_table

# From unrounded values the source reads 0.732 and 0.084; and its wear depth on the medial side is
# worth 2.4 to 2.7 mm, whichever coefficients of Table 4-1 are taken.
ITS_TABLES_BREAK = {
    ("R² of damage volume, on maximum pressure", "lateral"),
    ("R² of damage area, on maximum pressure", "lateral"),
    ("Insert thickness worth 10 kg for wear depth (mm)", "medial"),
}


def checked(cases):
    """Statements held against a study's cases."""
    return check_statements(
        compare_correlation(correlate_pressure(cases)), compare_regression(fit_regression(cases))
    )


def test_the_printed_tables_keep_what_is_stated_of_them_but_for_rounding(published):
    table = checked(published)
    assert len(table) == 22
    broken = table[~table["holds"]]
    assert set(zip(broken["statement"], broken["side"], strict=True)) == ITS_TABLES_BREAK
    assert (table["here"] / table["printed_tables"] - 1.0).abs().max() < 0.01


def test_trends_turned_round_are_told(plane):
    # 100 - 2 h + 0.5 M: 10 kg are worth 2.5 mm of everything, and area shrinks with thickness.
    table = checked(plane()).set_index(["statement", "side"])
    assert not table.loc[("a₁ of damage area (mm² per mm)", "medial"), "holds"]
    worth = table.loc[("Insert thickness worth 10 kg for damage volume (mm)", "lateral")]
    assert worth["here"] == pytest.approx(2.5)
    assert not worth["holds"]
    assert len(statement_table(table.reset_index())) == 22


def test_without_a_fit_there_is_nothing_to_hold(plane):
    table = checked(plane((6.0,), (50.0,)))
    assert table.empty
