"""Posterior with tests whose inputs are ranges, against direct computations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from kneewear.evidence.synthesis import blind
from kneewear.evidence.synthesis.input_ranges import InputRanges
from kneewear.evidence.synthesis.larger import (
    ALL_ROWS,
    CHOICES,
    KNOWN_BEFORE,
    fit_larger_table,
    further_rows,
    with_further_rows,
)
from kneewear.evidence.synthesis.law_space import LawSpace, log_factor
from kneewear.evidence.synthesis.measurements import Measurements
from kneewear.evidence.synthesis.mixture import UniformContact
from kneewear.evidence.synthesis.posterior import PRIORS, Evidence, LawModel
from tests.evidence.test_posterior import rows, space

LAW = "cross_shear_saturation"
CONSTANTS = np.array([[0.05, 0.1], [0.3, 0.2]])
SPREADS = np.array([[0.6, 0.2, 1.0], [0.4, 0.3, 2.0]])

__all__ = ["rows", "space"]
# Contact of all tests takes seconds.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ranges():
    """Two tests at three draws of their inputs."""
    work = np.array([[0.1, 0.2], [0.4, 0.1], [0.3, 0.9]])
    return InputRanges(work, np.array([[0.01, 0.5]] * 3), np.full((3, 2), 5.0))


def test_mean_and_covariance_are_those_of_the_draws(ranges):
    mean, covariance = (getattr(ranges, name)(LAW, CONSTANTS) for name in ("mean", "covariance"))
    for at, constants in enumerate(CONSTANTS):
        factor = log_factor(LAW, np.tile(constants, (2, 1)), np.array([0.01, 0.5]), np.ones(2))
        np.testing.assert_allclose(mean[at], ranges.log_work.mean(axis=0) + factor)
        np.testing.assert_allclose(covariance[at], np.cov(ranges.log_work.T, ddof=0))


@pytest.fixture(scope="module")
def larger(rows, ranges):
    further, _ = further_rows()
    return with_further_rows(rows, further[:2].assign(laboratory=["a", "new"]))


def test_density_is_of_rows_and_further_tests_together(space, larger, ranges):
    model = LawModel(LAW, space, larger, inputs=ranges)
    known = Measurements._make(values[:-2] for values in larger)
    residual = LawModel(LAW, space, known).residual(CONSTANTS)
    further = larger.log_wear[-2:] - ranges.mean(LAW, CONSTANTS)
    likelihood = model.log_likelihood(SPREADS, CONSTANTS)
    for at in range(2):
        covariance = model.covariance(SPREADS[at : at + 1])[0]
        # A test of a known laboratory shares its deviation; a new laboratory shares the level only.
        first = known.laboratory == "a"
        apart = covariance[-2, :-2] - covariance[-1, :-2]
        assert apart[first & (known.is_absolute > 0.0)] == pytest.approx(SPREADS[at, 0] ** 2)
        assert apart[~first] == pytest.approx(0.0)
        covariance[-2:, -2:] += np.cov(ranges.log_work.T, ddof=0)
        rest = np.append(residual[at], further[at])
        assert likelihood[at] == pytest.approx(multivariate_normal.logpdf(rest, cov=covariance))


def test_weighted_draws_have_the_density_of_the_model(space, larger, ranges):
    model = LawModel(LAW, space, larger, inputs=ranges)
    evidence = Evidence(model, 64)
    every = np.ones(len(larger.log_wear), bool)
    own = evidence.log_weights(larger.log_wear, every)
    np.testing.assert_allclose(own, model.log_likelihood(*evidence.prior), rtol=1e-8)


def test_further_rows_are_the_results_of_the_blind_conditions():
    further, ranges = further_rows()
    conditions = blind.conditions().set_index("id")
    assert set(conditions.loc[further["id"], "material_class"]) == {"conventional"}
    assert further["id"][further["is_straight"]].tolist() == ["H03a", "H04b"]
    assert further["laboratory"].nunique() == 8
    stored = blind.table("blind_predictions_of_laws").set_index("id")
    stored = stored[stored["quantity"] != "ratio"].groupby(level=0).first()
    middle = stored.loc[further["id"], "cross_shear_median"].to_numpy(dtype=float)
    turning = ~further["is_straight"].to_numpy()
    shear = np.median(ranges.cross_shear, axis=0)
    np.testing.assert_allclose(shear[turning], middle[turning], rtol=0.35)
    assert (shear[~turning] < 1e-3).all()
    assert np.isfinite(ranges.log_work).all()


def test_larger_table_narrows_the_interval(space: LawSpace, rows):
    contact = UniformContact(0.02, 15.0)
    found = fit_larger_table(space, rows, contact, 200, simulated=2, prior_draws=256)
    assert found["larger_convergence"]["split_r_hat"].max() < 1.05
    assert found["larger_interval"]["interval_factor"].item() > 2.0
    assert len(found["larger_posterior"]) == pytest.approx(200, abs=5)
    assert {"mixture", LAW} <= set(found["larger_scores"]["model"])
    assert set(PRIORS) | set(CHOICES) == set(found["larger_priors"]["prior"])
    assert set(found["larger_left_out"]["rows"]) == {KNOWN_BEFORE, ALL_ROWS}
    assert len(found["larger_influence"]) == found["larger_interval"]["rows"].item() + 1


def test_simulated_rows_of_ranges_are_of_one_of_their_draws(ranges):
    for draw in range(3):
        own = ranges.at(LAW, CONSTANTS, draw)
        factor = ranges.at(LAW, CONSTANTS, 0) - ranges.log_work[0]
        np.testing.assert_allclose(own, ranges.log_work[draw] + factor)
