"""Tables of a sweep: its cases, effects of the factors, and response surfaces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from kneewear.regression.response import (
    factor_effects,
    fit_response,
    response_quality,
    response_terms,
)
from kneewear.settings.cases import OUTPUTS
from kneewear.sides import BOTH, SIDES
from kneewear.studies.cases import column_name, join_sides
from kneewear.studies.sweep.plan import CASE

LABELS = ["side", "quantity", "unit"]
_EFFECTS = [
    "factor", "low", "high", "at_low", "at_centre", "at_high", "effect", "effect_percent", "span",
    "slope", "slope_low95", "slope_high95", "rank_correlation",
]  # fmt: skip
_QUALITY = [
    "model", "terms", "cases", "r2", "leave_one_out_rmse", "leave_one_out_percent",
    "predicted_share",
]  # fmt: skip
_TERMS = ["term", "coefficient", "standard_error"]


def tabulate_sweep(plan: pd.DataFrame, found: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Tables of a sweep from its plan and the results of `evaluate_cases`, by their file names.

    `sweep`: one row per case, factors, results of both sides and of each, and the failure;
    `effects`, `response` and `coefficients`: of each side (`both` first) and result, a row per
    factor, one row, and a row per term of its response surface. The last three are empty, with
    their headers, where too few cases have a result.
    """
    sweep = plan.merge(join_sides(found), on=CASE, validate="one_to_one")
    factors = [name for name in map(str, plan) if name != CASE]
    return {"sweep": sweep, **tabulate_effects(sweep, factors)}


def tabulate_effects(cases: pd.DataFrame, factors: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Effects, response surfaces and their terms over some columns of a table of cases.

    `effects`, `response` and `coefficients` as of `tabulate_sweep`.
    """
    parts: dict[str, list[pd.DataFrame]] = {"effects": [], "response": [], "coefficients": []}
    for side in (BOTH, *SIDES):
        for quantity, unit in OUTPUTS.items():
            for name, table in _tables_of(cases, factors, column_name(side, quantity)).items():
                labels = dict(zip(LABELS, (side, quantity, unit), strict=True))
                parts[name].append(table.assign(**labels)[[*LABELS, *table]])
    columns = {"effects": _EFFECTS, "response": _QUALITY, "coefficients": _TERMS}
    return {
        name: pd.concat(tables, ignore_index=True) if tables
        else pd.DataFrame(columns=[*LABELS, *columns[name]])
        for name, tables in parts.items()
    }  # fmt: skip


def _tables_of(sweep: pd.DataFrame, factors: Sequence[str], column: str) -> dict[str, pd.DataFrame]:
    """Tables of one result; none where it does not vary or too few cases have it."""
    known = sweep[np.isfinite(sweep[column].to_numpy(float))]
    varied = [name for name in factors if known[name].nunique() > 1]
    values = known[column].to_numpy(float)
    points = known[varied].to_numpy(float)
    surface = fit_response(points, values) if varied and np.ptp(values) > 0.0 else None
    if surface is None:
        return {}
    return {
        "effects": pd.DataFrame(list(factor_effects(surface, points, varied)), columns=_EFFECTS),
        "response": pd.DataFrame([response_quality(surface)], columns=_QUALITY),
        "coefficients": response_terms(surface, varied),
    }
