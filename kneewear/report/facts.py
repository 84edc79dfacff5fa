"""Facts that pages and figures state, computed from the settings and tables of a study.

`cases` is the tidy case table; `life` is a column of other tables only if a study has several.
Columns named `percent` are differences in per cent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from kneewear.regression.comparison import EXTRA_THICKNESS_MM
from kneewear.regression.fit import regression_shortfall
from kneewear.regression.groups import QUANTITIES, covariates_of, drop_single_life
from kneewear.regression.models import ENOUGH, POWER_LAW
from kneewear.report.tables import (
    rows_with,
    shown,
    span,
    words,
)  # fmt: skip
from kneewear.sides import POST, SIDES

__all__ = ["ENOUGH", "EXTRA_THICKNESS_MM", "regression_shortfall"]

Settings = Mapping[str, Any]

# Wear studies.

KEY_QUANTITIES = (
    "max_wear_depth", "max_creep_depth", *QUANTITIES[2:], "volumetric_wear_rate", "max_pressure",
)  # fmt: skip
POSITIONS = (
    "distance_max_damage_to_max_pressure", "damage_location_x", "damage_location_z",
    "centre_of_pressure_x", "centre_of_pressure_z", "centre_of_pressure_x_min",
    "centre_of_pressure_x_max",
)  # fmt: skip
RATES = (
    "max_wear_depth", "max_creep_depth", "wear_volume", "creep_volume", "linear_wear_rate",
    "linear_penetration_rate", "volumetric_wear_rate", "volumetric_penetration_rate", "mass_loss",
    "cross_shear",
)  # fmt: skip
# Depth, area and volume of wear, creep and damage.
BLOCK_QUANTITIES = (
    "max_wear_depth", "max_creep_depth", "damage_depth", "wear_area", "creep_area", "damage_area",
    "wear_volume", "creep_volume", "damage_volume",
)  # fmt: skip
# Results that lives are compared by.
COMPARED = (
    "max_pressure", "wear_depth", "damage_depth", "damage_area", "wear_volume", "damage_volume",
)  # fmt: skip
# Share of force or wear on the outermost elements above which cut-off contact shows in results: as
# much as the elements themselves err by.
BORDER_LIMIT = 0.005
BLOCKS = "wear.blocks"
LOCATION = ["damage_location_x", "damage_location_z"]
# Insert thickness, mm, and body mass, kg, of the patient of Bei (2003).
NOMINAL_PATIENT = (6.8, 70.0)


def centre_rows(cases: pd.DataFrame) -> pd.DataFrame:
    """Rows of the case nearest to the medians of thickness and mass."""
    design = cases.drop_duplicates("case").set_index("case")[["thickness_mm", "body_mass_kg"]]
    width = (design.max() - design.min()).replace(0.0, 1.0)
    away = ((design - design.median()) / width).pow(2).sum(axis=1)
    return cases[cases["case"] == away.idxmin()]


def centre_values(cases: pd.DataFrame, quantity: str, life: str | None = None) -> dict[str, float]:
    """Value of a quantity by side, of one life (or the first) and the centre case."""
    rows = centre_rows(rows_with(cases, life=life or cases["life"].iloc[0], quantity=quantity))
    return dict(zip(rows["side"], rows["value"].astype(float), strict=True))


def key_table(cases: pd.DataFrame) -> pd.DataFrame:
    """Results of the centre case by side, and their range over all cases if there are several."""
    index = ["life", "quantity", "unit", "side"]
    chosen = cases[cases["quantity"].isin(KEY_QUANTITIES)]
    table = centre_rows(chosen).set_index(index)["value"].unstack("side")
    if cases["case"].nunique() > 1:
        ranges = chosen.groupby(index)["value"].agg(lambda values: span(values, "3"))
        table = table.join(ranges.unstack("side").add_suffix("_range"))
    order = list(product(dict.fromkeys(cases["life"]), KEY_QUANTITIES))
    return drop_single_life(table.reset_index("unit").reindex(order).reset_index())


def over_cases(cases: pd.DataFrame, quantities: tuple[str, ...]) -> pd.DataFrame:
    """Minimum, median and maximum of some quantities by side."""
    known = cases[cases["quantity"].isin(quantities)].dropna(subset="value")
    table = known.groupby(["quantity", "side", "unit"])["value"].agg(["min", "median", "max"])
    table = table.reset_index("unit")
    order = [row for row in product(quantities, SIDES) if row in table.index]
    return table.reindex(order).reset_index()


def by_blocks(cases: pd.DataFrame) -> pd.DataFrame:
    """Depths, areas and volumes, a column for each number of blocks, if several were simulated.

    `change` is the difference of the last two columns, per cent of the last.
    """
    if BLOCKS not in cases or cases[BLOCKS].nunique() < 2:
        return pd.DataFrame()
    chosen = cases[cases["quantity"].isin(BLOCK_QUANTITIES)].copy()
    settings = [name for name in covariates_of(cases) if name != BLOCKS]
    chosen["case"] = [
        ", ".join(f"{value:g} {unit}" for value, unit in zip(row, ("mm", "kg"), strict=False))
        + "".join(f", {value:g}" for value in row[2:])
        for row in chosen[settings].itertuples(index=False)
    ]
    chosen[BLOCKS] = chosen[BLOCKS].astype(int)
    index = ["life", "case", "quantity", "side", "unit"]
    table = chosen.pivot_table(index=index, columns=BLOCKS, values="value", sort=False)
    table = table[np.sort(table.columns)].rename(columns=str)
    last, before = table.iloc[:, -1], table.iloc[:, -2]
    table["change"] = 100.0 * (last - before) / last
    return table.rename_axis(columns=None).reset_index()


def law_coefficients(wear: Settings, laws: Mapping[str, Any]) -> pd.DataFrame:
    """Coefficients of all wear laws with source and how they were read."""
    rows = []
    for name, law in laws.items():
        known = wear["unverified"].get(name) or {
            "wear_factor_mm3_per_n_m": wear["wear_factor_mm3_per_n_m"]
        }
        values = ", ".join(f"{words(key)} {shown(value)}" for key, value in known.items())
        status = f"unverified ({law.read})" if law.unverified() else law.read
        sources = "; ".join(one.partition(")")[0] + ")" for one in law.references)
        rows.append((words(name), values, sources, status))
    return pd.DataFrame(rows, columns=["law", "values", "sources", "status"])


def planned_cases(study: Settings) -> int:
    """Number of cases of the factorial design."""
    cases = study["cases"]
    levels = [cases["thickness_mm"], cases["body_mass_kg"], *cases["overrides"].values()]
    return math.prod(map(len, levels))


def further_settings(cases: pd.DataFrame) -> dict[str, str]:
    """Columns of the settings that vary in addition to thickness and mass."""
    return {name: name for name in covariates_of(cases)[2:]}


def wide_cases(cases: pd.DataFrame) -> pd.DataFrame:
    """The seven quantities of every case and side, a column each."""
    chosen = cases[cases["quantity"].isin(QUANTITIES)]
    index = ["life", "case", *covariates_of(cases), "side"]
    wide = chosen.pivot_table(index=index, columns="quantity", values="value", sort=False)
    return drop_single_life(wide.reset_index())


def describe_cases(
    rows: pd.DataFrame, extra_mm: float, validity: pd.DataFrame | None
) -> pd.DataFrame:
    """Rows of cases with `modelled_mm`, their thickness and the extra one, and their `validity`."""
    if extra_mm:
        rows = rows.assign(modelled_mm=rows["thickness_mm"] + extra_mm)
    if validity is None or "validity" in rows:
        return rows
    # A case is its settings; it is outside on both sides.
    keys = [name for name in validity if name in rows and name not in ("case", "side")]
    beyond = pd.MultiIndex.from_frame(beyond_limits(validity)[keys])
    outside = pd.MultiIndex.from_frame(rows[keys]).isin(beyond)
    return rows.assign(validity=np.where(outside, "outside", "within"))


def damage_trade_off(regression: pd.DataFrame) -> list[dict[Any, Any]]:
    """Regression of the damage depth by side, of the first life."""
    return rows_with(regression, quantity="damage_depth").drop_duplicates("side").to_dict("records")


def with_errors(table: pd.DataFrame, errors: Mapping[str, str], forms: tuple[str, str]) -> Any:
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


def against_refit(table: pd.DataFrame) -> pd.DataFrame:
    """Coefficients against the published ones: per cent of the re-fit, or difference."""
    change = {
        f"{key}_change": 100.0 * (table[key] / table[f"refit_{key}"] - 1.0)
        for key in ("a0", "a1", "a2")
    }
    difference = {
        f"{key}_difference": table[key] - table[f"{key}_published"] for key in ("r2", "mm_per_10kg")
    }
    return table.assign(**change, **difference)


def correlations(correlation: pd.DataFrame) -> pd.DataFrame:
    """R² on either pressure in a row, and those of the printed values where there are any."""
    index = [name for name in ("life", "quantity", "side") if name in correlation]
    values = [name for name in ("r2", "r2_published") if name in correlation]
    wide = correlation.pivot_table(index=index, columns="predictor", values=values, sort=False)
    wide.columns = ["_".join(names) for names in wide.columns.to_flat_index()]
    return wide.reset_index()


def model_errors(models: pd.DataFrame) -> pd.DataFrame:
    """Leave-one-out error of every model in a row, and the coefficients of the power law."""
    keys = [name for name in ("life", "quantity", "side", "unit") if name in models]
    errors = models.pivot(index=keys, columns="model", values="leave_one_out_percent")
    rows = models[[*keys, "plane_is_enough"]].drop_duplicates()
    power = rows_with(models, model=POWER_LAW)
    power = power[[*keys, "factor", "thickness_exponent", "mass_exponent"]]
    return rows.merge(errors, on=keys).merge(power, how="left", on=keys)


def curved(models: pd.DataFrame) -> dict[str, int]:
    """Number of results in which further terms improve the plane (F test, p below 0.05)."""
    tested = models[models["p_value"].notna()]
    counts = tested.groupby("model", sort=False)["p_value"].agg(lambda p: int((p < 0.05).sum()))
    return {str(name): int(count) for name, count in counts.items()}


def statement_table(statements: pd.DataFrame) -> pd.DataFrame:
    """Published statements with their limits as text."""
    limits = []
    for low, high in zip(statements["low"], statements["high"], strict=True):
        if np.isfinite(low) and np.isfinite(high):
            limits.append(f"{shown(low)} to {shown(high)}")
        else:
            limits.append(
                f"at least {shown(low, '3')}" if np.isfinite(low) else f"at most {shown(high, '3')}"
            )
    return statements.assign(limits=limits)


def is_nominal_patient(prediction: pd.DataFrame) -> bool:
    """Whether the patient of Bei (2003), Fig. 4-2, is among the cases."""
    patients = prediction[["thickness_mm", "body_mass_kg"]].to_numpy(dtype=float)
    return bool(np.isclose(patients, NOMINAL_PATIENT).all(axis=1).any())


def life_differences(cases: pd.DataFrame) -> list[dict[str, Any]]:
    """Change of depth (%) and distance (mm) of the largest damage from the first life, by side."""
    first, *others = dict.fromkeys(cases["life"])
    wide = cases.pivot_table(
        index=["life", "side", "case"], columns="quantity", values="value", sort=False
    )
    found = []
    for life in others:
        row: dict[str, Any] = {"life": life, "first": first}
        for side in SIDES:
            one, two = wide.loc[first, side], wide.loc[life, side]
            depth = 100.0 * (two["damage_depth"] / one["damage_depth"] - 1.0)
            moved = np.linalg.norm((two[LOCATION] - one[LOCATION]).to_numpy(), axis=1)
            row[side] = {"depth": span(depth, "+.1f"), "distance": span(moved, ".1f")}
        found.append(row)
    return found


def life_ratios(cases: pd.DataFrame) -> pd.DataFrame:
    """Results of each further life over those of the first, smallest to largest of all cases.

    Columns quantity, side, unit (of the values of the first life) and a column by life; empty with
    one life.
    """
    chosen = cases[cases["quantity"].isin(COMPARED)]
    lives = list(dict.fromkeys(cases["life"]))
    wide = chosen.pivot_table(
        index=["quantity", "side", "unit", "case"], columns="life", values="value", sort=False
    )
    rows = []
    for (quantity, side, unit), group in wide.groupby(level=[0, 1, 2], sort=False):
        ratios = {life: span(group[life] / group[lives[0]], ".2f") for life in lives[1:]}
        first = span(group[lives[0]], "3")
        rows.append({"quantity": quantity, "side": side, "unit": unit, lives[0]: first, **ratios})
    return pd.DataFrame(rows if len(lives) > 1 else [])


def border_contact(cases: pd.DataFrame) -> list[dict[str, Any]]:
    """Contact at the end of the elements, by side: cases, largest pressure and shares in per cent.

    `matters` says whether some case has more than `BORDER_LIMIT` of its force or wear there.
    """
    names = ["border_pressure", "border_force_share", "border_wear_share"]
    chosen = cases[cases["quantity"].isin(names)]
    wide = chosen.pivot_table(
        index=["side", "case", "life"], columns="quantity", values="value", sort=False
    )
    found = []
    for side, rows in wide[wide["border_pressure"] > 0.0].groupby(level="side", sort=False):
        most = rows.max()
        shares = most.reindex(names[1:]).fillna(1.0)
        found.append(
            {
                "side": side,
                "cases": rows.index.get_level_values("case").nunique(),
                "pressure": float(most["border_pressure"]),
                "force_percent": 100.0 * float(shares.iloc[0]),
                "wear_percent": 100.0 * float(shares.iloc[1]),
                "matters": bool(shares.max() > BORDER_LIMIT),
            }
        )
    return found


def surface_errors(cases: pd.DataFrame, quality: pd.DataFrame) -> list[dict[str, Any]]:
    """Mean deviation of a side, um, and as a part of the peak penetration, in per cent.

    Deviations are the sums of those of insert and femoral component.
    """
    depth = cases[cases["quantity"] == "max_penetration"]
    found = []
    for side, rows in quality[quality["component"].isin(["insert", "femoral"])].groupby("side"):
        own, mean = 1e3 * depth.loc[depth["side"] == side, "value"], 1e3 * rows["mean_mm"].sum()
        if not own.empty and own.min() > 0.0:
            percent = span(100.0 * mean / own, "2")
            found.append(
                {"side": side, "penetration": span(own, "3"), "mean": mean, "mean_percent": percent}
            )
    return found


def beyond_limits(validity: pd.DataFrame) -> pd.DataFrame:
    """Cases and sides with a pressure above one of the limits."""
    flags = validity[["max_pressure_above_limit", "avg_pressure_above_limit"]].astype(bool)
    return validity[flags.any(axis=1)]


def linear_effects(
    study: Settings, cases: pd.DataFrame, percent: float
) -> dict[str, dict[str, float]]:
    """Effect on the damage depth, %, of wear and creep `percent` larger, by side.

    Empty where the surface follows the damage, so that damage is not linear in either.
    """
    if study["wear"]["blocks"] != 1:
        return {}
    whole = centre_values(cases, "damage_depth")
    parts = {name: centre_values(cases, f"{name}_depth") for name in ("wear", "creep")}
    return {
        name: {side: percent * part[side] / whole[side] for side in SIDES if whole.get(side)}
        for name, part in parts.items()
    }


def regression_effects(
    regression: pd.DataFrame, cases: pd.DataFrame, column: str
) -> dict[str, float]:
    """Effect on the damage depth, %, of a step of 1 mm or 1 kg, by side."""
    centre = centre_values(cases, "damage_depth")
    rows = damage_trade_off(regression)
    return {row["side"]: 100.0 * row[column] / centre[row["side"]] for row in rows}


# Retrieved inserts.

# Loss of thickness and of volume per year: of wear and creep together, and of wear alone.
MEASURED = {
    True: ("linear_penetration_rate", "volumetric_penetration_rate"),
    False: ("linear_wear_rate", "volumetric_wear_rate"),
}
LOSSES = (
    ("linear_mm_per_year", "linear", "thickness", "mm/year"),
    ("volume_mm3_per_year", "volume", "volume", "mm³/year"),
)


def insert_rates(cases: pd.DataFrame, includes_creep: bool) -> pd.DataFrame:
    """Loss of thickness (mm/year, larger side) and volume (mm3/year, both) by life and case."""
    linear, volume = MEASURED[includes_creep]
    by_case = cases.groupby(["life", "case", "quantity"])["value"]
    # NaN is the rate of a life of zero length and must not turn into zero.
    volumes = by_case.sum(min_count=2).unstack()[volume]
    return pd.DataFrame({"linear": by_case.max().unstack()[linear], "volume": volumes})


def creep_share(cases: pd.DataFrame) -> pd.Series[float]:
    """Creep in the damage volume of whole inserts, per cent, by life and case."""
    chosen = cases[cases["quantity"].isin(["creep_volume", "damage_volume"])]
    sums = chosen.groupby(["life", "case", "quantity"])["value"].sum().unstack()
    return (100.0 * sums["creep_volume"] / sums["damage_volume"]).dropna()


def beside_retrievals(cases: pd.DataFrame, retrievals: Mapping[str, Settings]) -> pd.DataFrame:
    """Computed rates of whole inserts beside those of retrieved ones."""
    rows = _retrieval_rows(retrievals, {creep: insert_rates(cases, creep) for creep in MEASURED})
    share = creep_share(cases)
    for name, group in retrievals.items():
        if rows and group.get("creep_percent") is not None:
            rows.append(
                {
                    "name": name, "loss": "creep in the volume of penetration", "unit": "%",
                    "mean": group["creep_percent"], "limits": "–", "spread": "–", "values": share,
                    "source": group["source"],
                }
            )  # fmt: skip
    for row in rows:
        values = row["values"]
        row["here"] = f"{shown(values.min(), '3')} to {shown(values.max(), '3')}"
        row["within"] = f"{row['inside'].sum()} of {len(values)}" if "inside" in row else "–"
        row["source"] = row["source"].partition(",")[0]
    return pd.DataFrame(rows)


def samples_beside_retrievals(
    samples: pd.DataFrame, retrievals: Mapping[str, Settings], level: float
) -> pd.DataFrame:
    """Rates of whole inserts with their prediction interval beside those of retrieved ones."""
    # Imports compiled kernels, which the pages of other studies do not need.
    from kneewear.studies.uncertainty.analysis import prediction_interval  # noqa: PLC0415

    drawn = rows_with(samples, role="draw")
    rates = {}
    for creep, names in MEASURED.items():
        depths, volumes = (drawn[[f"{side}_{name}" for side in SIDES]] for name in names)
        losses = {
            "linear": depths.max(axis=1, skipna=False),
            "volume": volumes.sum(axis=1, skipna=False),
        }
        rates[creep] = pd.DataFrame(losses)
    rows = _retrieval_rows(retrievals, rates)
    for row in rows:
        here = prediction_interval(row["values"].to_numpy(float), level)
        row["median"] = here.median
        row["interval"] = f"{shown(here.lower, '3')} to {shown(here.upper, '3')}"
        row["within"] = f"{100 * row['inside'].mean():.0f} %"
    return pd.DataFrame(rows)


def _retrieval_rows(
    retrievals: Mapping[str, Settings], rates: Mapping[bool, pd.DataFrame]
) -> list[dict[str, Any]]:
    """Published rates of retrieved inserts, each with the computed `values` beside it."""
    rows = []
    for (name, group), (key, column, text, unit) in product(retrievals.items(), LOSSES):
        rate, values = group[key], rates[group["includes_creep"]][column].dropna()
        if rate is not None and len(values):
            rows.append(
                {
                    "name": name,
                    "loss": f"{text}, {'with' if group['includes_creep'] else 'without'} creep",
                    "unit": unit,
                    "mean": rate["mean"],
                    "limits": f"{shown(rate['low'])} to {shown(rate['high'])}",
                    "spread": group["spread"],
                    "values": values,
                    "inside": values.between(rate["low"], rate["high"]),
                    "source": group["source"],
                }
            )
    return rows


# Comparison with published values, and calibration on them.

# Targets of a calibration: median and largest error of the cells that were not fitted, per cent
# beyond rounding, and the number of constants.
TARGETS = {"all others": (1.6, 9.0), "average pressure": (4.0, 10.0)}
MOST_CONSTANTS = 15
TITLES = {"all others": "All but average pressure", "average pressure": "Average pressure"}


def error_statistics(comparison: pd.DataFrame) -> pd.DataFrame:
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


def fitted_range(comparison: pd.DataFrame, extra_mm: float) -> dict[str, Any]:
    """Range of body mass x local thickness of the fitted cells, and errors in and beyond it."""
    stress = comparison["body_mass_kg"] * (comparison["thickness_mm"] + extra_mm)
    fitted = stress[comparison["calibration"].astype(bool)]
    inside = stress.between(fitted.min(), fitted.max())
    error = 100.0 * comparison["relative_error"].abs()
    ends = {"low": fitted.min(), "high": fitted.max()}
    return ends | {"inside": error[inside].max(), "outside": error[~inside].max()}


# Static studies.

PRESSURES = ("max_pressure", "avg_pressure")
# Active elements, and the largest error there by Bei (2003), section 3.2.3, per cent.
PUBLISHED_BOUNDS = {25: 10.0, 50: 5.0}
SCANNED = (*PRESSURES, "centre_posterior")


def bearing_ranges(static: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Range of the pressures over all cases, by material and quantity."""
    bearing = static[static["side"].isin(SIDES) & static["quantity"].str.endswith("_pressure")]
    ranges = bearing.groupby(["quantity", "material"], sort=False)["value"]
    wide = ranges.agg(lambda values: f"{values.min():.1f} to {values.max():.1f}").unstack(0)
    return {str(name): wide.loc[name].to_dict() for name in dict.fromkeys(static["material"])}


def post_contact(static: pd.DataFrame) -> pd.DataFrame | None:
    """Forces of the cases in which cam and post touch; None without a post."""
    post = rows_with(static, side=POST, quantity="force_posterior")
    return None if post.empty else post[post["value"] != 0.0]


def scans_positions(static: pd.DataFrame) -> bool:
    """Whether several held positions were solved."""
    return bool("pose" not in static and static["posterior_mm"].nunique() > 1)


def position_scan(static: pd.DataFrame) -> pd.DataFrame:
    """Held positions by quantity and side, for the first material and flexion and largest load."""
    first = {name: static[name].iloc[0] for name in ("material", "flexion_deg")}
    chosen = rows_with(static, **first, load_n=static["load_n"].max())
    wide = chosen[chosen["side"].isin(SIDES)].pivot_table(
        index="posterior_mm", columns=["quantity", "side"], values="value"
    )
    # A side that never touches has no centre of pressure.
    return wide.reindex(columns=pd.MultiIndex.from_product([SCANNED, SIDES]))


def scan_results(static: pd.DataFrame) -> dict[str, Any]:
    """Largest pressures over the held position, and how far medial contact is ahead of lateral."""
    curves = position_scan(static)
    peaks = curves["max_pressure"].T.max()
    ahead = curves["centre_posterior", "lateral"] - curves["centre_posterior", "medial"]
    return {
        "worst": peaks.idxmax(), "worst_mpa": peaks.max(),
        "best": peaks.idxmin(), "best_mpa": peaks.min(),
        "ahead": int((ahead > 0.0).sum()), "positions": len(ahead),
        "least_mm": ahead.min(), "most_mm": ahead.max(),
    }  # fmt: skip


def loads_below(comparison: pd.DataFrame, whole: Settings) -> list[float]:
    """Loads at which a material's mean difference is below all measured ones."""
    own = rows_with(comparison, quantity=whole["quantity"], material=whole["material"])
    below = own["load_n"].notna() & (own["mean_mpa"] < whole["measured_least_mpa"])
    return [float(load) for load in own.loc[below, "load_n"]]


def case_table(static: pd.DataFrame) -> pd.DataFrame:
    """Pressures and forces, one row per case and side that touches."""
    index = ["material", "flexion_deg", "posterior_mm", "load_n", "side"]
    index = ["pose", *index] if "pose" in static else index
    wide = static.pivot_table(index=index, columns="quantity", values="value", sort=False)
    wide = wide.reset_index()
    return wide[wide["active_elements"] > 0]


def convergence_errors(table: pd.DataFrame) -> pd.DataFrame:
    """Errors, per cent, against the median pressure of the greatest number of elements."""
    rows = []
    for quantity in PRESSURES:
        values = table[f"{quantity}_mpa"]
        reference = values[table["wanted"] == table["wanted"].max()].median()
        percent = 100.0 * (values / reference - 1.0).abs()
        for wanted, part in table.assign(percent=percent).groupby("wanted"):
            rows.append(
                {
                    "quantity": quantity,
                    "wanted": wanted,
                    "active_elements": float(part["active_elements"].median()),
                    "median_percent": float(part["percent"].median()),
                    "greatest_percent": float(part["percent"].max()),
                }
            )
    return pd.DataFrame(rows)


def division_errors(table: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Deviation from the finest grid, per cent, rows by columns, the finest left out."""
    values = table.pivot(index="rows", columns="columns", values=quantity)
    finest = float(np.asarray(values)[-1, -1])
    return 100.0 * (values / finest - 1.0).iloc[:-1, :-1]


# Verification studies.

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


def accuracy_errors(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Error of every quantity, per cent, one column per accuracy in the order of the table."""
    keys = ["life", "quantity", "side"]
    names = list(dict.fromkeys(accuracy["accuracy"]))
    errors = accuracy.pivot_table("error_percent", keys, "accuracy", sort=False)
    return errors[names].reset_index()


def by_variant(variants: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The seven quantities of each variant, with their differences in per cent."""
    chosen = variants[variants["quantity"].isin(QUANTITIES)]
    chosen = chosen.assign(percent=100.0 * chosen["relative_difference"])
    groups = chosen.groupby("variant", sort=False)
    return {str(name): drop_single_life(rows) for name, rows in groups}


def largest_effect(rows: pd.DataFrame) -> pd.Series[Any]:
    """Row of a variant with the largest relative difference."""
    return rows.iloc[int(rows["relative_difference"].abs().to_numpy().argmax())]


def tilted_element(table: pd.DataFrame) -> pd.Series[Any]:
    """The most tilted of the elements of a distance correction that are deep enough to be drawn."""
    deep = table["minimum_distance_mm"] >= LEAST_DEPTH * table["minimum_distance_mm"].max()
    chosen = table[deep & table["ray_mm"].notna()]
    return chosen.loc[chosen["angle_deg"].idxmax()]
