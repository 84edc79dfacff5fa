"""Mixture of laws by stacking, its intervals of a contact, and what these depend on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from kneewear.evidence.synthesis.input_ranges import InputRanges
from kneewear.evidence.synthesis.law_space import LawSpace, log_factor
from kneewear.evidence.synthesis.measurements import Measurements
from kneewear.evidence.synthesis.posterior import (
    PRIOR_DRAWS,
    PRIORS,
    SEED,
    Evidence,
    Priors,
    left_out_scores,
    mixed_scores,
    models_of,
    stacking_weights,
)
from kneewear.wear.law_settings import UNIT_FACTOR

Array = NDArray[np.float64]
Chosen = NDArray[np.bool_]
# Points of the mixture that intervals are made of.
POINTS = 20_000
ENDS = (0.05, 0.5, 0.95)
# Draws of priors where many subsets of the rows are fitted.
COARSE_DRAWS = 2048


class UniformContact(NamedTuple):
    """A contact whose wear factor is predicted: cross-shear ratio, and pressure in MPa."""

    cross_shear: float
    pressure_mpa: float


@dataclass(frozen=True)
class Mixture:
    """Laws with their weights, fitted to chosen rows of a table of measurements."""

    evidences: Sequence[Evidence]
    weights: Array
    log_wear: Array
    kept: Chosen

    @property
    def rows(self) -> Measurements:
        """Measurements of all laws."""
        return self.evidences[0].model.rows

    def draw(
        self, contact: UniformContact, count: int, random: np.random.Generator
    ) -> tuple[Array, Array]:
        """Draws of the wear factor's logarithm of a contact: of the laws, and of a laboratory.

        Of laws it has the level and the constants; of a laboratory the deviations of laboratory
        and condition, too.
        """
        shares = random.multinomial(count, self.weights)
        mean, laboratory = [], []
        for evidence, share in zip(self.evidences, shares, strict=True):
            if share == 0:
                continue
            at = self.resample(evidence, share, random)
            spreads, constants = (values[at] for values in evidence.prior)
            middle, spread = (values[at] for values in evidence.level(self.log_wear, self.kept))
            level = middle + spread * random.normal(size=share)
            ratio, pressure = (np.full(share, value) for value in contact)
            log = level + log_factor(evidence.model.law, constants, ratio, pressure)
            mean.append(log)
            own = np.hypot(spreads[:, 0], spreads[:, 1])
            laboratory.append(log + own * random.normal(size=share))
        return np.concatenate(mean), np.concatenate(laboratory)

    def points(self, contact: UniformContact, probabilities: Sequence[float] = ENDS) -> Array:
        """Points of the wear factor's logarithm of a contact in another laboratory."""
        _, values = self.draw(contact, POINTS, np.random.default_rng(SEED))
        return np.asarray(np.quantile(values, probabilities))

    def resample(
        self, evidence: Evidence, count: int, random: np.random.Generator
    ) -> NDArray[np.intp]:
        """Draw positions of the priors' draws of a law by their weights."""
        logarithm = evidence.log_weights(self.log_wear, self.kept)
        part = np.exp(logarithm - logarithm.max())
        return random.choice(len(part), count, p=part / part.sum())


def fit_mixture(
    evidences: Sequence[Evidence], log_wear: Array | None = None, kept: Chosen | None = None
) -> Mixture:
    """Mixture of laws that predicts left-out laboratories best, from chosen rows of a table."""
    rows = evidences[0].model.rows
    log_wear = rows.log_wear if log_wear is None else log_wear
    kept = np.ones(len(log_wear), bool) if kept is None else kept
    every = np.ones(len(log_wear), bool)
    scores = [left_out_scores(evidence, log_wear, kept, every) for evidence in evidences]
    return Mixture(evidences, stacking_weights(scores), log_wear, kept)


def evidences_of(
    space: LawSpace,
    rows: Measurements,
    priors: Priors = PRIORS["used"],
    draws: int = PRIOR_DRAWS,
    inputs: InputRanges | None = None,
) -> list[Evidence]:
    """Posteriors of all laws; `inputs` are of the last rows."""
    return [Evidence(model, draws) for model in models_of(space, rows, priors, inputs)]


def score_models(evidences: Sequence[Evidence]) -> pd.DataFrame:
    """Log scores of left-out laboratories: laws, their mixture, and one factor without a model.

    Targets are wear by multidirectional motion, which all models predict. The weights of the
    mixture come from the other laboratories. Columns model, score, below_best, standard_error
    (of the sum of differences between laboratories), decided (True above two standard errors),
    laboratories.
    """
    rows = evidences[0].model.rows
    kept = np.ones(len(rows.log_wear), bool)
    targets = (rows.is_absolute > 0.0) & ~rows.is_straight
    laws = [left_out_scores(evidence, rows.log_wear, kept, targets) for evidence in evidences]
    mixed, coarse = {}, _coarse(evidences)
    for name in laws[0]:
        others = fit_mixture(coarse, kept=rows.laboratory != name)
        mixed[name] = mixed_scores(laws, others.weights)[name]
    scores = {evidence.model.law: own for evidence, own in zip(evidences, laws, strict=True)}
    scores = {"mixture": mixed, "one factor, t interval": _simple_scores(evidences[0]), **scores}
    return compare_scores(scores)


def compare_scores(scores: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Models by their log scores of laboratories; columns as in :func:`score_models`."""
    best = max(scores.values(), key=lambda own: sum(own.values()))
    table = []
    for model, own in scores.items():
        apart = np.array([best[name] - own[name] for name in best])
        error, below = float(np.sqrt(len(apart)) * apart.std(ddof=1)), float(apart.sum())
        table.append(
            {
                "model": model,
                "score": sum(own.values()),
                "below_best": below,
                "standard_error": error,
                "decided": below > 2.0 * error > 0.0,
                "laboratories": len(own),
            }
        )
    return pd.DataFrame(table)


def _simple_scores(evidence: Evidence) -> dict[str, float]:
    """Log scores of :func:`kneewear.wear.interval.factor_interval`: Student's distribution.

    Rows of a laboratory deviate from its factor by the deviations within the others.
    """
    rows = evidence.model.rows
    chosen = (rows.is_absolute > 0.0) & ~rows.is_straight
    log_factors = rows.log_wear - evidence.predicted[0]
    groups = {
        str(name): log_factors[chosen & (rows.laboratory == name)]
        for name in dict.fromkeys(rows.laboratory[chosen])
    }
    scores = {}
    for name, own in groups.items():
        others = [values for other, values in groups.items() if other != name]
        middles = np.array([values.mean() for values in others])
        squares = sum(float(((values - values.mean()) ** 2).sum()) for values in others)
        within = np.sqrt(squares / max(sum(len(values) - 1 for values in others), 1))
        count = len(middles)
        spread = middles.std(ddof=1) * np.sqrt(1.0 + 1.0 / count)
        # The factor of the laboratory is integrated over its distribution.
        student = scipy.stats.t(count - 1, middles.mean(), spread)
        factors = student.ppf((np.arange(4000) + 0.5) / 4000)
        density = scipy.stats.norm.logpdf(own[None, :], factors[:, None], within).sum(axis=1)
        scores[name] = float(scipy.special.logsumexp(density) - np.log(len(factors)))
    return scores


def compare_priors(
    space: LawSpace,
    rows: Measurements,
    contact: UniformContact,
    inputs: InputRanges | None = None,
) -> pd.DataFrame:
    """Interval of the wear factor of a contact with three priors."""
    table = []
    for name, priors in PRIORS.items():
        mixture = fit_mixture(evidences_of(space, rows, priors, COARSE_DRAWS, inputs))
        table.append({"prior": name, **priors._asdict(), **interval_of(mixture.points(contact))})
    return pd.DataFrame(table)


def row_influence(evidences: Sequence[Evidence], contact: UniformContact) -> pd.DataFrame:
    """Interval of the wear factor of a contact without each row."""
    names, coarse = evidences[0].model.rows.names, _coarse(evidences)
    table = []
    for name in ("none", *names):
        mixture = fit_mixture(coarse, kept=names != name)
        weights = {
            f"weight_{evidence.model.law}": weight
            for evidence, weight in zip(evidences, mixture.weights, strict=True)
        }
        table.append({"left_out": name, **interval_of(mixture.points(contact)), **weights})
    return pd.DataFrame(table)


def _coarse(evidences: Sequence[Evidence]) -> list[Evidence]:
    """Posteriors by fewer draws of the priors."""
    return [Evidence(evidence.model, COARSE_DRAWS) for evidence in evidences]


def interval_of(points: Array) -> dict[str, float]:
    """Wear factors of an interval, mm3/(N m), and its upper over its lower end."""
    low, median, high = UNIT_FACTOR * np.exp(points)
    return {"low": low, "median": median, "high": high, "interval_factor": high / low}
