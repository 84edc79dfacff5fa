"""Computed results beside the values and trends of Bei (2003)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from kneewear.analysis.declared import comparison
from kneewear.analysis.groups import drop_single_life, lives_of
from kneewear.analysis.literature import judge_number, published_rows
from kneewear.analysis.regression import correlate_pressure
from kneewear.evidence.published.values import (
    CALIBRATION_CASES,
    HALF_UNITS,
    published_table,
    published_values,
)

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
    "error_beyond_rounding",
    "null_error",
    "calibration",
]
PREDICTION_COLUMNS = [
    "life",
    "case",
    "thickness_mm",
    "body_mass_kg",
    "side",
    "quantity",
    "unit",
    "computed",
    "predicted",
    "predicted_as_printed",
    "relative_difference",
]
KEYS = ["side", "thickness_mm", "body_mass_kg", "quantity"]
# Local over minimum thickness, mm, in the scaling law that the published tables obey.
EXTRA_THICKNESS_MM = 1.1

# Distance between the places of largest damage and of largest pressure.
DISTANCE = "distance_max_damage_to_max_pressure"
# Coefficients of Eq. 4-1, and its trade of thickness against mass, that the source states.
MEASURES = ("a1", "a2", "mm_per_10kg")


@comparison(
    "bei",
    tables=(
        "comparison",
        "regression_comparison",
        "correlation_comparison",
        "statements",
        "prediction",
    ),
)
def compare_tables(
    cases: pd.DataFrame, regression: pd.DataFrame, correlation: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Tables of a wear study beside the values and trends of Bei (2003)."""
    regression, correlation = compare_regression(regression), compare_correlation(correlation)
    return {
        "comparison": compare_published(cases),
        "regression_comparison": regression,
        "correlation_comparison": correlation,
        "statements": compare_trends(correlation, regression, cases),
        "prediction": predict_published(cases),
    }


def error_beyond_rounding(
    computed: ArrayLike, published: ArrayLike, half_unit: ArrayLike
) -> NDArray[np.float64]:
    """Error a printed value's rounding cannot explain, relative to the printed value.

    max(|computed - published| - half_unit, 0) / published, where `half_unit` is half of the last
    printed digit; zero where the computed value would be printed the same.
    """
    difference = np.abs(np.asarray(computed) - np.asarray(published))
    return np.maximum(difference - half_unit, 0.0) / np.asarray(published, dtype=float)


def compare_published(cases: pd.DataFrame) -> pd.DataFrame:
    """Compare computed values with the 350 printed ones (Tables A-1, B-1 and C-1).

    Parameters
    ----------
    cases : DataFrame
        Tidy case table.

    Returns
    -------
    DataFrame
        `COLUMNS`: relative_error is computed / published - 1, error_beyond_rounding that of the
        function of this name, null_error the relative error of `fit_null_model`, and calibration
        True for cells the built-in constants were fitted to.
        Cells whose case is not in the study are left out: a study without any published case gives
        an empty table with its header. A life column comes first when there are several.
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
    table["calibration"] = _are_fitted(table)
    return drop_single_life(table.merge(fit_null_model(), on=KEYS)[COLUMNS])


def _are_fitted(table: pd.DataFrame) -> list[bool]:
    """For each row, True if it is of a cell that the built-in constants were fitted to."""
    cells = zip(table["thickness_mm"], table["body_mass_kg"], strict=True)
    return [any(np.allclose(cell, fitted) for fitted in CALIBRATION_CASES) for cell in cells]


def fit_null_model() -> pd.DataFrame:
    """Predict the published cells without mechanics of the knee, from the nine fitted cells alone.

    Returns
    -------
    DataFrame
        Columns `KEYS` and null_error, predicted / published - 1, of the 350 printed values.

    Notes
    -----
    An elastic foundation under prescribed motion scales: with the local thickness
    h = thickness + 1.1 mm and the body mass m, the products of h with pressure, depth and volume,
    and the damage area, are functions f(m h) alone. For each quantity and side ln f is a polynomial
    of second degree, ln f = a + b x + c x^2 with x = ln(m h), fitted by least squares to the nine
    calibration cells.
    """
    table = published_values()
    local = table["thickness_mm"] + EXTRA_THICKNESS_MM
    scale = local.where(table["quantity"] != "damage_area", 1.0)
    table = table.assign(
        x=np.log(table["body_mass_kg"] * local / 1e3),
        y=np.log(table["published"] * scale),
        fitted=_are_fitted(table),
    )
    for _, rows in table.groupby(["side", "quantity"]):
        own = rows[rows["fitted"]]
        parabola = np.polynomial.Polynomial.fit(own["x"], own["y"], 2)
        table.loc[rows.index, "null_error"] = np.expm1(parabola(rows["x"]) - rows["y"])
    return table[[*KEYS, "null_error"]]


def compare_regression(regression: pd.DataFrame) -> pd.DataFrame:
    """Compare the coefficients of Eq. 4-1 (`fit_regression`) with those of Table 4-1.

    The ten rows of Table 4-1 (for each life, if several) with computed and printed a0, a1, a2, r2
    and mm_per_10kg, and the coefficients re-fitted on the printed values, which are needed where
    the printed a2 has one digit. Empty, with its header, when nothing was regressed.
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
    """Compare R2 on either pressure (`correlate_pressure`) with that of the printed values.

    `r2_published` is of the same line fitted to the 25 printed cells of each side: Bei (2003)
    prints the smallest R2 of both sides for three groups of quantities only (section 4.4).
    """
    printed = published_values().rename(columns={"published": "value"}).drop(columns="table")
    case = printed["thickness_mm"].astype(str) + " " + printed["body_mass_kg"].astype(str)
    theirs = correlate_pressure(printed.assign(case=case, life="published"))
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
        `PREDICTION_COLUMNS`, one row per case, side and quantity of Table 4-1, for the cases whose
        thickness and mass are not among the 25 published ones (those have values of their own).

    Notes
    -----
    prediction = a0 + a1 * thickness_mm + a2 * body_mass_kg (Eq. 4-1), by the re-fitted and by the
    printed coefficients. Table 4-1 is for 51 months of gait alone; for other lives it gives the
    result of gait alone. The printed a2 of the depths has one digit, so the printed coefficients
    err by up to 0.08 mm on their own table.
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


def compare_trends(
    correlation: pd.DataFrame, regression: pd.DataFrame, cases: pd.DataFrame
) -> pd.DataFrame:
    """Compare trends with the numbers of sections 4.3 and 4.4.

    Parameters
    ----------
    correlation, regression : DataFrame
        Results of `compare_correlation` and `compare_regression`.
    cases : DataFrame
        Tidy case table.

    Returns
    -------
    DataFrame
        Table of `kneewear.analysis.literature.judge_number`, a row for each quantity, measure
        (R2 on a predictor, a coefficient, or the largest value of the cases) and side;
        `printed_tables` is the same number from the printed tables, re-fitted, which do not keep
        every limit themselves. A life column comes first when there are several. Without a row of
        R2 or coefficients where nothing was fitted.
    """
    computed = _trends(correlation, regression, "r2", "{}")
    computed = pd.concat([computed, _largest(cases)[list(computed)]], ignore_index=True)
    printed = _trends(correlation, regression, "r2_published", "refit_{}")
    keys = [name for name in computed if name != "computed"]
    table = judge_number(published_rows(__package__), computed.dropna(subset="computed"))
    printed = printed.rename(columns={"computed": "printed_tables"})
    others = [name for name in table if name not in keys]
    columns = [*keys, *(name for name in others if name != "computed")]
    columns.insert(columns.index("unit"), "printed_tables")
    columns.insert(columns.index("unit"), "computed")
    return table.merge(printed, on=keys, how="left")[columns]


def _trends(
    correlation: pd.DataFrame, regression: pd.DataFrame, r2: str, coefficient: str
) -> pd.DataFrame:
    """R2 and coefficients as rows; the names of their columns are given."""
    life = [name for name in ("life",) if name in regression]
    keys = [*life, "side", "quantity"]
    names = {coefficient.format(name): name for name in MEASURES}
    coefficients = regression[[*keys, *names]].rename(columns=names)
    parts = [
        correlation.assign(measure="r2", computed=correlation[r2]),
        coefficients.melt(keys, var_name="measure", value_name="computed").assign(predictor=""),
    ]
    return pd.concat(parts, ignore_index=True)[[*keys, "measure", "predictor", "computed"]]


def _largest(cases: pd.DataFrame) -> pd.DataFrame:
    """Largest distance of all cases between the places of largest damage and pressure, as rows."""
    rows = cases[cases["quantity"] == DISTANCE]
    largest = rows.groupby(["life", "side", "quantity"], sort=False)["value"].max()
    return largest.rename("computed").reset_index().assign(measure="largest", predictor="")
