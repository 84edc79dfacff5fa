"""Comparison with the published tables."""

from __future__ import annotations

import numpy as np

from kneewear.reference.published import published_table, published_values
from kneewear.regression import comparison
from kneewear.regression.comparison import (
    COLUMNS,
    compare_correlation,
    compare_published,
    compare_regression,
    error_beyond_rounding,
    predict_published,
)
from kneewear.regression.fit import correlate_pressure, fit_regression


def test_published_tables_are_whole():
    values = published_values()
    assert len(values) == 350
    assert not values.duplicated(["side", "thickness_mm", "body_mass_kg", "quantity"]).any()
    assert values["published"].notna().all()
    assert len(published_table("table_4_1_regression")) == 10


def test_published_damage_is_wear_plus_creep():
    table = published_values().pivot(
        index=["side", "thickness_mm", "body_mass_kg"], columns="quantity", values="published"
    )
    gap = table["wear_depth"] + table["creep_depth"] - table["damage_depth"]
    # Three numbers rounded to 0.01 mm.
    assert gap.abs().max() <= 0.015


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


def test_error_beyond_rounding_is_below_the_plain_one(published):
    table = compare_published(published.assign(value=1.02 * published["value"]))
    assert (table["error_beyond_rounding"] < table["relative_error"]).all()
    assert (table["error_beyond_rounding"] >= 0.0).all()


def test_relative_error_is_signed(published):
    cases = published.assign(value=1.1 * published["value"])
    np.testing.assert_allclose(compare_published(cases)["relative_error"], 0.1, rtol=1e-12)


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


def test_only_cases_of_the_study_are_compared(published):
    some = published.query("thickness_mm == 6 and body_mass_kg in [50, 150]")
    assert len(compare_published(some)) == 28


def test_study_without_published_cases_gives_an_empty_table(plane):
    table = compare_published(plane((6.8,), (70.0,)))
    assert table.empty
    assert list(table.columns) == COLUMNS[1:]


def test_each_life_is_compared(plane):
    table = compare_published(plane(lives=("gait", "mixed")))
    assert table.columns[0] == "life"
    assert len(table) == 700


def test_regression_beside_table_4_1(published):
    table = compare_regression(fit_regression(published))
    assert len(table) == 10
    np.testing.assert_allclose(table["a0"], table["refit_a0"], rtol=2e-3)
    row = table.query("side == 'medial' and quantity == 'damage_volume'").iloc[0]
    assert row["a2_published"] == 1.407


def test_nothing_regressed_nothing_compared(plane):
    table = compare_regression(fit_regression(plane((6.8,), (70.0,))))
    assert table.empty
    assert "a1_published" in table


def test_published_values_correlate_as_themselves(published):
    table = compare_correlation(correlate_pressure(published))
    assert len(table) == 24
    np.testing.assert_array_equal(table["r2"], table["r2_published"])


def test_correlation_of_several_lives_is_compared_life_by_life(plane):
    table = compare_correlation(correlate_pressure(plane(lives=("gait", "mixed"))))
    assert len(table) == 48
    assert table["r2_published"].between(0.05, 1.0).all()


def test_no_correlation_nothing_compared(plane):
    assert compare_correlation(correlate_pressure(plane((6.8,), (70.0,)))).empty


def test_published_cases_are_not_predicted(plane):
    table = predict_published(plane())
    assert table.empty
    assert "predicted" in table


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
