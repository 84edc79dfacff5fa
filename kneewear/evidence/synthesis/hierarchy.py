"""Measured over predicted wear by a hierarchical model: laboratories, conditions within them.

The logarithm of measured over predicted wear of a row is mu + a + e + m: a of the laboratory, of
standard deviation tau; e of the condition within it, of sigma; m of the measurement, known. The
level mu is flat; tau and sigma have half-normal priors and are summed over a grid, so that no
sampler is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from kneewear.analysis.literature import published_rows
from kneewear.wear.interval import ONE_FACTOR

Array = NDArray[np.float64]
POINTS = 24  # of the grid of each standard deviation
# Largest standard deviation of the grid, in scales of its prior.
REACH = 4.0
STRAIGHT = "straight"


class Priors(NamedTuple):
    """Scales of the half-normal priors of the standard deviations of logarithms."""

    tau: float = 1.0
    sigma: float = 0.5


# Sensitivity to priors: the one that is used, half and twice as wide.
PRIORS = {"used": Priors(), "half as wide": Priors(0.5, 0.25), "twice as wide": Priors(2.0, 1.0)}


class Rows(NamedTuple):
    """Rows of the model: logarithm of measured over predicted wear."""

    laboratory: NDArray[np.str_]
    log_ratio: Array
    error: Array  # standard deviation of the measurement's logarithm

    def among(self, chosen: NDArray[np.bool_]) -> Rows:
        """Chosen rows."""
        return Rows(self.laboratory[chosen], self.log_ratio[chosen], self.error[chosen])


class Posterior(NamedTuple):
    """Weights of the grid of tau and sigma, and the level given each."""

    weight: Array
    tau: Array
    sigma: Array
    level: Array
    level_variance: Array


def rows_of(measured: pd.DataFrame, law: str, with_straight: bool) -> Rows:
    """Rows of a law from the table `measured_wear`: absolute wear, and straight paths if asked for.

    A wear measured as a ratio to another test replaces the part that is not printed as a row.
    """
    known = published_rows("kneewear.evidence.measured_wear", "measured_wear")
    known = known.set_index("measurement")
    own = measured[(measured["law"] == law) & measured["verdict"].fillna("").ne("")]
    own = own.set_index("measurement")
    about = known.loc[own.index]
    log_ratio = -np.log(own["predicted_over_measured"].to_numpy(dtype=float))
    if law == ONE_FACTOR:  # without the measured ratio of random over circular motion
        log_ratio = -np.log(own["constant_factor_over_measured"].to_numpy(dtype=float))
    error = np.log1p(0.01 * own["measured_percent"].to_numpy(dtype=float))
    absolute = (about["over"] == "").to_numpy()
    names = about["laboratory"].to_numpy(dtype=str)
    rows = Rows(names, log_ratio, error)
    straight = (about["motion"] == STRAIGHT).to_numpy()
    kept = rows.among(absolute & ~straight)
    if not with_straight:
        return kept
    # A straight path is known as a ratio to a row of the same laboratory.
    extra = rows.among(straight)
    base = [kept.log_ratio[kept.laboratory == name].mean() for name in extra.laboratory]
    return Rows(
        np.append(kept.laboratory, extra.laboratory),
        np.append(kept.log_ratio, extra.log_ratio + np.array(base)),
        np.append(kept.error, extra.error),
    )


def fit(rows: Rows, priors: Priors = PRIORS["used"]) -> Posterior:
    """Posterior of tau, sigma and the level on a grid."""
    steps = (np.arange(POINTS) + 0.5) / POINTS * REACH
    tau, sigma = (
        grid.ravel()
        for grid in np.meshgrid(priors.tau * steps, priors.sigma * steps, indexing="ij")
    )
    same = rows.laboratory[:, None] == rows.laboratory[None, :]
    covariance = tau[:, None, None] ** 2 * same
    own = sigma[:, None] ** 2 + rows.error**2
    covariance = covariance + own[:, :, None] * np.eye(len(rows.log_ratio))
    inverse = np.linalg.inv(covariance)
    level_variance = 1.0 / inverse.sum(axis=(1, 2))
    level = level_variance * (inverse @ rows.log_ratio).sum(axis=1)
    rest = rows.log_ratio - level[:, None]
    misfit = np.einsum("gi,gij,gj->g", rest, inverse, rest)
    determinant = np.linalg.slogdet(covariance)[1]
    logarithm = -0.5 * (determinant - np.log(level_variance) + misfit)
    logarithm -= 0.5 * ((tau / priors.tau) ** 2 + (sigma / priors.sigma) ** 2)
    weight = np.exp(logarithm - logarithm.max())
    return Posterior(weight / weight.sum(), tau, sigma, level, level_variance)


def predictive_points(posterior: Posterior, probabilities: Sequence[float]) -> Array:
    """Points of the logarithm of another condition in another laboratory, without measurement."""
    spread = np.sqrt(posterior.level_variance + posterior.tau**2 + posterior.sigma**2)

    def below(value: float) -> float:
        return float(posterior.weight @ scipy.special.ndtr((value - posterior.level) / spread))

    ends = (
        float((posterior.level - 12.0 * spread).min()),
        float((posterior.level + 12.0 * spread).max()),
    )
    return np.array(
        [
            scipy.optimize.brentq(lambda value, at=at: below(value) - at, *ends)
            for at in probabilities
        ]
    )


def log_density(posterior: Posterior, rows: Rows) -> float:
    """Logarithm of the predictive density of the rows of one laboratory that was not fitted."""
    count = len(rows.log_ratio)
    shared = posterior.level_variance + posterior.tau**2
    own = posterior.sigma[:, None] ** 2 + rows.error**2
    covariance = shared[:, None, None] * np.ones((count, count))
    covariance = covariance + own[:, :, None] * np.eye(count)
    rest = rows.log_ratio - posterior.level[:, None]
    misfit = np.einsum("gi,gij,gj->g", rest, np.linalg.inv(covariance), rest)
    logarithm = -0.5 * (np.linalg.slogdet(covariance)[1] + misfit + count * np.log(2.0 * np.pi))
    possible = posterior.weight > 0.0
    return float(scipy.special.logsumexp(logarithm[possible] + np.log(posterior.weight[possible])))


def left_out_scores(rows: Rows, priors: Priors = PRIORS["used"]) -> dict[str, float]:
    """Log score of every laboratory, predicted from the others."""
    return {
        str(name): log_density(
            fit(rows.among(rows.laboratory != name), priors), rows.among(rows.laboratory == name)
        )
        for name in dict.fromkeys(rows.laboratory)
    }


def score_laws(measured: pd.DataFrame) -> pd.DataFrame:
    """Leave-one-laboratory-out scores of every law, with and without straight paths.

    Columns straight_paths, law, score (sum over laboratories), below_best, standard_error (of the
    sum of the differences between laboratories' scores), decided (True if the difference is above
    two standard errors), interval_factor (upper over lower end of the 90 % interval of another
    laboratory).
    """
    rows = []
    for with_straight in (False, True):
        laws = list(dict.fromkeys(measured["law"]))
        tables = {law: rows_of(measured, law, with_straight) for law in laws}
        scores = {law: left_out_scores(table) for law, table in tables.items()}
        best = max(laws, key=lambda law: sum(scores[law].values()))
        for law in laws:
            low, high = predictive_points(fit(tables[law]), (0.05, 0.95))
            paths = {"straight_paths": "with" if with_straight else "without", "law": law}
            width = {"interval_factor": float(np.exp(high - low))}
            rows.append(paths | _compared(scores[law], scores[best]) | width)
    return pd.DataFrame(rows)


def _compared(scores: Mapping[str, float], best: Mapping[str, float]) -> dict[str, Any]:
    """Score of a law, and how far it is below the best one, from the scores of laboratories."""
    apart = np.array([best[name] - score for name, score in scores.items()])
    error, below = float(np.sqrt(len(apart)) * apart.std(ddof=1)), float(apart.sum())
    return {
        "score": sum(scores.values()),
        "below_best": below,
        "standard_error": error,
        "decided": below > 2.0 * error > 0.0,
    }


def prior_sensitivity(measured: pd.DataFrame, law: str) -> pd.DataFrame:
    """Median and 90 % interval of measured over predicted wear with three priors."""
    rows = rows_of(measured, law, with_straight=False)
    table = []
    for name, priors in PRIORS.items():
        low, median, high = np.exp(predictive_points(fit(rows, priors), (0.05, 0.5, 0.95)))
        own = {"law": law, "prior": name, "tau_scale": priors.tau, "sigma_scale": priors.sigma}
        table.append({**own, "low": low, "median": median, "high": high})
    return pd.DataFrame(table)


def row_influence(measured: pd.DataFrame, law: str) -> pd.DataFrame:
    """Median and 90 % interval of measured over predicted wear without each laboratory."""
    rows = rows_of(measured, law, with_straight=False)
    table = []
    for name in ("none", *dict.fromkeys(rows.laboratory)):
        kept = rows.among(rows.laboratory != name)
        low, median, high = np.exp(predictive_points(fit(kept), (0.05, 0.5, 0.95)))
        table.append({"law": law, "left_out": name, "low": low, "median": median, "high": high})
    return pd.DataFrame(table)


def calibrate(
    measured: pd.DataFrame, law: str, true_law: str, draws: int, seed: int = 1
) -> pd.DataFrame:
    """Coverage of intervals of another laboratory, when another law is the true one.

    Parameters
    ----------
    measured : DataFrame
        Table `measured_wear`.
    law, true_law : str
        Law that predicts, and the one that wear of simulated laboratories follows.
    draws : int
        Numbers of simulated tables; tau and sigma are drawn from their priors.
    seed : int
        Of the random numbers.

    Returns
    -------
    DataFrame
        One row for each nominal coverage: law, true_law, nominal, covered (%), standard_error,
        draws. The laboratory that is predicted tests one of the conditions of the table.
    """
    random = np.random.default_rng(seed)
    rows, truth = (rows_of(measured, name, with_straight=False) for name in (law, true_law))
    # Both have the measured wear: their predictions differ by this.
    apart = rows.log_ratio - truth.log_ratio
    names, where = np.unique(rows.laboratory, return_inverse=True)
    levels = (0.5, 0.8, 0.9)
    inside = np.zeros((draws, len(levels)))
    for number in range(draws):
        tau, sigma = np.abs(random.normal(size=2)) * PRIORS["used"]
        own = tau * random.normal(size=len(names))
        noise = sigma * random.normal(size=len(apart)) + rows.error * random.normal(size=len(apart))
        posterior = fit(Rows(rows.laboratory, apart + own[where] + noise, rows.error))
        target = apart[random.integers(len(apart))] + np.hypot(tau, sigma) * random.normal()
        for column, level in enumerate(levels):
            ends = predictive_points(posterior, (0.5 - 0.5 * level, 0.5 + 0.5 * level))
            inside[number, column] = ends[0] <= target <= ends[1]
    covered = inside.mean(axis=0)
    return pd.DataFrame(
        {
            "law": law,
            "true_law": true_law,
            "nominal": 100.0 * np.array(levels),
            "covered": 100.0 * covered,
            "standard_error": 100.0 * np.sqrt(covered * (1.0 - covered) / draws),
            "draws": draws,
        }
    )


# Law that predicts and law of the simulated laboratories, of the coverage of intervals: the same,
# and laws that the intervals do not have.
COVERAGE_OF = (
    (ONE_FACTOR, ONE_FACTOR),
    (ONE_FACTOR, "cross_shear_saturation"),
    (ONE_FACTOR, "pressure_power"),
    ("cross_shear_saturation", ONE_FACTOR),
    ("cross_shear_saturation", "contact_area"),
)
DRAWS = 200
TABLES = ("law_scores", "prior_sensitivity", "laboratory_influence", "interval_coverage")


def check_intervals(measured: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Scores of laws, and what intervals depend on: the tables of `TABLES`.

    They are empty where the study has not every test and law that they need, or a law predicts no
    wear.
    """
    needed = {law for pair in COVERAGE_OF for law in pair}
    known = published_rows("kneewear.evidence.measured_wear", "measured_wear")
    complete = needed <= set(measured["law"]) and set(known["measurement"]) <= set(
        measured["measurement"]
    )
    if not complete or not (measured["predicted_over_measured"] > 0.0).all():
        return {name: pd.DataFrame(columns=["law"]) for name in TABLES}
    laws = tuple(dict.fromkeys(law for law, _ in COVERAGE_OF))
    coverage = [calibrate(measured, law, other, DRAWS) for law, other in COVERAGE_OF]
    return {
        "law_scores": score_laws(measured),
        "prior_sensitivity": pd.concat([prior_sensitivity(measured, law) for law in laws]),
        "laboratory_influence": pd.concat([row_influence(measured, law) for law in laws]),
        "interval_coverage": pd.concat(coverage),
    }
