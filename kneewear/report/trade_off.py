"""Numbers of the trade-off tool: predictions over insert thickness and body mass with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from kneewear.report.style import quantity_name, unit_name

SHOWN = ("wear_depth", "creep_depth", "damage_depth", "damage_area", "damage_volume")
CONFIDENCE = 0.95
COEFFICIENTS = 3


def trade_off_numbers(cases: pd.DataFrame, regression: pd.DataFrame) -> dict[str, Any] | None:
    """Everything the tool computes with.

    Parameters
    ----------
    cases : DataFrame
        Tidy case table; its thicknesses and masses bound what may be asked.
    regression : DataFrame
        Table of :func:`kneewear.regression.fit_regression`.

    Returns
    -------
    dict or None
        Plain builtins: range of thickness (mm) and mass (kg), the inverse of the normal matrix of
        (1, thickness, mass), the quantile of Student's t, and for each life, side and quantity
        the coefficients and the standard deviation of the residuals. None without a regression or
        without residual degrees of freedom.

    Notes
    -----
    A new case (h, m) is predicted as `y = x . a` with x = (1, h, m), within
    `t s sqrt(1 + x . (X'X)^-1 . x)` with 95 % confidence: the textbook prediction interval of
    ordinary least squares. Residuals of a deterministic computation are misfit of the plane, not
    noise: the interval tells where another computed case would lie, not what a patient has.
    """
    design = cases[["thickness_mm", "body_mass_kg"]].drop_duplicates().astype(float)
    freedom = len(design) - COEFFICIENTS
    if regression.empty or freedom < 1:
        return None
    matrix = np.column_stack([np.ones(len(design)), design.to_numpy()])
    return {
        "thickness_mm": _range(design["thickness_mm"]),
        "body_mass_kg": _range(design["body_mass_kg"]),
        "inverse": np.linalg.inv(matrix.T @ matrix).tolist(),
        "quantile": float(student.ppf(0.5 + CONFIDENCE / 2.0, freedom)),
        "lives": list(dict.fromkeys(cases["life"])),
        "fits": [
            _fit(row, freedom) for row in regression.to_dict("records") if row["quantity"] in SHOWN
        ],
    }


def _range(values: pd.Series[float]) -> list[float]:
    return [float(values.min()), float(values.max())]


def _fit(row: Mapping[Any, Any], freedom: int) -> dict[str, Any]:
    """One plane; the residuals' deviation counts degrees of freedom, `rmse` does not."""
    deviation = float(row["rmse"]) * np.sqrt((freedom + COEFFICIENTS) / freedom)
    return {
        "life": row.get("life"),
        "side": row["side"],
        "name": quantity_name(row["quantity"]),
        "unit": unit_name(row["unit"]),
        "coefficients": [float(row[name]) for name in ("a0", "a1_per_mm", "a2_per_kg")],
        "deviation": float(deviation),
    }
