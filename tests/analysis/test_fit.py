"""Regression on thickness and mass."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.analysis.models import compare_models
from kneewear.analysis.regression import fit_regression, regression_shortfall
from kneewear.evidence.published.values import published_table


def test_regression_recovers_a_known_plane(plane):
    table = fit_regression(plane())
    medial = table[table["side"] == "medial"]
    np.testing.assert_allclose(medial["a0"], 100.0, rtol=1e-12)
    np.testing.assert_allclose(medial["a1_per_mm"], -2.0, rtol=1e-11)
    np.testing.assert_allclose(medial["a2_per_kg"], 0.5, rtol=1e-12)
    np.testing.assert_allclose(table["r2"], 1.0)
    # 10 kg less is 5 units less, as is 2.5 mm more.
    np.testing.assert_allclose(table["mm_per_10kg"], 2.5)
    assert set(table["cases"]) == {25}


def test_limits_hold_the_true_plane_under_noise(plane):
    cases = plane()
    cases["value"] += np.random.default_rng(3).normal(0.0, 0.5, len(cases))
    row = fit_regression(cases).query("side == 'medial' and quantity == 'damage_depth'").iloc[0]
    assert row["a1_low95"] < -2.0 < row["a1_high95"]
    assert row["a2_low95"] < 0.5 < row["a2_high95"]
    # 95 % limits of 22 degrees of freedom stand 2.074 standard errors away.
    np.testing.assert_allclose(
        row["a1_high95"] - row["a1_per_mm"], 2.0739 * row["a1_se"], rtol=1e-4
    )


def test_residual_and_standard_errors_have_the_same_degrees_of_freedom(plane):
    """The variance of the slope over thickness is rmse2 over the sum of squares of thickness."""
    cases = plane()
    cases["value"] += np.random.default_rng(3).normal(0.0, 0.5, len(cases))
    row = fit_regression(cases).query("side == 'medial' and quantity == 'damage_depth'").iloc[0]
    thickness = cases.drop_duplicates("case")["thickness_mm"]
    spread = np.sqrt(((thickness - thickness.mean()) ** 2).sum())
    assert row["rmse"] == pytest.approx(row["a1_se"] * spread, rel=1e-10)
    models = compare_models(cases).query("side == 'medial' and quantity == 'damage_depth'")
    assert models.set_index("model").loc["plane", "rmse"] == pytest.approx(row["rmse"])


def test_refit_of_the_published_values_agrees_with_table_4_1(published):
    table = fit_regression(published).merge(
        published_table("table_4_1_regression"), on=["side", "quantity"], suffixes=("", "_printed")
    )
    assert len(table) == 10
    # The re-fit columns are written with four digits.
    for ours, theirs in (("a0", "refit_a0"), ("a1_per_mm", "refit_a1"), ("a2_per_kg", "refit_a2")):
        np.testing.assert_allclose(table[ours], table[theirs], rtol=2e-3)
    np.testing.assert_allclose(table["r2"], table["refit_R2"], atol=1e-4)


def test_cases_on_a_line_are_refused(plane):
    cases = pd.concat([plane((h,), (10.0 * h,)) for h in (6.0, 8.0, 10.0, 12.0)])
    assert "vary together" in regression_shortfall(cases)
    assert fit_regression(cases).empty


def test_a_further_covariate_is_fitted_with_the_others(plane):
    cases = pd.concat(
        plane().assign(
            case=lambda table, share=share: table["case"] + f" {share}",
            value=lambda table, share=share: table["value"] + 7.0 * share,
            **{"simulation.medial_share": share},
        )
        for share in (0.6, 0.65, 0.7)
    )
    table, alone = fit_regression(cases), fit_regression(plane())
    np.testing.assert_allclose(table["a3_simulation.medial_share"], 7.0, rtol=1e-6)
    for name in ("a1_per_mm", "a2_per_kg"):
        np.testing.assert_allclose(table[name], alone[name], rtol=1e-6, atol=1e-9)
    assert "simulation.medial_share_exponent" in compare_models(cases)
