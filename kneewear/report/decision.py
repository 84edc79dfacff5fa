"""What the first screen and the decision tool of a wear study state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.regression.groups import covariates_of
from kneewear.regression.models import POWER_LAW
from kneewear.report.facts import beyond_limits, centre_values
from kneewear.report.tables import quantity_name, rows_with, unit_name, words
from kneewear.sides import BOTH
from kneewear.wear.laws import WEAR_LAWS, cycles_of_life
from kneewear.wear.spread import LAW

# Quantities that fall with thickness, for which the decision tool takes limits.
LIMITED = ("max_pressure", "avg_pressure", "max_wear_depth", "damage_depth", "damage_volume")
CONFIDENCE = 0.95
COEFFICIENTS = 3
POWER = ["factor", "thickness_exponent", "mass_exponent", "log_deviation"]
WHERE = {
    "x": {True: "posterior", False: "anterior"},
    "z": {True: "medial", False: "lateral"},
}


def headline(cases: pd.DataFrame, wear: Mapping[str, Any], life: str) -> dict[str, Any]:
    """Loss of the centre case over a life (both sides), and the largest of its depths by side.

    Volumes are in mm3, masses in mg, depths in mm, pressures (the larger of both sides) in MPa;
    `place` states where the damage is deepest, from the insert's origin.
    """
    million = 1e-6 * cycles_of_life(wear["cycles_per_year"], wear["months"])
    values = {
        name: centre_values(cases, name, life)
        for name in ("wear_volume", "damage_depth", "max_wear_depth", "max_creep_depth",
                     "max_pressure", "avg_pressure", "damage_location_x", "damage_location_z")
    }  # fmt: skip
    volume = sum(values["wear_volume"].values())
    mass = volume * wear["density_mg_per_mm3"]
    deepest = max(values["damage_depth"], key=values["damage_depth"].__getitem__)
    place = " and ".join(
        f"{abs(at):.1f} mm {WHERE[axis][at > 0.0]}"
        for axis in WHERE
        if (at := values[f"damage_location_{axis}"][deepest]) == at
    )
    return {
        "million_cycles": million,
        "volume": volume,
        "mass": mass,
        "volume_rate": volume / million if million else None,
        "mass_rate": mass / million if million else None,
        "side": deepest,
        "place": place,
        **{name: values[name] for name in ("damage_depth", "max_wear_depth", "max_creep_depth")},
        **{name: max(values[name].values()) for name in ("max_pressure", "avg_pressure")},
    }


def outside(validity: pd.DataFrame | None, lives: Sequence[str]) -> dict[str, list[str]]:
    """Names of the cases with a pressure above what the model is validated for, by life.

    Lives without such cases are left out. A table of a single life does not name it.
    """
    if validity is None:
        return {}
    beyond = beyond_limits(validity)
    own = {life: rows_with(beyond, life=life) if "life" in beyond else beyond for life in lives}
    return {life: list(rows["case"].unique()) for life, rows in own.items() if len(rows)}


def design_table(cases: pd.DataFrame, beyond: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """One row per case: its covariates, depth of the deepest damage (mm), and whether `outside`.

    Of the first life; `beyond` as of `outside`.
    """
    life = cases["life"].iloc[0]
    rows = rows_with(cases, life=life, quantity="damage_depth")
    keys = ["case", *covariates_of(cases)]
    groups = rows.groupby(keys, sort=False, dropna=False)
    table = groups["value"].max().rename("damage_depth").reset_index()
    return table.assign(outside=table["case"].isin(beyond.get(life, [])))


def choice(design: pd.DataFrame, case: str) -> dict[str, Any]:
    """Inserts of cases that differ from one in thickness alone: the best, those within validity."""
    others = design[design.columns.difference(["case", "thickness_mm", "damage_depth", "outside"])]
    one = others[design["case"] == case].iloc[0]
    same = others.eq(one) | (others.isna() & one.isna())
    own = design[same.all(axis=1)].sort_values("thickness_mm")
    within = own[~own["outside"]]
    return {
        "least": own.sort_values("damage_depth").iloc[0].to_dict(),
        "thickness_mm": own["thickness_mm"].tolist(),
        "within_mm": within["thickness_mm"].tolist(),
    }


def limit_fits(
    cases: pd.DataFrame, regression: pd.DataFrame, models: pd.DataFrame | None = None
) -> dict[str, Any] | None:
    """Fits of the decision tool; None without a regression or without degrees of freedom.

    A new case (h, m) is predicted as `y = x . a` with x = (1, h, m), within `t s sqrt(1 + x .
    (X'X)^-1 . x)` with 95 % confidence (ordinary least squares); without the 1 under the root it is
    the confidence interval of the mean. Where a plane is not enough, the power law of `models` is
    the same in logarithms. Residuals of a deterministic computation are misfit, not noise: the
    interval is that of another computed case, not of a patient. Results that do not fall with
    thickness are left out: no minimum thickness follows from their limits.
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - only here

    design = cases[["thickness_mm", "body_mass_kg"]].drop_duplicates().astype(float)
    freedom = len(design) - COEFFICIENTS
    if regression.empty or freedom < 1 or len(covariates_of(cases)) > 2:
        return None
    keys = [name for name in ("life", "side", "quantity") if name in regression]
    table = regression[regression["quantity"].isin(LIMITED)]
    if models is not None:
        wanted = (models["model"] == POWER_LAW) & ~models["plane_is_enough"].astype(bool)
        table = table.merge(models.loc[wanted, [*keys, *POWER]], how="left", on=keys)
    return {
        **{str(name): [float(own.min()), float(own.max())] for name, own in design.items()},
        "inverse": _inverse(design.to_numpy()),
        "logarithmic_inverse": _inverse(np.log(design.to_numpy())),
        "quantile": float(stdtrit(freedom, 0.5 + CONFIDENCE / 2.0)),
        "lives": list(dict.fromkeys(cases["life"])),
        "fits": [
            {
                "life": row.get("life"),
                "side": row["side"],
                "quantity": row["quantity"],
                "name": quantity_name(row["quantity"]),
                "unit": unit_name(row["unit"]),
                "coefficients": [float(row[name]) for name in ("a0", "a1_per_mm", "a2_per_kg")],
                "deviation": float(row["rmse"]),
                "power": _power_law(row),
            }
            for row in table.to_dict("records")
            if row["a1_per_mm"] < 0.0
        ],
    }


def _inverse(design: NDArray[np.float64]) -> list[list[float]]:
    """Inverse of the normal matrix of a constant and two columns."""
    matrix = np.column_stack([np.ones(len(design)), design])
    inverse: list[list[float]] = np.linalg.inv(matrix.T @ matrix).tolist()
    return inverse


def _power_law(row: dict[Any, Any]) -> dict[str, Any] | None:
    """Coefficients of the power law's logarithm; None where the plane is enough."""
    if not np.isfinite(row.get("factor", np.nan)):
        return None
    factor, thickness, mass, deviation = (float(row[name]) for name in POWER)
    return {"coefficients": [np.log(factor), thickness, mass], "deviation": deviation}


def by_choice(spread: pd.DataFrame) -> pd.DataFrame:
    """Total wear (mm3) and deepest damage (mm) by choice and variant of the model, of one life."""
    keys = ["choice", "variant"]
    own = rows_with(spread, life=spread["life"].iloc[0]).fillna({"variant": ""})
    volume = rows_with(own, quantity="wear_volume").groupby(keys, sort=False)["value"].sum()
    depth = rows_with(own, quantity="damage_depth").groupby(keys, sort=False)["value"].max()
    return pd.DataFrame({"wear_volume": volume, "damage_depth": depth}).reset_index()


def by_constants(intervals: pd.DataFrame, constants: pd.DataFrame) -> dict[str, Any]:
    """Interval of total wear (mm3) and deepest damage (mm), and how it was found.

    `wear_volume` and `damage_depth` are rows of the intervals; `samples` and `failed` are counts,
    `percentiles` the ends of the interval; `varied` and `left_out` are names of constants.
    """
    whole = rows_with(intervals, side=BOTH).set_index("quantity")
    names = constants.set_index("constant")["varied"].astype(bool)
    return {
        **{name: whole.loc[name].to_dict() for name in ("wear_volume", "damage_depth")},
        "samples": int(whole["samples"].iloc[0]),
        "failed": int(whole["failed"].iloc[0]),
        "percentiles": whole["percentiles"].iloc[0],
        "varied": [words(name) for name in names.index[names]],
        "left_out": [words(name) for name in names.index[~names]],
    }


def variant_name(choice: str, variant: str) -> str:
    """Name of a variant of `by_choice`."""
    if choice == LAW:
        return words(variant) + (" (unverified)" if WEAR_LAWS[variant].unverified() else "")
    return f"{choice} {variant}".strip()
