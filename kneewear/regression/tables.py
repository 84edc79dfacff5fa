"""All tables made of the case table of a study."""

from __future__ import annotations

import pandas as pd

from kneewear.regression.comparison import (
    check_statements,
    compare_correlation,
    compare_published,
    compare_regression,
    predict_published,
)
from kneewear.regression.fit import PREDICTORS, correlate_pressure, fit_regression
from kneewear.regression.groups import covariates_of, drop_single_life, side_tables
from kneewear.regression.models import compare_models, predict_cases


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
        regression, correlation = compare_regression(regression), compare_correlation(correlation)
        tables |= {
            "comparison": compare_published(cases),
            "regression_comparison": regression,
            "correlation_comparison": correlation,
            "statements": check_statements(correlation, regression),
            "prediction": predict_published(cases),
        }
    return tables


def flag_validity(
    cases: pd.DataFrame, pressure_limit: float, avg_pressure_limit: float
) -> pd.DataFrame:
    """Mark the cases whose pressures leave the range the linear elastic model was validated in.

    The limits, MPa, are the highest peak pressure of the experiments that validated the model, and
    the yield stress of the polyethylene as a limit of the average pressure (Bei 2003, sections
    3.4.3 and 4.4: measured peaks of 25-35 MPa; yield at 14-23 MPa).
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
