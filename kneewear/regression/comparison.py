"""Computed results beside the published ones (Bei 2003, Tables 4-1, A-1, B-1 and C-1)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kneewear.reference.published import published_regression, published_values
from kneewear.regression.groups import drop_single_life, lives_of

COLUMNS = [
    "life",
    "table",
    "side",
    "thickness_mm",
    "body_mass_kg",
    "quantity",
    "unit",
    "computed",
    "published",
    "relative_error",
    "calibration",
]
KEYS = ["side", "thickness_mm", "body_mass_kg", "quantity"]

# Thickness and body mass of the cells the built-in constants were fitted to.
CALIBRATION_CELLS = ((10.0, 50.0), (10.0, 150.0), (6.0, 75.0), (14.0, 75.0))


def compare_published(cases: pd.DataFrame) -> pd.DataFrame:
    """Put computed values beside the 350 printed ones.

    Parameters
    ----------
    cases : DataFrame
        Tidy case table.

    Returns
    -------
    DataFrame
        Columns table, side, thickness_mm, body_mass_kg, quantity, unit, computed, published,
        relative_error (computed / published - 1) and calibration (True for cells the built-in
        constants were fitted to). Cells whose case is not in the study are left out: a study
        without any published case gives an empty table with its header. A life column comes first
        when the study has several lives.
    """
    printed = published_values()
    parts = []
    for life in lives_of(cases):
        own = cases.loc[cases["life"] == life, [*KEYS, "value"]].rename(
            columns={"value": "computed"}
        )
        parts.append(printed.merge(own, on=KEYS, how="inner").assign(life=life))
    table = pd.concat(parts, ignore_index=True) if parts else printed.head(0).assign(life=[])
    if table.empty:
        return pd.DataFrame(columns=COLUMNS[1:])
    table["relative_error"] = table["computed"] / table["published"] - 1.0
    cells = zip(table["thickness_mm"], table["body_mass_kg"], strict=True)
    table["calibration"] = [
        any(np.allclose(cell, fitted) for fitted in CALIBRATION_CELLS) for cell in cells
    ]
    return drop_single_life(table[COLUMNS])


def compare_regression(regression: pd.DataFrame) -> pd.DataFrame:
    """Put the coefficients of Eq. 4-1 beside those of Table 4-1.

    Parameters
    ----------
    regression : DataFrame
        Result of :func:`kneewear.regression.fit_regression`.

    Returns
    -------
    DataFrame
        The ten rows of Table 4-1 (for each life, if several) with computed and printed a0, a1, a2,
        r2 and mm_per_10kg, and the coefficients re-fitted on the printed values, which are needed
        where the printed a2 has one digit. Empty, with its header, when nothing was regressed.
    """
    printed = published_regression().rename(columns={"R2": "r2", "refit_R2": "refit_r2"})
    ours = regression.rename(columns={"a1_per_mm": "a1", "a2_per_kg": "a2"})
    life = [name for name in ("life",) if name in ours]
    values = ["a0", "a1", "a2", "r2", "mm_per_10kg"]
    merged = printed.merge(
        ours[[*life, "side", "quantity", *values]],
        on=["side", "quantity"],
        suffixes=("_published", ""),
    )
    refits = [f"refit_{name}" for name in values]
    columns = [name for value in values for name in (value, f"{value}_published")]
    return merged[[*life, "side", "quantity", "unit", *columns, *refits]]
