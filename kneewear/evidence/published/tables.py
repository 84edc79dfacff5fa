"""Derived tables of the regression, and of results beside published and retrieved ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from typing import Any

import pandas as pd

from kneewear.analysis.groups import QUANTITIES
from kneewear.analysis.models import POWER_LAW
from kneewear.analysis.regression import MIN_FREEDOM
from kneewear.base.sides import SIDES
from kneewear.evidence.published.comparison import EXTRA_THICKNESS_MM
from kneewear.report.derived import Settings, derived
from kneewear.report.tables import expected_texts, rows_with, shown
from kneewear.report.wear_tables import with_validity
from kneewear.wear.leading import WEAR, leading_depth

# Loss of thickness and of volume per year: of wear and creep together, and of wear alone.
MEASURED = {
    True: ("linear_penetration_rate", "volumetric_penetration_rate"),
    False: ("linear_wear_rate", "volumetric_wear_rate"),
}
LOSSES = (
    ("linear_mm_per_year", "linear", "thickness", "mm/year"),
    ("volume_mm3_per_year", "volume", "volume", "mm³/year"),
    ("mass_mg_per_million_cycles", "mass", "mass", "mg per million cycles"),
)


# Regression.


@derived
def regression_table(regression: pd.DataFrame) -> pd.DataFrame:
    """Coefficients, with their standard errors as text (columns `..._with_error`).

    Without errors and R² where too few cases are left to judge the plane.
    """
    errors = {"a0": "a0_se", "a1_per_mm": "a1_se", "a2_per_kg": "a2_se"}
    if (_freedom(regression) < MIN_FREEDOM).any():
        return regression.drop(columns=["r2", *errors.values()])
    table = with_errors(regression, errors, ("4", "2"))
    return table.rename(columns={name: f"{name}_with_error" for name in errors})


@derived
def unjudged_planes(regression: pd.DataFrame) -> pd.DataFrame:
    """Cases, coefficients and cases needed where too few cases are left to judge a plane."""
    row = regression.iloc[0]
    freedom = int(_freedom(regression).iloc[0])
    coefficients = int(row["cases"]) - freedom
    few = {
        "cases": int(row["cases"]),
        "coefficients": coefficients,
        "needed": coefficients + MIN_FREEDOM,
    }
    return pd.DataFrame([few] if freedom < MIN_FREEDOM else [])


def _freedom(regression: pd.DataFrame) -> pd.Series:
    """Cases beyond the coefficients of the plane."""
    errors = [name for name in regression if re.fullmatch(r"a\d+_se", str(name))]
    return regression["cases"] - len(errors)


def with_errors(
    table: pd.DataFrame, errors: Mapping[str, str], forms: tuple[str, str]
) -> pd.DataFrame:
    """Columns with the errors of other columns as text, such as 1.2 ± 0.1."""
    return table.assign(
        **{
            name: [
                f"{shown(value, forms[0])} ± {shown(error, forms[1])}"
                for value, error in zip(table[name], table[column], strict=True)
            ]
            for name, column in errors.items()
        }
    )


@derived
def regression_refit(regression_comparison: pd.DataFrame) -> pd.DataFrame:
    """Coefficients against the published ones: per cent of the re-fit, or difference."""
    table = regression_comparison
    change = {
        f"{key}_change": 100.0 * (table[key] / table[f"refit_{key}"] - 1.0)
        for key in ("a0", "a1", "a2")
    }
    difference = {
        f"{key}_difference": table[key] - table[f"{key}_published"] for key in ("r2", "mm_per_10kg")
    }
    return table.assign(**change, **difference)


@derived
def pressure_correlations(
    correlation: pd.DataFrame, correlation_comparison: pd.DataFrame | None = None
) -> pd.DataFrame:
    """R² on either pressure in a row, and those of the printed values where there are any."""
    table = correlation if correlation_comparison is None else correlation_comparison
    index = [name for name in ("life", "quantity", "side") if name in table]
    values = [name for name in ("r2", "r2_published") if name in table]
    wide = table.pivot_table(index=index, columns="predictor", values=values, sort=False)
    wide.columns = ["_".join(names) for names in wide.columns.to_flat_index()]
    return wide.reset_index()


@derived
def model_errors(regression_models: pd.DataFrame) -> pd.DataFrame:
    """Leave-one-out error of every model in a row, and the coefficients of the power law."""
    models = regression_models
    keys = [name for name in ("life", "quantity", "side", "unit") if name in models]
    errors = models.pivot(index=keys, columns="model", values="leave_one_out_percent")
    rows = models[[*keys, "plane_is_enough"]].drop_duplicates()
    power = rows_with(models, model=POWER_LAW)
    power = power[[*keys, "factor", "thickness_exponent", "mass_exponent"]]
    return rows.merge(errors, on=keys).merge(power, how="left", on=keys)


@derived
def curvature(regression_models: pd.DataFrame) -> pd.DataFrame:
    """Number of results in which further terms improve the plane (F test, p below 0.05)."""
    tested = regression_models[regression_models["p_value"].notna()]
    groups = tested.groupby("model", sort=False)["p_value"]
    return groups.agg(improved=lambda p: int((p < 0.05).sum()), results="size").reset_index()


@derived
def fitted_cases(
    regression_points: pd.DataFrame, validity: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Cases compared with the plane."""
    return with_validity(rows_with(regression_points, model="plane"), validity)


# Beside published values.


@derived
def published_statements(statements: pd.DataFrame) -> pd.DataFrame:
    """Published trends with their limits as text."""
    return statements.assign(expected=expected_texts(statements))


@derived
def published_errors(comparison: pd.DataFrame) -> pd.DataFrame:
    """Sizes of the errors in per cent by quantity and over all, fitted cells apart."""
    rows = []
    for quantity, used in product([*QUANTITIES, "all"], (False, True)):
        chosen = rows_with(comparison, calibration=used)
        chosen = chosen if quantity == "all" else rows_with(chosen, quantity=quantity)
        error, beyond = (
            100.0 * chosen[name] for name in ("relative_error", "error_beyond_rounding")
        )
        size, null = error.abs(), 100.0 * chosen["null_error"].abs()
        rows.append(
            {
                "quantity": quantity,
                "cells": "fitted" if used else "not fitted",
                "design": len(chosen[["thickness_mm", "body_mass_kg"]].drop_duplicates()),
                "number": len(size),
                "mean": error.mean(),
                "median": size.median(),
                "most": size.quantile(0.95),
                "largest": size.max(),
                "median_beyond": beyond.median(),
                "largest_beyond": beyond.max(),
                "null_median": null.median(),
                "null_most": null.quantile(0.95),
                "null_largest": null.max(),
            }
        )
    return pd.DataFrame([row for row in rows if row["number"]])


@derived
def fitted_range(comparison: pd.DataFrame) -> pd.DataFrame:
    """Range of body mass x local thickness of the fitted cells, and errors in and beyond it."""
    stress = comparison["body_mass_kg"] * (comparison["thickness_mm"] + EXTRA_THICKNESS_MM)
    fitted = stress[comparison["calibration"].astype(bool)]
    inside = stress.between(fitted.min(), fitted.max())
    error = 100.0 * comparison["relative_error"].abs()
    return pd.DataFrame(
        {
            "cells": ["within the span of the fitted cells", "beyond it"],
            "kg_mm": [f"{fitted.min():.0f} to {fitted.max():.0f}", "–"],
            "largest": [error[inside].max(), error[~inside].max()],
        }
    )


@derived
def published_cells(comparison: pd.DataFrame, validity: pd.DataFrame | None = None) -> pd.DataFrame:
    """Every printed value with the computed one and their difference, also in per cent."""
    table = comparison.assign(
        difference=comparison["computed"] - comparison["published"],
        percent=100.0 * comparison["relative_error"],
    )
    return with_validity(table, validity)


@derived
def published_prediction(
    prediction: pd.DataFrame, validity: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Results beside those that the published regression predicts."""
    table = prediction.assign(percent=100.0 * prediction["relative_difference"])
    return with_validity(table, validity)


# Retrieved inserts.


def insert_rates(cases: pd.DataFrame, includes_creep: bool) -> pd.DataFrame:
    """Losses of whole inserts by life and case.

    Of thickness (mm/year, larger side), of volume (mm3/year) and of mass (mg per million cycles, of
    wear alone); of both sides, or of that of a single plateau.
    """
    linear, volume = MEASURED[includes_creep]
    by_case = cases.groupby(["life", "case", "quantity"])["value"]
    # NaN is the rate of a life of zero length and must not turn into zero.
    plateaus = cases["side"].isin(SIDES)
    sums = by_case.sum(min_count=cases["side"][plateaus].nunique()).unstack()
    largest = by_case.max().unstack()
    return pd.DataFrame(
        {"linear": largest[linear], "volume": sums[volume], "mass": sums["mass_loss"]}
    )


def creep_share(cases: pd.DataFrame) -> pd.Series[float]:
    """Creep in the damage volume of whole inserts, per cent, by life and case."""
    chosen = cases[cases["quantity"].isin(["creep_volume", "damage_volume"])]
    sums = chosen.groupby(["life", "case", "quantity"])["value"].sum().unstack()
    return (100.0 * sums["creep_volume"] / sums["damage_volume"]).dropna()


@derived
def retrievals(cases: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Computed rates of whole inserts beside rates of retrieved ones.

    `cases_within` is the number of cases in the range of the retrieved ones, -1 without a range.
    """
    groups = settings["report"]["retrievals"]
    rows = _retrieval_rows(groups, {creep: insert_rates(cases, creep) for creep in MEASURED})
    share = creep_share(cases)
    for name, group in groups.items():
        if rows and group.get("creep_percent") is not None:
            rows.append(
                {
                    "name": name,
                    "loss": "creep in the volume of penetration",
                    "unit": "%",
                    "mean": group["creep_percent"],
                    "limits": "–",
                    "spread": "–",
                    "values": share,
                    "source": group["source"],
                }
            )
    for row in rows:
        values = row["values"]
        row["here"] = f"{shown(values.min(), '3')} to {shown(values.max(), '3')}"
        known = "inside" in row
        row["within"] = f"{row['inside'].sum()} of {len(values)}" if known else "–"
        row["cases_within"] = int(row["inside"].sum()) if known else -1
        row["source"] = row["source"].partition(",")[0]
    return pd.DataFrame(rows).drop(columns=["values", "inside"], errors="ignore")


@derived
def retrieved_outside(retrievals: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Rates of retrieved inserts in whose range no case is.

    Without rates that include creep where the creep law is an upper estimate.
    """
    if "low" not in retrievals:
        return retrievals[:0]
    compared = retrievals.dropna(subset="low")
    if leading_depth(settings["wear"]["creep_law"]) is WEAR:
        compared = compared[~compared["includes_creep"].astype(bool)]
    outside = compared[compared["cases_within"] == 0]
    return outside.assign(
        inserts=outside["name"] + ", " + outside["loss"], value=outside["mean"].astype(float)
    )


@derived
def sampled_retrievals(
    results: pd.DataFrame, intervals: pd.DataFrame, settings: Settings
) -> pd.DataFrame:
    """Rates of whole inserts with their prediction interval beside those of retrieved ones."""
    # Imports compiled kernels, which the pages of other studies do not need.
    from kneewear.analysis.samples import prediction_interval  # noqa: PLC0415

    drawn = rows_with(results, role="draw")
    rates = {}
    for creep, names in MEASURED.items():
        depths, volumes = (drawn[[f"{side}_{name}" for side in SIDES]] for name in names)
        losses = {
            "linear": depths.max(axis=1, skipna=False),
            "volume": volumes.sum(axis=1, skipna=False),
        }
        rates[creep] = pd.DataFrame(losses)
    rows = _retrieval_rows(settings["report"]["retrievals"], rates)
    for row in rows:
        here = prediction_interval(
            row["values"].to_numpy(float), settings["analyses"]["intervals"]["level_percent"]
        )
        row["median"] = here.median
        row["interval"] = f"{shown(here.lower, '3')} to {shown(here.upper, '3')}"
        row["within"] = f"{100 * row['inside'].mean():.0f} %"
    return pd.DataFrame(rows).drop(columns=["values", "inside"], errors="ignore")


def _retrieval_rows(
    groups: Mapping[str, Settings], rates: Mapping[bool, pd.DataFrame]
) -> list[dict[str, Any]]:
    """Published rates of retrieved inserts, each with the computed `values` beside it."""
    rows = []
    for (name, group), (key, column, text, unit) in product(groups.items(), LOSSES):
        rate, computed = group.get(key), rates[group["includes_creep"]]
        values = computed[column].dropna() if column in computed else pd.Series(dtype=float)
        if rate is not None and len(values):
            rows.append(
                {
                    "name": name,
                    "loss": f"{text}, {'with' if group['includes_creep'] else 'without'} creep",
                    "unit": unit,
                    "mean": rate["mean"],
                    "limits": f"{shown(rate['low'])} to {shown(rate['high'])}",
                    "spread": group["spread"],
                    "low": rate["low"],
                    "high": rate["high"],
                    "includes_creep": group["includes_creep"],
                    "values": values,
                    "inside": values.between(rate["low"], rate["high"]),
                    "source": group["source"],
                }
            )
    return rows
