"""Results of one case with one choice of method changed at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.geometry.element_grid import ElementGrid
from kneewear.settings.simulation import SimulationSettings
from kneewear.settings.wear import WearSettings
from kneewear.simulation.history import ContactHistory
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.records import record_cycles
from kneewear.wear.summary import summarize_cases

Histories = Mapping[str, ContactHistory]  # by activity

# Frames with a load above this fraction of the largest are stance.
STANCE = 0.4
_KEYS = ["case", "life", "side", "quantity", "unit"]
_ALTERNATIVES = {
    "force_direction": {"minimum_distance": "mid_surface", "mid_surface": "minimum_distance"},
    "analysis": {"forward": "quasi_static", "quasi_static": "forward"},
    # A distance table is not built where exact distances are configured.
    "distance": {"table": "exact"},
}


def change_methods(settings: SimulationSettings) -> dict[str, SimulationSettings]:
    """Settings with one choice of method changed, by names such as "analysis: quasi static"."""
    plain = settings.model_dump(mode="json")
    changes: dict[str, dict[str, Any]] = {
        f"{key}: {others[plain[key]]}".replace("_", " "): {key: others[plain[key]]}
        for key, others in _ALTERNATIVES.items()
        if plain[key] in others
    }
    return {name: SimulationSettings(**plain | change) for name, change in changes.items()}


def compare_methods(
    histories: Histories,
    changed: Mapping[str, Histories],
    grid: ElementGrid,
    settings: WearSettings,
) -> pd.DataFrame:
    """Every result of a case as configured (`value`) and with each method `changed`.

    The surface is never updated; blocks in the settings are ignored.
    """
    reference = _results(histories, grid, settings)
    columns = ["variant", *_KEYS, "value", "changed", "relative_difference"]
    tables = [
        pd.concat([reference, _results(others, grid, settings).rename("changed")], axis=1)
        .reset_index()
        .assign(variant=name)
        for name, others in changed.items()
    ]
    table = pd.concat(tables, ignore_index=True)
    difference = (table["changed"] - table["value"]) / table["value"].abs().replace(0.0, np.nan)
    return table.assign(relative_difference=difference)[columns]


def _results(histories: Histories, grid: ElementGrid, settings: WearSettings) -> pd.Series:
    """Summary of all cases as one column."""
    plain = settings.without_updates()
    maps = accumulate_wear(histories, grid, plain)
    summary = summarize_cases(maps, record_cycles(histories), grid, plain)
    return summary.set_index(_KEYS)["value"]


def compare_analyses(one: ContactHistory, other: ContactHistory) -> pd.DataFrame:
    """Contact of the same cases by forward and by quasi-static analysis, frame by frame.

    Parameters
    ----------
    one, other : ContactHistory
        The same cases of one activity, one quasi-static and one by forward dynamics, in any order.

    Returns
    -------
    DataFrame
        One row per case, frame and side: `activity`, `case`, `percent`, `stance` (whether the load
        exceeds 40 % of its maximum), `side`; for q in max_pressure_mpa, avg_pressure_mpa,
        contact_area_mm2 and side_share the columns q_quasi_static and q_forward;
        `medial_shift_um` and `height_shift_um` (forward minus quasi-static); as fractions of the
        load, the force of the component's acceleration (`inertia`) and the difference between the
        contact forces on the fine and on the coarse grid of the motion (`mismatch`).

    Raises
    ------
    ValueError
        If both are of the same analysis, or cases or frames differ.
    """
    by_analysis = {one.analysis: one, other.analysis: other}
    if by_analysis.keys() != {"quasi_static", "forward"}:
        raise ValueError(f"both histories are of the analysis {one.analysis!r}")
    quasi_static, forward = by_analysis["quasi_static"], by_analysis["forward"]
    same = quasi_static.cases == forward.cases and quasi_static.sides == forward.sides
    if not same or not np.array_equal(quasi_static.percent, forward.percent):
        raise ValueError("the two analyses are of other cases, sides or frames")
    shape = forward.max_pressure.shape
    case, frame, side = (axis.ravel() for axis in np.indices(shape))

    def per_side(values: NDArray) -> NDArray:
        """Value of a frame, repeated for every side."""
        return np.broadcast_to(values[..., None], shape).ravel()

    stance = forward.load > STANCE * forward.load.max(axis=1, keepdims=True)
    columns: dict[str, NDArray] = {
        "activity": np.full(case.size, forward.activity),
        "case": np.array([one.name for one in forward.cases], dtype=object)[case],
        "percent": forward.percent[frame],
        "stance": per_side(stance),
        "side": np.array(forward.sides, dtype=object)[side],
    }
    for history in (quasi_static, forward):
        quantities = {
            "max_pressure_mpa": history.max_pressure,
            "avg_pressure_mpa": history.avg_pressure,
            "contact_area_mm2": history.contact_area,
            "side_share": -history.force[..., 1] / history.load[..., None],
        }
        for name, values in quantities.items():
            columns[f"{name}_{history.analysis}"] = values.ravel()
    shift = 1e3 * (forward.translation - quasi_static.translation)
    inertia = np.linalg.norm(forward.inertia_force, axis=-1)
    columns |= {
        "medial_shift_um": per_side(shift[..., 2]),
        "height_shift_um": per_side(shift[..., 1]),
        "inertia": per_side(inertia / forward.load),
        "mismatch": per_side(forward.residual),
    }
    return pd.DataFrame(columns)
