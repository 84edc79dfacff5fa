"""Facts that pages state of studies of many designs, samples or subjects.

Those of characterisations, laxity tests, finite-element twins, optimisations, uncertainty studies,
sweeps and cohorts; facts of one implant in a wear study are in :mod:`kneewear.report.facts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd

from kneewear.report.tables import (
    quantity_name,
    rows_with,
    shown,
    unit_name,
    words,
)  # fmt: skip
from kneewear.settings.optimisation import quantity_unit
from kneewear.sides import BOTH, SIDES
from kneewear.wear.laws import WEAR_LAWS, WearLaw

Settings = Mapping[str, Any]

PRESSURE_LIMITS = {
    "max_pressure": "pressure_limit_mpa",
    "avg_pressure": "avg_pressure_limit_mpa",
}


def validity(frame: pd.DataFrame, report: Settings) -> pd.Series[str]:
    """Words on each row's validity: "outside" if a pressure is above its limit in `report`.

    Pressures are the columns `max_pressure` and `avg_pressure`, of a side or of both; rows without
    any (cases that failed) have no word.
    """
    columns = [name for name in map(str, frame) if name.endswith(tuple(PRESSURE_LIMITS))]
    limits = {
        name: float(report[key])
        for name in columns
        for end, key in PRESSURE_LIMITS.items()
        if name.endswith(end)
    }
    values = frame[columns]
    outside = values.gt(pd.Series(limits, dtype=float), axis="columns").any(axis=1)
    return outside.map({True: "outside", False: "within"}).where(values.notna().any(axis=1), "")


# Studies of designs.

# Part of the largest load below which the width of a loop is an error of the equilibria.
ROUNDING = 1e-6

_OF_CONDITIONS = {
    "design": "Design", "flexion_deg": "Flexion (°)", "load_n": "Load (N)",
    "medial_share": "Medial share", "tibial_external_rotation_deg": "External rotation (°)",
    "posterior_offset_mm": "Posterior offset (mm)", "medial_offset_mm": "Medial offset (mm)",
    "varus_offset_deg": "Varus offset (°)", "posterior_slope_deg": "Slope (°)",
    "side": "Side", "contact_area": "Area (mm²)", "avg_pressure": "Mean pressure (MPa)",
    "max_pressure": "Largest pressure (MPa)",
}  # fmt: skip

OFFSETS = ("posterior_offset_mm", "medial_offset_mm", "varus_offset_deg", "posterior_slope_deg")


def contact_columns(contact: pd.DataFrame) -> dict[str, str]:
    """Heads of the table of every condition, with a column per pressure that areas are above."""
    above = [name for name in dict.fromkeys(contact["quantity"]) if name.startswith("area_above")]
    heads = {name: f"Area above {name.split('_')[2]} MPa (mm²)" for name in above}
    centres = {f"centre_{axis}": f"Centre, {axis} (mm)" for axis in ("posterior", "medial")}
    return {**_OF_CONDITIONS, **heads, **centres}


def submission_caption(study: Mapping[str, Any], submission: pd.DataFrame) -> str:
    """Load, material and thickness that a table of contact under one condition is of."""
    row, material, implant = submission.iloc[0], study["simulation"], study["implant"]
    nominal = implant["nominal_thickness_mm"]
    own = {
        words(name): changes["nominal_thickness_mm"]
        for name, changes in (study.get("designs") or {}).items()
        if changes.get("nominal_thickness_mm", nominal) != nominal
    }
    others = "".join(f", {name} {value:g} mm" for name, value in own.items())
    return (
        f"Contact under {row['load_n']:g} N, {100.0 * row['medial_share']:g} % medial, "
        f"{row['tibial_external_rotation_deg']:g}° external rotation; Young's modulus "
        f"{material['youngs_modulus_mpa']:g} MPa, Poisson's ratio {material['poisson_ratio']:g}, "
        f"nominal insert thickness {nominal:g} mm{others}"
    )


def submission_columns(submission: pd.DataFrame) -> dict[str, str]:
    """Heads of the table of contact under one condition: offsets only where it has any."""
    quantities = {
        "contact_area_mm2": "Area (mm²)", "avg_pressure_mpa": "Mean pressure (MPa)",
        "max_pressure_mpa": "Largest pressure (MPa)",
        "centre_posterior_mm": "Centre, posterior (mm)", "centre_medial_mm": "Centre, medial (mm)",
    }  # fmt: skip
    of_size = {name: _OF_CONDITIONS[name] for name in ("design", "flexion_deg", "side")}
    offsets = {
        name: head
        for name, head in _OF_CONDITIONS.items()
        if name in OFFSETS and submission[name].iloc[0] != 0.0
    }
    return {**of_size, **offsets, **quantities}


def resistances(laxity: pd.DataFrame) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Yield tests with the unit of their stiffness and, by design, its range at least friction."""
    driven = laxity[laxity["test"] != "distraction"]
    for test, part in driven.groupby("test", sort=False):
        rows = []
        for design, every in part.groupby("design", sort=False):
            own = every[every["friction"] == every["friction"].min()]
            leaves = own["subluxation"].fillna("") != ""
            rows.append(
                {
                    "design": design,
                    "least": own["stiffness"].min(),
                    "most": own["stiffness"].max(),
                    "friction": own["friction"].iloc[0],
                    "subluxes": sorted(own.loc[leaves, "flexion_deg"].unique()),
                    "how": " or ".join(sorted(set(own.loc[leaves, "subluxation"]))),
                }
            )
        unit = f"{part['load_unit'].iloc[0]}/{part['displacement_unit'].iloc[0]}"
        yield str(test), unit, rows


def laxity_table(laxity: pd.DataFrame) -> pd.DataFrame:
    """Loops with the names of their tests in words; widths that are rounding errors are zero."""
    width = laxity["hysteresis"]
    return laxity.assign(
        test=laxity["test"].map(words),
        subluxation=laxity["subluxation"].fillna(""),
        hysteresis=width.where(width > ROUNDING * laxity["peak_load"].abs(), 0.0),
    )


def laxity_comparison(comparison: pd.DataFrame) -> pd.DataFrame:
    """Designs and tests of a comparison in words."""
    return comparison.assign(
        first=comparison["first"].map(words),
        second=comparison["second"].map(words),
        test=comparison["test"].map(words),
    )


# Finite-element twins.

_CASE = ("thickness_mm", "body_mass_kg")


def twin_range(twin: pd.DataFrame, quantity: str) -> dict[str, float]:
    """Range of the foundation's error in a quantity, and the largest mesh error, %."""
    own = rows_with(twin, quantity=quantity)
    error = own["foundation_error_percent"]
    mesh = own["mesh_error_percent"].max()
    return {"least": float(error.min()), "most": float(error.max()), "mesh": float(mesh)}


def twin_stresses(twin: pd.DataFrame) -> pd.DataFrame:
    """Stresses and depths of every frame and side in a row, and their largest mesh error, %."""
    keys = ["case", "percent", "side"]
    own = twin[twin["quantity"].str.contains("von_mises|shear")]
    wide = own.pivot_table(index=keys, columns="quantity", values="finite_elements", sort=False)
    mesh = own.groupby(keys, sort=False)["mesh_error_percent"].max().rename("mesh")
    return wide.join(mesh).reset_index()


def twin_words(twin: pd.DataFrame, quantity: str) -> str:
    """Range of the foundation's error in a quantity over all frames, cases and sides, in words."""
    found = twin_range(twin, quantity)
    least, most = (f"{found[end]:+.0f}" for end in ("least", "most"))
    return f"{least} %" if least == most else f"{least} to {most} %"


def twin_of_case(twin: pd.DataFrame, case: Mapping[str, float]) -> str:
    """The foundation's errors in maximum and mean pressure of a case, in words.

    Those of the side and frame with the largest value; the range over all cases of the twin if
    this one, a thickness, mm, and a body mass, kg, is not among them.
    """
    own = rows_with(twin, **{key: case[key] for key in _CASE})
    others = "" if len(own) else f" (in {_count(twin)} of other thickness or mass)"
    found = []
    for quantity in ("max_pressure", "avg_pressure"):
        rows = rows_with(own, quantity=quantity)
        largest = rows[rows["foundation"] == rows["foundation"].max()]
        found.append(twin_words(largest if len(own) else twin, quantity))
    return f"{found[0]} and its mean {found[1]} off{others}"


def _count(twin: pd.DataFrame) -> str:
    number = twin["case"].nunique()
    return "1 case" if number == 1 else f"{number} cases"


def twin_cases(twin: pd.DataFrame) -> str:
    """Frames and cases of a twin in words."""
    percent = [f"{one:g}" for one in twin["percent"].unique()]
    frames = f"The frame at {percent[0]} %"
    if len(percent) > 1:
        frames = f"Frames at {', '.join(percent[:-1])} and {percent[-1]} %"
    return f"{frames} of the cycle, in {_count(twin)}"


def wears_by_pressure(wear: Settings) -> bool:
    """Whether the wear law of a study is proportional to pressure."""
    return WEAR_LAWS[wear["wear_law"]].weight is WearLaw.weight


def twin_effects(twin: pd.DataFrame, cases: pd.DataFrame, wears: bool) -> pd.DataFrame:
    """Depths that pressures of finite elements would give, a row per case of both and side.

    Parameters
    ----------
    twin, cases : DataFrame
        Tables of the twin and of the wear study, of which the first life is taken.
    wears : bool
        Whether wear is proportional to pressure (`wears_by_pressure`); else it is unchanged.

    Returns
    -------
    DataFrame
        `case`, `side`, depths at the deepest damage (`creep`, `wear`, `damage`, mm) and the same
        with the finite elements (`creep_twin` and so on), and the relative change of the contact
        area (`area`, %).

    Notes
    -----
    For a place that the middle of the contact passes: creep follows its largest pressure, and so
    the frame with the largest; wear the pressures of all frames of the twin.
    """
    first = cases[cases["life"] == cases["life"].iloc[0]]
    rows = []
    for keys, part in twin.groupby([*_CASE, "side"], sort=False):
        own = dict(zip([*_CASE, "side"], keys, strict=True))
        depth = rows_with(first, **own).set_index("quantity")["value"]
        if depth.empty:
            continue
        middle = rows_with(part, quantity="middle_pressure")
        most = middle["foundation"].to_numpy().argmax()
        area = rows_with(part, quantity="contact_area", percent=middle["percent"].iloc[most])
        ratio = middle["finite_elements"].iloc[most] / middle["foundation"].iloc[most]
        of_all = middle["finite_elements"].sum() / middle["foundation"].sum()
        creep, wear = float(depth["creep_depth"]), float(depth["wear_depth"])
        with_twin = creep * float(ratio), wear * (float(of_all) if wears else 1.0)
        rows.append(
            {"case": part["case"].iloc[0], "side": own["side"], "creep": creep, "wear": wear,
             "damage": float(depth["damage_depth"]), "creep_twin": with_twin[0],
             "wear_twin": with_twin[1], "damage_twin": sum(with_twin),
             "area": 100.0 * float((area["finite_elements"] / area["foundation"]).iloc[0] - 1.0)}
        )  # fmt: skip
    return pd.DataFrame(rows)


# Optimisation studies.


def design_results(optimisation: Mapping[str, Any]) -> dict[str, str]:
    """Results that objectives and constraints name, with their units."""
    names = dict.fromkeys([*optimisation["objectives"], *optimisation["constraints"]])
    return {name: quantity_unit(name) for name in names}


def design_values(optimisation: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """Values of the variables of a design, as words."""
    return ", ".join(
        f"{words(name)} {shown(row[name], '3')} {one['unit']}".rstrip()
        for name, one in optimisation["variables"].items()
    )


def view_names(front: pd.DataFrame) -> pd.Series:
    """Names of designs of the front in the view, where they are not chosen ones."""
    return "design_" + front["design"].astype(str)


def described_designs(chosen: pd.DataFrame) -> pd.DataFrame:
    """Chosen designs with their names in words; the design as set has no number."""
    number = chosen["design"].where(chosen["design"] >= 0)
    return chosen.assign(chosen=[words(name) for name in chosen["chosen"]], design=number)


def design_columns(optimisation: Mapping[str, Any]) -> dict[str, str | tuple[str, str]]:
    """Heads of a table of designs: variables, then results."""
    heads: dict[str, str | tuple[str, str]] = {"chosen": "Design", "design": "Number"}
    heads |= {
        name: f"{quantity_name(name)}{one['unit'] and ' (' + one['unit'] + ')'}"
        for name, one in optimisation["variables"].items()
    }
    others = {name: quantity_unit(name) for name in ("wear_volume", "max_pressure", "damage_depth")}
    for name, unit in {**design_results(optimisation), **others}.items():
        heads[name] = f"{quantity_name(name)} ({unit_name(unit)})"
    return heads | {"validity": "Validity"}


def failure_columns(optimisation: Mapping[str, Any]) -> dict[str, str | tuple[str, str]]:
    """Heads of the table of designs without results."""
    shown_columns = design_columns(optimisation)
    wanted = ("design", *optimisation["variables"])
    return {name: shown_columns[name] for name in wanted} | {"failure": "Reason"}


# Uncertainty studies.

# Outputs in figures and in the tables of the page; tables on disk hold all.
SHOWN = (
    "wear_depth", "creep_depth", "damage_depth", "wear_volume", "damage_volume", "damage_area",
    "max_pressure", "avg_pressure",
)  # fmt: skip
# Outputs and constants that sentences name.
KEY_OUTPUTS = ("damage_depth", "wear_volume", "max_pressure")
NAMED = 3


def most_important(found: pd.DataFrame, column: str) -> list[tuple[str, str, list[dict[Any, Any]]]]:
    """Quantity, side and the constants with the largest absolute values of a column."""
    rows = []
    for quantity, side in product(KEY_OUTPUTS, SIDES):
        own = rows_with(found, quantity=quantity, side=side)
        order = (-own[column].abs()).argsort(kind="stable")[:NAMED]
        rows.append((quantity, side, own.iloc[order].to_dict("records")))
    return rows


def convergence(found: pd.DataFrame) -> dict[str, Any]:
    """Whether variance-based indices have converged, and the number of blocks that takes."""
    from kneewear.studies.uncertainty.analysis import LARGEST_WIDTH  # noqa: PLC0415

    known = found.dropna(subset=["first_error", "total_error"])
    done = known["converged"].astype(bool)
    needed = known["blocks_needed"].max()
    return {
        "converged": bool(len(known) and done.all()),
        "limit": LARGEST_WIDTH,
        "open": len(known.loc[~done, ["side", "quantity"]].drop_duplicates()),
        "widest": 2.0 * float(known[["first_error", "total_error"]].to_numpy().max(initial=0.0)),
        "blocks": int(known["blocks"].min()) if len(known) else 0,
        "blocks_needed": float(f"{needed:.2g}"),
    }


def by_constant(found: pd.DataFrame, column: str, side: str) -> pd.DataFrame:
    """Constants down, outputs across, for one side."""
    own = found[(found["side"] == side) & found["quantity"].isin(SHOWN)]
    wide = own.pivot(index="constant", columns="quantity", values=column)
    return wide.reindex(index=list(dict.fromkeys(own["constant"]))).reset_index()


def constant_rows(constants: Mapping[str, Settings]) -> pd.DataFrame:
    """What is uncertain, by how much, and its source."""
    return pd.DataFrame(
        {
            "constant": name,
            "settings": ", ".join(one["settings"]),
            "change": {"add": "plus", "multiply": "times 1 +"}[one["change"]],
            "distribution": f"{one['distribution']}, "
            f"{'±' if one['distribution'] == 'uniform' else 'σ'} {one['spread']:g}",
            "dimension": one["unit"],
            "source": one["source"],
        }
        for name, one in constants.items()
    )


def sweep_effects(effects: pd.DataFrame) -> list[tuple[str, str, list[dict[Any, Any]]]]:
    """Quantity, unit and the factors with the largest effects on it, of both sides together."""
    rows = []
    for quantity in KEY_OUTPUTS:
        own = rows_with(effects, quantity=quantity, side=BOTH)
        order = (-own["span"]).argsort(kind="stable")[:NAMED]
        if len(own):
            rows.append((quantity, own["unit"].iloc[0], own.iloc[order].to_dict("records")))
    return rows


def end_cases(sweep: pd.DataFrame, quantity: str, count: int = NAMED) -> pd.DataFrame:
    """Cases with the least and the most of a result of both sides, and the one in the middle."""
    known = sweep.dropna(subset=f"{BOTH}_{quantity}").sort_values(
        f"{BOTH}_{quantity}", kind="stable"
    )
    if len(known) <= 2 * count + 1:
        return known
    middle = known.iloc[[len(known) // 2]]
    return pd.concat([known.head(count), middle, known.tail(count)])


def cohort_rates(percentiles: pd.DataFrame) -> list[tuple[str, str, list[dict[Any, Any]]]]:
    """Quantity, unit and the percentiles of every design, of the key results of both sides."""
    rows = []
    for quantity in ("volumetric_wear_rate", "damage_depth", "max_pressure"):
        own = rows_with(percentiles, quantity=quantity, side=BOTH)
        rows.append((quantity, own["unit"].iloc[0], own.to_dict("records")))
    return rows


def percentile_names(percentiles: Sequence[float]) -> list[str]:
    """Columns of some percentiles, in ascending order."""
    return [f"p{percent:g}" for percent in sorted(percentiles)]


def outside_counts(outside: pd.DataFrame) -> pd.DataFrame:
    """Number of subjects by reason and design."""
    counts = outside.groupby(["reason", "design"], sort=False)["subject"].nunique()
    return counts.unstack("design", fill_value=0).reset_index().rename_axis(columns=None)


def factor_rows(factors: Mapping[str, Settings]) -> pd.DataFrame:
    """What a sweep varies, how, and between which bounds."""
    of = {"set": "equal to it", "add": "plus it", "multiply": "times it"}
    return pd.DataFrame(
        {
            "factor": words(name),
            "settings": ", ".join(one["settings"]),
            "change": f"{one['of']} times it" if one["of"] else of[one["change"]],
            **{key: one[key] for key in ("low", "high", "unit")},
        }
        for name, one in factors.items()
    )


def failures(samples: pd.DataFrame) -> list[str]:
    """Reasons of the samples that have no result."""
    reasons = samples["failure"].dropna()
    return [str(reason) for reason in reasons[reasons != ""]]
