"""Linear regression of the results on the covariates of the cases, and on contact pressure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.analysis.groups import (
    BODY_MASS,
    HEAD,
    QUANTITIES,
    THICKNESS,
    covariates_of,
    drop_single_life,
    results_of,
    side_tables,
    units_of,
)

CONFIDENCE = 0.95
LOST_MASS_KG = 10.0
PREDICTORS = ("max_pressure", "avg_pressure")
_PER_UNIT = {THICKNESS: "per_mm", BODY_MASS: "per_kg"}
_MIN_CASES = 3
# Residual degrees of freedom below which R² and standard errors do not judge a fit.
MIN_FREEDOM = 3


def regression_shortfall(cases: pd.DataFrame) -> str:
    """Why these cases cannot carry the regression; empty when they can.

    The coefficients need at least two levels of each covariate; standard errors need more cases
    than coefficients, and covariates must not vary together.
    """
    names = covariates_of(cases)
    design = cases[names].drop_duplicates().astype(float)
    levels = design.nunique()
    if min(levels) < 2:
        found = f"{levels[THICKNESS]} thickness and {levels[BODY_MASS]} body mass"
        others = "".join(f" and {levels[name]} values of {name}" for name in names[2:])
        return f"{found}{others} in the study; the regression needs at least two of each"
    if len(design) < len(names) + 2:
        return f"{len(design)} cases in the study; the regression needs at least {len(names) + 2}"
    if np.linalg.matrix_rank(_design_matrix(design)) < len(names) + 1:
        names_shown = "thickness and body mass" if len(names) == 2 else ", ".join(names)
        return f"{names_shown} vary together, so their effects cannot be separated"
    return ""


def fit_regression(cases: pd.DataFrame) -> pd.DataFrame:
    """Fit each result of each side as a plane over the covariates of the cases.

    Parameters
    ----------
    cases : DataFrame
        Tidy case table (`tables/cases.csv`); its covariates are thickness, body mass and every
        further column.

    Returns
    -------
    DataFrame
        One row per side and quantity: coefficients of
        `a0 + a1_per_mm * thickness_mm + a2_per_kg * body_mass_kg` (and `a3_<name>` of each further
        covariate), r2, standard errors, 95 % limits, root mean square residual `rmse`, number of
        cases and `mm_per_10kg`, the insert thickness that has the effect of 10 kg less body mass. A
        life column comes first when the study has several lives. Empty, with its header, when
        :func:`regression_shortfall` gives a reason.

    Notes
    -----
    Ordinary least squares (Bei 2003, Eq. 4-1 and Table 4-1). Limits assume independent, normal
    residuals; residuals are model misfit of a deterministic computation, so the limits describe how
    well the plane fits, not how certain the prediction is. Standard errors, limits and rmse divide
    by the same degrees of freedom, cases minus coefficients. `mm_per_10kg` = -10 a2 / a1 is
    negative where thickness and mass act in the same direction (area).
    """
    possible = not regression_shortfall(cases)
    rows = [
        labels | _fit_plane(design.drop(columns="case"), values)
        for labels, design, values in (results_of(cases) if possible else ())
    ]
    return drop_single_life(pd.DataFrame(rows, columns=_columns(covariates_of(cases))))


def correlate_pressure(cases: pd.DataFrame) -> pd.DataFrame:
    """Regress each quantity on the maximum and on the maximum average pressure.

    Parameters
    ----------
    cases : DataFrame
        Tidy case table.

    Returns
    -------
    DataFrame
        One row per side, quantity and predictor (max_pressure, avg_pressure) with intercept, slope
        and r2 of a straight line (Bei 2003, section 4.4). A life column comes first when the study
        has several lives. Empty, with its header, for fewer than three cases.
    """
    units = units_of(cases)
    rows = [
        (
            life,
            side,
            quantity,
            units[quantity],
            predictor,
            *_fit_line(table[predictor].to_numpy(), table[quantity].to_numpy()),
            len(table),
        )
        for life, side, table in side_tables(cases)
        if len(table) >= _MIN_CASES
        for quantity in QUANTITIES
        for predictor in PREDICTORS
        if quantity != predictor
    ]
    columns = [*HEAD, "predictor", "intercept", "slope_per_mpa", "r2", "cases"]
    return drop_single_life(pd.DataFrame(rows, columns=columns))


def _coefficients(names: list[str]) -> list[str]:
    """Columns of the coefficients: a0, a1_per_mm, a2_per_kg, a3_<name>, ..."""
    slopes = [f"a{n}_{_PER_UNIT.get(name, name)}" for n, name in enumerate(names, start=1)]
    return ["a0", *slopes]


def _columns(names: list[str]) -> list[str]:
    numbers = range(len(names) + 1)
    limits = [f"a{n}_{end}95" for n in numbers for end in ("low", "high")]
    errors = [f"a{n}_se" for n in numbers]
    return [*HEAD, *_coefficients(names), "r2", *errors, *limits, "rmse", "cases", "mm_per_10kg"]


def _design_matrix(design: pd.DataFrame) -> NDArray[np.float64]:
    """Column of ones, and one column per covariate."""
    values = design.to_numpy(dtype=np.float64)
    return np.column_stack([np.ones(len(values)), values])


def _fit_plane(design: pd.DataFrame, values: NDArray[np.float64]) -> dict[str, Any]:
    """Coefficients, their uncertainty and the quality of one fit."""
    # Imported here: it costs more than a second, and only this job needs it.
    from statsmodels.regression.linear_model import OLS  # noqa: PLC0415

    fit = OLS(values, _design_matrix(design)).fit()
    limits = fit.conf_int(alpha=1.0 - CONFIDENCE)
    row = dict(zip(_coefficients(list(map(str, design))), map(float, fit.params), strict=True))
    for index in range(len(fit.params)):
        row[f"a{index}_se"] = float(fit.bse[index])
        row[f"a{index}_low95"], row[f"a{index}_high95"] = map(float, limits[index])
    a1, a2 = float(fit.params[1]), float(fit.params[2])
    return {
        **row,
        "r2": float("nan") if np.ptp(values) == 0.0 else float(fit.rsquared),
        "rmse": float(np.sqrt(fit.mse_resid)),
        "cases": len(values),
        "mm_per_10kg": -LOST_MASS_KG * a2 / a1 if a1 else float("nan"),
    }


def _fit_line(
    predictor: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Intercept, slope and r2 of the least-squares line; NaN when either does not vary."""
    x, y = predictor - predictor.mean(), values - values.mean()
    spread = float(x @ x), float(y @ y)
    if not min(spread) > 0.0:
        return float("nan"), float("nan"), float("nan")
    slope = float(x @ y) / spread[0]
    return float(values.mean() - slope * predictor.mean()), slope, slope**2 * spread[0] / spread[1]
