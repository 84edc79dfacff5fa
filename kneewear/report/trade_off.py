"""Numbers of the trade-off tool: predictions over insert thickness and body mass with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from kneewear.regression.models import POWER_LAW
from kneewear.report.tables import quantity_name, unit_name

SHOWN = ("wear_depth", "creep_depth", "damage_depth", "damage_area", "damage_volume")
CONFIDENCE = 0.95
COEFFICIENTS = 3


def trade_off_numbers(
    cases: pd.DataFrame, regression: pd.DataFrame, models: pd.DataFrame | None = None
) -> dict[str, Any] | None:
    """Everything the tool computes with.

    Parameters
    ----------
    cases : DataFrame
        Tidy case table; its thicknesses and masses bound what may be asked.
    regression : DataFrame
        Table of :func:`kneewear.regression.fit.fit_regression`.
    models : DataFrame, optional
        Table of :func:`kneewear.regression.models.compare_models`; without it no power law.

    Returns
    -------
    dict or None
        Plain builtins: range of thickness (mm) and mass (kg), the inverse of the normal matrix of
        (1, thickness, mass) and that of (1, ln thickness, ln mass), the quantile of Student's t,
        and for each life, side and quantity the coefficients and the standard deviation of the
        residuals, of the plane and, where a plane is not enough, of the power law's logarithm.
        None without a regression or without residual degrees of freedom.

    Notes
    -----
    A new case (h, m) is predicted as `y = x . a` with x = (1, h, m), within
    `t s sqrt(1 + x . (X'X)^-1 . x)` with 95 % confidence (ordinary least squares); without the 1
    under the root it is the confidence interval of the mean. The power law is the same in
    logarithms. Residuals of a deterministic computation are misfit, not noise: the interval is
    that of another computed case, not of a patient.
    """
    design = cases[["thickness_mm", "body_mass_kg"]].drop_duplicates().astype(float)
    freedom = len(design) - COEFFICIENTS
    if regression.empty or freedom < 1:
        return None
    power = {} if models is None else _power_laws(models)
    return {
        "thickness_mm": _range(design["thickness_mm"]),
        "body_mass_kg": _range(design["body_mass_kg"]),
        "inverse": _inverse(design.to_numpy()),
        "logarithmic_inverse": _inverse(np.log(design.to_numpy())),
        "quantile": float(stdtrit(freedom, 0.5 + CONFIDENCE / 2.0)),
        "lives": list(dict.fromkeys(cases["life"])),
        "fits": [
            _fit(row, freedom) | {"power": power.get(_key(row))}
            for row in regression.to_dict("records")
            if row["quantity"] in SHOWN
        ],
    }


def _inverse(places: NDArray[np.float64]) -> list[list[float]]:
    """Inverse of the normal matrix of a constant and two columns."""
    matrix = np.column_stack([np.ones(len(places)), places])
    inverse: list[list[float]] = np.linalg.inv(matrix.T @ matrix).tolist()
    return inverse


def _power_laws(models: pd.DataFrame) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Power laws by life, side and quantity, where the plane is not enough."""
    wanted = (models["model"] == POWER_LAW) & ~models["plane_is_enough"].astype(bool)
    return {
        _key(row): {
            "coefficients": [
                float(np.log(row["factor"])),
                float(row["thickness_exponent"]),
                float(row["mass_exponent"]),
            ],
            "deviation": float(row["log_deviation"]),
        }
        for row in models[wanted].to_dict("records")
    }


def _key(row: Mapping[Any, Any]) -> tuple[Any, ...]:
    return row.get("life"), row["side"], row["quantity"]


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
