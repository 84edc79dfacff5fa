"""Intervals, effects of single variables, and variance-based indices of samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from kneewear.analysis.declared import analysis
from kneewear.base.sides import BOTH
from kneewear.study.analysis_settings import IndicesOptions, IntervalsOptions, StepsOptions
from kneewear.study.models import MODELS
from kneewear.study.plans import NOMINAL, ROLE, VARIED
from kneewear.study.study import Study

Array = NDArray[np.float64]
Rows = list[dict[str, Any]]

# Ends of an interval count as known when each is known to this part of the interval's width.
LARGEST_END_ERROR = 0.1
END_CONFIDENCE = 0.95
# Indices count as converged when the interval of each is narrower than this (Sarrazin, Pianosi and
# Wagener 2016, Environmental Modelling and Software 79, 135-152; from memory).
LARGEST_WIDTH = 0.05
RESAMPLES = 300
# Parts of the output's size below which its variance is rounding.
MIN_DEVIATION = 1e-9


@analysis("intervals", tables=("intervals",))
def analyse_intervals(
    results: pd.DataFrame, study: Study, options: IntervalsOptions
) -> dict[str, pd.DataFrame]:
    """Prediction interval of each result of each side, from independent samples.

    Table `intervals`: side, quantity, unit, nominal (nothing changed), and the columns of
    `PredictionInterval`.
    """

    def interval(output: pd.DataFrame) -> Rows:
        drawn = output.loc[output[ROLE] == "draw", "value"].to_numpy(float)
        return [asdict(prediction_interval(drawn, options.level_percent))]

    return {"intervals": _each_result(results, study, interval)}


@analysis("steps", tables=("steps",))
def analyse_steps(
    results: pd.DataFrame, study: Study, options: StepsOptions
) -> dict[str, pd.DataFrame]:
    """Effect of each variable alone on each result: table `steps`, as of `step_effects`."""
    return {"steps": _each_result(results, study, step_effects)}


@analysis("indices", tables=("indices",))
def analyse_indices(
    results: pd.DataFrame, study: Study, options: IndicesOptions
) -> dict[str, pd.DataFrame]:
    """Variance-based indices of each variable: table `indices`, as of `sobol_indices`."""
    names = list(study.variables)

    def indices(output: pd.DataFrame) -> Rows:
        # SALib takes a seed of zero for none.
        return sobol_indices(output, names, options.level_percent, study.seed + 1)

    return {"indices": _each_result(results, study, indices)}


def _each_result(
    results: pd.DataFrame, study: Study, analyse: Callable[[pd.DataFrame], Rows]
) -> pd.DataFrame:
    """Rows of an analysis of each result of each side, without those of both together."""
    rows: Rows = []
    for result in MODELS[study.model].outputs(study):
        if result.side == BOTH:
            continue
        output = results[[ROLE, VARIED]].assign(value=results[result.column])
        nominal = float(output.loc[output[ROLE] == NOMINAL, "value"].iloc[0])
        rows += [result._asdict() | {"nominal": nominal} | row for row in analyse(output)]
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class PredictionInterval:
    """Interval that holds the next sample with a given probability.

    Parameters
    ----------
    samples, failed : int
        Samples that count, and that have no value.
    mean, standard_deviation, median : float
        Of the samples.
    lower, upper : float
        Ends of the interval.
    end_error : float
        Half-width of the 95 % confidence interval of the less certain end.
    converged : bool
        Whether that is at most a tenth of the interval's width.
    """

    samples: int
    failed: int
    mean: float
    standard_deviation: float
    median: float
    lower: float
    upper: float
    end_error: float
    converged: bool


def prediction_interval(values: Array, level_percent: float) -> PredictionInterval:
    """Interval that holds the next of some independent samples with a probability.

    Infinite ends where there are too few samples for the level; samples that failed are NaN.

    Notes
    -----
    Free of any distribution: of n independent samples in order, the k-th and the one k from the end
    hold another one between them with a probability of (n + 1 - 2k) / (n + 1). Between whole k the
    ends are interpolated. An end is the p-th quantile, and ranks a and b of the binomial
    distribution of n and p hold it with 95 % (David and Nagaraja 2003, Order Statistics, section
    7.1; from memory). Holds for independent samples only, not for those of a balanced plan.
    """
    known = np.sort(values[np.isfinite(values)])
    tail = 0.5 - 0.005 * level_percent
    lower, upper, end_error = -np.inf, np.inf, np.inf
    if known.size >= 2 and (known.size + 1) * tail >= 1.0:
        lower, upper = map(float, np.quantile(known, [tail, 1 - tail], method="weibull"))
        end_error = max(_end_error(known, tail), _end_error(-known[::-1], tail))
    return PredictionInterval(
        samples=known.size,
        failed=values.size - known.size,
        mean=float(known.mean()) if known.size else np.nan,
        standard_deviation=float(known.std(ddof=1)) if known.size > 1 else np.nan,
        median=float(np.median(known)) if known.size else np.nan,
        lower=lower,
        upper=upper,
        end_error=end_error,
        converged=bool(np.isfinite(upper) and end_error <= LARGEST_END_ERROR * (upper - lower)),
    )


def _end_error(ordered: Array, tail: float) -> float:
    """Half-width of the confidence interval of the lower end; infinite beyond the smallest."""
    outside = 0.5 * (1.0 - END_CONFIDENCE)
    first, last = (
        int(scipy.stats.binom.ppf(p, ordered.size, tail)) for p in (outside, 1.0 - outside)
    )
    if first < 1:
        return float("inf")
    return 0.5 * float(ordered[min(last, ordered.size - 1)] - ordered[first - 1])


def step_effects(output: pd.DataFrame) -> Rows:
    """Effect of each variable alone on one output of a one_at_a_time plan.

    In the order of the plan: `variable`; `at_low` and `at_high`, the output with the variable one
    standard deviation lower and higher; `effect_percent`, half of their difference in percent of
    the nominal output (the standard deviation the variable gives it, with the sign of the slope);
    `curvature_percent`, half of their sum minus the nominal output (zero for a straight line);
    `share_percent`, the square of the effect as part of the sum over all variables: of the
    variance, if the output is linear in the variables. NaN where a sample failed or the nominal
    output is zero.
    """
    nominal = output.loc[output[ROLE] == NOMINAL, "value"].iloc[0]
    steps = output[output[ROLE] != NOMINAL]
    ends = steps.pivot(index=VARIED, columns=ROLE, values="value")
    ends = ends.loc[list(dict.fromkeys(steps[VARIED]))]
    effect = 0.5 * (ends["high"] - ends["low"])
    share = effect**2 / (effect**2).sum()
    percent = 100.0 / nominal if nominal else float("nan")
    return [
        {
            VARIED: str(name),
            "at_low": float(ends.loc[name, "low"]),
            "at_high": float(ends.loc[name, "high"]),
            "effect_percent": percent * float(effect[name]),
            "curvature_percent": percent * float(0.5 * ends.loc[name].sum() - nominal),
            "share_percent": 100.0 * float(share[name]),
        }
        for name in ends.index
    ]


def sobol_indices(
    output: pd.DataFrame, names: Sequence[str], level_percent: float, seed: int
) -> Rows:
    """Variance-based indices of all variables for one output of a variance_based plan, after Sobol.

    For each variable: `variable`; `first`, the part of the variance that vanishes on average when
    the variable alone becomes known; `total`, the part that remains on average when all others
    become known; `first_error` and `total_error`, half-widths of their intervals; `blocks` and
    `dropped`, the blocks of samples that count and those left out because a sample in them failed;
    `converged`, whether the intervals of all variables are narrow enough; `blocks_needed`, the
    blocks with which they would be, as errors fall with the root of the number. NaN for an output
    that does not vary, or with fewer than two blocks left.

    Notes
    -----
    First index V(E(y | x)) / V(y) and total index E(V(y | others)) / V(y), by the estimators of
    Saltelli et al. (2010, table 2, rows b and f) in SALib; intervals by resampling the blocks, with
    a seed that is not zero. Holds for independent variables. Estimates of small indices may be
    below zero.
    """
    drawn = output[output[ROLE].isin(["A", "mixed", "B"])]
    values = drawn["value"].to_numpy(float).reshape(-1, len(names) + 2)
    complete = np.isfinite(values).all(axis=1)
    left = values[complete]
    found = {key: np.full(len(names), np.nan) for key in ("S1", "S1_conf", "ST", "ST_conf")}
    size = np.abs(left).max(initial=0.0)
    if len(left) > 1 and left.std() > MIN_DEVIATION * size:
        found = _estimates(left.ravel(), names, level_percent, seed)
    widest = 2.0 * np.max([found["S1_conf"], found["ST_conf"]])
    needed = len(left) * (widest / LARGEST_WIDTH) ** 2
    return [
        {
            VARIED: name,
            "first": float(found["S1"][number]),
            "first_error": float(found["S1_conf"][number]),
            "total": float(found["ST"][number]),
            "total_error": float(found["ST_conf"][number]),
            "blocks": len(left),
            "dropped": int(np.sum(~complete)),
            "converged": bool(widest <= LARGEST_WIDTH),
            "blocks_needed": int(np.ceil(needed)) if np.isfinite(needed) else 0,
        }
        for number, name in enumerate(names)
    ]


def _estimates(
    values: Array, names: Sequence[str], level_percent: float, seed: int
) -> dict[str, Array]:
    """SALib's indices and the half-widths of their intervals."""
    from SALib.analyze import sobol  # noqa: PLC0415 - slow to load, and only needed here

    problem = {"num_vars": len(names), "names": list(names), "bounds": [[0.0, 1.0]] * len(names)}
    found = sobol.analyze(
        problem,
        values,
        calc_second_order=False,
        num_resamples=RESAMPLES,
        conf_level=0.01 * level_percent,
        seed=seed,
    )
    return {key: np.asarray(found[key]) for key in ("S1", "S1_conf", "ST", "ST_conf")}
