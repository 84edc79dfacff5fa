"""Predictions of left-out laboratories against direct computations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from kneewear.evidence.synthesis.left_out import compare_rows, count_inside, predict_row
from kneewear.evidence.synthesis.mixture import Mixture, evidences_of, fit_mixture
from kneewear.evidence.synthesis.posterior import Evidence, LawModel, mixed_scores
from tests.evidence.test_posterior import rows, space

__all__ = ["rows", "space"]


@pytest.mark.parametrize("row", [2, 5])
def test_predicted_row_is_that_of_the_conditional_distribution(space, rows, row):
    """A ratio (row 2) and wear (row 5) of a laboratory, from the rows of the others."""
    model = LawModel("cross_shear_saturation", space, rows)
    kept = rows.laboratory != rows.laboratory[row]
    evidence = Evidence(model, 64)
    mixture = Mixture([evidence], np.ones(1), rows.log_wear, kept)
    spreads, constants = evidence.prior
    covariance, rest = model.covariance(spreads), model.residual(constants)
    below = []
    for own, residual in zip(covariance, rest, strict=True):
        solved = np.linalg.solve(own[kept][:, kept], own[kept, row])
        spread = np.sqrt(own[row, row] - own[row, kept] @ solved)
        below.append(norm.cdf((residual[row] - residual[kept] @ solved) / spread))
    weights = np.exp(evidence.log_weights(rows.log_wear, kept))
    expected = 100.0 * weights @ below / weights.sum()
    found = predict_row(mixture, row)
    # 20,000 draws.
    assert found["percent"] == pytest.approx(expected, abs=1.5)
    assert found["measured"] == pytest.approx(np.exp(rows.log_wear[row]))
    assert found["low"] < found["median"] < found["high"]


def test_scores_are_of_laboratories_that_no_set_contains(space, rows):
    evidences = evidences_of(space, rows, draws=256)
    every = np.ones(len(rows.names), bool)
    sets = {"some": rows.laboratory != "c", "all": every}
    left_out, scores = compare_rows(evidences, sets)
    assert left_out.groupby("rows").size().tolist() == [6, 6]
    # The laboratory that the smaller set lacks is predicted from the same rows by both.
    own = left_out[left_out["laboratory"] == "c"].drop(columns="rows")
    first, second = own.to_dict("records")
    assert first == pytest.approx(second)
    coarse = [Evidence(evidence.model, 2048) for evidence in evidences]
    expected = 0.0
    for name in "abc":
        others = sets["some"] & (rows.laboratory != name)
        both = others | (rows.laboratory == name)
        by_law = [
            {name: own.log_evidence(rows.log_wear, both) - own.log_evidence(rows.log_wear, others)}
            for own in coarse
        ]
        expected += mixed_scores(by_law, fit_mixture(coarse, kept=others).weights)[name]
    assert sum(scores["some"].values()) == pytest.approx(expected)
    counts = count_inside(left_out)
    assert counts["asked"].eq(6).all()
    assert (counts.groupby("rows")["inside"].agg(list).map(lambda own: own == sorted(own))).all()
