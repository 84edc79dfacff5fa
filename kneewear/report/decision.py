"""What the first screen of a wear study states: what is lost, where, within what limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from kneewear.report.facts import beyond_limits, centre_values
from kneewear.report.tables import rows_with
from kneewear.wear.laws import cycles_of_life

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


def outside(validity: pd.DataFrame | None) -> list[str]:
    """Names of the cases with a pressure above what the model is validated for."""
    return [] if validity is None else list(dict.fromkeys(beyond_limits(validity)["case"]))


def design_table(cases: pd.DataFrame, beyond: list[str]) -> pd.DataFrame:
    """One row per case: thickness, mass, depth of the deepest damage (mm), and whether `outside`.

    Of the first life.
    """
    rows = rows_with(cases, life=cases["life"].iloc[0], quantity="damage_depth")
    keys = ["case", "thickness_mm", "body_mass_kg"]
    table = rows.groupby(keys, sort=False)["value"].max().rename("damage_depth").reset_index()
    return table.assign(outside=table["case"].isin(beyond))


def choice(design: pd.DataFrame, body_mass: float) -> dict[str, Any]:
    """Simulated inserts for a body mass: that of least damage, and those within validity."""
    own = rows_with(design, body_mass_kg=body_mass).sort_values("thickness_mm")
    within = own[~own["outside"]]
    return {
        "least": own.sort_values("damage_depth").iloc[0].to_dict(),
        "thickness_mm": own["thickness_mm"].tolist(),
        "within_mm": within["thickness_mm"].tolist(),
    }
