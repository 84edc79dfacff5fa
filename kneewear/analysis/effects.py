"""Effects of variables on the results of cases, and response surfaces over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from kneewear.analysis.declared import analysis
from kneewear.analysis.response import (
    factor_effects,
    fit_response,
    response_quality,
    response_terms,
)
from kneewear.base.cases import Output
from kneewear.study.analysis_settings import EffectsOptions
from kneewear.study.models import MODELS
from kneewear.study.study import Study

LABELS = ["side", "quantity", "unit"]
VARIABLE = "variable"
_EFFECTS = [
    VARIABLE,
    "low",
    "high",
    "at_low",
    "at_centre",
    "at_high",
    "effect",
    "effect_percent",
    "span",
    "slope",
    "slope_low95",
    "slope_high95",
    "rank_correlation",
]
_QUALITY = [
    "model",
    "terms",
    "cases",
    "r2",
    "leave_one_out_rmse",
    "leave_one_out_percent",
    "predicted_share",
]
_TERMS = ["term", "coefficient", "standard_error"]


@analysis("effects", tables=("effects", "response", "coefficients"))
def analyse_effects(
    results: pd.DataFrame, study: Study, options: EffectsOptions
) -> dict[str, pd.DataFrame]:
    """Effects, response surfaces and their terms, for each value of the column `by`.

    Parameters
    ----------
    results : DataFrame
        One row per case, as of :func:`kneewear.study.run.run_cases`.
    study : Study
        Settings; the numeric variables have effects.
    options : EffectsOptions
        Column whose values are analysed apart, and columns that change nothing.

    Returns
    -------
    dict of str to DataFrame
        `effects`, `response` and `coefficients`: for each side and result a row per
        variable, one row, and a row per term of its response surface; empty, with their headers,
        where too few cases have a result. Covariates have a rank correlation only: a polynomial
        in them and in the variables that they follow would share the effects at random.
    """
    names = [
        name
        for name, variable in study.variables.items()
        if variable.is_numeric
        and name != options.by
        and pd.api.types.is_numeric_dtype(results[name])
    ]
    outputs = MODELS[study.model].outputs(study)
    parts: dict[str, list[pd.DataFrame]] = {}
    for level, part in grouped(results, options.by):
        tables = tabulate_effects(part, names, outputs)
        further = _covariate_rows(part, options.covariates, outputs)
        tables["effects"] = pd.concat(
            [table for table in (tables["effects"], further) if len(table)] or [tables["effects"]],
            ignore_index=True,
        )
        for name, table in tables.items():
            parts.setdefault(name, []).append(labelled(table, options.by, level))
    return {name: pd.concat(tables, ignore_index=True) for name, tables in parts.items()}


def grouped(results: pd.DataFrame, by: str | None) -> Iterator[tuple[Any, pd.DataFrame]]:
    """Values of a column and their rows; all rows without a column."""
    if by is None:
        yield None, results
    else:
        yield from results.groupby(by, sort=False)


def labelled(table: pd.DataFrame, by: str | None, level: Any) -> pd.DataFrame:
    """Table with the value of the column it was grouped by first."""
    if by is not None:
        table = table.copy()
        table.insert(0, by, level)
    return table


def tabulate_effects(
    results: pd.DataFrame, names: Sequence[str], outputs: Sequence[Output]
) -> dict[str, pd.DataFrame]:
    """Effects, response surfaces and their terms over some columns of a table of cases."""
    parts: dict[str, list[pd.DataFrame]] = {"effects": [], "response": [], "coefficients": []}
    for output in outputs:
        for name, table in _tables_of(results, names, output.column).items():
            parts[name].append(table.assign(**output._asdict())[[*LABELS, *table]])
    columns = {"effects": _EFFECTS, "response": _QUALITY, "coefficients": _TERMS}
    return {
        name: pd.concat(tables, ignore_index=True)
        if tables
        else pd.DataFrame(columns=[*LABELS, *columns[name]])
        for name, tables in parts.items()
    }


def _tables_of(results: pd.DataFrame, names: Sequence[str], column: str) -> dict[str, pd.DataFrame]:
    """Tables of one result; none where it does not vary or too few cases have it.

    Cases without a value of a variable, as the nominal one of a sample, are left out.
    """
    numbers = results[[column, *names]].to_numpy(float)
    known = results[np.isfinite(numbers).all(axis=1)]
    varied = [name for name in names if known[name].nunique() > 1]
    values = known[column].to_numpy(float)
    points = known[varied].to_numpy(float)
    surface = fit_response(points, values) if varied and np.ptp(values) > 0.0 else None
    if surface is None:
        return {}
    return {
        "effects": pd.DataFrame(list(factor_effects(surface, points, varied)), columns=_EFFECTS),
        "response": pd.DataFrame([response_quality(surface)], columns=_QUALITY),
        "coefficients": response_terms(surface, varied),
    }


def _covariate_rows(
    part: pd.DataFrame, covariates: Sequence[str], outputs: Sequence[Output]
) -> pd.DataFrame:
    """Range and rank correlation of columns that change no setting."""
    rows = [
        {
            **labels,
            VARIABLE: name,
            "low": part[name].min(),
            "high": part[name].max(),
            "rank_correlation": _rank_correlation(part[name], values),
        }
        for labels, values in result_columns(part, outputs)
        for name in covariates
    ]
    return pd.DataFrame(rows, columns=[*LABELS, *_EFFECTS])


def _rank_correlation(column: pd.Series, values: np.ndarray) -> float:
    """Spearman's correlation; NaN where a result does not vary."""
    known = pd.Series(values, column.index).dropna()
    return float(known.corr(column[known.index], "spearman")) if known.nunique() > 1 else np.nan


def result_columns(
    part: pd.DataFrame, outputs: Sequence[Output]
) -> Iterator[tuple[dict[str, str], np.ndarray]]:
    """Labels and values of every result."""
    for output in outputs:
        yield output._asdict(), part[output.column].to_numpy(float)
