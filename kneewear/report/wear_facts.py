"""Facts of a wear study that its page states, computed from its settings and tables.

`cases` is the tidy case table, `life` is a column of the others only if a study has several lives.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from kneewear.regression.fit import regression_shortfall
from kneewear.regression.groups import QUANTITIES, drop_single_life
from kneewear.regression.models import ENOUGH, PLANE, POWER_LAW
from kneewear.report.tables import shown, span
from kneewear.report.trade_off import trade_off_numbers
from kneewear.sides import SIDES

__all__ = ["ENOUGH", "regression_shortfall", "trade_off_numbers"]

KEY_QUANTITIES = (*QUANTITIES[2:], "volumetric_wear_rate", "max_pressure")
PLACES = {
    "distance_max_damage_to_max_pressure": "Largest damage to largest pressure",
    "damage_location_x": "Largest damage, x (posterior)",
    "damage_location_z": "Largest damage, z (medial)",
    "centre_of_pressure_x": "Centre of pressure at the largest load, x",
    "centre_of_pressure_z": "Centre of pressure at the largest load, z",
    "centre_of_pressure_x_min": "Centre of pressure, most anterior x",
    "centre_of_pressure_x_max": "Centre of pressure, most posterior x",
}
RATES = {
    "max_wear_depth": "Largest wear depth",
    "max_creep_depth": "Largest creep depth",
    "wear_volume": "Wear volume",
    "creep_volume": "Creep volume",
    "linear_wear_rate": "Largest wear depth per year",
    "linear_penetration_rate": "Largest damage depth per year",
    "volumetric_wear_rate": "Wear volume per year",
    "volumetric_penetration_rate": "Damage volume per year",
    "mass_loss": "Mass lost by wear",
    "cross_shear": "Cross-shear ratio, mean of the wear volume",
}
# Loss of thickness and of volume per year: of wear and creep together, and of wear alone.
MEASURED = {
    True: ("linear_penetration_rate", "volumetric_penetration_rate"),
    False: ("linear_wear_rate", "volumetric_wear_rate"),
}
# Insert thickness, mm, and body mass, kg, of the patient of Bei (2003).
NOMINAL_PATIENT = (6.8, 70.0)
LOCATION = ["damage_location_x", "damage_location_z"]


def centre_rows(cases: pd.DataFrame) -> pd.DataFrame:
    """Rows of the case nearest to the medians of thickness and mass."""
    design = cases.drop_duplicates("case").set_index("case")[["thickness_mm", "body_mass_kg"]]
    width = (design.max() - design.min()).replace(0.0, 1.0)
    away = ((design - design.median()) / width).pow(2).sum(axis=1)
    return cases[cases["case"] == away.idxmin()]


def centre_values(cases: pd.DataFrame, quantity: str, life: str | None = None) -> dict[str, float]:
    """Value of a quantity by side, of one life (or the first) and the centre case."""
    chosen = cases[cases["life"] == (life or cases["life"].iloc[0])]
    rows = centre_rows(chosen[chosen["quantity"] == quantity])
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
    table = table.reset_index("unit").reindex(order).reset_index()
    return drop_single_life(table)


def over_cases(cases: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Minimum, median and maximum of some quantities by side."""
    known = cases[cases["quantity"].isin(list(names))].dropna(subset="value")
    table = known.groupby(["quantity", "side", "unit"])["value"].agg(["min", "median", "max"])
    order = product(names, SIDES)
    table = table.reset_index("unit")
    table = table.reindex([row for row in order if row in table.index]).reset_index()
    return table.assign(name=table["quantity"].map(dict(names)))


def wide_cases(cases: pd.DataFrame) -> pd.DataFrame:
    """The seven quantities of every case and side, a column each."""
    chosen = cases[cases["quantity"].isin(QUANTITIES)]
    index = ["life", "thickness_mm", "body_mass_kg", "side"]
    wide = chosen.pivot_table(index=index, columns="quantity", values="value", sort=False)
    return drop_single_life(wide.reset_index())


def damage_trade_off(regression: pd.DataFrame) -> list[dict[Any, Any]]:
    """Regression of the damage depth by side, of the first life."""
    damage = regression[regression["quantity"] == "damage_depth"]
    return damage.drop_duplicates("side").to_dict("records")


def coefficients(regression: pd.DataFrame) -> pd.DataFrame:
    """Regression coefficients with their standard errors as text."""
    names = (("a0", "a0_se"), ("a1_per_mm", "a1_se"), ("a2_per_kg", "a2_se"))
    return regression.assign(
        **{
            name: [
                f"{shown(value)} ± {shown(error, '2')}"
                for value, error in zip(regression[name], regression[standard], strict=True)
            ]
            for name, standard in names
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
    power = models[models["model"] == POWER_LAW]
    power = power[[*keys, "factor", "thickness_exponent", "mass_exponent"]]
    return rows.merge(errors, on=keys).merge(power, how="left", on=keys)


def curved(models: pd.DataFrame) -> dict[str, int]:
    """Number of results in which further terms improve the plane (F test, p below 0.05)."""
    tested = models[models["p_value"].notna()]
    counts = tested.groupby("model", sort=False)["p_value"].agg(lambda p: int((p < 0.05).sum()))
    return {str(name): int(count) for name, count in counts.items()}


def plane_points(points: pd.DataFrame) -> pd.DataFrame:
    """Every case beside the prediction of the plane."""
    return points[points["model"] == PLANE]


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


def beyond_limits(validity: pd.DataFrame) -> pd.DataFrame:
    """Cases and sides with a pressure above one of the limits."""
    flags = validity[["max_pressure_above_limit", "avg_pressure_above_limit"]].astype(bool)
    return validity[flags.any(axis=1)]


def border_contact(cases: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Rows of the cases whose contact reaches the end of the element grid, by side."""
    rows = cases[(cases["quantity"] == "border_pressure") & (cases["value"] > 0.0)]
    return {str(side): part for side, part in rows.groupby("side")}


def largest(cases: pd.DataFrame, quantity: str) -> float:
    """Largest value of a quantity over all cases."""
    return float(cases.loc[cases["quantity"] == quantity, "value"].max())


def insert_rates(cases: pd.DataFrame, includes_creep: bool) -> pd.DataFrame:
    """Loss of thickness (mm/year, larger side) and volume (mm3/year, both sides) of inserts.

    Parameters
    ----------
    cases : DataFrame
        Tidy case table.
    includes_creep : bool
        Whether creep counts.

    Returns
    -------
    DataFrame
        One row per life and case; columns linear and volume.
    """
    linear, volume = MEASURED[includes_creep]
    by_case = cases.groupby(["life", "case", "quantity"])["value"]
    # NaN is the rate of a life of zero length and must not turn into zero.
    return pd.DataFrame(
        {
            "linear": by_case.max().unstack()[linear],
            "volume": by_case.sum(min_count=2).unstack()[volume],
        }
    )


def retrieval_rows(
    retrievals: Mapping[str, Mapping[str, Any]], rates: Mapping[bool, pd.DataFrame]
) -> list[dict[str, Any]]:
    """Published rates of retrieved inserts, each with the computed `values` beside it.

    Parameters
    ----------
    retrievals : mapping
        Settings `report.retrievals`.
    rates : mapping of bool to DataFrame
        Columns linear and volume, without and with creep.
    """
    rows = []
    for name, group in retrievals.items():
        for key, column, text, unit in (
            ("linear_mm_per_year", "linear", "thickness", "mm/year"),
            ("volume_mm3_per_year", "volume", "volume", "mm³/year"),
        ):
            rate, values = group[key], rates[group["includes_creep"]][column].dropna()
            if rate is not None and len(values):
                creep = "with" if group["includes_creep"] else "without"
                rows.append(
                    {
                        "name": name,
                        "loss": f"{text}, {creep} creep",
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


def beside_retrievals(
    cases: pd.DataFrame, retrievals: Mapping[str, Mapping[str, Any]]
) -> pd.DataFrame:
    """Computed rates of whole inserts beside those of retrieved ones."""
    rows = retrieval_rows(retrievals, {creep: insert_rates(cases, creep) for creep in MEASURED})
    for row in rows:
        values = row["values"]
        row["here"] = f"{shown(values.min(), '3')} to {shown(values.max(), '3')}"
        row["within"] = f"{row['inside'].sum()} of {len(values)}"
        row["source"] = row["source"].partition(",")[0]
    return pd.DataFrame(rows)


def linear_effects(
    study: Mapping[str, Any], cases: pd.DataFrame, percent: float
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
    return {
        row["side"]: 100.0 * row[column] / centre[row["side"]]
        for row in damage_trade_off(regression)
    }


def in_percent(prediction: pd.DataFrame) -> pd.DataFrame:
    """Differences from the published regression in per cent."""
    return prediction.assign(percent=100.0 * prediction["relative_difference"])
