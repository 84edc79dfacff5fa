"""Posterior of the larger table: rows known before, and the results of the blind conditions.

It is a second prediction and no blind one. Geometry, load and motion of the further tests are not
published, so that their inputs are ranges: those that the predictions before results were made
from, with the cross-shear of a path that is nearly straight.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.evidence.synthesis import blind
from kneewear.evidence.synthesis.blind_hierarchy import STRAIGHT, cross_shear_of
from kneewear.evidence.synthesis.input_ranges import InputRanges
from kneewear.evidence.synthesis.law_space import CONSTANTS, LAWS, LawSpace, log_factor
from kneewear.evidence.synthesis.measurements import Measurements
from kneewear.evidence.synthesis.mixture import ENDS, UniformContact, compare_scores, interval_of
from kneewear.evidence.synthesis.posterior import (
    SEED,
    Evidence,
    LawModel,
    draw_posterior,
    left_out_scores,
    mixed_scores,
    stacking_weights,
)
from kneewear.wear.law_settings import MM3_PER_N_MM_FROM_MM3_PER_N_M, UNIT_FACTOR

Array = NDArray[np.float64]
# Draws of the inputs.
INPUT_DRAWS = 128
# Draws of the priors for left-out laboratories.
PRIOR_DRAWS = 4096
# Standard deviation of a result that is printed without one.
UNPRINTED_ERROR = 0.2
# Cross-shear of a path that is straight but for a wobble of 0.3 to 2.6 deg, by (1 - D) / 2.
RESIDUAL = (1e-5, 1e-3)


def further_rows() -> tuple[pd.DataFrame, InputRanges]:
    """Results of the blind conditions of conventional polyethylene, and draws of their inputs.

    Columns id, laboratory, log_wear, error and is_straight, one row a test. Ratios are contained in
    the rates of one laboratory.
    """
    table = blind.conditions().merge(blind.table("blind_results"), on="id")
    table = table[table["material_class"] == "conventional"].reset_index(drop=True)
    published = table["published"].to_numpy(dtype=float)
    printed = pd.to_numeric(table["sd"]).to_numpy() / published
    # Flexion alone is a straight path on a fixed insert.
    rotates = np.array([blind.stated(name).get("rotation", np.ones(1))[0] for name in table["id"]])
    rows = pd.DataFrame(
        {
            "id": table["id"],
            "laboratory": table["laboratory"],
            "log_wear": np.log(published),
            "error": np.log1p(np.where(np.isnan(printed), UNPRINTED_ERROR, printed)),
            "is_straight": table["id"].isin(STRAIGHT) | (rotates == 0.0),
        }
    )
    return rows, _ranges_of(table)


def _ranges_of(table: pd.DataFrame) -> InputRanges:
    """Draws of the inputs of tests."""
    # The draws of the predictions, of which a few are enough for a mean and a covariance.
    given = blind.draw_unknowns(np.random.default_rng(blind.SEED))
    random = np.random.default_rng((blind.SEED, 5))
    further = blind.draw_unknowns(random, "blind_unknowns_of_laws")
    low, high = np.log(RESIDUAL)
    columns = []
    for name, unit in zip(table["id"], table["rate_unit"], strict=True):
        own = given[name] | further[name] | blind.stated(name)
        work = np.ones(blind.DRAWS)
        if unit:
            scale = blind.DENSITY if unit == "mg" else 1.0
            work = 1e6 * scale * MM3_PER_N_MM_FROM_MM3_PER_N_M * blind.work_of_test(name, own)
        wobble = np.exp(random.uniform(low, high, blind.DRAWS))
        ratio = np.minimum(cross_shear_of(name, own) + wobble, 0.5)
        columns.append((np.log(UNIT_FACTOR * work), ratio, own["pressure"]))
    log_work, ratio, pressure = (
        np.column_stack([column[at][:INPUT_DRAWS] for column in columns]) for at in range(3)
    )
    return InputRanges(log_work, ratio, pressure)


def with_further_rows(rows: Measurements, further: pd.DataFrame) -> Measurements:
    """Measurements, and below them further tests with a condition each."""
    old, count = len(rows.log_wear), len(further)
    conditions = rows.over_conditions.shape[1]
    over = np.zeros((old + count, conditions + count))
    over[:old, :conditions] = rows.over_conditions
    over[old:, conditions:] = np.eye(count)
    return Measurements(
        np.append(rows.names, further["id"]),
        np.append(rows.laboratory, further["laboratory"]),
        np.append(rows.log_wear, further["log_wear"]),
        np.append(rows.error, further["error"]),
        np.vstack([rows.over_tests, np.zeros((count, rows.over_tests.shape[1]))]),
        over,
        np.append(rows.is_absolute, np.ones(count)),
        np.append(rows.is_straight, further["is_straight"]),
    )


def fit_larger_table(
    space: LawSpace,
    rows: Measurements,
    contact: UniformContact,
    draws: int,
    prior_draws: int = PRIOR_DRAWS,
) -> dict[str, pd.DataFrame]:
    """Posterior of the larger table, its convergence, left-out scores, and a contact's interval.

    Parameters
    ----------
    space, rows : LawSpace, Measurements
        Nodes, and rows that were known before.
    contact : UniformContact
        Whose wear factor is predicted.
    draws : int
        Draws of the posterior.
    prior_draws : int
        Draws of the priors for the scores.

    Returns
    -------
    dict
        Tables `larger_posterior`, `larger_convergence`, `larger_scores` (columns as in
        `posterior_scores`; targets are all rows but straight paths; weights of the mixture are of
        the scores of the other laboratories) and `larger_interval`.
    """
    further, inputs = further_rows()
    larger = with_further_rows(rows, further)
    models = [LawModel(law, space, larger, inputs=inputs) for law in LAWS]
    asked, scores = _left_out(models, prior_draws)
    weights = stacking_weights(asked)
    sampled, convergence = draw_posterior(models, weights, draws)
    counts = {"rows": len(larger.names), "laboratories": len(set(larger.laboratory))}
    interval = pd.DataFrame([counts | interval_of(_points(sampled, contact))])
    return {
        "larger_posterior": sampled,
        "larger_convergence": convergence,
        "larger_scores": compare_scores(scores),
        "larger_interval": interval,
    }


def _left_out(
    models: Sequence[LawModel], draws: int
) -> tuple[list[dict[str, float]], dict[str, dict[str, float]]]:
    """Log scores of left-out laboratories: of all rows by law, and of targets with the mixture."""
    rows = models[0].rows
    every = np.ones(len(rows.log_wear), bool)
    targets = (rows.is_absolute > 0.0) & ~rows.is_straight
    scores: dict[str, dict[str, float]] = {"mixture": {}}
    asked = []
    for model in models:
        # One law after the other: covariances of all subsets would not fit into memory.
        evidence = Evidence(model, draws)
        asked.append(left_out_scores(evidence, rows.log_wear, every, every))
        scores[model.law] = left_out_scores(evidence, rows.log_wear, every, targets)
    laws = [scores[model.law] for model in models]
    for name in laws[0]:
        others = [{lab: one for lab, one in own.items() if lab != name} for own in asked]
        scores["mixture"][name] = mixed_scores(laws, stacking_weights(others))[name]
    return asked, scores


def _points(sampled: pd.DataFrame, contact: UniformContact) -> Array:
    """Points of the wear factor's logarithm of a contact in another laboratory, from draws."""
    random = np.random.default_rng(SEED)
    log = sampled["log_level"].to_numpy(copy=True)
    for law, own in sampled.groupby("law"):
        constants = own[[constant.name for constant in CONSTANTS[str(law)]]].to_numpy(dtype=float)
        ratio, pressure = (np.full(len(own), value) for value in contact)
        log[own.index.to_numpy()] += log_factor(str(law), constants, ratio, pressure)
    spread = np.hypot(sampled["tau"].to_numpy(), sampled["sigma"].to_numpy())
    return np.asarray(np.quantile(log + spread * random.normal(size=len(log)), ENDS))
