"""Discretisation error of every reported quantity at each accuracy a study can choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.analysis.groups import QUANTITIES
from kneewear.base.accuracy import BOUNDS_PERCENT, levels_of_accuracy
from kneewear.base.sides import SIDES
from kneewear.evidence.verification.settings import VerificationStudy
from kneewear.geometry.grid import build_grid
from kneewear.geometry.knee import KneeModel
from kneewear.motion.cases import simulate_cases
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.records import record_cycles
from kneewear.wear.summary import summarize_cases

# Moves by at most 0.07 % with 1,200 frames (real implant, equilibria).
CONVERGED: Mapping[str, Any] = {
    "grid": {"rows": 400, "columns": 300},
    "coarse_grid": {"rows": 200, "columns": 150},
    "simulation": {"frames": 800},
}
AS_CONFIGURED = "as configured"
_REPORTED = (*QUANTITIES, "max_wear_depth", "max_creep_depth", "wear_volume", "creep_volume")
_KEYS = ["life", "side", "quantity", "unit"]


def verify_accuracy(
    knee: KneeModel,
    study: VerificationStudy,
    prepare_activities: Callable[[int], Sequence[Activity]],
) -> pd.DataFrame:
    """Results of the study's case at each accuracy, and as configured, against converged ones.

    `prepare_activities` returns the activities of the lives with a number of frames. The surface is
    never updated. One row per accuracy, life, side and quantity: `elements` (of a side), `frames`,
    `value`, `converged`, `error_percent` and `bound_percent` (NaN as configured). Raises
    ConvergenceError if the case does not converge.
    """
    configured = study.model_dump(include={"grid", "coarse_grid", "simulation"})
    levels = {AS_CONFIGURED: configured, **levels_of_accuracy()}
    converged = _results(knee, study, CONVERGED, prepare_activities)
    tables = []
    for name, level in levels.items():
        grid, frames = level["grid"], level["simulation"]["frames"]
        found = _results(knee, study, level, prepare_activities)
        table = pd.concat([found, converged.rename("converged")], axis=1).reset_index()
        table.insert(0, "accuracy", name)
        table.insert(1, "elements", grid["rows"] * grid["columns"])
        table.insert(2, "frames", frames)
        table["error_percent"] = 1e2 * (table["value"] / table["converged"] - 1.0)
        bounds = {str(key): bound for key, bound in BOUNDS_PERCENT.items()}
        tables.append(table.assign(bound_percent=bounds.get(name, np.nan)))
    return pd.concat(tables, ignore_index=True)


def _results(
    knee: KneeModel,
    study: VerificationStudy,
    level: Mapping[str, Any],
    prepare_activities: Callable[[int], Sequence[Activity]],
) -> pd.Series:
    """Reported quantities of the study's case with the elements and frames of a level."""
    grid, coarse = (
        build_grid(knee.implant, level[key]["rows"], level[key]["columns"])
        for key in ("grid", "coarse_grid")
    )
    model = replace(knee, grid=grid, coarse_grid=coarse)
    histories = {
        activity.name: simulate_cases(model, activity, [study.only_case], study.simulation)
        for activity in prepare_activities(level["simulation"]["frames"])
    }
    wear = study.wear.without_updates()
    maps = accumulate_wear(histories, grid, wear)
    summary = summarize_cases(maps, record_cycles(histories), grid, wear)
    reported = summary["side"].isin(SIDES) & summary["quantity"].isin(_REPORTED)
    return summary[reported].set_index(_KEYS)["value"]
