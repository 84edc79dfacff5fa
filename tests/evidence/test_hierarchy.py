"""Hierarchical model of measured over predicted wear against direct computations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal, norm

from kneewear.evidence.synthesis import hierarchy
from kneewear.evidence.synthesis.hierarchy import (
    Posterior,
    Priors,
    Rows,
    calibrate,
    fit,
    left_out_scores,
    log_density,
    predictive_points,
    rows_of,
)

SNAPSHOT = Path(__file__).parents[2] / "docs/snapshot/measured_wear/tables/measured_wear.csv"
NAMES = np.array(["a", "a", "b", "c"])
ROWS = Rows(NAMES, np.array([0.1, 0.3, -0.5, 0.9]), np.array([0.05, 0.1, 0.2, 0.1]))


@pytest.fixture(scope="module")
def measured():
    return pd.read_csv(SNAPSHOT)


def one_point(tau, sigma, level, variance):
    return Posterior(*(np.array([value]) for value in (1.0, tau, sigma, level, variance)))


def test_predictive_points_of_one_point_of_the_grid_are_normal():
    points = predictive_points(one_point(0.6, 0.3, 0.2, 0.04), (0.05, 0.5, 0.95))
    spread = np.sqrt(0.04 + 0.36 + 0.09)
    np.testing.assert_allclose(points, norm.ppf([0.05, 0.5, 0.95], 0.2, spread), atol=1e-9)


def test_density_of_a_laboratory_is_that_of_a_normal_vector():
    rows = ROWS.among(NAMES == "a")
    covariance = 0.04 + 0.36 + np.diag(0.09 + rows.error**2)
    expected = multivariate_normal([0.2, 0.2], covariance).logpdf(rows.log_ratio)
    assert log_density(one_point(0.6, 0.3, 0.2, 0.04), rows) == pytest.approx(expected)


def test_weights_are_those_of_the_marginal_likelihood():
    """The level, integrated numerically, against its closed form."""
    priors = Priors(0.7, 0.4)
    points = fit(ROWS, priors)
    levels = np.linspace(-30.0, 30.0, 6001)
    same = NAMES[:, None] == NAMES[None, :]
    weights = []
    for number in (5, 250):
        tau, sigma = points.tau[number], points.sigma[number]
        covariance = tau**2 * same + np.diag(sigma**2 + ROWS.error**2)
        density = multivariate_normal(np.zeros(4), covariance)
        likelihood = density.pdf(ROWS.log_ratio - levels[:, None]).sum()
        weights.append(likelihood * np.exp(-0.5 * (tau / 0.7) ** 2 - 0.5 * (sigma / 0.4) ** 2))
    assert points.weight[5] / points.weight[250] == pytest.approx(weights[0] / weights[1], rel=1e-6)


@pytest.mark.slow
def test_many_laboratories_give_the_spread_they_were_drawn_with():
    random = np.random.default_rng(4)
    own = np.repeat(0.5 * random.normal(size=150), 2)
    noise = 0.2 * random.normal(size=300)
    names = np.repeat(np.arange(150).astype(str), 2)
    points = fit(Rows(names, 1.0 + own + noise, np.full(300, 1e-3)))
    assert points.weight @ points.tau == pytest.approx(0.5, abs=0.1)
    assert points.weight @ points.sigma == pytest.approx(0.2, abs=0.05)
    assert points.weight @ points.level == pytest.approx(1.0, abs=0.15)


def test_straight_path_is_a_row_of_its_laboratory(measured):
    without, rows = (rows_of(measured, "archard", straight) for straight in (False, True))
    assert len(rows.log_ratio) == len(without.log_ratio) + 1
    assert rows.laboratory[-1] == "Grupp"
    # Some twenty times less wear than on other paths, by one factor for all.
    assert rows.log_ratio[-1] < without.log_ratio.min() - 2.0


def test_intervals_cover_as_often_as_they_say(measured):
    """Within three standard errors of 60 draws, with the law's own laboratories."""
    covered = calibrate(measured, "archard", "archard", 60).set_index("nominal")["covered"]
    for nominal in (50.0, 80.0, 90.0):
        error = 100.0 * np.sqrt(0.01 * nominal * (1.0 - 0.01 * nominal) / 60)
        assert covered[nominal] == pytest.approx(nominal, abs=3.0 * error)


def test_a_law_that_explains_differences_between_laboratories_has_the_better_score():
    names = np.repeat(["a", "b", "c", "d"], 2)
    error = np.full(8, 0.05)
    apart = np.repeat([0.0, 2.0, -2.0, 1.0], 2)
    flat = sum(left_out_scores(Rows(names, 0.0 * apart, error)).values())
    assert flat > sum(left_out_scores(Rows(names, apart, error)).values()) + 2.0


def test_tables_are_empty_where_a_law_predicts_no_wear(measured):
    none = measured.assign(predicted_over_measured=0.0)
    assert all(table.empty for table in hierarchy.check_intervals(none).values())


@pytest.mark.parametrize("name", ["law_scores", "prior_sensitivity", "laboratory_influence"])
def test_tables_of_the_documentation_are_those_of_its_measured_wear(name, measured):
    laws = ("archard", "cross_shear_saturation")
    computed = {
        "law_scores": hierarchy.score_laws,
        "prior_sensitivity": lambda table: pd.concat(
            [hierarchy.prior_sensitivity(table, law) for law in laws]
        ),
        "laboratory_influence": lambda table: pd.concat(
            [hierarchy.row_influence(table, law) for law in laws]
        ),
    }[name](measured)
    stored = pd.read_csv(SNAPSHOT.with_name(f"{name}.csv"))
    pd.testing.assert_frame_equal(computed.reset_index(drop=True), stored, rtol=1e-6)
