"""Tables of contact under axial loads: all conditions, the worst ones, and laxity compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from kneewear.analysis.contact_tables import FLEXION, case_conditions, contact_table
from kneewear.analysis.declared import analysis
from kneewear.analysis.distributions import plan_columns
from kneewear.models.press.settings import TEST
from kneewear.study.analysis_settings import (
    ComparedOptions,
    ContactOptions,
    LoopsOptions,
    SubmissionOptions,
    WorstCasesOptions,
)
from kneewear.study.models import MODELS
from kneewear.study.plans import CASE
from kneewear.study.study import Study

# Quantities of a submission, and which extreme is the worst case.
SUBMITTED = ("contact_area", "avg_pressure", "max_pressure", "centre_posterior", "centre_medial")
WORST = {"contact_area": "min", "avg_pressure": "max", "max_pressure": "max"}
# Name of the only design of a study that compares none.
DESIGN = "design"
# Columns of the units of a path.
UNITS = ("displacement_unit", "load_unit")


@analysis("contact", tables=("contact",))
def analyse_contact(
    results: pd.DataFrame, study: Study, options: ContactOptions
) -> dict[str, pd.DataFrame]:
    """Results of every case and side as a tidy table: `contact`.

    Columns case, those of the variables, flexion, load and position (also where they are the
    same in all cases), side, quantity, value and unit. Positions of the component, reactions and
    the residual have the side `all`. Rows without a value, as the centre of pressure of an
    unloaded side, are left out.
    """
    return {"contact": contact_table(results, study)}


def condition_columns(contact: pd.DataFrame) -> list[str]:
    """Columns of a table of contact that name the condition."""
    names = list(contact.columns)
    return names[names.index(FLEXION) : names.index("side")]


def first_condition(contact: pd.DataFrame, by: str) -> pd.Series:
    """Values of the first case in all columns of the plan but design and flexion."""
    names = list(contact.columns)
    plan = names[: names.index("side")]
    return contact.iloc[0][[name for name in plan if name not in (CASE, by, FLEXION)]]


@analysis("worst_cases", tables=("worst_cases",))
def analyse_worst_cases(
    results: pd.DataFrame, study: Study, options: WorstCasesOptions
) -> dict[str, pd.DataFrame]:
    """Worst case of every design, and of all, by quantity: table `worst_cases`.

    One row per quantity and design with its worst case and side, smallest area or largest
    pressure; `worst_of_family` marks the worst design.
    """
    contact, by = _by_design(contact_table(results, study), options.by)
    rows = []
    for quantity, kind in WORST.items():
        part = contact[(contact["quantity"] == quantity) & (contact["value"] > 0.0)]
        ordered = part.sort_values("value", ascending=kind == "min", kind="stable")
        worst = [one.iloc[0] for _, one in ordered.groupby(by, sort=False)]
        values = [row["value"] for row in worst]
        extreme = min(values) if kind == "min" else max(values)
        rows += [{**row, "worst_of_family": row["value"] == extreme} for row in worst]
    return {"worst_cases": pd.DataFrame(rows).reset_index(drop=True)}


@analysis("submission", tables=("submission",))
def analyse_submission(
    results: pd.DataFrame, study: Study, options: SubmissionOptions
) -> dict[str, pd.DataFrame]:
    """Contact of every design and side over flexion, other variables as in the first case.

    Table `submission`: one row per design, flexion and side: the condition, area, mm2, mean and
    largest pressure, MPa, and centre of pressure, mm.
    """
    contact, by = _by_design(contact_table(results, study), options.by)
    conditions = condition_columns(contact)
    units = contact.drop_duplicates("quantity").set_index("quantity")["unit"]
    wanted = [name for name in SUBMITTED if name in units]
    chosen = contact[contact["quantity"].isin(wanted)]
    for name, value in first_condition(contact, by).items():
        chosen = chosen[chosen[name] == value]
    index = [by, *conditions, "side"]
    wide = chosen.pivot_table(index=index, columns="quantity", values="value", sort=False)
    heads = {name: f"{name}_{units[name].lower()}" for name in wanted}
    table = wide[wanted].rename(columns=heads).rename_axis(columns=None).reset_index()
    return {"submission": table}


def _by_design(contact: pd.DataFrame, by: str | None) -> tuple[pd.DataFrame, str]:
    """Table with a column of designs, and its name."""
    return (contact, by) if by is not None else (contact.assign(**{DESIGN: DESIGN}), DESIGN)


@analysis("loops", tables=("laxity", "loops"), of_datasets=True)
def analyse_loops(
    dataset: xr.Dataset, results: pd.DataFrame, study: Study, options: LoopsOptions
) -> dict[str, pd.DataFrame]:
    """Results and steps of all paths: tables `laxity` and `loops`.

    Both have the columns case, those of the variables, `test` and the conditions. `laxity` has a
    row per path, with the columns of :func:`kneewear.motion.laxity.tabulate_path`; `loops` one
    per step: displacement and load with their units, forces of the condyles, N, and height of the
    component, mm. A path that ends early has fewer steps.
    """
    conditions = case_conditions(results, study)
    if TEST not in conditions and TEST in study.conditions:
        conditions.insert(1, TEST, study.conditions[TEST])
    known = results[CASE].isin(dataset["case"].values)
    conditions = conditions[known]
    laxity = pd.concat([conditions, results.loc[known, MODELS[study.model].columns(study)]], axis=1)
    further = [name for name in laxity if name not in (*conditions, *UNITS)]
    laxity = laxity[[*conditions, *UNITS, *further]]
    loops = [
        pd.DataFrame(dict(row) | _steps(dataset.sel(case=row[CASE]), *units))
        for row, units in zip(
            conditions.to_dict("records"), laxity[list(UNITS)].to_numpy(), strict=True
        )
    ]
    return {"laxity": laxity, "loops": pd.concat(loops, ignore_index=True)}


def _steps(loop: xr.Dataset, length: str, force: str) -> dict[str, Any]:
    """Columns of the steps of one path."""
    known = np.isfinite(loop["displacement"].values)
    return {
        "step": np.flatnonzero(known),
        "displacement": loop["displacement"].values[known],
        "displacement_unit": length,
        "load": loop["load"].values[known],
        "load_unit": force,
        **{
            f"{side}_force_n": loop["vertical_force"].sel(side=side).values[known]
            for side in loop["side"].values
        },
        "superior_mm": loop["translation"].sel(axis="superior").values[known],
    }


@analysis("compared_laxity", tables=("laxity_comparison",))
def analyse_compared_laxity(
    results: pd.DataFrame, study: Study, options: ComparedOptions
) -> dict[str, pd.DataFrame]:
    """Laxity of every design against that of the first one: table `laxity_comparison`.

    One row per further design and values of the other variables: `stiffness_ratio` and
    `stiffness_difference` (N/mm or N m/deg), `laxity_ratio` and `laxity_difference` of the
    displacement between both end points, mm or deg, the differences of the two, and the ratio of
    the peak loads. NaN where one of both has no value. Distraction, which only lifts, has no
    end points and is left out.
    """
    between = options.between
    keys = [name for name in plan_columns(results, study) if name not in (CASE, between)]
    return {"laxity_comparison": compare_laxity(results, between, keys)}


def compare_laxity(results: pd.DataFrame, between: str, keys: Sequence[str]) -> pd.DataFrame:
    """Differences of laxity, as of `analyse_compared_laxity`, between rows of equal `keys`."""
    driven = results[~results[list(keys)].isin(["distraction"]).any(axis=1)]
    driven = driven.assign(laxity=driven["positive_end"] - driven["negative_end"])
    first = results[between].iloc[0]
    pairs = driven[driven[between] != first].merge(
        driven[driven[between] == first],
        on=list(keys),
        suffixes=("", "_first"),
        validate="many_to_one",
    )
    table = pairs[[between, *keys, *UNITS]].rename(columns={between: "second"})
    table.insert(0, "first", first)
    for name in ("stiffness", "laxity"):
        value, base = pairs[name], pairs[f"{name}_first"]
        table[f"{name}_ratio"] = value / base.where(base > 0.0)
        table[f"{name}_difference"] = value - base
    table["peak_load_ratio"] = pairs["peak_load"] / pairs["peak_load_first"]
    for name in ("positive_end", "negative_end"):
        table[f"{name}_difference"] = pairs[name] - pairs[f"{name}_first"]
    return table
