"""Whether a plane over thickness and mass is enough, and what to take where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.regression.fit import CONFIDENCE, regression_shortfall
from kneewear.regression.groups import QUANTITIES, drop_single_life, side_tables, units_of

Array = NDArray[np.float64]

PLANE, POWER_LAW = "plane", "power law"
# Powers of thickness and mass of the terms beside the constant one.
POLYNOMIALS: dict[str, tuple[tuple[int, int], ...]] = {
    PLANE: ((1, 0), (0, 1)),
    "interaction": ((1, 0), (0, 1), (1, 1)),
    "quadratic": ((1, 0), (0, 1), (2, 0), (0, 2)),
    "quadratic and interaction": ((1, 0), (0, 1), (2, 0), (0, 2), (1, 1)),
}
# A plane that predicts a case it has not seen within this part of the mean is enough.
ENOUGH = 0.02
MODEL_COLUMNS = [
    "life", "side", "quantity", "unit", "model", "terms", "r2", "adjusted_r2", "rmse",
    "leave_one_out_rmse", "leave_one_out_max", "leave_one_out_percent", "p_value",
    "plane_is_enough", "factor", "thickness_exponent", "mass_exponent", "log_deviation",
]  # fmt: skip
POINT_COLUMNS = [
    "life", "side", "quantity", "unit", "model", "case", "thickness_mm", "body_mass_kg", "value",
    "fitted", "residual", "leave_one_out_residual", "leverage", "confidence_low95",
    "confidence_high95", "prediction_low95", "prediction_high95",
]  # fmt: skip


@dataclass(frozen=True)
class _Fit:
    """One model fitted by ordinary least squares, with what it makes of each case left out."""

    name: str
    design: pd.DataFrame
    values: Array
    result: Any

    @property
    def logarithmic(self) -> bool:
        """Whether the logarithm was fitted."""
        return self.name == POWER_LAW

    @property
    def _influence(self) -> Any:
        return self.result.get_influence()

    def fitted(self) -> Array:
        """Values of the model at the cases."""
        return self._back(np.asarray(self.result.fittedvalues))

    def left_out(self) -> Array:
        """Value of every case less what the model fitted to all others makes of it."""
        missed = np.asarray(self.result.model.endog) - self._influence.resid_press
        return self.values - self._back(missed)

    def limits(self) -> Array:
        """Lower and upper limit of the mean and of a new case, shape (n, 4)."""
        frame = self.result.get_prediction().summary_frame(alpha=1.0 - CONFIDENCE)
        names = ["mean_ci_lower", "mean_ci_upper", "obs_ci_lower", "obs_ci_upper"]
        return self._back(frame[names].to_numpy(dtype=np.float64))

    def leverage(self) -> Array:
        """Weight of each case's own value in its fitted one."""
        return np.asarray(self._influence.hat_matrix_diag)

    def _back(self, modelled: Array) -> Array:
        return np.exp(modelled) if self.logarithmic else modelled


def compare_models(cases: pd.DataFrame) -> pd.DataFrame:
    """Fit planes, curved polynomials and a power law, and say which predicts unseen cases best.

    Parameters
    ----------
    cases : DataFrame
        Tidy case table (`tables/cases.csv`).

    Returns
    -------
    DataFrame
        One row a side, quantity and model: number of `terms`, `r2` and `adjusted_r2` (of the power
        law those of the logarithm), root mean square residual `rmse`; root mean square and largest
        error of each case predicted from all others, in the unit of the quantity and in per cent
        of its mean; `p_value` of the F test of the terms a polynomial has beyond the plane's;
        `plane_is_enough`, whether the plane's leave-one-out error is below 2 % of the mean; and
        `factor`, exponents and `log_deviation` (standard deviation of the residuals) of the power
        law. Models without a residual degree of freedom are left out. A life column comes first
        when the study has several lives. Empty, with its header, when there is no regression.

    Notes
    -----
    Polynomials are c0 + c1 t + c2 m (+ c3 t m) (+ c4 t^2 + c5 m^2). The power law is
    factor t^p m^q: monotone in thickness t and mass m whatever its exponents, which a polynomial
    is not, and what the scaling of an elastic foundation suggests: at a given motion p (t + h0)
    depends on m (t + h0) alone. It is fitted to logarithms, and left out where a value is not
    positive. The error of a case left out follows from the residual e and leverage h of the fit to
    all, e / (1 - h), without fitting again. Residuals of a computation are no noise: the F test
    screens for curvature that is systematic, and its p values are no probabilities.

    References
    ----------
    Bei (2003), Eq. 4-1: the plane. Allen, D.M. (1974), Technometrics 16:125-127: prediction error
    by leaving out.
    """
    rows = []
    for head, fits in _all_fits(cases):
        plane = fits[0]
        enough = _percent(plane) < 100.0 * ENOUGH
        rows += [
            head | {"plane_is_enough": enough} | _quality(fit, plane) | _power(fit) for fit in fits
        ]
    return drop_single_life(pd.DataFrame(rows, columns=MODEL_COLUMNS))


def predict_cases(cases: pd.DataFrame) -> pd.DataFrame:
    """Residuals, leave-one-out residuals and intervals of plane and power law at every case.

    Parameters
    ----------
    cases : DataFrame
        Tidy case table (`tables/cases.csv`).

    Returns
    -------
    DataFrame
        One row a case, side, quantity and model ("plane" or "power law"): value, fitted value,
        their difference, the same with the case left out of the fit, leverage, 95 % confidence
        limits of the fitted mean and 95 % prediction limits of a new case there. A life column
        comes first when the study has several lives. Empty when there is no regression.

    Notes
    -----
    Limits are those of ordinary least squares (statsmodels), which takes residuals as independent
    and normal. They are the misfit of a smooth formula to a computation: prediction limits say
    where another computed case would lie, not what a patient has.
    """
    parts = [
        _points(fit).assign(**head)
        for head, fits in _all_fits(cases)
        for fit in fits
        if fit.name in (PLANE, POWER_LAW)
    ]
    table = pd.concat(parts) if parts else pd.DataFrame(columns=POINT_COLUMNS)
    return drop_single_life(table[POINT_COLUMNS].reset_index(drop=True))


def _all_fits(cases: pd.DataFrame) -> Iterator[tuple[dict[str, str], list[_Fit]]]:
    """What is fitted, and its models, the plane first."""
    if regression_shortfall(cases):
        return
    units = units_of(cases)
    for life, side, table in side_tables(cases):
        design = table.index.to_frame(index=False)
        for quantity in QUANTITIES:
            head = {"life": life, "side": side, "quantity": quantity, "unit": units[quantity]}
            yield head, list(_fits(design, table[quantity].to_numpy(dtype=np.float64)))


def _fits(design: pd.DataFrame, values: Array) -> Iterator[_Fit]:
    """Models that leave a degree of freedom."""
    # Imported here: it costs more than a second, and only this job needs it.
    from statsmodels.regression.linear_model import OLS  # noqa: PLC0415

    places = design[["thickness_mm", "body_mass_kg"]].to_numpy(dtype=np.float64)
    scaled = (places - places.mean(axis=0)) / np.ptp(places, axis=0)
    for name, powers in POLYNOMIALS.items():
        terms = [scaled[:, 0] ** i * scaled[:, 1] ** j for i, j in powers]
        matrix = np.column_stack([np.ones(len(values)), *terms])
        if np.linalg.matrix_rank(matrix) == matrix.shape[1] < len(values):
            yield _Fit(name, design, values, OLS(values, matrix).fit())
    if (values > 0.0).all():
        matrix = np.column_stack([np.ones(len(values)), np.log(places)])
        yield _Fit(POWER_LAW, design, values, OLS(np.log(values), matrix).fit())


def _quality(fit: _Fit, plane: _Fit) -> dict[str, Any]:
    """How well a model fits and predicts."""
    residual, left_out = fit.values - fit.fitted(), fit.left_out()
    extra = fit.result.df_model - plane.result.df_model
    tested = not fit.logarithmic and extra > 0
    flat = np.ptp(fit.values) == 0.0
    return {
        "model": fit.name,
        "terms": len(fit.result.params),
        "r2": np.nan if flat else float(fit.result.rsquared),
        "adjusted_r2": np.nan if flat else float(fit.result.rsquared_adj),
        "rmse": _root_mean_square(residual),
        "leave_one_out_rmse": _root_mean_square(left_out),
        "leave_one_out_max": float(np.abs(left_out).max()),
        "leave_one_out_percent": _percent(fit),
        "p_value": float(fit.result.compare_f_test(plane.result)[1]) if tested else np.nan,
    }


def _percent(fit: _Fit) -> float:
    """Leave-one-out error in per cent of the mean value."""
    return 100.0 * _root_mean_square(fit.left_out()) / abs(float(fit.values.mean()))


def _power(fit: _Fit) -> dict[str, float]:
    """Coefficients of the power law; nothing of the others."""
    if not fit.logarithmic:
        return {}
    logarithm, thickness, mass = (float(value) for value in fit.result.params)
    return {
        "factor": float(np.exp(logarithm)),
        "thickness_exponent": thickness,
        "mass_exponent": mass,
        "log_deviation": float(np.sqrt(fit.result.mse_resid)),
    }


def _points(fit: _Fit) -> pd.DataFrame:
    """What a model makes of each case."""
    names = ["confidence_low95", "confidence_high95", "prediction_low95", "prediction_high95"]
    return fit.design.join(pd.DataFrame(fit.limits(), columns=names)).assign(
        model=fit.name,
        value=fit.values,
        fitted=fit.fitted(),
        residual=fit.values - fit.fitted(),
        leave_one_out_residual=fit.left_out(),
        leverage=fit.leverage(),
    )


def _root_mean_square(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))
