"""Percentiles of results over cases, and paired differences between levels of a variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from kneewear.analysis.declared import analysis
from kneewear.analysis.effects import LABELS, grouped, labelled, result_columns
from kneewear.analysis.regression import CONFIDENCE
from kneewear.base.cases import Output
from kneewear.study.analysis_settings import PairedOptions, PercentilesOptions
from kneewear.study.models import MODELS
from kneewear.study.plans import CASE
from kneewear.study.run import FAILURE, WARNINGS
from kneewear.study.study import Study

Array = NDArray[np.float64]


@analysis("percentiles", tables=("percentiles",))
def analyse_percentiles(
    results: pd.DataFrame, study: Study, options: PercentilesOptions
) -> dict[str, pd.DataFrame]:
    """Distribution of every result over the cases: table `percentiles`.

    Parameters
    ----------
    results : DataFrame
        One row per case, as of :func:`kneewear.study.run.run_cases`.
    study : Study
        Settings.
    options : PercentilesOptions
        Percentiles, and the column whose values are analysed apart.

    Returns
    -------
    dict of str to DataFrame
        Columns: that of `by`, side (`both` first), quantity, unit, cases (with a result), failed,
        mean, standard_deviation, and for each percentile its value and 95 % limits (NaN where
        there are too few cases for a limit).

    Notes
    -----
    Between cases in order percentiles are interpolated (Hazen: case k of n is the (k - 1/2) / n
    quantile). Ranks a and b of the binomial distribution hold the p-th quantile of the population
    the cases are drawn from with 95 % (David and Nagaraja 2003, Order Statistics, section 7.1; from
    memory). They do not include errors of the model.
    """
    outputs = MODELS[study.model].outputs(study)
    tables = [
        labelled(_percentile_rows(part, options.percentiles, outputs), options.by, level)
        for level, part in grouped(results, options.by)
    ]
    return {"percentiles": pd.concat(tables, ignore_index=True)}


def _percentile_rows(
    part: pd.DataFrame, percentiles: Sequence[float], outputs: Sequence[Output]
) -> pd.DataFrame:
    rows = []
    for labels, values in result_columns(part, outputs):
        known = np.sort(values[np.isfinite(values)])
        row: dict[str, Any] = {
            **labels,
            "cases": known.size,
            "failed": values.size - known.size,
            "mean": known.mean() if known.size else np.nan,
            "standard_deviation": known.std(ddof=1) if known.size > 1 else np.nan,
        }
        for percent in percentiles:
            value = np.nan
            if known.size:
                value = float(np.quantile(known, percent / 100.0, method="hazen"))
            low, high = quantile_limits(known, percent / 100.0)
            name = f"p{percent:g}"
            row |= {name: value, f"{name}_low95": low, f"{name}_high95": high}
        rows.append(row)
    return pd.DataFrame(rows)


def quantile_limits(ordered: Array, part: float) -> tuple[float, float]:
    """95 % limits of a quantile from ordered independent values; NaN beyond the values."""
    tail = 0.5 * (1.0 - CONFIDENCE)
    first, last = (int(scipy.stats.binom.ppf(p, ordered.size, part)) for p in (tail, 1.0 - tail))
    low = float(ordered[first - 1]) if first >= 1 else float("nan")
    high = float(ordered[last]) if last < ordered.size else float("nan")
    return low, high


@analysis("paired", tables=("differences",))
def analyse_pairs(
    results: pd.DataFrame, study: Study, options: PairedOptions
) -> dict[str, pd.DataFrame]:
    """Differences of each level of a variable from the first, pair by pair: table `differences`.

    Parameters
    ----------
    results : DataFrame
        One row per case, as of :func:`kneewear.study.run.run_cases`.
    study : Study
        Settings.
    options : PairedOptions
        The variable `between` whose levels are compared. Cases are pairs where all other columns
        of the plan are equal.

    Returns
    -------
    dict of str to DataFrame
        Columns: that of the variable, against, side, quantity, unit, pairs (with both results),
        `median` difference with 95 % limits, in per cent of the first level's median too, and
        `less_percent`, the part of the pairs with a smaller result. Empty, with its header, for
        one level.
    """
    between, outputs = options.between, MODELS[study.model].outputs(study)
    others = [name for name in plan_columns(results, study) if name not in (between, CASE)]
    levels = list(dict.fromkeys(results[between]))
    by_level = {
        level: results[results[between] == level].set_index(others or [between]).sort_index()
        for level in levels
    }
    rows = []
    first = by_level[levels[0]]
    for level in levels[1:]:
        other = by_level[level]
        if others:
            other = other.reindex(first.index)
        for (labels, values), (_, base) in zip(
            result_columns(other, outputs), result_columns(first, outputs), strict=True
        ):
            rows.append({between: level, "against": levels[0], **labels, **_paired(values, base)})
    columns = [between, "against", *LABELS, "pairs", "median", "low95", "high95"]
    return {"differences": pd.DataFrame(rows, columns=[*columns, "median_percent", "less_percent"])}


def plan_columns(results: pd.DataFrame, study: Study) -> list[str]:
    """Columns of the plan in a table of results."""
    further = {*MODELS[study.model].columns(study), WARNINGS, FAILURE}
    return [str(name) for name in results if name not in further]


def _paired(values: Array, base: Array) -> dict[str, float]:
    """Statistics of the differences of two results, case by case."""
    change = values - base
    known = np.sort(change[np.isfinite(change)])
    middle = float(np.median(base[np.isfinite(change)])) if known.size else np.nan
    median = float(np.median(known)) if known.size else np.nan
    low, high = quantile_limits(known, 0.5)
    return {
        "pairs": known.size,
        "median": median,
        "low95": low,
        "high95": high,
        "median_percent": 100.0 * median / middle if middle else np.nan,
        "less_percent": 100.0 * float(np.mean(known < 0.0)) if known.size else np.nan,
    }
