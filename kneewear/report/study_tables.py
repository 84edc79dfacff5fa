"""Derived tables of studies of many designs, samples or subjects, and of verifications."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from kneewear.analysis.groups import QUANTITIES, drop_single_life
from kneewear.analysis.literature import NOT_REPRODUCED, OWN_CHECKS
from kneewear.base.sides import BOTH, SIDES
from kneewear.contact.ends import BORDER_LIMIT, BORDER_LOST
from kneewear.report.derived import Settings, derived
from kneewear.report.tables import expected_texts, rows_with, shown, unit_name, words

# Outputs in figures and in the tables of the page; tables on disk hold all.
SHOWN = (
    "wear_depth_at_deepest_damage",
    "creep_depth_at_deepest_damage",
    "damage_depth",
    "wear_volume",
    "damage_volume",
    "damage_area",
    "max_pressure",
    "avg_pressure",
)
# Wear depth and not damage depth, which would rank by a creep law that may be an upper estimate.
KEY_OUTPUTS = ("max_wear_depth", "wear_volume", "max_pressure")
NAMED = 3
PRESSURE_LIMITS = {
    "max_pressure": "pressure_limit_mpa",
    "avg_pressure": "avg_pressure_limit_mpa",
}
# Active elements, and the largest error there by Bei (2003), section 3.2.3, per cent.
PUBLISHED_BOUNDS = {25: 10.0, 50: 5.0}


# Validity and failures of samples, cases and designs.


def validity(frame: pd.DataFrame, settings: Settings) -> pd.Series[str]:
    """Validity of each row: "outside" if a pressure is above its limit in `settings.report`.

    Pressures are the columns `max_pressure` and `avg_pressure`, of a side or of both; rows without
    any (cases that failed) have none.
    """
    columns = [name for name in map(str, frame) if name.endswith(tuple(PRESSURE_LIMITS))]
    limits = {
        name: float(settings["report"][key])
        for name in columns
        for end, key in PRESSURE_LIMITS.items()
        if name.endswith(end)
    }
    values = frame[columns]
    outside = values.gt(pd.Series(limits, dtype=float), axis="columns").any(axis=1)
    return outside.map({True: "outside", False: "within"}).where(values.notna().any(axis=1), "")


def _among(*frames: pd.DataFrame | None) -> pd.DataFrame:
    """The one table of samples, cases or designs that a study has."""
    return next((frame for frame in frames if frame is not None), pd.DataFrame())


@derived
def sample_validity(
    settings: Settings,
    results: pd.DataFrame | None = None,
    chosen_designs: pd.DataFrame | None = None,
    static_cases: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Number of rows outside validity, of how many, and their largest pressures, MPa."""
    frame = _among(results, chosen_designs, static_cases)
    if frame.empty or settings["implant"]["source"] == "natural":
        return pd.DataFrame()
    verdict = validity(frame, settings)
    outside = frame[verdict == "outside"]
    largest = {name: outside.filter(regex=f"{name}$").max().max() for name in PRESSURE_LIMITS}
    row = {"outside": len(outside), "of": int((verdict != "").sum())} | largest
    return pd.DataFrame([row] if len(outside) else [])


# Sweeps.


@derived
def largest_effects(effects: pd.DataFrame) -> pd.DataFrame:
    """Variables with the largest effects on the key outputs of both sides."""
    if "span" not in effects or "design" in effects:
        return pd.DataFrame()
    rows = [
        rows_with(effects, quantity=quantity, side=BOTH).nlargest(NAMED, "span")
        for quantity in KEY_OUTPUTS
    ]
    return pd.concat(rows)


@derived
def result_ranges(results: pd.DataFrame) -> pd.DataFrame:
    """Smallest and largest value of every result of both sides over the cases."""
    names = [name for name in map(str, results) if name.startswith(f"{BOTH}_")]
    ends = results[names].agg(["min", "max"]).T.rename(columns={"min": "lower", "max": "upper"})
    return ends.rename(index=lambda name: name.removeprefix(f"{BOTH}_")).reset_index(
        names="quantity"
    )


@derived
def end_cases(results: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Cases with the least and the most wear, and the one in the middle."""
    wear = f"{BOTH}_wear_volume"
    known = results.dropna(subset=wear).sort_values(wear, kind="stable")
    inputs = list(known.columns[: list(known).index(next(filter(_is_output, map(str, known))))])
    known = known.assign(validity=validity(known, settings))
    known = known[[*inputs, *(f"{BOTH}_{name}" for name in KEY_OUTPUTS), "validity"]]
    if len(known) > 2 * NAMED + 1:
        middle = known.iloc[[len(known) // 2]]
        known = pd.concat([known.head(NAMED), middle, known.tail(NAMED)])
    return known


def _is_output(column: str) -> bool:
    return column.startswith(tuple(f"{side}_" for side in (*SIDES, BOTH)))


@derived
def variable_table(settings: Settings) -> pd.DataFrame:
    """Table of the variables that differ between the cases of a study, and their values."""
    return pd.DataFrame(
        {
            "variable": words(name),
            "settings": ", ".join(variable["settings"]) or "all",
            "change": f"multiply {variable['of']}" if variable["of"] else variable["change"],
            "values": _values_of(variable),
            "unit": variable["unit"],
            "source": variable["source"],
        }
        for name, variable in settings.get("variables", {}).items()
    )


def _values_of(variable: Mapping[str, Any]) -> str:
    """Values, bounds or distribution of a variable."""
    if variable["normal"]:
        normal = variable["normal"]
        return f"normal, {normal['mean']:g}, σ {normal['standard_deviation']:g}"
    bounds = variable["uniform"] or [variable["low"], variable["high"]]
    if None not in bounds:
        return f"{'uniform, ' * bool(variable['uniform'])}{bounds[0]:g} to {bounds[1]:g}"
    levels = variable["values"] or list(variable["blocks"] or ())
    return ", ".join(level if isinstance(level, str) else f"{level:g}" for level in levels)


# Uncertainty.


@derived
def largest_sensitivities(
    steps: pd.DataFrame | None = None, indices: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Constants that matter most for the key outputs of each side; columns effect and error."""
    columns = {"effect": "effect_percent"}
    table = steps
    if table is None:
        table, columns = indices, {"effect": "total", "error": "total_error"}
    if table is None:
        return pd.DataFrame()
    table = table.assign(**{name: table[column] for name, column in columns.items()})
    rows = []
    for quantity, side in product(KEY_OUTPUTS, SIDES):
        own = rows_with(table, quantity=quantity, side=side)
        rows.append(own.iloc[(-own["effect"].abs()).argsort(kind="stable")[:NAMED]])
    return pd.concat(rows)[["quantity", "side", "variable", *columns]]


@derived
def index_convergence(indices: pd.DataFrame) -> pd.DataFrame:
    """Outputs with an index that has not converged, the widest interval, and blocks needed."""
    known = indices.dropna(subset=["first_error", "total_error"])
    open_rows = known.loc[~known["converged"].astype(bool), ["side", "quantity"]]
    widest = 2.0 * float(known[["first_error", "total_error"]].to_numpy().max(initial=0.0))
    needed = float(f"{known['blocks_needed'].max():.2g}")
    row = {"open": len(open_rows.drop_duplicates()), "widest": widest, "needed": needed}
    return pd.DataFrame([row | {"blocks": int(known["blocks"].min())}] if len(open_rows) else [])


# Cases.


def case_labels(results: pd.DataFrame, units: Mapping[str, str]) -> dict[str, str]:
    """Cases in words by name: values of the variables, of these `units`, that differ among them.

    A single case has no label.
    """
    varied = {
        name: {"unit": unit}
        for name, unit in units.items()
        if name in results and results[name].nunique() > 1
    }
    return {
        str(row["case"]): design_values(varied, row) if varied else ""
        for row in results.to_dict("records")
    }


@derived
def labelled_results(results: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Results of cases with their labels instead of their names."""
    variables = settings.get("variables", {})
    labels = case_labels(results, {name: one["unit"] for name, one in variables.items()})
    return results.assign(case=[labels[str(name)] or name for name in results["case"]])


# Optimisations.


def design_values(variables: Mapping[str, Any], row: Mapping[Any, Any]) -> str:
    """Values of the variables of a design, as words."""
    return ", ".join(
        f"{words(name)} {shown(row[name], '3')} {unit_name(one['unit'])}".rstrip()
        for name, one in variables.items()
    )


@derived
def described_designs(chosen_designs: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Chosen designs with their names in words; the design as set has no number."""
    number = chosen_designs["design"].where(chosen_designs["design"] >= 0)
    names = [words(name) for name in chosen_designs["chosen"]]
    table = _design_columns(chosen_designs, settings)
    return table.assign(design=number.to_numpy(), chosen=names)


@derived
def design_intervals(leading_intervals: pd.DataFrame) -> pd.DataFrame:
    """Intervals of the chosen designs by all laws, with the names of designs in words."""
    return leading_intervals.assign(chosen=[words(name) for name in leading_intervals["chosen"]])


@derived
def best_designs(front: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Designs of the front that no other design dominates."""
    best = front[~front["dominated"].astype(bool)]
    return _design_columns(best, settings)


def _design_columns(frame: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Names, variables, results that objectives and constraints name, and validity."""
    plan = settings["cases"]
    results = [*plan["objectives"], *plan["constraints"]]
    columns = dict.fromkeys(
        [
            "chosen",
            "design",
            *settings["variables"],
            *results,
            "wear_volume",
            "max_pressure",
            "max_wear_depth",
        ]
    )
    shown_columns = [name for name in columns if name in frame]
    return frame[shown_columns].assign(validity=validity(frame, settings))


# Static contact and characterisation.


@derived
def bearing_ranges(contact: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Smallest and largest pressure over all cases, by material and quantity, and its limit.

    Cartilage has no limit: that of the settings is of polyethylene.
    """
    if "material" not in contact:
        contact = contact.assign(material="linear")
    bearing = contact[contact["side"].isin(SIDES) & contact["quantity"].str.endswith("_pressure")]
    bearing = bearing[bearing["quantity"] != "border_pressure"]
    groups = bearing.groupby(["quantity", "material", "unit"], sort=False)["value"]
    ranges = groups.agg(["min", "max"]).reset_index()
    limits = {name: settings["report"][key] for name, key in PRESSURE_LIMITS.items()}
    natural = settings["implant"]["source"] == "natural"
    return ranges.assign(limit=np.nan if natural else ranges["quantity"].map(limits))


@derived
def static_cases(contact: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Pressures and forces, one row per case and side that touches."""
    names = ("pose", "material", "flexion_deg", "posterior_mm", "load_n", "side")
    index = [name for name in names if name in contact]
    wide = contact.pivot_table(index=index, columns="quantity", values="value", sort=False)
    wide = wide.reset_index()
    wide = wide[wide["active_elements"] > 0]
    # The limits are those of polyethylene, not of cartilage.
    if settings["implant"]["source"] == "natural":
        return wide
    return wide.assign(validity=validity(wide, settings))


SCANNED = ("max_pressure", "avg_pressure", "centre_posterior")


def scans_positions(static: pd.DataFrame) -> bool:
    """True if several held positions were solved."""
    return "posterior_mm" in static and static["posterior_mm"].nunique() > 1


def position_scan(static: pd.DataFrame) -> pd.DataFrame:
    """Held positions by quantity and side, for the first material and flexion and largest load."""
    first = {name: static[name].iloc[0] for name in ("material", "flexion_deg") if name in static}
    chosen = rows_with(static, **first, load_n=static["load_n"].max())
    wide = chosen[chosen["side"].isin(SIDES)].pivot_table(
        index="posterior_mm", columns=["quantity", "side"], values="value"
    )
    # A side that never touches has no centre of pressure.
    sides = [side for side in SIDES if side in set(chosen["side"])]
    return wide.reindex(columns=pd.MultiIndex.from_product([SCANNED, sides]))


@derived
def scanned_positions(contact: pd.DataFrame) -> pd.DataFrame:
    """Maximum pressure and how far medial contact is ahead of lateral, by held position."""
    if not scans_positions(contact):
        return pd.DataFrame()
    curves = position_scan(contact)
    ahead = curves["centre_posterior", "lateral"] - curves["centre_posterior", "medial"]
    table = {
        "max_pressure": pd.DataFrame(curves["max_pressure"]).max(axis=1),
        "medial_ahead_mm": ahead,
    }
    return pd.DataFrame(table).reset_index()


@derived
def convergence_errors(element_convergence: pd.DataFrame) -> pd.DataFrame:
    """Errors, per cent, against the median pressure of the greatest number of elements."""
    table = element_convergence
    rows = []
    for quantity in PRESSURE_LIMITS:
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


@derived
def worst_conditions(worst_cases: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Worst condition of each design and quantity with its validity."""
    limits = {name: settings["report"][key] for name, key in PRESSURE_LIMITS.items()}
    outside = worst_cases["value"] > worst_cases["quantity"].map(limits)
    return worst_cases.assign(validity=outside.map({True: "outside", False: "within"}))


@derived
def cut_off_contact(contact: pd.DataFrame) -> pd.DataFrame:
    """Contact where the insert or the femur ends: cases, pressure and shares, by side.

    `severity` is that of the largest share of a side's force: "note" up to `BORDER_LIMIT`, "warn"
    up to `BORDER_LOST`, "refuse" above.
    """
    names = ["border_pressure", "border_force_share", "border_area_share"]
    rows = contact[contact["quantity"].isin(names) & contact["side"].isin(SIDES)]
    parts = {
        name: own.groupby("side", sort=False)["value"]
        for name, own in rows.groupby("quantity", sort=False)
    }
    if len(parts) < len(names):
        return pd.DataFrame()
    pressure, force, area = (parts[name] for name in names)
    table = pd.DataFrame(
        {
            "cases": pressure.apply(lambda one: int((one > 0.0).sum())),
            "pressure": pressure.max(),
            "force_percent": 100.0 * force.max(),
            "area_percent": 100.0 * area.max(),
            "severity": np.select(
                [force.max() > BORDER_LOST, force.max() > BORDER_LIMIT], ["refuse", "warn"], "note"
            ),
        }
    )
    return table[table["cases"] > 0].reset_index()


@derived
def cut_off_cases(
    results: pd.DataFrame | None = None, laxity: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Cases with more than `BORDER_LIMIT` of a side's force where the insert or the femur ends."""
    frame = _among(results, laxity)
    share = frame.filter(regex="border_force_share$").max(axis=1)
    beyond = share[share > BORDER_LIMIT]
    row = {"cases": len(beyond), "of": len(frame), "force_percent": 100.0 * beyond.max()}
    return pd.DataFrame([row] if len(beyond) else [])


# Paired differences.


@derived
def differences_of_levels(differences: pd.DataFrame) -> pd.DataFrame:
    """Paired differences with the compared level in a column `level` for any variable."""
    return differences.rename(columns={differences.columns[0]: "level"})


# Laxity.


@derived
def resistances(laxity: pd.DataFrame) -> pd.DataFrame:
    """Range of the stiffness over flexion at least friction, by test and design."""
    laxity = laxity if "design" in laxity else laxity.assign(design="design")
    driven = laxity[(laxity["test"] != "distraction")]
    driven = driven[driven["friction"] == driven["friction"].min()]
    driven = driven.assign(unit=driven["load_unit"] + "/" + driven["displacement_unit"])
    leaves = driven["subluxation"].fillna("") != ""
    driven = driven.assign(subluxes=driven["flexion_deg"].where(leaves))
    groups = driven.groupby(["test", "design", "unit", "friction"], sort=False)
    return groups.agg(
        least=("stiffness", "min"),
        most=("stiffness", "max"),
        subluxes=("subluxes", lambda angles: ", ".join(f"{one:g}" for one in angles.dropna())),
    ).reset_index()


# Verification.

# Part of the deepest element's depth below which an element is too shallow to be drawn.
MIN_DEPTH = 0.3


@derived
def contacts_with_target(verification: pd.DataFrame) -> pd.DataFrame:
    """Contacts with an analytical solution and a target, and whether they meet it."""
    own = verification[verification["target_percent"].notna()]
    return own.assign(met=own["worst_error_percent"] <= own["target_percent"])


@derived
def analysis_differences(analyses: pd.DataFrame) -> pd.DataFrame:
    """Differences of forward dynamics from equilibria in stance, per cent."""
    stance = analyses[analyses["stance"].astype(bool)]
    pressure = stance["max_pressure_mpa_forward"] / stance["max_pressure_mpa_quasi_static"] - 1.0
    share = stance["side_share_forward"] - stance["side_share_quasi_static"]
    values = {
        "Peak pressure, root mean square": np.sqrt((pressure**2).mean()),
        "Peak pressure, largest": pressure.abs().max(),
        "Share of the load, largest (percentage points)": share.abs().max(),
        "Acceleration's part of the load, largest": stance["inertia"].max(),
        "Contact force on the fine grid against the coarse one, largest": stance["mismatch"].max(),
    }
    rows = [(name, 100.0 * float(value)) for name, value in values.items()]
    return pd.DataFrame(rows, columns=["difference", "percent"])


@derived
def accuracy_levels(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Elements, frames, largest error and wanted error, %, of each accuracy."""
    groups = accuracy.assign(size=accuracy["error_percent"].abs()).groupby("accuracy", sort=False)
    return groups.agg(
        elements=("elements", "first"),
        frames=("frames", "first"),
        largest=("size", "max"),
        wanted=("bound_percent", "first"),
    ).reset_index()


@derived
def method_variants(variants: pd.DataFrame) -> pd.DataFrame:
    """The seven quantities of each variant, with their differences in per cent."""
    chosen = variants[variants["quantity"].isin(QUANTITIES)]
    return drop_single_life(chosen.assign(percent=100.0 * chosen["relative_difference"]))


@derived
def largest_differences(method_variants: pd.DataFrame) -> pd.DataFrame:
    """Quantity of each variant with the largest difference."""
    size = method_variants["percent"].abs()
    return method_variants.loc[size.groupby(method_variants["variant"], sort=False).idxmax()]


def tilted_element(table: pd.DataFrame) -> pd.Series[Any]:
    """The most tilted of the elements of a distance correction that are deep enough to be drawn."""
    deep = table["minimum_distance_mm"] >= MIN_DEPTH * table["minimum_distance_mm"].max()
    chosen = table[deep & table["ray_mm"].notna()]
    return chosen.loc[chosen["angle_deg"].idxmax()]


# Computed numbers beside printed ones.


@derived
def verdict_counts(literature: pd.DataFrame) -> pd.DataFrame:
    """Number of computed numbers by verdict; those without one are left out."""
    judged = literature.dropna(subset="verdict").query("verdict != ''")
    return judged.groupby("verdict", sort=False).size().rename("number").reset_index()


@derived
def compared_numbers(literature: pd.DataFrame) -> pd.DataFrame:
    """Table of `kneewear.analysis.literature.judge_number` with what is expected as text."""
    cases = literature["case"].fillna("") if "case" in literature else ""
    table = literature.assign(
        expected=expected_texts(literature), case=cases, verdict=literature["verdict"].fillna("")
    )
    return table if (table["case"] != "").any() else table.drop(columns="case")


@derived
def differing_numbers(compared_numbers: pd.DataFrame) -> pd.DataFrame:
    """Numbers that differ from the printed ones, as text."""
    return _as_findings(compared_numbers[~compared_numbers["source"].isin(OWN_CHECKS)])


@derived
def failed_checks(compared_numbers: pd.DataFrame) -> pd.DataFrame:
    """Checks of the software itself, such as the balance of energy, that do not hold, as text."""
    return _as_findings(compared_numbers[compared_numbers["source"].isin(OWN_CHECKS)])


def _as_findings(numbers: pd.DataFrame) -> pd.DataFrame:
    rows = rows_with(numbers, verdict=NOT_REPRODUCED)
    if rows.empty:
        return rows
    units = rows["unit"].where(rows["unit"] != "1", "")
    computed = (rows["computed"].map(lambda value: shown(value, "3")) + " " + units).str.strip()
    case = rows["case"] if "case" in rows else pd.Series("", index=rows.index)
    place = rows["quantity"] + case.where(case == "", " (" + case + ")")
    return rows.assign(computed=computed, place=place)


@derived
def largest_forces(forces: pd.DataFrame) -> pd.DataFrame:
    """Largest contact force of every pair of bodies, N."""
    contact = rows_with(forces, panel="contact force")
    return contact.groupby("series", sort=False)["value"].max().reset_index()
