"""Posterior of the larger table: rows known before, and the results of the blind conditions.

It is a second prediction and no blind one. Geometry, load and motion of the further tests are not
published, so that their inputs are ranges: those that the predictions before results were made
from, with the cross-shear of a path that is nearly straight.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.evidence.synthesis import blind
from kneewear.evidence.synthesis.blind_hierarchy import STRAIGHT, cross_shear_of
from kneewear.evidence.synthesis.input_ranges import InputRanges
from kneewear.evidence.synthesis.law_space import CONSTANTS, LawSpace, log_factor
from kneewear.evidence.synthesis.left_out import compare_rows, count_inside
from kneewear.evidence.synthesis.measurements import Measurements
from kneewear.evidence.synthesis.mixture import (
    COARSE_DRAWS,
    ENDS,
    UniformContact,
    compare_priors,
    compare_scores,
    evidences_of,
    fit_mixture,
    interval_of,
    row_influence,
    score_models,
)
from kneewear.evidence.synthesis.posterior import PRIORS, SEED, draw_posterior
from kneewear.evidence.synthesis.simulated import calibrate
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
# Other choices of these two.
CHOICES: Mapping[str, Mapping[str, Any]] = {
    "half the unprinted error": {"error": 0.5 * UNPRINTED_ERROR},
    "twice the unprinted error": {"error": 2.0 * UNPRINTED_ERROR},
    "straighter paths": {"residual": (1e-6, 1e-4)},
    "less straight paths": {"residual": (1e-4, 1e-2)},
}
# Rows that left-out laboratories are predicted from.
KNOWN_BEFORE = "known before"
ALL_ROWS = "all"


def further_rows(
    error: float = UNPRINTED_ERROR, residual: tuple[float, float] = RESIDUAL
) -> tuple[pd.DataFrame, InputRanges]:
    """Results of the blind conditions of conventional polyethylene, and draws of their inputs.

    Columns id, laboratory, log_wear, error and is_straight, one row a test. Ratios are contained in
    the rates of one laboratory. Parameters as in :func:`larger_table`.
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
            "error": np.log1p(np.where(np.isnan(printed), error, printed)),
            "is_straight": table["id"].isin(STRAIGHT) | (rotates == 0.0),
        }
    )
    return rows, _ranges_of(table, residual)


def _ranges_of(table: pd.DataFrame, residual: tuple[float, float]) -> InputRanges:
    """Draws of the inputs of tests."""
    # The draws of the predictions, of which a few are enough for a mean and a covariance.
    given = blind.draw_unknowns(np.random.default_rng(blind.SEED))
    random = np.random.default_rng((blind.SEED, 5))
    further = blind.draw_unknowns(random, "blind_unknowns_of_laws")
    low, high = np.log(residual)
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


class LargerTable(NamedTuple):
    """Rows known before with the results of the blind conditions below them, and their inputs."""

    rows: Measurements
    inputs: InputRanges


def larger_table(
    rows: Measurements,
    error: float = UNPRINTED_ERROR,
    residual: tuple[float, float] = RESIDUAL,
) -> LargerTable:
    """Rows known before, and the results of the blind conditions.

    Parameters
    ----------
    rows : Measurements
        Rows known before.
    error : float
        Standard deviation of a result that is printed without one.
    residual : (float, float)
        Ends of the cross-shear of paths that are nearly straight.
    """
    further, inputs = further_rows(error, residual)
    return LargerTable(with_further_rows(rows, further), inputs)


def fit_larger_table(
    space: LawSpace,
    rows: Measurements,
    contact: UniformContact,
    draws: int,
    simulated: int,
    prior_draws: int = PRIOR_DRAWS,
) -> dict[str, pd.DataFrame]:
    """Posterior of the larger table, and its checks.

    Parameters
    ----------
    space, rows : LawSpace, Measurements
        Nodes, and rows that were known before.
    contact : UniformContact
        Whose wear factor is predicted.
    draws : int
        Draws of the posterior.
    simulated : int
        Simulated tables of each truth.
    prior_draws : int
        Draws of the priors for the scores.

    Returns
    -------
    dict
        Tables `larger_posterior`, `larger_convergence`, `larger_scores`, `larger_priors` (with the
        choices of this table), `larger_influence` and `larger_coverage`, with columns as in tables
        of the smaller one; `larger_interval`; and `larger_left_out`, `larger_inside`,
        `larger_against_first` and `larger_laboratories` (log scores): left-out laboratories from
        the rows known before, and from all.
    """
    larger, inputs = larger_table(rows)
    evidences = evidences_of(space, larger, draws=prior_draws, inputs=inputs)
    weights = fit_mixture(evidences).weights
    models = [evidence.model for evidence in evidences]
    sampled, convergence = draw_posterior(models, weights, draws)
    counts = {"rows": len(larger.names), "laboratories": len(set(larger.laboratory))}
    interval = pd.DataFrame([counts | interval_of(_points(sampled, contact))])
    every = np.ones(len(larger.names), bool)
    sets = {KNOWN_BEFORE: np.arange(len(every)) < len(rows.names), ALL_ROWS: every}
    left_out, of_laboratories = compare_rows(evidences, sets)
    return {
        "larger_posterior": sampled,
        "larger_convergence": convergence,
        "larger_scores": score_models(evidences),
        "larger_interval": interval,
        "larger_priors": _compare_choices(space, rows, contact),
        "larger_influence": row_influence(evidences, contact),
        "larger_coverage": calibrate(space, larger, contact, simulated, inputs=inputs),
        "larger_left_out": left_out,
        "larger_inside": count_inside(left_out),
        "larger_against_first": compare_scores(of_laboratories),
        "larger_laboratories": pd.DataFrame(of_laboratories)
        .rename_axis("laboratory")
        .reset_index(),
    }


def _compare_choices(space: LawSpace, rows: Measurements, contact: UniformContact) -> pd.DataFrame:
    """Interval of the wear factor of a contact with three priors, and with other choices."""
    own = larger_table(rows)
    tables = [compare_priors(space, own.rows, contact, own.inputs)]
    for name, choice in CHOICES.items():
        other = larger_table(rows, **choice)
        evidences = evidences_of(space, other.rows, draws=COARSE_DRAWS, inputs=other.inputs)
        row = {"prior": name, **PRIORS["used"]._asdict()}
        tables.append(pd.DataFrame([row | interval_of(fit_mixture(evidences).points(contact))]))
    return pd.concat(tables, ignore_index=True)


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
