"""Choices a modeller made, and how much each moves the answer where the study can tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from kneewear.report.outcome import centre_name
from kneewear.report.sections import Table, shown, signed
from kneewear.sides import SIDES

UNKNOWN = "–"
CHANGE_PERCENT = 10.0
Row = tuple[str, str, str, str]


def choices(study: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> Table:
    """Choices, what else could be chosen, and the effect on damage depth.

    Parameters
    ----------
    study : mapping
        Settings of the study as plain builtins.
    tables : mapping of name to DataFrame
        `cases` and `regression`; `variants` and `verification` where there are.

    Returns
    -------
    Table
        One row a choice. Effects are those of the first life, at the study's centre.
    """
    rows = (*_law_rows(study, tables["cases"]), *_measured_rows(study, tables), *_open_rows(study))
    head = ("Choice", "Here", "Instead", "Effect")
    return Table("Choices and their effect on the damage depth at the centre", head, rows, True)


def centre_values(cases: pd.DataFrame, quantity: str) -> dict[str, float]:
    """Value of a quantity by side, of the first life and the case in the middle of the design.

    Parameters
    ----------
    cases : DataFrame
        Tidy case table.
    quantity : str
        Name as in the table.

    Returns
    -------
    dict of side to float
        In the unit of the table.
    """
    chosen = cases[(cases["quantity"] == quantity) & (cases["life"] == cases["life"].iloc[0])]
    chosen = chosen[chosen["case"] == centre_name(cases)]
    return dict(zip(chosen["side"], chosen["value"].astype(float), strict=True))


def _law_rows(study: Mapping[str, Any], cases: pd.DataFrame) -> Iterator[Row]:
    """Constants the damage is linear in, when the surface does not follow it."""
    wear = study["wear"]
    whole = centre_values(cases, "damage_depth")
    constants = {
        "wear_depth": ("Wear factor", f"{shown(wear['wear_factor_mm3_per_n_m'])} mm³/(N m)"),
        "creep_depth": ("Creep constant", f"{wear['creep_mm_per_mpa']:g} mm/MPa"),
    }
    if wear["creep_law"] == "strain":
        constants["creep_depth"] = ("Creep strain of the law", "as published")
    linear = wear["blocks"] == 1
    for quantity, (name, value) in constants.items():
        part = centre_values(cases, quantity)
        effect = ", ".join(
            f"{side} {signed(CHANGE_PERCENT * part[side] / whole[side])} %"
            for side in SIDES
            if whole.get(side)
        )
        yield (
            name,
            value,
            f"{CHANGE_PERCENT:g} % more",
            f"{effect} (linear)" if linear and effect else UNKNOWN,
        )


def _variant_rows(study: Mapping[str, Any], variants: pd.DataFrame) -> Iterator[Row]:
    """Methods that the centre case was simulated with besides."""
    if variants.empty:
        return
    own = variants[variants["quantity"] == "damage_depth"]
    for change, table in own[own["life"] == own["life"].iloc[0]].groupby("variant", sort=False):
        name, _, other = str(change).partition(": ")
        here = study["simulation"].get(name.replace(" ", "_"), UNKNOWN)
        effect = _by_side(table["side"], 100.0 * table["relative_difference"])
        yield f"Method: {name}", _words(here), other, effect


def _measured_rows(study: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> Iterator[Row]:
    """What the study varied or checked itself."""
    yield from _variant_rows(study, tables.get("variants", pd.DataFrame()))
    regression = tables["regression"]
    for name, column, step in (
        ("Insert thickness", "a1_per_mm", "1 mm more"),
        ("Body mass", "a2_per_kg", "1 kg more"),
    ):
        own = regression[regression["quantity"] == "damage_depth"].drop_duplicates("side")
        centre = centre_values(tables["cases"], "damage_depth")
        percent = [100.0 * row[column] / centre[row["side"]] for row in own.to_dict("records")]
        range_ = study["cases"]["thickness_mm" if "thick" in name else "body_mass_kg"]
        yield (
            name,
            f"{min(range_):g} to {max(range_):g}",
            step,
            f"{_by_side(own['side'], percent)} (regression)" if percent else UNKNOWN,
        )
    verified = tables.get("verification", pd.DataFrame())
    grid = study["grid"]
    effect = UNKNOWN
    if not verified.empty:
        worst = verified[verified["quantity"].isin(["force", "max_pressure"])]
        largest = float(np.nanmax(worst["worst_error_percent"]))
        effect = (
            f"force and largest pressure err by up to {shown(largest, 2)} % on shapes of known "
            "contact, on 100 by 75 elements"
        )
    yield (
        "Elements a side",
        f"{grid['rows']} by {grid['columns']}",
        "infinitely many",
        effect,
    )


def _open_rows(study: Mapping[str, Any]) -> Iterator[Row]:
    """Choices that this study does not vary."""
    simulation, wear = study["simulation"], study["wear"]
    law = simulation["pressure_law"]
    yield (
        "Material of the insert",
        f"{_words(law['material'])}, {law['strain']} strain",
        "a nonlinear or plastic law, large strain",
        UNKNOWN,
    )
    yield (
        "Young's modulus, Poisson's ratio",
        f"{simulation['youngs_modulus_mpa']:g} MPa, {simulation['poisson_ratio']:g}",
        "other measurements of polyethylene",
        UNKNOWN,
    )
    yield (
        "Share of the load carried medially",
        f"{100 * simulation['medial_share']:g} %, load line {simulation['load_line']}",
        "58 to 63 %, as measured in one implant; or a fixed load line",
        UNKNOWN,
    )
    yield "Wear law", _words(wear["wear_law"]), "a law of cross-shear, pressure or area", UNKNOWN
    yield (
        "Surface during life",
        "fresh throughout" if wear["blocks"] == 1 else f"lowered in {wear['blocks']} blocks",
        "lowered by wear and creep in blocks" if wear["blocks"] == 1 else "fresh throughout",
        UNKNOWN,
    )
    yield "Friction", "none in equilibrium", "Coulomb friction between the bodies", UNKNOWN
    yield (
        "Prescribed motion",
        "flexion, rotation, anterior-posterior translation",
        "measured motion of another patient; motion that answers to the load",
        UNKNOWN,
    )


def _by_side(sides: pd.Series[str], percent: Any) -> str:
    return ", ".join(
        f"{side} {signed(value)} %" for side, value in zip(sides, percent, strict=True)
    )


def _words(name: str) -> str:
    return str(name).replace("_", " ")
