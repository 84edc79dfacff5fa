"""Trends over the cases of a study: fits, correlations, comparison with published values."""

from kneewear.regression.comparison import (
    compare_correlation,
    compare_published,
    compare_regression,
    predict_published,
)
from kneewear.regression.correlation import correlate_pressure
from kneewear.regression.fit import fit_regression, regression_shortfall
from kneewear.regression.groups import QUANTITIES
from kneewear.regression.models import compare_models, predict_cases
from kneewear.regression.validity import flag_validity

__all__ = [
    "QUANTITIES",
    "compare_correlation",
    "compare_models",
    "compare_published",
    "compare_regression",
    "correlate_pressure",
    "fit_regression",
    "flag_validity",
    "predict_cases",
    "predict_published",
    "regression_shortfall",
]
