"""Response surfaces and effects against functions that are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.analysis.response import factor_effects, fit_response, response_terms

RNG = np.random.default_rng(5)
LOW = np.array([2.0, -1.0, 10.0])
HIGH = np.array([4.0, 1.0, 30.0])
NAMES = ["a", "b", "c"]


def points(count):
    """Points in the box of the covariates, its corners' ranges among them."""
    inside = LOW + RNG.random((count, 3)) * (HIGH - LOW)
    inside[0], inside[1] = LOW, HIGH
    return inside


def quadratic(x):
    """A polynomial with all terms of second order."""
    a, b, c = np.atleast_2d(x).T
    return 5.0 + 2.0 * a - 3.0 * b + 0.1 * c + 0.5 * a**2 - b**2 + 0.01 * c**2 + a * b - 0.2 * b * c


def test_an_exactly_quadratic_response_is_recovered():
    x = points(40)
    surface = fit_response(x, quadratic(x))
    assert surface.model == "quadratic and interaction"
    new = points(200)
    # Rounding of a least-squares fit.
    np.testing.assert_allclose(surface.predict(new), quadratic(new), rtol=1e-10)
    assert surface.predicted_share == pytest.approx(1.0, abs=1e-12)
    terms = response_terms(surface, NAMES).set_index("term")["coefficient"]
    half = 0.5 * (HIGH - LOW)
    assert terms["a^2"] == pytest.approx(0.5 * half[0] ** 2)
    assert terms["b*c"] == pytest.approx(-0.2 * half[1] * half[2])
    assert terms["a*c"] == pytest.approx(0.0, abs=1e-9)


def test_effects_of_a_linear_response_are_its_slopes_times_the_ranges():
    x = points(30)
    slopes = np.array([2.0, -0.5, 0.25])
    surface = fit_response(x, 7.0 + x @ slopes)
    assert surface.model == "plane"
    found = pd.DataFrame(factor_effects(surface, x, NAMES)).set_index("variable")
    np.testing.assert_allclose(found["effect"], slopes * (HIGH - LOW), rtol=1e-10)
    np.testing.assert_allclose(found["slope"], slopes, rtol=1e-10)
    np.testing.assert_allclose(found["at_centre"], 7.0 + 0.5 * (LOW + HIGH) @ slopes)
    np.testing.assert_allclose(found["span"], np.abs(found["effect"]), rtol=1e-10)
    assert (found["slope_low95"] <= found["slope"]).all()


def test_limits_of_slopes_hold_the_truth_as_often_as_they_say():
    inside = 0
    for _ in range(300):
        x = points(20)
        values = x @ [1.0, 2.0, 0.3] + RNG.normal(0.0, 1.0, 20)
        surface = fit_response(x, values)
        found = next(iter(factor_effects(surface, x, NAMES)))
        inside += found["slope_low95"] <= 1.0 <= found["slope_high95"]
    # Binomial: 285 expected, standard deviation 3.8; four of them.
    assert 270 <= inside <= 300


def test_a_left_out_case_is_predicted_as_by_a_fit_without_it():
    x = points(15)
    values = quadratic(x) + RNG.normal(0.0, 1.0, 15)
    surface = fit_response(x, values)
    from kneewear.analysis.models import POLYNOMIALS, polynomial_matrix

    coded = (2.0 * x - surface.low - surface.high) / (surface.high - surface.low)
    matrix = polynomial_matrix(coded, *POLYNOMIALS[surface.model])
    for case in (2, 7):
        rest = np.arange(15) != case
        own = np.linalg.lstsq(matrix[rest], values[rest], rcond=None)[0]
        assert surface.left_out[case] == pytest.approx(matrix[case] @ own, rel=1e-8)
