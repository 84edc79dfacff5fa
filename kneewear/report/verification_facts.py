"""Facts of the verification tables: other methods, and forward dynamics against equilibria."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from kneewear.regression.groups import QUANTITIES, drop_single_life

# Part of the deepest element's depth below which an element is too shallow to be drawn.
LEAST_DEPTH = 0.3


def comparisons(verification: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Comparisons of contacts with and without a target, and of other methods."""
    contact = verification["source"].isin(["elastic foundation", "Hertz"])
    target = verification["target_percent"].notna()
    return {
        "with_target": verification[contact & target],
        "without_target": verification[contact & ~target],
        "methods": verification[~contact],
    }


def analysis_differences(analyses: pd.DataFrame) -> dict[str, float]:
    """Differences of forward dynamics from equilibria in stance, per cent."""
    stance = analyses[analyses["stance"].astype(bool)]
    pressure = stance["max_pressure_mpa_forward"] / stance["max_pressure_mpa_quasi_static"] - 1.0
    share = stance["side_share_forward"] - stance["side_share_quasi_static"]
    return {
        "rms": 100.0 * float(np.sqrt((pressure**2).mean())),
        "beyond": int((pressure.abs() > 0.01).sum()),
        "number": len(pressure),
        "largest": 100.0 * float(pressure.abs().max()),
        "share": 100.0 * float(share.abs().max()),
        "inertia": 100.0 * float(stance["inertia"].max()),
        "mismatch": 100.0 * float(stance["mismatch"].max()),
    }


def by_variant(variants: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The seven quantities of each variant, with their differences in per cent."""
    chosen = variants[variants["quantity"].isin(QUANTITIES)]
    chosen = chosen.assign(percent=100.0 * chosen["relative_difference"])
    return {
        str(name): drop_single_life(rows) for name, rows in chosen.groupby("variant", sort=False)
    }


def largest_effect(rows: pd.DataFrame) -> pd.Series[Any]:
    """Row of a variant with the largest relative difference."""
    return rows.iloc[int(rows["relative_difference"].abs().to_numpy().argmax())]


def tilted_element(table: pd.DataFrame) -> pd.Series[Any]:
    """The most tilted of the elements of a distance correction that are deep enough to be drawn."""
    deep = table["minimum_distance_mm"] >= LEAST_DEPTH * table["minimum_distance_mm"].max()
    chosen = table[deep & table["ray_mm"].notna()]
    return chosen.loc[chosen["angle_deg"].idxmax()]
