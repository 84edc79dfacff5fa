"""Sentences that tell the outcome of a study."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import pandas as pd

from kneewear.report.names import quantity_name, unit_name
from kneewear.report.published import statement_sentences
from kneewear.report.sections import Table, make_table, shown
from kneewear.sides import SIDES

# Median and largest error aimed at on cells that were not fitted, per cent beyond rounding.
AIMS = {"all others": (2.0, 6.0), "average pressure": (4.0, 10.0)}
TITLES = {"all others": "All but average pressure", "average pressure": "Average pressure"}
# Equilibria leave less than this of the load, poses replayed on another grid more.
REPLAYED = 1e-4
# What warnings of the same kind differ in.
NUMBER = re.compile(r"\d[\d.]*(e[+-]?\d+)?")
KEY_QUANTITIES = (
    "wear_depth",
    "creep_depth",
    "damage_depth",
    "damage_area",
    "damage_volume",
    "volumetric_wear_rate",
    "max_pressure",
)


def key_results(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Sentences that tell the outcome, what is asked first at the head."""
    cases = tables["cases"]
    return [
        *centre_sentences(cases),
        *trade_off_sentences(tables["regression"]),
        *comparison_sentences(tables.get("comparison", pd.DataFrame())),
        *statement_sentences(tables.get("statements", pd.DataFrame())),
        *failure_sentences(tables.get("failures", pd.DataFrame())),
        validity_sentence(tables["validity"]),
        *border_sentences(cases),
    ]


def centre_sentences(cases: pd.DataFrame) -> Iterable[str]:
    """Wear and damage of both sides in the middle of the design, by life."""
    own = cases[cases["case"] == centre_name(cases)]
    place = own.iloc[0]
    several = own["life"].nunique() > 1
    for life, rows in own.groupby("life", sort=False):
        values = rows.set_index(["quantity", "side"])["value"]
        yield (
            f"A {place['thickness_mm']:g} mm insert under {place['body_mass_kg']:g} kg"
            f"{f' ({life})' if several else ''} wears {_both(values['wear_depth'])} deep; with "
            f"creep the damage is {_both(values['damage_depth'])} deep."
        )


def _both(values: pd.Series[float]) -> str:
    """A depth of each side."""
    return " and ".join(f"{values[side]:.2f} mm {side}ly" for side in SIDES)


def key_table(cases: pd.DataFrame) -> Table:
    """Results of the case in the middle of the design, and their range over all cases.

    Parameters
    ----------
    cases : DataFrame
        Tidy case table.

    Returns
    -------
    Table
        A row a life and quantity; without ranges where there is one case only.
    """
    name, count = centre_name(cases), cases["case"].nunique()
    lives = list(dict.fromkeys(cases["life"]))
    groups = cases.groupby(["life", "quantity", "side"])
    rows = []
    for life, quantity in product(lives, KEY_QUANTITIES):
        of = [groups.get_group((life, quantity, side)) for side in SIDES]
        centre = [shown(one.loc[one["case"] == name, "value"].iloc[0], 3) for one in of]
        ranges = [f"{shown(one['value'].min(), 3)} to {shown(one['value'].max(), 3)}" for one in of]
        label = f"{quantity_name(quantity)} ({unit_name(of[0]['unit'].iloc[0])})"
        rows.append(([life] if len(lives) > 1 else []) + [label, *centre] + ranges * (count > 1))
    heads = [side.capitalize() for side in SIDES]
    heads += [f"{head}, all {count} cases" for head in heads] * (count > 1)
    place = cases[cases["case"] == name].iloc[0]
    return make_table(
        f"{place['thickness_mm']:g} mm insert, {place['body_mass_kg']:g} kg",
        [*["Life"] * (len(lives) > 1), "Quantity", *heads],
        rows,
    )


def centre_name(cases: pd.DataFrame) -> str:
    """Name of the case nearest to the medians of thickness and mass."""
    design = cases.drop_duplicates("case").set_index("case")[["thickness_mm", "body_mass_kg"]]
    width = (design.max() - design.min()).replace(0.0, 1.0)
    away = ((design - design.median()) / width).pow(2).sum(axis=1)
    return str(away.idxmin())


def trade_off_sentences(regression: pd.DataFrame) -> Iterable[str]:
    """What thickness buys against mass, and how well a plane tells it."""
    damage = regression[regression["quantity"] == "damage_depth"]
    if regression.empty or damage.empty:
        return
    own = damage.drop_duplicates("side")
    rows = own.to_dict("records")
    thinner = " and ".join(f"{row['mm_per_10kg']:.1f} mm {row['side']}ly" for row in rows)
    yield (
        "Thickness against mass: 10 kg more body mass deepen the damage as much as an insert "
        f"thinner by {thinner}."
    )
    r2 = regression["r2"]
    yield (
        "Eq. 4-1, a plane over thickness and mass, follows the results with R² of "
        f"{r2.min():.3f} to {r2.max():.3f} (damage depth "
        + ", ".join(f"{row['side']} {row['r2']:.3f}" for row in rows)
        + ")."
    )


def comparison_sentences(comparison: pd.DataFrame) -> Iterable[str]:
    """Errors against published values, fitted cells apart."""
    if comparison.empty:
        return
    for used, text in ((False, "not fitted"), (True, "fitted")):
        rows = comparison[comparison["calibration"] == used]
        error, beyond = 100.0 * rows["relative_error"].abs(), 100.0 * rows["error_beyond_rounding"]
        if len(error):
            cells = len(rows[["thickness_mm", "body_mass_kg"]].drop_duplicates())
            yield (
                f"Published tables, {len(error)} values of {cells} cells {text} in the "
                f"calibration: half are met within {error.median():.1f} %, 95 % within "
                f"{error.quantile(0.95):.1f} %, all within {error.max():.1f} % (beyond the "
                f"rounding of the printed values half within {beyond.median():.1f} %, all within "
                f"{beyond.max():.1f} %)."
            )


def calibration_sentences(trade_off: pd.DataFrame) -> Iterable[str]:
    """What fewer constants would cost, from the record of the calibration.

    Parameters
    ----------
    trade_off : DataFrame
        Table of that name of `kneewear.studies.calibration.trade_off.Calibration`.
    """
    unused = trade_off[trade_off["cells"] == "not fitted"].sort_values("constants")
    for group, rows in unused.groupby("quantities", sort=False):
        quantities = str(group)
        number = ", ".join(str(count) for count in rows["constants"])
        median, largest = (
            ", ".join(f"{value:.1f}" for value in rows[f"{statistic}_beyond_rounding_percent"])
            for statistic in ("median", "largest")
        )
        aims = AIMS[quantities]
        yield (
            f"{TITLES[quantities]}: with {number} constants fitted, the cells not fitted err by "
            f"{median} % in the median and by {largest} % at most beyond rounding. Aimed at were "
            f"{aims[0]:g} % and {aims[1]:g} % with at most 20 constants."
        )


def failure_sentences(failures: pd.DataFrame) -> list[str]:
    """How many cases were left out; nothing when all could be simulated."""
    if failures.empty:
        return []
    names = list(dict.fromkeys(failures["case"]))
    count = "1 case" if len(names) == 1 else f"{len(names)} cases"
    are = "is" if len(names) == 1 else "are"
    return [
        f"{count} could not be simulated and {are} left out of every table, figure and "
        f"regression: {', '.join(names)}."
    ]


def solved_sentence(study: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> str:
    """How many of the planned cases have results."""
    planned = len(study["cases"]["thickness_mm"]) * len(study["cases"]["body_mass_kg"])
    solved = tables["cases"]["case"].nunique()
    failed = "none failed" if solved == planned else f"{planned - solved} have no results"
    return f"{solved} of {planned} cases were solved; {failed}."


def origin_sentences(provenance: Mapping[str, Any]) -> Iterable[str]:
    """Warnings of the run's jobs, one of each kind, and its machine."""
    if "warnings" in provenance:
        found = provenance["warnings"]
        yield f"{len(found)} warnings in the logs." if found else "No warnings in the logs."
        alike: dict[tuple[str, str], list[str]] = {}
        for log, message in found:
            alike.setdefault((log, NUMBER.sub("", message)), []).append(message)
        for (log, _), (first, *others) in alike.items():
            more = f" ({len(others)} more like it, with other numbers)" if others else ""
            yield f"{log}: {first}{more}"
    if "machine" in provenance:
        yield f"Machine: {provenance['machine']['system']}, {provenance['machine']['processor']}."


def border_sentences(cases: pd.DataFrame) -> list[str]:
    """Say when contact reaches the end of the element grid; nothing when it does not."""
    rows = cases[(cases["quantity"] == "border_pressure") & (cases["value"] > 0.0)]
    return [
        f"Contact reaches the end of the {side} plateau's elements in {part['case'].nunique()} of "
        f"{cases['case'].nunique()} cases, with up to {part['value'].max():.3g} MPa: what would "
        "lie beyond is cut off."
        for side, part in rows.groupby("side")
    ]


def validity_sentence(validity: pd.DataFrame) -> str:
    """How many cases leave the range the model was validated in."""
    flags = validity[["max_pressure_above_limit", "avg_pressure_above_limit"]].astype(bool)
    beyond = validity.loc[flags.any(axis=1), "case"].nunique()
    return (
        f"{beyond} of {validity['case'].nunique()} cases go beyond the pressures the linear model "
        "was validated for."
    )


def balance_sentence(cases: pd.DataFrame) -> str:
    """How well force and moment are balanced."""
    worst = _largest(cases, "max_residual")
    spring = _largest(cases, "max_relative_spring_force")
    text = f"Forces and moments balance to {shown(100.0 * worst, 2)} % of the load"
    if worst > REPLAYED:
        text += " on the fine grid, at poses that balance the coarse one"
    if spring > 0.0:
        return f"{text}; the medial-lateral spring takes up to {100 * spring:.2g} % of the load."
    return f"{text}; no spring was needed."


def _largest(cases: pd.DataFrame, quantity: str) -> float:
    return float(cases.loc[cases["quantity"] == quantity, "value"].max())
