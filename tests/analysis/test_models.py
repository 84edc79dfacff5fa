"""Models over thickness and mass: recovered where true, distinguished where not."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.api import OLS

from kneewear.analysis.groups import QUANTITIES
from kneewear.analysis.models import compare_models, fitted_values, predict_cases


def with_values(cases, law):
    """The same cases with the values of a law of thickness and mass."""
    return cases.assign(value=law(cases["thickness_mm"], cases["body_mass_kg"]))


def of_wear(table):
    """Rows of the medial wear depth by model."""
    chosen = table[
        (table["side"] == "medial") & (table["quantity"] == "wear_depth_at_deepest_damage")
    ]
    return chosen.set_index("model")


def test_a_plane_is_found_to_be_enough(plane):
    table = compare_models(plane())
    assert len(table) == 2 * len(QUANTITIES) * 5
    assert table["plane_is_enough"].all()
    medial = of_wear(table)
    assert medial.loc["plane", "leave_one_out_percent"] < 1e-9
    assert medial.loc["power law", "leave_one_out_percent"] > 0.1


def test_a_power_law_is_recovered_and_a_plane_is_not_enough(plane):
    cases = with_values(plane(), lambda h, m: 0.3 * h**-0.4 * m**0.6)
    rows = of_wear(compare_models(cases))
    assert not rows["plane_is_enough"].any()
    law = rows.loc["power law"]
    assert law["factor"] == pytest.approx(0.3, rel=1e-9)
    assert law["thickness_exponent"] == pytest.approx(-0.4, rel=1e-9)
    assert law["mass_exponent"] == pytest.approx(0.6, rel=1e-9)
    assert law["leave_one_out_percent"] < 1e-9


@pytest.mark.parametrize(
    ("model", "term"),
    [("interaction", lambda h, m: 0.01 * h * m), ("quadratic", lambda h, m: 0.1 * h**2)],
)
def test_the_term_that_is_there_is_found(plane, model, term):
    cases = with_values(plane(), lambda h, m: 100.0 - 2.0 * h + 0.5 * m + term(h, m))
    noise = np.random.default_rng(1).normal(0.0, 1e-3, len(cases))
    rows = of_wear(compare_models(cases.assign(value=cases["value"] + noise)))
    other = {"interaction": "quadratic", "quadratic": "interaction"}[model]
    assert rows.loc[model, "p_value"] < 1e-6
    assert rows.loc[other, "p_value"] > 1e-3
    assert rows.loc[model, "leave_one_out_rmse"] < 0.1 * rows.loc[other, "leave_one_out_rmse"]


def test_leaving_out_is_fitting_to_the_others(published):
    """The short cut over the leverage agrees with fits to 24 of 25 cases."""
    own = published[
        (published["side"] == "medial") & (published["quantity"] == "wear_depth_at_deepest_damage")
    ]
    settings = own[["thickness_mm", "body_mass_kg"]].to_numpy(float)
    value = own["value"].to_numpy(float)
    points = predict_cases(published)
    points = points[
        (points["side"] == "medial") & (points["quantity"] == "wear_depth_at_deepest_damage")
    ]
    for model, back, design in (
        ("plane", lambda y: y, settings),
        ("power law", np.exp, np.log(settings)),
    ):
        matrix = np.column_stack([np.ones(len(value)), design])
        modelled = np.log(value) if model == "power law" else value
        missed = []
        for left_out in range(len(value)):
            kept = np.arange(len(value)) != left_out
            fit = OLS(modelled[kept], matrix[kept]).fit()
            missed.append(value[left_out] - back(matrix[left_out] @ fit.params))
        residuals = points[points["model"] == model]["leave_one_out_residual"]
        np.testing.assert_allclose(residuals, missed, rtol=1e-8, atol=1e-12)


def test_limits_are_nested_and_hold_the_fit(published):
    points = predict_cases(published)
    inner = points["confidence_low95"], points["confidence_high95"]
    outer = points["prediction_low95"], points["prediction_high95"]
    assert (outer[0] < inner[0]).all()
    assert (inner[0] <= points["fitted"]).all()
    assert (points["fitted"] <= inner[1]).all()
    assert (inner[1] < outer[1]).all()
    # Prediction limits are to hold 95 of 100 cases; of these they were fitted to, rather more.
    held = points["value"].between(*outer)
    assert held.mean() > 0.9


@pytest.mark.parametrize(
    ("model", "law"),
    [
        ("plane", lambda t, m: 2.0 - 0.1 * t + 0.03 * m),
        ("quadratic and interaction", lambda t, m: 1.0 + 0.2 * t + 0.01 * t * m - 1e-4 * m**2),
        ("power law", lambda t, m: 0.3 * t**-0.4 * m**0.6),
    ],
)
def test_a_model_continues_its_own_law_between_cases(model, law):
    t, m = (one.ravel() for one in np.meshgrid([6.0, 8.0, 10.0, 14.0], [50.0, 75.0, 150.0]))
    at = np.array([[7.0, 60.0], [12.0, 110.0], [9.5, 149.0]])
    found = fitted_values(model, np.column_stack([t, m]), law(t, m), at)
    assert found == pytest.approx(law(*at.T), rel=1e-9)
