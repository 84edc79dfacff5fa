"""Data of the charts that readers explore on the page: all cases, and the minimum thickness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from kneewear.analysis.groups import covariates_of
from kneewear.analysis.models import PLANE, POWER_LAW
from kneewear.analysis.regression import CONFIDENCE
from kneewear.base.sides import SIDES
from kneewear.report.derived import Settings
from kneewear.report.tables import quantity_name, rows_with, unit_name
from kneewear.report.wear_tables import cases_outside, leading
from kneewear.wear.leading import SUMS, WEAR

# Quantities that fall with thickness, for which the decision tool takes limits.
LIMITED = ("max_pressure", "avg_pressure", "max_wear_depth", "damage_depth", "damage_volume")
COEFFICIENTS = 3
POWER = ["factor", "thickness_exponent", "mass_exponent", "log_deviation"]


def limit_fits(
    cases: pd.DataFrame, regression: pd.DataFrame, models: pd.DataFrame | None = None
) -> dict[str, Any] | None:
    """Fits of the decision tool; None without a regression or without degrees of freedom.

    A new case (h, m) is predicted as `y = x . a` with x = (1, h, m), within `t s sqrt(1 + x .
    (X'X)^-1 . x)` with 95 % confidence (ordinary least squares). Where the power law of `models`
    predicts cases that are left out better than the plane, it is used: the same in logarithms.
    Residuals of a deterministic computation are misfit, not noise: the interval is that of another
    computed case, not of a patient. Results that do not fall with thickness are left out: no
    minimum thickness follows from their limits.
    """
    design = cases[["thickness_mm", "body_mass_kg"]].drop_duplicates().astype(float)
    freedom = len(design) - COEFFICIENTS
    if regression.empty or freedom < 1 or len(covariates_of(cases)) > 2:
        return None
    keys = [name for name in ("life", "side", "quantity") if name in regression]
    table = regression[regression["quantity"].isin(LIMITED)]
    if models is not None:
        plane, power = (rows_with(models, model=name) for name in (PLANE, POWER_LAW))
        error = "leave_one_out_rmse"
        both = power.merge(plane[[*keys, error]], on=keys, suffixes=("", "_plane"))
        better = both[both[error] < both[f"{error}_plane"]]
        table = table.merge(better[[*keys, *POWER]], how="left", on=keys)
    return {
        **{str(name): [float(own.min()), float(own.max())] for name, own in design.items()},
        "inverse": _inverse(design.to_numpy()),
        "logarithmic_inverse": _inverse(np.log(design.to_numpy())),
        "quantile": float(scipy.special.stdtrit(freedom, 0.5 + CONFIDENCE / 2.0)),
        "lives": list(dict.fromkeys(cases["life"])),
        "fits": [
            {
                "life": row.get("life"),
                "side": row["side"],
                "quantity": row["quantity"],
                "name": quantity_name(row["quantity"]),
                "unit": unit_name(row["unit"]),
                "coefficients": [float(row[name]) for name in ("a0", "a1_per_mm", "a2_per_kg")],
                "deviation": float(row["rmse"]),
                "power": _power_law(row),
            }
            for row in table.to_dict("records")
            if row["a1_per_mm"] < 0.0
        ],
    }


def _inverse(design: NDArray[np.float64]) -> list[list[float]]:
    """Inverse of the normal matrix of a constant and two columns."""
    matrix = np.column_stack([np.ones(len(design)), design])
    inverse: list[list[float]] = np.linalg.inv(matrix.T @ matrix).tolist()
    return inverse


def _power_law(row: dict[Any, Any]) -> dict[str, Any] | None:
    """Coefficients of the power law's logarithm; None where the plane predicts better."""
    if not np.isfinite(row.get("factor", np.nan)):
        return None
    factor, thickness, mass, deviation = (float(row[name]) for name in POWER)
    return {"coefficients": [np.log(factor), thickness, mass], "deviation": deviation}


def cases_data(tables: Mapping[str, pd.DataFrame], settings: Settings) -> dict[str, Any] | None:
    """Data of the chart of all cases of the first life; None without several masses."""
    cases = tables.get("cases")
    if cases is None or cases["body_mass_kg"].nunique() < 2:
        return None
    life = str(cases["life"].iloc[0])
    own = rows_with(cases, life=life)
    depth, report = leading(settings), settings["report"]
    # Volumes are sums of both sides; all else is the larger value.
    quantities = {
        depth.quantity: ("max", "mm", None),
        "wear_volume": ("sum", "mm3", None),
        "max_pressure": ("max", "MPa", report["pressure_limit_mpa"]),
        "avg_pressure": ("max", "MPa", report["avg_pressure_limit_mpa"]),
    }
    keys = ["case", "thickness_mm", "body_mass_kg"]
    values = pd.DataFrame(
        {
            name: rows_with(own, quantity=name).groupby(keys, sort=False)["value"].agg(statistic)
            for name, (statistic, _, _) in quantities.items()
        }
    ).dropna()
    # More than one other variable: lines over mass would not be one case each.
    if not len(values) or values.reset_index()[keys[1:]].duplicated().any():
        return None
    outside = set(cases_outside(tables.get("validity"), [life]).get(life, []))
    middle = tables["centre"]["case"].iloc[0]
    names = [str(case) for case, _, _ in values.index]
    return {
        "quantities": [
            {"label": quantity_name(name), "unit": unit_name(unit), "limit": limit}
            for name, (_, unit, limit) in quantities.items()
        ],
        "cases": [
            {
                "name": str(case),
                "label": f"{thickness:g} mm, {mass:g} kg",
                "thickness_mm": thickness,
                "body_mass_kg": mass,
                "outside": case in outside,
                "values": row.round(6).tolist(),
            }
            for (case, thickness, mass), row in zip(values.index, values.to_numpy(), strict=True)
        ],
        "first": names.index(middle) if middle in names else 0,
    }


def decision_data(tables: Mapping[str, pd.DataFrame], settings: Settings) -> dict[str, Any] | None:
    """Data of the decision tool on the page; None where the study has no regression."""
    if not {"cases", "regression"} <= set(tables):
        return None
    regression = tables["regression"]
    if leading(settings) is WEAR:
        regression = regression[~regression["quantity"].isin(SUMS)]
    fits = limit_fits(tables["cases"], regression, tables.get("regression_models"))
    if fits is None:
        return None
    report = settings["report"]
    limits = {
        "max_pressure": report["pressure_limit_mpa"],
        "avg_pressure": report["avg_pressure_limit_mpa"],
    }
    mass = float(tables["centre"]["body_mass_kg"].iloc[0])
    return fits | {
        "limits": limits,
        "mass": mass,
        "sides": [side for side in SIDES if side in set(tables["cases"]["side"])],
    }
