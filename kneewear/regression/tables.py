"""All tables made of the case table of a study."""

from __future__ import annotations

import pandas as pd

from kneewear.regression.comparison import (
    compare_correlation,
    compare_published,
    compare_regression,
    predict_published,
)
from kneewear.regression.correlation import correlate_pressure
from kneewear.regression.fit import fit_regression
from kneewear.regression.models import compare_models, predict_cases
from kneewear.regression.statements import check_statements
from kneewear.regression.validity import flag_validity


def tabulate_results(
    cases: pd.DataFrame,
    pressure_limit: float,
    avg_pressure_limit: float,
    compare_with_published: bool,
) -> dict[str, pd.DataFrame]:
    """Tables of trends over the cases, and of their comparison with published values.

    Parameters
    ----------
    cases : DataFrame
        Tidy case table.
    pressure_limit, avg_pressure_limit : float
        Limits of `flag_validity`, MPa.
    compare_with_published : bool
        Whether to compare with the published tables.

    Returns
    -------
    dict of DataFrame
        By the name of the file in `tables/`; the case table comes first.
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
