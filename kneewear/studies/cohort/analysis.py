"""Tables of a cohort: percentiles by design, paired differences, effects, and validity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.regression.fit import CONFIDENCE
from kneewear.settings.cases import OUTPUTS
from kneewear.settings.cohort import SUBJECT
from kneewear.sides import BOTH, SIDES
from kneewear.studies.cases import BORDER, FAILURE, column_name, join_sides
from kneewear.studies.cohort.cases import DESIGN, WARNINGS
from kneewear.studies.sweep.analysis import LABELS, tabulate_effects

Array = NDArray[np.float64]


def tabulate_cohort(
    found: pd.DataFrame,
    percentiles: Sequence[float],
    columns: Sequence[str],
    covariates: Sequence[str],
    limits: tuple[float, float],
) -> dict[str, pd.DataFrame]:
    """Tables of a cohort from the results of `evaluate_subjects`, by their file names.

    `cohort`: every subject with every design; `percentiles`, `differences` and `effects`: see the
    functions of these names; `outside`: subjects outside validity (`find_outside`). `limits` are
    those of the largest and of the mean pressure, MPa.
    """
    cohort = join_sides(found)
    return {
        "cohort": cohort,
        "percentiles": find_percentiles(cohort, percentiles),
        "differences": compare_designs(cohort),
        "effects": find_effects(cohort, columns, covariates),
        "outside": find_outside(cohort, *limits),
    }


def find_percentiles(cohort: pd.DataFrame, percentiles: Sequence[float]) -> pd.DataFrame:
    """Distribution of every result over the subjects, by design and side (`both` first).

    Columns design, side, quantity, unit, subjects (with a result), failed, mean,
    standard_deviation, and for each percentile its value and 95 % limits (NaN where there are too
    few subjects for a limit).

    Notes
    -----
    Between subjects in order percentiles are interpolated (Hazen: subject k of n is the (k - 1/2) /
    n quantile). Ranks a and b of the binomial distribution hold the p-th quantile of the population
    the subjects are drawn from with 95 % (David and Nagaraja 2003, Order Statistics, section 7.1;
    from memory). They say nothing about errors of the model.
    """
    rows = []
    for design, part in cohort.groupby(DESIGN, sort=False):
        for labels, values in _results(part):
            known = np.sort(values[np.isfinite(values)])
            row: dict[str, Any] = {
                DESIGN: design, **labels, "subjects": known.size,
                "failed": values.size - known.size,
                "mean": known.mean() if known.size else np.nan,
                "standard_deviation": known.std(ddof=1) if known.size > 1 else np.nan,
            }  # fmt: skip
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
    from scipy.stats import binom  # noqa: PLC0415 - slow to load

    tail = 0.5 * (1.0 - CONFIDENCE)
    first, last = (int(binom.ppf(p, ordered.size, part)) for p in (tail, 1.0 - tail))
    low = float(ordered[first - 1]) if first >= 1 else float("nan")
    high = float(ordered[last]) if last < ordered.size else float("nan")
    return low, high


def compare_designs(cohort: pd.DataFrame) -> pd.DataFrame:
    """Difference of each design to the first, subject by subject.

    Columns design, against, side, quantity, unit, subjects (with a result of both), `median`
    difference with 95 % limits, in per cent of the first design's median too, and `less_percent`,
    the part of the subjects for whom the result is less. Empty, with its header, for one design.
    """
    designs = list(dict.fromkeys(cohort[DESIGN]))
    rows = []
    by_design = {name: cohort[cohort[DESIGN] == name].set_index(SUBJECT) for name in designs}
    for design in designs[1:]:
        first, other = by_design[designs[0]], by_design[design]
        for (labels, values), (_, base) in zip(
            _results(other.loc[first.index]), _results(first), strict=True
        ):
            change = values - base
            known = np.sort(change[np.isfinite(change)])
            middle = float(np.median(base[np.isfinite(change)])) if known.size else np.nan
            median = float(np.median(known)) if known.size else np.nan
            low, high = quantile_limits(known, 0.5)
            rows.append(
                {
                    DESIGN: design, "against": designs[0], **labels, "subjects": known.size,
                    "median": median, "low95": low, "high95": high,
                    "median_percent": 100.0 * median / middle if middle else np.nan,
                    "less_percent": 100.0 * float(np.mean(known < 0.0)) if known.size else np.nan,
                }
            )  # fmt: skip
    columns = [DESIGN, "against", *LABELS, "subjects", "median", "low95", "high95"]
    return pd.DataFrame(rows, columns=[*columns, "median_percent", "less_percent"])


def find_effects(
    cohort: pd.DataFrame, columns: Sequence[str], covariates: Sequence[str]
) -> pd.DataFrame:
    """Effect of each column that changes settings over its range, by design, as in a sweep.

    Covariates have a rank correlation only: they follow the columns that change settings, and a
    polynomial in both would share the effects among them at random.
    """
    parts = []
    for design, part in cohort.groupby(DESIGN, sort=False):
        parts.append(tabulate_effects(part, columns)["effects"].assign(**{DESIGN: design}))
        for labels, values in _results(part):
            rows = [
                {
                    DESIGN: design, **labels, "factor": name, "low": part[name].min(),
                    "high": part[name].max(),
                    "rank_correlation": _rank_correlation(part[name], values),
                }
                for name in covariates
            ]  # fmt: skip
            parts.append(pd.DataFrame(rows, columns=[DESIGN, *parts[0].columns.drop(DESIGN)]))
    table = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    return table[[DESIGN, *table.columns.drop(DESIGN)]]


def _rank_correlation(column: pd.Series, values: Array) -> float:
    """Spearman's correlation; NaN where a result does not vary."""
    known = pd.Series(values, column.index).dropna()
    return float(known.corr(column[known.index], "spearman")) if known.nunique() > 1 else np.nan


def find_outside(
    cohort: pd.DataFrame, pressure_limit: float, avg_pressure_limit: float
) -> pd.DataFrame:
    """Subjects for whom a result is outside of what the model is validated for, and why.

    Columns subject, design, reason (in words, the same for all alike) and detail (with numbers). A
    subject has a row for each reason.
    """
    rows = []
    for row in cohort.to_dict("records"):
        for reason, detail in _reasons(row, pressure_limit, avg_pressure_limit):
            one = {SUBJECT: row[SUBJECT], DESIGN: row[DESIGN], "reason": reason}
            rows.append(one | {"detail": detail})
    return pd.DataFrame(rows, columns=[SUBJECT, DESIGN, "reason", "detail"])


def _reasons(
    row: dict[Any, Any], pressure_limit: float, avg_pressure_limit: float
) -> Iterator[tuple[str, str]]:
    """Why a result is outside validity, alike for all and with numbers."""
    if isinstance(row[FAILURE], str) and row[FAILURE]:
        yield "no result", row[FAILURE]
        return
    limits = {"max_pressure": pressure_limit, "avg_pressure": avg_pressure_limit}
    for (quantity, limit), name in zip(limits.items(), ("largest", "mean"), strict=True):
        value = row[column_name(BOTH, quantity)]
        if value > limit:
            yield f"{name} pressure above {limit:g} MPa", f"{value:.1f} MPa"
    if row[BORDER] > 0.0:
        yield "contact reaches the end of the elements", f"{row[BORDER]:.1f} MPa there"
    if isinstance(row[WARNINGS], str) and row[WARNINGS]:
        yield "unusual settings", row[WARNINGS]


def _results(part: pd.DataFrame) -> Iterator[tuple[dict[str, str], Array]]:
    """Labels and values of every result of each side, `both` first."""
    for side in (BOTH, *SIDES):
        for quantity, unit in OUTPUTS.items():
            labels = dict(zip(LABELS, (side, quantity, unit), strict=True))
            yield labels, part[column_name(side, quantity)].to_numpy(float)
