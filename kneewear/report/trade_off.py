"""Numbers of the trade-off tool: predictions over insert thickness and body mass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.regression.models import POWER_LAW
from kneewear.report.tables import quantity_name, unit_name

SHOWN = ("wear_depth", "creep_depth", "damage_depth", "damage_area", "damage_volume")
CONFIDENCE = 0.95
COEFFICIENTS = 3
POWER = ["factor", "thickness_exponent", "mass_exponent", "log_deviation"]


def trade_off_numbers(
    cases: pd.DataFrame, regression: pd.DataFrame, models: pd.DataFrame | None = None
) -> dict[str, Any] | None:
    """Numbers that the tool computes with.

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
    from scipy.special import stdtrit  # noqa: PLC0415 - only here

    design = cases[["thickness_mm", "body_mass_kg"]].drop_duplicates().astype(float)
    freedom = len(design) - COEFFICIENTS
    if regression.empty or freedom < 1:
        return None
    keys = [name for name in ("life", "side", "quantity") if name in regression]
    table = regression[regression["quantity"].isin(SHOWN)]
    if models is not None:
        wanted = (models["model"] == POWER_LAW) & ~models["plane_is_enough"].astype(bool)
        table = table.merge(models.loc[wanted, [*keys, *POWER]], how="left", on=keys)
    # The root mean square error does not count degrees of freedom.
    factor = np.sqrt((freedom + COEFFICIENTS) / freedom)
    limits = {str(name): [float(own.min()), float(own.max())] for name, own in design.items()}
    return {
        **limits,
        "inverse": _inverse(design.to_numpy()),
        "logarithmic_inverse": _inverse(np.log(design.to_numpy())),
        "quantile": float(stdtrit(freedom, 0.5 + CONFIDENCE / 2.0)),
        "lives": list(dict.fromkeys(cases["life"])),
        "fits": [
            {
                "life": row.get("life"),
                "side": row["side"],
                "name": quantity_name(row["quantity"]),
                "unit": unit_name(row["unit"]),
                "coefficients": [float(row[name]) for name in ("a0", "a1_per_mm", "a2_per_kg")],
                "deviation": float(row["rmse"] * factor),
                "power": _power_law(row),
            }
            for row in table.to_dict("records")
        ],
    }


def _inverse(design: NDArray[np.float64]) -> list[list[float]]:
    """Inverse of the normal matrix of a constant and two columns."""
    matrix = np.column_stack([np.ones(len(design)), design])
    inverse: list[list[float]] = np.linalg.inv(matrix.T @ matrix).tolist()
    return inverse


def _power_law(row: dict[Any, Any]) -> dict[str, Any] | None:
    """Coefficients of the power law's logarithm; None where the plane is enough."""
    if not np.isfinite(row.get("factor", np.nan)):
        return None
    factor, thickness, mass, deviation = (float(row[name]) for name in POWER)
    return {"coefficients": [np.log(factor), thickness, mass], "deviation": deviation}
