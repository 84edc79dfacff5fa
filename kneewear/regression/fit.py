"""Linear regression of the results on insert thickness and body mass (Bei 2003, Eq. 4-1)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.regression.groups import QUANTITIES, drop_single_life, side_tables, units_of

COEFFICIENTS = ("a0", "a1_per_mm", "a2_per_kg")
CONFIDENCE = 0.95
LOST_MASS_KG = 10.0
COLUMNS = [
    "life",
    "side",
    "quantity",
    "unit",
    *COEFFICIENTS,
    "r2",
    "a0_se",
    "a1_se",
    "a2_se",
    "a0_low95",
    "a0_high95",
    "a1_low95",
    "a1_high95",
    "a2_low95",
    "a2_high95",
    "rmse",
    "cases",
    "mm_per_10kg",
]


def regression_shortfall(cases: pd.DataFrame) -> str:
    """Why these cases cannot carry the regression; empty when they can.

    Parameters
    ----------
    cases : DataFrame
        Tidy case table.

    Notes
    -----
    Three coefficients need at least two thicknesses and two masses; standard errors need at least
    four cases, and thickness and mass must not vary together.
    """
    design = cases[["thickness_mm", "body_mass_kg"]].drop_duplicates().astype(float)
    levels = design.nunique()
    if min(levels) < 2:
        return (
            f"{levels['thickness_mm']} thickness and {levels['body_mass_kg']} body mass in the "
            "study; the regression needs at least two of each"
        )
    if len(design) < 4:
        return f"{len(design)} cases in the study; the regression needs at least four"
    if np.linalg.matrix_rank(_design_matrix(design)) < 3:
        return "thickness and body mass vary together, so their effects cannot be told apart"
    return ""


def fit_regression(cases: pd.DataFrame) -> pd.DataFrame:
    """Fit each result of each side as a plane over insert thickness and body mass.

    Parameters
    ----------
    cases : DataFrame
        Tidy case table (`tables/cases.csv`).

    Returns
    -------
    DataFrame
        One row a side and quantity: coefficients of
        `a0 + a1_per_mm * thickness_mm + a2_per_kg * body_mass_kg`, r2, standard errors, 95 %
        limits, root mean square residual, number of cases and `mm_per_10kg`, the insert
        thickness that has the effect of 10 kg less body mass. A life column comes first when the
        study has several lives. Empty, with its header, when
        :func:`regression_shortfall` gives a reason.

    Notes
    -----
    Ordinary least squares. Limits take residuals as independent and normal; they are model
    misfit of a deterministic computation, so the limits say how well the plane fits, not how
    certain the prediction is. `mm_per_10kg` = -10 a2 / a1 is negative where thickness and mass
    act in the same direction (area).

    References
    ----------
    Bei, Y. (2003) Dynamic simulation of knee joint contact during human movement. Dissertation,
    University of Florida; Eq. 4-1 and Table 4-1.
    """
    rows = []
    units = units_of(cases)
    if not regression_shortfall(cases):
        for life, side, table in side_tables(cases):
            design = table.index.to_frame(index=False)
            for quantity in QUANTITIES:
                fit = _fit_plane(design, table[quantity].to_numpy(dtype=np.float64))
                rows.append(
                    {"life": life, "side": side, "quantity": quantity, "unit": units[quantity]}
                    | fit
                )
    return drop_single_life(pd.DataFrame(rows, columns=COLUMNS))


def _design_matrix(design: pd.DataFrame) -> NDArray[np.float64]:
    """Columns one, thickness and mass."""
    values = design[["thickness_mm", "body_mass_kg"]].to_numpy(dtype=np.float64)
    return np.column_stack([np.ones(len(values)), values])


def _fit_plane(design: pd.DataFrame, values: NDArray[np.float64]) -> dict[str, float]:
    """Coefficients, their uncertainty and the quality of one fit."""
    # Imported here: it costs more than a second, and only this job needs it.
    from statsmodels.regression.linear_model import OLS  # noqa: PLC0415

    fit = OLS(values, _design_matrix(design)).fit()
    limits = fit.conf_int(alpha=1.0 - CONFIDENCE)
    row = dict(zip(COEFFICIENTS, fit.params, strict=True))
    for index, name in enumerate(("a0", "a1", "a2")):
        row[f"{name}_se"] = fit.bse[index]
        row[f"{name}_low95"], row[f"{name}_high95"] = limits[index]
    flat = np.ptp(values) == 0.0
    return {
        **{name: float(value) for name, value in row.items()},
        "r2": float("nan") if flat else float(fit.rsquared),
        "rmse": float(np.sqrt(np.mean(fit.resid**2))),
        "cases": len(values),
        "mm_per_10kg": thickness_equivalent(row["a1_per_mm"], row["a2_per_kg"]),
    }


def thickness_equivalent(a1_per_mm: float, a2_per_kg: float) -> float:
    """Insert thickness, mm, that has the effect of 10 kg less body mass."""
    return float(-LOST_MASS_KG * a2_per_kg / a1_per_mm) if a1_per_mm else float("nan")
