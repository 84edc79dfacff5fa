"""Derived tables of wear studies: the centre case, ranges, choices of the model, thickness.

`cases` is the tidy case table; `life` is a column of other tables only if a study has several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.analysis.groups import QUANTITIES, covariates_of, drop_single_life
from kneewear.base.cases import PLASTIC_OUTPUTS, nearest_to_middle
from kneewear.base.checks import checks
from kneewear.base.sides import BOTH
from kneewear.report.derived import Settings, derived
from kneewear.report.tables import quantity_name, rows_with, span, unit_name, words
from kneewear.wear.interval import (
    MIN_LABORATORIES,
    ONE_FACTOR,
    factors_of,
    known_classes,
)
from kneewear.wear.law_settings import WEAR_LAWS
from kneewear.wear.laws import cycles_of_life
from kneewear.wear.leading import DAMAGE, UPPER_ESTIMATES, WEAR, LeadingDepth, leading_depth
from kneewear.wear.posterior import ALL_LAWS, LAWS_OF_LARGER_TABLE
from kneewear.wear.spread import LAW

KEY_QUANTITIES = (
    "max_wear_depth",
    "max_creep_depth",
    *QUANTITIES[2:],
    "volumetric_wear_rate",
    "max_pressure",
    "avg_pressure",
)
# Depth, area and volume of wear, creep and damage.
BLOCK_QUANTITIES = (
    "max_wear_depth",
    "max_creep_depth",
    "damage_depth",
    "wear_area",
    "creep_area",
    "damage_area",
    "wear_volume",
    "creep_volume",
    "damage_volume",
)
# Results that lives are compared by.
COMPARED = (
    "max_pressure",
    "wear_depth_at_deepest_damage",
    "damage_depth",
    "damage_area",
    "wear_volume",
    "damage_volume",
)
# Beginning of the quantities at the end of each surface, and what beside the force is judged there.
WINDOWS = {"insert": ("", "wear"), "femoral": ("femoral_", "area")}
BLOCKS = "wear.blocks"
PERMANENT_SHARE = "permanent_share"


# Quantity and title of coordinates that forces may drive.
_MOTIONS = {
    "x": ("posterior_position", "Femoral component, posterior"),
    "theta_2": ("tibial_external_rotation", "External rotation of the tibia"),
}


@derived
def centre(cases: pd.DataFrame) -> pd.DataFrame:
    """Rows of the case nearest to the medians of thickness and mass."""
    designs = cases.drop_duplicates("case")
    points = list(designs[["thickness_mm", "body_mass_kg"]].itertuples(index=False, name=None))
    return cases[cases["case"] == designs["case"].iloc[nearest_to_middle(points)]]


def leading(settings: Settings | None) -> LeadingDepth:
    """Depth by which results of a study are headed, drawn and ranked; damage without settings."""
    return leading_depth(settings["wear"]["creep_law"]) if settings else DAMAGE


@derived
def centre_damage(centre: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Damage depths of the centre case; none where the creep law is an upper estimate."""
    return rows_with(centre, quantity="damage_depth") if leading(settings) is DAMAGE else centre[:0]


@derived
def centre_creep(centre: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Largest creep depths of the centre case where the creep law is an upper estimate.

    With a column `caveat`, of what it is one.
    """
    law = settings["wear"]["creep_law"]
    rows = rows_with(centre, quantity="max_creep_depth") if law in UPPER_ESTIMATES else centre[:0]
    return rows.assign(caveat=UPPER_ESTIMATES.get(law, ""))


@derived
def creep_caveat(centre_creep: pd.DataFrame) -> pd.DataFrame:
    """The largest creep of the centre case, with its caveat."""
    return centre_creep.nlargest(1, "value")


@derived
def centre_losses(centre: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Wear of both sides of the centre case: volume (mm3), mass (mg), also per million cycles."""
    wear = settings["wear"]
    million = 1e-6 * cycles_of_life(wear["cycles_per_year"], wear["months"])
    rows = []
    for life, own in rows_with(centre, quantity="wear_volume").groupby("life", sort=False):
        volume = own["value"].sum()
        mass = volume * wear["density_mg_per_mm3"]
        rows += [(life, "wear_volume", volume, "mm3"), (life, "wear_mass", mass, "mg")]
        if million:
            rows += [
                (life, "wear_volume_per_million_cycles", volume / million, "mm3"),
                (life, "wear_mass_per_million_cycles", mass / million, "mg"),
            ]
    return pd.DataFrame(rows, columns=["life", "quantity", "value", "unit"])


@derived
def life_cycles(settings: Settings) -> pd.DataFrame:
    """Million cycles of a life."""
    wear = settings["wear"]
    million = 1e-6 * cycles_of_life(wear["cycles_per_year"], wear["months"])
    return pd.DataFrame({"million_cycles": [million]})


@derived
def leading_intervals(wear_intervals: pd.DataFrame) -> pd.DataFrame:
    """Intervals by all laws, constants and laboratories.

    Predictions that were stored before their results were looked for hold by all laws; by one wear
    factor they are too narrow (docs/measured-wear.md).
    """
    return rows_with(wear_intervals, law=ALL_LAWS)


@derived
def wear_rate_here(
    centre: pd.DataFrame, leading_intervals: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Wear volume of both sides of the centre case per year (mm3), with its interval if any.

    The interval is in the sentence as well.
    """
    rates = rows_with(centre, quantity="volumetric_wear_rate")
    first = rates[rates["life"] == rates["life"].iloc[0]] if len(rates) else rates
    row: dict[str, Any] = {"value": first["value"].sum(), "low": np.nan, "high": np.nan}
    if leading_intervals is not None and len(first):
        chosen = {"life": first["life"].iloc[0], "side": BOTH}
        own = rows_with(leading_intervals, quantity="volumetric_wear_rate", **chosen)
        if len(own):
            row |= {"low": own["low"].iloc[0], "high": own["high"].iloc[0]}
    return pd.DataFrame([row]) if len(first) else pd.DataFrame()


@derived
def wear_rate_parts(
    model_ranges: pd.DataFrame, wear_rate_here: pd.DataFrame, centre_losses: pd.DataFrame
) -> pd.DataFrame:
    """Ranges of the wear volume of both sides per year (mm3), by what causes them."""
    volume = rows_with(centre_losses, quantity="wear_volume")["value"].iloc[0]
    rate = wear_rate_here["value"].iloc[0]
    if not (len(model_ranges) and volume > 0.0):
        return pd.DataFrame()
    part = rate / volume
    parts = pd.DataFrame(
        {
            "cause": model_ranges["cause"],
            "low": part * model_ranges["volume_low"],
            "high": part * model_ranges["volume_high"],
        }
    )
    wide = (parts["high"] - rate).abs() + (parts["low"] - rate).abs()
    return parts.loc[wide.sort_values(ascending=False, kind="stable").index]


@derived
def last_weighings(
    simulator_tests: pd.DataFrame, constant_intervals: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Last weighing of each simulator test and life beside the prediction at its cycles, mm3.

    Columns `when` (test and million cycles), life, million_cycles, `predicted` (the middle of the
    cases), `measured`, `error`, and the ends `low` and `high` over the cases and uncertain
    constants.
    """
    by_test = simulator_tests.groupby(["test", "life"], sort=False)
    last = simulator_tests.loc[by_test["million_cycles"].idxmax()]
    ends = last["predicted_low_mm3"], last["predicted_high_mm3"]
    lower = upper = 1.0
    if constant_intervals is not None:
        whole = rows_with(constant_intervals, side=BOTH, quantity="wear_volume").iloc[0]
        lower, upper = whole["lower"] / whole["nominal"], whole["upper"] / whole["nominal"]
    known = lower < upper or (ends[0] < ends[1]).any()
    return pd.DataFrame(
        {
            "when": [
                f"{test}, {cycles:.3g} million cycles"
                for test, cycles in zip(last["test"], last["million_cycles"], strict=True)
            ],
            "life": last["life"],
            "million_cycles": last["million_cycles"],
            "predicted": 0.5 * (ends[0] + ends[1]),
            "low": lower * ends[0] if known else np.nan,
            "high": upper * ends[1] if known else np.nan,
            "measured": last["wear_mm3"],
            "error": last.get("error_mm3", np.nan),
            "unit": "mm3",
        }
    )


@derived
def motion_ranges(centre: pd.DataFrame, boundary_conditions: pd.DataFrame) -> pd.DataFrame:
    """Extremes and ranges of position and rotation of the centre case, where one is not prescribed.

    Of all activities of a life together.
    """
    found = boundary_conditions["condition"].isin(["driven by force", "solved"])
    if not set(_MOTIONS) & set(boundary_conditions.loc[found, "coordinate"]):
        return pd.DataFrame()
    rows = []
    for life, own in centre[centre["side"] == "both"].groupby("life", sort=False):
        for quantity, coordinate in _MOTIONS.values():
            least, most = (rows_with(own, quantity=f"{quantity}_{end}") for end in ("min", "max"))
            low, high = least["value"].item(), most["value"].item()
            rows.append((life, coordinate, low, high, high - low, least["unit"].item()))
    columns = ["life", "coordinate", "minimum", "maximum", "range", "unit"]
    return pd.DataFrame(rows, columns=columns)


@derived
def key_table(cases: pd.DataFrame, centre: pd.DataFrame) -> pd.DataFrame:
    """Results of the centre case by side, and their range over all cases if there are several."""
    index = ["life", "quantity", "unit", "side"]
    chosen = cases[cases["quantity"].isin(KEY_QUANTITIES)]
    rows = centre[centre["quantity"].isin(KEY_QUANTITIES)]
    table = rows.set_index(index)["value"].unstack("side")
    if cases["case"].nunique() > 1:
        ranges = chosen.groupby(index)["value"].agg(lambda values: span(values, "3"))
        table = table.join(ranges.unstack("side").add_suffix("_range"))
    order = list(product(dict.fromkeys(cases["life"]), KEY_QUANTITIES))
    return drop_single_life(table.reset_index("unit").reindex(order).reset_index())


@derived
def insert_sequences(settings: Settings) -> pd.DataFrame:
    """Orders in which activities of lives load one insert whose plastic strain stays; may be empty.

    Columns life and sequence, of each life of several activities, and text, all of them in words.
    """
    rows = []
    material = settings.get("simulation", {}).get("material_yield") or {}
    if material.get(PERMANENT_SHARE, 0.0) > 0.0:
        for life, shares in settings["wear"]["lives"].items():
            names = [words(name) for name, share in shares.items() if share > 0.0]
            if len(names) > 1:
                rows.append((life, ", then ".join(names)))
    frame = pd.DataFrame(rows, columns=["life", "sequence"])
    return frame.assign(text="; ".join(dict.fromkeys(frame["sequence"])))


@derived
def yielding_results(cases: pd.DataFrame) -> pd.DataFrame:
    """Ranges over all cases of the results of an insert that yields, by side.

    In rows of their own for each `permanent_share`, if it varies, and over all lives.
    """
    chosen = cases[cases["quantity"].isin(PLASTIC_OUTPUTS)]
    if chosen.empty:
        return pd.DataFrame()
    share = [PERMANENT_SHARE] if PERMANENT_SHARE in chosen else []
    index = [*share, "quantity", "unit"]
    ranges = chosen.groupby([*index, "side"], sort=False)["value"]
    table = ranges.agg(lambda values: span(values, "3")).unstack("side")
    order = {name: number for number, name in enumerate(PLASTIC_OUTPUTS)}
    table = table.rename_axis(columns=None).reset_index()
    by_rank = table["quantity"].map(order)
    return table.assign(rank=by_rank).sort_values([*share, "rank"]).drop(columns="rank")


@derived
def blocks(cases: pd.DataFrame) -> pd.DataFrame:
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


@derived
def all_cases(cases: pd.DataFrame, validity: pd.DataFrame | None = None) -> pd.DataFrame:
    """The seven quantities of every case and side, a column each, and whether it is valid."""
    chosen = cases[cases["quantity"].isin(QUANTITIES)]
    index = ["life", "case", *covariates_of(cases), "side"]
    wide = chosen.pivot_table(index=index, columns="quantity", values="value", sort=False)
    rows = with_validity(drop_single_life(wide.reset_index()), validity)
    rows.attrs["units"] = dict(zip(chosen["quantity"], chosen["unit"], strict=True))
    return rows


def with_validity(rows: pd.DataFrame, validity: pd.DataFrame | None) -> pd.DataFrame:
    """Rows of cases with a column `validity`: "outside" on both sides of a case or "within"."""
    if validity is None:
        return rows
    keys = [name for name in validity if name in rows and name not in ("case", "side")]
    beyond = pd.MultiIndex.from_frame(beyond_limits(validity)[keys])
    outside = pd.MultiIndex.from_frame(rows[keys]).isin(beyond)
    return rows.assign(validity=np.where(outside, "outside", "within"))


@derived
def beyond_limits(validity: pd.DataFrame) -> pd.DataFrame:
    """Cases and sides with a pressure above one of the limits."""
    flags = validity[["max_pressure_above_limit", "avg_pressure_above_limit"]].astype(bool)
    return validity[flags.any(axis=1)]


@derived
def validity_counts(validity: pd.DataFrame) -> pd.DataFrame:
    """Number of cases beyond the limits, and their largest pressures (MPa), by life."""
    beyond = beyond_limits(validity)
    rows = []
    for life, own in beyond.groupby("life", sort=False) if "life" in beyond else [("", beyond)]:
        if len(own):
            largest = own[["max_pressure_mpa", "avg_pressure_mpa"]].max().to_dict()
            number = own["case"].nunique()
            rows.append({"life": life, "cases": number, "of": validity["case"].nunique()} | largest)
    return pd.DataFrame(rows)


def cases_outside(validity: pd.DataFrame | None, lives: Sequence[str]) -> dict[str, list[str]]:
    """Names of the cases with a pressure above a limit, by life; lives without any are left out.

    A table of a single life does not name it.
    """
    if validity is None:
        return {}
    beyond = beyond_limits(validity)
    own = {life: rows_with(beyond, life=life) if "life" in beyond else beyond for life in lives}
    return {life: list(rows["case"].unique()) for life, rows in own.items() if len(rows)}


def deepest_places(
    cases: pd.DataFrame, beyond: Mapping[str, Sequence[str]], depth: LeadingDepth = DAMAGE
) -> pd.DataFrame:
    """One row per case: its covariates, the largest `depth` (mm), and whether it is `outside`.

    Of the first life; `beyond` as of `cases_outside`.
    """
    life = cases["life"].iloc[0]
    rows = rows_with(cases, life=life, quantity=depth.quantity)
    groups = rows.groupby(["case", *covariates_of(cases)], sort=False, dropna=False)
    table = groups["value"].max().rename("depth").reset_index()
    return table.assign(outside=table["case"].isin(beyond.get(life, [])))


@derived
def thickness_choice(
    cases: pd.DataFrame,
    centre: pd.DataFrame,
    validity: pd.DataFrame | None = None,
    settings: Settings | None = None,
) -> pd.DataFrame:
    """Cases that differ from the centre case in thickness alone: depth and pressure of each.

    Of the first life; depth (mm) and pressure (MPa) of the worse side, volume (mm3) of both.
    """
    keys = covariates_of(cases)
    same = centre[keys[1:]].iloc[0]
    rows = rows_with(cases, life=cases["life"].iloc[0], **dict(same))
    wide = rows.pivot_table(index="thickness_mm", columns=["quantity", "side"], values="value")
    if len(wide) < 2:
        return pd.DataFrame()
    worse = (leading(settings).quantity, "max_pressure")
    table = pd.DataFrame({name: pd.DataFrame(wide[name]).max(axis=1) for name in worse})
    table["wear_volume"] = pd.DataFrame(wide["wear_volume"]).sum(axis=1)
    table = table.reset_index().assign(**dict(same))
    if validity is None:
        return table
    first = rows_with(validity, life=cases["life"].iloc[0]) if "life" in validity else validity
    return with_validity(table, first.drop(columns="life", errors="ignore"))


@derived
def model_ranges(
    model_spread: pd.DataFrame | None = None,
    constant_intervals: pd.DataFrame | None = None,
    settings: Settings | None = None,
) -> pd.DataFrame:
    """Ranges of total wear (mm3) and of the leading depth (mm) of the centre case, by their cause.

    Columns of depths are `depth_low` and `depth_high` of damage, `wear_low` and `wear_high` of
    wear.
    """
    depth = leading(settings)
    keys = ["wear_volume", depth.quantity]
    rows: list[dict[str, Any]] = []
    if constant_intervals is not None:
        whole = rows_with(constant_intervals, side=BOTH).set_index("quantity")
        ends = whole.reindex(keys)[["lower", "upper"]].to_numpy()
        percent = whole["percentiles"].iloc[0]
        rows.append(_range(f"Uncertain constants ({percent} percentiles)", *ends))
    if model_spread is not None:
        by_choice = choices(model_spread)
        for choice, own in by_choice.iloc[1:].groupby("choice", sort=False):
            ends = own[keys].agg(["min", "max"]).to_numpy().T
            name = f"Choice of the {choice} ({len(own)} other{'s' if len(own) > 1 else ''})"
            rows.append(_range(name, *ends))
    names = {"depth_low": "wear_low", "depth_high": "wear_high"} if depth is WEAR else {}
    return pd.DataFrame(rows).rename(columns=names)


@derived
def whole_intervals(wear_intervals: pd.DataFrame) -> pd.DataFrame:
    """Intervals of both sides together, with the names of laws and of quantities with units."""
    whole = rows_with(wear_intervals, side=BOTH)
    own = {law: words(law) for law in whole["law"]} | {
        ALL_LAWS: "all laws, constants and laboratories",
        LAWS_OF_LARGER_TABLE: "the same with the results that were found later, no blind test",
        ONE_FACTOR: "one factor for all motions",
    }
    whole = drop_single_life(whole.assign(law=whole["law"].map(own)))
    names = zip(whole["quantity"], whole["unit"], strict=True)
    return whole.assign(
        label=[f"{quantity_name(name)} ({unit_name(unit)})" for name, unit in names]
    )


@derived
def interval_refused(settings: Settings) -> pd.DataFrame:
    """Class of polyethylene that too few laboratories have measured for an interval."""
    own = settings["wear"].get("material_class", "conventional")
    count = len(factors_of(own))
    row = {
        "material_class": own,
        "laboratories": count,
        "needed": MIN_LABORATORIES,
        "measured": ", ".join(known_classes()),
    }
    return pd.DataFrame([row] if count < MIN_LABORATORIES else [], columns=list(row))


def _range(cause: str, volume: NDArray[Any], depth: NDArray[Any]) -> dict[str, Any]:
    ends = {"volume_low": volume[0], "volume_high": volume[1]}
    depths = {"depth_low": depth[0], "depth_high": depth[1]}
    return {"cause": cause, **ends, **depths}


def choices(spread: pd.DataFrame) -> pd.DataFrame:
    """Total wear (mm3), deepest damage and wear (mm) by choice of the model, of one life."""
    keys = ["choice", "variant"]
    own = rows_with(spread, life=spread["life"].iloc[0]).fillna({"variant": ""})
    volume = rows_with(own, quantity="wear_volume").groupby(keys, sort=False)["value"].sum()
    depths = {
        name: rows_with(own, quantity=name).groupby(keys, sort=False)["value"].max()
        for name in (DAMAGE.quantity, WEAR.quantity)
    }
    return pd.DataFrame({"wear_volume": volume, **depths}).reset_index()


def variant_name(choice: str, variant: str) -> str:
    """Name of a variant of `choices`."""
    if choice == LAW:
        return words(variant) + (" (unverified)" if WEAR_LAWS[variant].unverified() else "")
    return f"{choice} {words(variant)}".strip()


@derived
def lives_compared(cases: pd.DataFrame) -> pd.DataFrame:
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
        ratios = {
            f"{life} over {lives[0]}": span(group[life] / group[lives[0]], ".2f")
            for life in lives[1:]
        }
        first = span(group[lives[0]], "3")
        rows.append({"quantity": quantity, "side": side, "unit": unit, lives[0]: first, **ratios})
    return pd.DataFrame(rows if len(lives) > 1 else [])


@derived
def border_contact(cases: pd.DataFrame, placement: pd.DataFrame | None = None) -> pd.DataFrame:
    """Contact where the insert's or femoral surface ends: cases, pressure and shares in per cent.

    A row for each side and `window`; `other_percent` is that of the wear, at an end of the femoral
    surface, where the wear is not known, of the area. `severity` is the one that the check of a
    motion's placement gives to the largest part of the force, "note" where it passes, and "warn" at
    least where the part of the wear is above `limit_percent`, the limit of the warning. Where the
    `placement` has a warning of a force that would fail, the bearing ends and holds its condyle.
    """
    parts = [_border_rows(cases, window, _ends_held(placement, window)) for window in WINDOWS]
    return pd.concat(parts, ignore_index=True)


def _ends_held(placement: pd.DataFrame | None, window: str) -> bool:
    """True if a placement warns of a force at the border of a window that fails elsewhere."""
    if placement is None:
        return False
    check = checks()[f"placement.{window}_border_force"]
    rows = rows_with(placement, quantity=check.quantity, verdict="warning")
    return bool((rows["value"] > check.range.highest).any())


def _border_rows(cases: pd.DataFrame, window: str, held: bool) -> pd.DataFrame:
    start, other = WINDOWS[window]
    names = [f"{start}border_{name}" for name in ("pressure", "force_share", f"{other}_share")]
    chosen = cases[cases["quantity"].isin(names)]
    wide = chosen.pivot_table(
        index=["side", "case", "life"], columns="quantity", values="value", sort=False
    )
    rows = []
    touched = wide[wide[names[0]] > 0.0] if names[0] in wide else wide[:0]
    for side, own in touched.groupby(level="side", sort=False):
        most = own.max()
        shares = most.reindex(names[1:]).fillna(1.0)
        force, beside = (float(share) for share in shares)
        accepted = checks()[f"placement.{window}_border_force"].range
        severity = accepted.severity(force)
        is_worn = not severity and other == "wear" and not beside <= accepted.high
        if is_worn or (held and severity == "refuse"):
            severity = "warn"
        rows.append(
            {
                "window": window,
                "side": side,
                "cases": own.index.get_level_values("case").nunique(),
                "pressure": float(most[names[0]]),
                "force_percent": 100.0 * force,
                "other": other,
                "other_percent": 100.0 * beside,
                "severity": severity or "note",
                "limit_percent": 100.0 * accepted.high,
                "most_percent": 100.0 * accepted.highest,
            }
        )
    return pd.DataFrame(rows)


@derived
def surface_errors(cases: pd.DataFrame, fit_quality: pd.DataFrame) -> pd.DataFrame:
    """Mean deviation of both surfaces of a side, um, and as a part of the peak penetration, %."""
    depth = cases[cases["quantity"] == "max_penetration"]
    rows = []
    fitted = fit_quality[fit_quality["component"].isin(["insert", "femoral"])]
    for side, quality in fitted.groupby("side"):
        own, mean = 1e3 * depth.loc[depth["side"] == side, "value"], 1e3 * quality["mean_mm"].sum()
        if not own.empty and own.min() > 0.0:
            ends = {"penetration": span(own, "3"), "percent": span(100.0 * mean / own, "2")}
            rows.append({"side": side, "mean": mean} | ends)
    return pd.DataFrame(rows)


@derived
def choice_effects(
    centre: pd.DataFrame, settings: Settings, regression: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Effects on the damage depth of the centre case, %, by side, of the first life.

    Rows `wear` and `creep` are 10 % more of either, which is exact on a surface that stays fresh;
    `thickness` and `mass` are those of 1 mm and 1 kg by the regression.
    """
    first = rows_with(centre, life=centre["life"].iloc[0])
    wide = first.pivot_table(index="side", columns="quantity", values="value")
    whole = wide["damage_depth"]
    rows = []
    if settings["wear"]["blocks"] == 1:
        for name in ("wear", "creep"):
            effect = 10.0 * wide[f"{name}_depth_at_deepest_damage"] / whole
            rows += [(name, side, effect[side]) for side in whole.index]
    if regression is not None:
        depth = rows_with(regression, quantity="damage_depth").drop_duplicates("side")
        depth = depth.set_index("side")
        for name, column in (("thickness", "a1_per_mm"), ("mass", "a2_per_kg")):
            effect = 100.0 * depth[column] / whole
            rows += [(name, side, effect[side]) for side in whole.index]
    return pd.DataFrame(rows, columns=["choice", "side", "percent"])


@derived
def wear_constants(settings: Settings) -> pd.DataFrame:
    """Wear factor in force, where the law is multiplied by it."""
    wear = settings["wear"]
    if not WEAR_LAWS[wear["wear_law"]].multiplies_wear_factor:
        return pd.DataFrame(columns=["value", "unit"])
    return pd.DataFrame({"value": [wear["wear_factor_mm3_per_n_m"]], "unit": ["mm3/(N m)"]})


@derived
def polyethylene_grade(settings: Settings) -> pd.DataFrame:
    """Grade of polyethylene that the constants are of, where the settings state it."""
    grade = settings["wear"].get("polyethylene")
    return pd.DataFrame({"value": [grade] if grade else []})


@derived
def wear_law_coefficients(settings: Settings) -> pd.DataFrame:
    """Coefficients of all wear laws with source and how they were read."""
    wear = settings["wear"]
    rows = []
    for name, law in WEAR_LAWS.items():
        known = wear["laws"].get(name) or {
            "wear_factor_mm3_per_n_m": wear["wear_factor_mm3_per_n_m"]
        }
        values = ", ".join(f"{words(key)} {value:.4g}" for key, value in known.items())
        status = f"unverified ({law.read})" if law.unverified() else law.read
        sources = "; ".join(reference.authors_and_year for reference in law.references)
        rows.append((words(name), values, sources, status))
    return pd.DataFrame(rows, columns=["law", "values", "sources", "status"])


# Finite-element comparisons of a wear study.

_CASE = ("thickness_mm", "body_mass_kg")


@derived
def twin_errors(fe_twin: pd.DataFrame) -> pd.DataFrame:
    """Range of the errors over all frames, cases and sides, and the mesh error, %.

    Of the foundation (`low`, `high`) and of the coupled layer (`layer_low`, `layer_high`).
    """
    groups = fe_twin.groupby("quantity", sort=False)
    columns = {
        "low": groups["foundation_error_percent"].min(),
        "high": groups["foundation_error_percent"].max(),
        "layer_low": groups["layer_error_percent"].min(),
        "layer_high": groups["layer_error_percent"].max(),
        "mesh": groups["mesh_error_percent"].max(),
    }
    return pd.DataFrame(columns).dropna(subset=["low"]).reset_index()


@derived
def yielding_errors(fe_twin: pd.DataFrame) -> pd.DataFrame:
    """Range over all frames, cases and sides of the errors of the layer that yields, %.

    `elastic_low` and `elastic_high` compare the elastic layer with the same finite
    elements, which yield; no rows where none did.
    """
    own = "yielding_error_percent"
    if own not in fe_twin:  # results of kneewear 1.0
        return pd.DataFrame(columns=["quantity", "low", "high", "elastic_low", "elastic_high"])
    groups = fe_twin[fe_twin[own].notna()].groupby("quantity", sort=False)
    columns = {
        "low": groups[own].min(),
        "high": groups[own].max(),
        "elastic_low": groups["layer_error_percent"].min(),
        "elastic_high": groups["layer_error_percent"].max(),
    }
    return pd.DataFrame(columns).reset_index()


@derived
def twin_effects(fe_twin: pd.DataFrame, cases: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Depths that pressures of finite elements would give, a row per case of both and side.

    Depths at the deepest damage (`creep`, `wear`, `damage`, mm) and the same with the finite
    elements (`creep_twin` and so on), and the relative change of the contact area (`area`, %).

    Notes
    -----
    For a place that the middle of the contact passes: creep follows its largest pressure, and so
    the frame with the largest; wear the pressures of all frames of the FE comparison, if its law is
    proportional to pressure.
    """
    wears = WEAR_LAWS[settings["wear"]["wear_law"]].follows_pressure()
    first = cases[cases["life"] == cases["life"].iloc[0]]
    rows = []
    for keys, part in fe_twin.groupby([*_CASE, "side"], sort=False):
        own = dict(zip([*_CASE, "side"], keys, strict=True))
        depth = rows_with(first, **own).set_index("quantity")["value"]
        if depth.empty:
            continue
        middle = rows_with(part, quantity="middle_pressure")
        most = middle["foundation"].to_numpy().argmax()
        area = rows_with(part, quantity="contact_area", percent=middle["percent"].iloc[most])
        ratio = middle["finite_elements"].iloc[most] / middle["foundation"].iloc[most]
        of_all = middle["finite_elements"].sum() / middle["foundation"].sum()
        creep, wear = (
            float(depth[f"{name}_depth_at_deepest_damage"]) for name in ("creep", "wear")
        )
        with_finite_elements = creep * float(ratio), wear * (float(of_all) if wears else 1.0)
        rows.append(
            {
                "case": part["case"].iloc[0],
                "side": own["side"],
                "creep": creep,
                "wear": wear,
                "damage": float(depth["damage_depth"]),
                "creep_twin": with_finite_elements[0],
                "wear_twin": with_finite_elements[1],
                "damage_twin": sum(with_finite_elements),
                "area": 100.0 * float((area["finite_elements"] / area["foundation"]).iloc[0] - 1.0),
            }
        )
    return pd.DataFrame(rows)
