"""Tests of a plane over the covariates, and the choice of a better model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.analysis.groups import (
    BODY_MASS,
    HEAD,
    THICKNESS,
    covariates_of,
    drop_single_life,
    results_of,
)
from kneewear.analysis.regression import CONFIDENCE, regression_shortfall

Array = NDArray[np.float64]

PLANE = "plane"
POWER_LAW = "power law"
# Polynomials by name: whether they have squares, and products of two covariates.
POLYNOMIALS = {
    PLANE: (False, False),
    "interaction": (False, True),
    "quadratic": (True, False),
    "quadratic and interaction": (True, True),
}
# A plane that predicts a case it was not fitted to within this part of the mean is sufficient.
ENOUGH = 0.02
_QUALITY = [
    "terms",
    "r2",
    "adjusted_r2",
    "rmse",
    "leave_one_out_rmse",
    "leave_one_out_max",
    "leave_one_out_percent",
    "p_value",
    "plane_is_enough",
]
_LIMITS = ["confidence_low95", "confidence_high95", "prediction_low95", "prediction_high95"]
_POINT = ["value", "fitted", "residual", "leave_one_out_residual", "leverage", *_LIMITS]
_EXPONENTS = {THICKNESS: "thickness_exponent", BODY_MASS: "mass_exponent"}


@dataclass(frozen=True)
class _Fit:
    """One model fitted by ordinary least squares."""

    name: str
    design: pd.DataFrame
    values: Array
    result: Any

    def fitted(self) -> Array:
        """Values of the model at the cases."""
        return self._back(np.asarray(self.result.fittedvalues))

    def left_out(self) -> Array:
        """Value of every case minus the prediction of the model fitted to all others."""
        influence = self.result.get_influence()
        return self.values - self._back(np.asarray(self.result.model.endog) - influence.resid_press)

    def limits(self) -> Array:
        """Lower and upper limit of the mean and of a new case, shape (n, 4)."""
        frame = self.result.get_prediction().summary_frame(alpha=1.0 - CONFIDENCE)
        names = ["mean_ci_lower", "mean_ci_upper", "obs_ci_lower", "obs_ci_upper"]
        return self._back(frame[names].to_numpy(dtype=np.float64))

    def percent(self) -> float:
        """Leave-one-out error in per cent of the mean value."""
        return 100.0 * _root_mean_square(self.left_out()) / abs(float(self.values.mean()))

    def _back(self, modelled: Array) -> Array:
        """Values of the quantity; the power law is fitted to their logarithm."""
        return np.exp(modelled) if self.name == POWER_LAW else modelled


def polynomial_matrix(points: Array, squares: bool, products: bool) -> Array:
    """Terms of a polynomial at points (n, k): 1, each covariate, its square, products of two."""
    columns = [np.ones(len(points)), *points.T]
    columns += [one**2 for one in points.T] if squares else []
    columns += [a * b for a, b in combinations(points.T, 2)] if products else []
    return np.column_stack(columns)


def fitted_values(model: str, points: Array, values: Array, at: Array) -> Array:
    """Values of a model fitted to some cases, at other covariates.

    Parameters
    ----------
    model : str
        "plane" or another name of `POLYNOMIALS`, or "power law".
    points, values : array, shape (n, k) and (n,)
        Covariates and quantity of the cases that it is fitted to by least squares.
    at : array, shape (m, k)
        Covariates of the values, shape (m,), that are returned.
    """
    if model == POWER_LAW:
        matrices = [polynomial_matrix(np.log(one), False, False) for one in (points, at)]
        return np.asarray(np.exp(matrices[1] @ np.linalg.lstsq(matrices[0], np.log(values))[0]))
    first, second = (polynomial_matrix(one, *POLYNOMIALS[model]) for one in (points, at))
    return np.asarray(second @ np.linalg.lstsq(first, values)[0])


def compare_models(cases: pd.DataFrame) -> pd.DataFrame:
    """Fit planes, curved polynomials and a power law, and find which predicts unseen cases best.

    Returns
    -------
    DataFrame
        One row per side, quantity and model: number of `terms`, `r2` and `adjusted_r2` (of the
        power law those of the logarithm), root mean square residual `rmse`, which divides by cases
        minus terms; root mean square and largest error of each case predicted from all others, in
        the unit of the quantity and in per cent of its mean; `p_value` of the F test of the terms
        a polynomial has beyond the plane's; `plane_is_enough`, whether the plane's leave-one-out
        error is below 2 % of the mean; and `factor`, exponents and `log_deviation` (standard
        deviation of the residuals) of the power law. Models without a residual degree of freedom
        are left out. A life column comes first when the study has several lives. Empty, with its
        header, when there is no regression.

    Notes
    -----
    Polynomials have a constant, all covariates, and their products or squares. The power law is
    factor t^p m^q (...): monotone in thickness t and mass m for all exponents, unlike a
    polynomial, and suggested by the scaling of an elastic foundation: at a given motion
    p (t + h0) depends on m (t + h0) alone. It is fitted to logarithms, and left out where a value
    or covariate is not positive. The error of a case left out follows from the residual e and
    leverage h of the fit to all, e / (1 - h), without fitting again. Residuals of a computation
    are not noise: the F test screens for systematic curvature, and its p values are no
    probabilities.

    References
    ----------
    Bei (2003), Eq. 4-1: the plane. Allen, D.M. (1974), Technometrics 16:125-127,
    doi:10.1080/00401706.1974.10489157: prediction error by leaving out.
    """
    rows = []
    for head, fits in _all_fits(cases):
        plane = fits[0]
        enough = plane.percent() < 100.0 * ENOUGH
        rows += [
            head | {"plane_is_enough": enough} | _quality(fit, plane) | _power(fit) for fit in fits
        ]
    exponents = [_exponent(name) for name in covariates_of(cases)]
    columns = [*HEAD, "model", *_QUALITY, "factor", *exponents, "log_deviation"]
    return drop_single_life(pd.DataFrame(rows, columns=columns))


def predict_cases(cases: pd.DataFrame) -> pd.DataFrame:
    """Residuals, leave-one-out residuals and intervals of plane and power law at every case.

    One row per case, side, quantity and model ("plane" or "power law"): value, fitted value, their
    difference, the same with the case left out of the fit, leverage, 95 % confidence limits of the
    fitted mean and 95 % prediction limits of a new case. Limits are those of ordinary least squares
    for independent, normal residuals. They are the misfit of a smooth formula to a computation:
    prediction limits are where another computed case would be, not what a patient has.
    """
    columns = [*HEAD, "model", "case", *covariates_of(cases), *_POINT]
    parts = [
        _points(fit).assign(**head)
        for head, fits in _all_fits(cases)
        for fit in fits
        if fit.name in (PLANE, POWER_LAW)
    ]
    table = pd.concat(parts) if parts else pd.DataFrame(columns=columns)
    return drop_single_life(table[columns].reset_index(drop=True))


def _all_fits(cases: pd.DataFrame) -> Iterator[tuple[dict[str, str], list[_Fit]]]:
    """Return the fitted quantities with their models, the plane first."""
    if regression_shortfall(cases):
        return
    for labels, design, values in results_of(cases):
        yield labels, list(_fits(design, values))


def _fits(design: pd.DataFrame, values: Array) -> Iterator[_Fit]:
    """Models that leave a degree of freedom."""
    # Imported here: it costs more than a second, and only this job needs it.
    from statsmodels.regression.linear_model import OLS  # noqa: PLC0415

    points = design.drop(columns="case").to_numpy(dtype=np.float64)
    scaled = (points - points.mean(axis=0)) / np.ptp(points, axis=0)
    for name, (squares, products) in POLYNOMIALS.items():
        matrix = polynomial_matrix(scaled, squares, products)
        if np.linalg.matrix_rank(matrix) == matrix.shape[1] < len(values):
            yield _Fit(name, design, values, OLS(values, matrix).fit())
    if (values > 0.0).all() and (points > 0.0).all():
        matrix = np.column_stack([np.ones(len(values)), np.log(points)])
        yield _Fit(POWER_LAW, design, values, OLS(np.log(values), matrix).fit())


def _quality(fit: _Fit, plane: _Fit) -> dict[str, Any]:
    """Quality of a model's fit and prediction."""
    left_out = fit.left_out()
    tested = fit.name != POWER_LAW and fit.result.df_model > plane.result.df_model
    flat = np.ptp(fit.values) == 0.0
    return {
        "model": fit.name,
        "terms": len(fit.result.params),
        "r2": np.nan if flat else float(fit.result.rsquared),
        "adjusted_r2": np.nan if flat else float(fit.result.rsquared_adj),
        "rmse": float(np.linalg.norm(fit.values - fit.fitted()) / np.sqrt(fit.result.df_resid)),
        "leave_one_out_rmse": _root_mean_square(left_out),
        "leave_one_out_max": float(np.abs(left_out).max()),
        "leave_one_out_percent": fit.percent(),
        "p_value": float(fit.result.compare_f_test(plane.result)[1]) if tested else np.nan,
    }


def _power(fit: _Fit) -> dict[str, float]:
    """Coefficients of the power law; nothing for the others."""
    if fit.name != POWER_LAW:
        return {}
    logarithm, *exponents = (float(value) for value in fit.result.params)
    names = fit.design.columns.drop("case")
    return {
        "factor": float(np.exp(logarithm)),
        **{_exponent(name): value for name, value in zip(names, exponents, strict=True)},
        "log_deviation": float(np.sqrt(fit.result.mse_resid)),
    }


def _exponent(covariate: str) -> str:
    return _EXPONENTS.get(covariate, f"{covariate}_exponent")


def _points(fit: _Fit) -> pd.DataFrame:
    """Values of a model at each case."""
    fitted = fit.fitted()
    return fit.design.join(pd.DataFrame(fit.limits(), columns=_LIMITS)).assign(
        model=fit.name,
        value=fit.values,
        fitted=fitted,
        residual=fit.values - fitted,
        leave_one_out_residual=fit.left_out(),
        leverage=np.asarray(fit.result.get_influence().hat_matrix_diag),
    )


def _root_mean_square(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))
