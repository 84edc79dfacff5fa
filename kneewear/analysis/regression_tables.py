"""All tables made of the case table of a study."""

from __future__ import annotations

import pandas as pd

from kneewear.analysis.groups import covariates_of, drop_single_life, side_tables, word_columns
from kneewear.analysis.models import compare_models, predict_cases
from kneewear.analysis.regression import PREDICTORS, correlate_pressure, fit_regression
from kneewear.base.registry import declared
from kneewear.motion.settings import CONTACT_LIMITS_MPA


def tabulate_results(
    cases: pd.DataFrame,
    pressure_limit: float,
    avg_pressure_limit: float,
    compare_with_published: bool,
) -> dict[str, pd.DataFrame]:
    """Tables of trends over the cases, and of their comparison with published values.

    By the name of the file in `tables/`; the case table comes first. The limits, MPa, are those of
    `flag_validity`.
    """
    words = word_columns(cases)
    if words:
        return _tabulate_by_words(cases, words, pressure_limit, avg_pressure_limit)
    regression, correlation = fit_regression(cases), correlate_pressure(cases)
    tables = {
        "cases": cases,
        "regression": regression,
        "regression_models": compare_models(cases),
        "regression_points": predict_cases(cases),
        "correlation": correlation,
        "validity": flag_validity(cases, pressure_limit, avg_pressure_limit),
    }
    if compare_with_published:
        for compare in declared("comparison").values():
            tables |= compare(cases, regression, correlation)
    return tables


def _tabulate_by_words(
    cases: pd.DataFrame, words: list[str], pressure_limit: float, avg_pressure_limit: float
) -> dict[str, pd.DataFrame]:
    """Tables of the cases with equal words, as wear laws, below each other.

    Cases with models of contact by their names have the limits of these.
    """
    parts: dict[str, list[pd.DataFrame]] = {}
    for levels, part in cases.groupby(words, sort=False):
        limits = pressure_limit, avg_pressure_limit
        for level in map(str, levels):
            limits = CONTACT_LIMITS_MPA.get(level, limits)
        found = tabulate_results(part.drop(columns=words), *limits, False)
        for name, table in found.items():
            labels = dict(zip(words, map(str, levels), strict=True))
            parts.setdefault(name, []).append(table.assign(**labels)[[*words, *table]])
    tables = {name: pd.concat(tables, ignore_index=True) for name, tables in parts.items()}
    return tables | {"cases": cases}


def flag_validity(
    cases: pd.DataFrame, pressure_limit: float, avg_pressure_limit: float
) -> pd.DataFrame:
    """Mark the cases whose pressures leave the range the linear elastic model was validated in.

    The limits, MPa, follow the model of contact. Those of the foundation are the highest peak
    pressure of the experiments that validated it, and the yield stress of the polyethylene as a
    limit of the average pressure (Bei 2003, sections 3.4.3 and 4.4: measured peaks of 25-35 MPa;
    yield at 14-23 MPa); those of the coupled layer are from finite elements that yield.
    """
    limits = dict(zip(PREDICTORS, (pressure_limit, avg_pressure_limit), strict=True))
    parts = [
        table[list(limits)].reset_index().assign(life=life, side=side)
        for life, side, table in side_tables(cases)
    ]
    labels = ["life", "case", *covariates_of(cases), "side"]
    table = (
        pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*labels, *limits])
    )
    for name, limit in limits.items():
        table[f"{name}_above_limit"] = table[name] > limit
    table = table.rename(columns={name: f"{name}_mpa" for name in limits})
    ends = [f"{name}_{end}" for end in ("mpa", "above_limit") for name in limits]
    return drop_single_life(table[[*labels, *ends]])
