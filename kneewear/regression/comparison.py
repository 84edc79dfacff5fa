"""Computed results and the published ones (Bei 2003, Tables 4-1, A-1, B-1 and C-1)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from kneewear.reference.published import (
    CALIBRATION_CASES,
    HALF_UNITS,
    published_table,
    published_values,
)
from kneewear.regression.correlation import correlate_pressure
from kneewear.regression.groups import drop_single_life, lives_of

COLUMNS = [
    "life", "table", "side", "thickness_mm", "body_mass_kg", "quantity", "unit", "computed",
    "published", "relative_error", "error_beyond_rounding", "calibration",
]  # fmt: skip
PREDICTION_COLUMNS = [
    "life", "case", "thickness_mm", "body_mass_kg", "side", "quantity", "unit", "computed",
    "predicted", "predicted_as_printed", "relative_difference",
]  # fmt: skip
KEYS = ["side", "thickness_mm", "body_mass_kg", "quantity"]


def error_beyond_rounding(
    computed: ArrayLike, published: ArrayLike, half_unit: ArrayLike
) -> NDArray[np.float64]:
    """Error a printed value's rounding cannot explain, relative to the printed value.

    Parameters
    ----------
    computed, published : array
        Computed and printed values, of one unit.
    half_unit : array
        Half of the last printed digit, in that unit.

    Returns
    -------
    array
        max(|computed - published| - half_unit, 0) / published; zero where the computed value would
        be printed the same.
    """
    difference = np.abs(np.asarray(computed) - np.asarray(published))
    return np.maximum(difference - half_unit, 0.0) / np.asarray(published, dtype=float)


def compare_published(cases: pd.DataFrame) -> pd.DataFrame:
    """Compare computed values with the 350 printed ones.

    Parameters
    ----------
    cases : DataFrame
        Tidy case table.

    Returns
    -------
    DataFrame
        Columns table, side, thickness_mm, body_mass_kg, quantity, unit, computed, published,
        relative_error (computed / published - 1), error_beyond_rounding (without sign, see
        `error_beyond_rounding`) and calibration (True for cells the built-in constants were fitted
        to). Cells whose case is not in the study are left out: a study
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
    table["error_beyond_rounding"] = error_beyond_rounding(
        table["computed"], table["published"], table["quantity"].map(HALF_UNITS)
    )
    cells = zip(table["thickness_mm"], table["body_mass_kg"], strict=True)
    table["calibration"] = [
        any(np.allclose(cell, fitted) for fitted in CALIBRATION_CASES) for cell in cells
    ]
    return drop_single_life(table[COLUMNS])


def compare_regression(regression: pd.DataFrame) -> pd.DataFrame:
    """Compare the coefficients of Eq. 4-1 with those of Table 4-1.

    Parameters
    ----------
    regression : DataFrame
        Result of :func:`kneewear.regression.fit.fit_regression`.

    Returns
    -------
    DataFrame
        The ten rows of Table 4-1 (for each life, if several) with computed and printed a0, a1, a2,
        r2 and mm_per_10kg, and the coefficients re-fitted on the printed values, which are needed
        where the printed a2 has one digit. Empty, with its header, when nothing was regressed.
    """
    printed = published_table("table_4_1_regression").rename(
        columns={"R2": "r2", "refit_R2": "refit_r2"}
    )
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


def compare_correlation(correlation: pd.DataFrame) -> pd.DataFrame:
    """Compare R2 on either pressure with that of the printed values.

    Parameters
    ----------
    correlation : DataFrame
        Result of :func:`kneewear.regression.correlation.correlate_pressure`.

    Returns
    -------
    DataFrame
        Columns side, quantity, predictor, r2 and r2_published, the same line fitted to the 25
        printed cells of each side (Bei 2003 prints the smallest R2 of both sides for three groups
        of quantities only, section 4.4). A life column comes first when there are several.
    """
    printed = published_values().rename(columns={"published": "value"}).drop(columns="table")
    printed["case"] = (
        printed["thickness_mm"].astype(str) + " " + printed["body_mass_kg"].astype(str)
    )
    theirs = correlate_pressure(printed.assign(life="published"))
    keys = ["side", "quantity", "predictor"]
    merged = correlation.merge(theirs[[*keys, "r2"]], on=keys, suffixes=("", "_published"))
    life = [name for name in ("life",) if name in merged]
    return merged[[*life, *keys, "r2", "r2_published"]]


def predict_published(cases: pd.DataFrame) -> pd.DataFrame:
    """Compare computed results with what Table 4-1 predicts for the same thickness and mass.

    Parameters
    ----------
    cases : DataFrame
        Tidy case table.

    Returns
    -------
    DataFrame
        One row per case, side and quantity of Table 4-1, for the cases whose thickness and mass are
        not among the 25 published ones (those have values of their own to compare with): computed
        value, prediction by the re-fitted coefficients, prediction by the printed ones, and
        computed / predicted - 1. A life column comes first when the study has several lives. Empty,
        with its header, when all cases were published.

    Notes
    -----
    prediction = a0 + a1 * thickness_mm + a2 * body_mass_kg. Table 4-1 is for 51 months of gait
    alone; for other lives it gives the result of gait alone. The printed a2 of the depths has one
    digit, so the printed coefficients err by up to 0.08 mm on their own table.

    References
    ----------
    Bei, Y. (2003), Eq. 4-1 and Table 4-1.
    """
    cells = published_values()[["thickness_mm", "body_mass_kg"]].drop_duplicates()
    marked = cases.merge(cells, how="left", indicator="known")
    others = marked[marked["known"] == "left_only"]
    table = others.merge(
        published_table("table_4_1_regression"), on=["side", "quantity"], suffixes=("", "_printed")
    )
    table["computed"] = table["value"]
    table["predicted"] = _plane(table, "refit_")
    table["predicted_as_printed"] = _plane(table, "")
    table["relative_difference"] = table["computed"] / table["predicted"] - 1.0
    return drop_single_life(table[PREDICTION_COLUMNS])


def _plane(table: pd.DataFrame, kind: str) -> pd.Series:
    """Eq. 4-1 with one set of coefficients."""
    thickness, mass = table["thickness_mm"], table["body_mass_kg"]
    return table[f"{kind}a0"] + table[f"{kind}a1"] * thickness + table[f"{kind}a2"] * mass
