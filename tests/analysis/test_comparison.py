"""Comparison with the published tables."""

from __future__ import annotations

import numpy as np

from kneewear.analysis.regression import fit_regression
from kneewear.evidence.published import comparison
from kneewear.evidence.published.comparison import (
    COLUMNS,
    compare_published,
    compare_regression,
    error_beyond_rounding,
    predict_published,
)
from kneewear.evidence.published.values import published_table, published_values


def test_comparison_has_350_rows_and_no_error_against_itself(published):
    table = compare_published(published)
    assert list(table.columns) == COLUMNS[1:]
    assert len(table) == 350
    assert table["relative_error"].abs().max() == 0.0
    # 9 of 25 cells, 2 sides, 7 quantities.
    assert table["calibration"].sum() == 126


def test_error_within_the_last_digit_is_none():
    np.testing.assert_allclose(
        error_beyond_rounding([24.84, 24.95, 24.65, 0.38], [24.8, 24.8, 24.8, 0.38], 0.05),
        [0.0, 0.1 / 24.8, 0.1 / 24.8, 0.0],
        atol=1e-12,
    )


def test_null_model_is_exact_where_the_scaling_law_holds_with_a_parabola(monkeypatch):
    table = published_values()
    local = table["thickness_mm"] + comparison.EXTRA_THICKNESS_MM
    x = np.log(table["body_mass_kg"] * local)
    scale = np.where(table["quantity"] == "damage_area", 1.0, local)
    lawful = table.assign(published=np.exp(-20.0 + 4.0 * x - 0.2 * x**2) / scale)
    monkeypatch.setattr(comparison, "published_values", lambda: lawful)
    np.testing.assert_allclose(comparison.fit_null_model()["null_error"], 0.0, atol=1e-11)
    # Twice the value in a cell that is not fitted is an error of one half, there only.
    other = (lawful["thickness_mm"] == 6.0) & (lawful["body_mass_kg"] == 50.0)
    lawful.loc[other, "published"] *= 2.0
    errors = comparison.fit_null_model()["null_error"]
    np.testing.assert_allclose(errors[other], -0.5, atol=1e-11)
    np.testing.assert_allclose(errors[~other], 0.0, atol=1e-11)


def test_null_model_predicts_half_of_the_other_cells_within_half_a_per_cent(published):
    table = compare_published(published)
    others = 100.0 * table.loc[~table["calibration"], "null_error"].abs()
    assert len(others) == 224
    found = [others.median(), others.quantile(0.95), others.max()]
    np.testing.assert_allclose(found, [0.512, 2.80, 17.29], rtol=2e-3)


def test_regression_beside_table_4_1(published):
    table = compare_regression(fit_regression(published))
    assert len(table) == 10
    np.testing.assert_allclose(table["a0"], table["refit_a0"], rtol=2e-3)
    row = table.query("side == 'medial' and quantity == 'damage_volume'").iloc[0]
    assert row["a2_published"] == 1.407


def test_nominal_patient_is_predicted_by_table_4_1(plane):
    table = predict_published(plane((6.8, 8.0), (70.0, 75.0)))
    # Ten rows of the table for each of the three cases that were not published.
    assert len(table) == 30
    row = table.query(
        "thickness_mm == 6.8 and body_mass_kg == 70 and side == 'medial' "
        "and quantity == 'damage_volume'"
    ).iloc[0]
    assert row["computed"] == 100.0 - 2.0 * 6.8 + 0.5 * 70.0
    assert row["predicted_as_printed"] == 38.52 - 2.032 * 6.8 + 1.407 * 70.0
    assert row["predicted"] == 38.32 - 2.02 * 6.8 + 1.408 * 70.0
    assert row["relative_difference"] == row["computed"] / row["predicted"] - 1.0


def test_prediction_of_the_published_cells_errs_by_the_residual_of_the_regression(published):
    # Moved off the published cells by a hair, their own values come back to the plane's residual.
    moved = published.assign(thickness_mm=published["thickness_mm"] + 1e-9)
    table = predict_published(moved)
    worst = (
        (table["computed"] - table["predicted"])
        .abs()
        .groupby([table["side"], table["quantity"]])
        .max()
    )
    printed = published_table("table_4_1_regression").set_index(["side", "quantity"])[
        "refit_max_abs_resid"
    ]
    np.testing.assert_allclose(worst, printed.loc[worst.index], rtol=0.05, atol=2e-3)
