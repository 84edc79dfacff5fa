"""Sentences that tell the outcome of a study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from kneewear.report.published import statement_sentences
from kneewear.report.sections import shown
from kneewear.report.style import quantity_name, unit_name

# Equilibria leave less than this of the load, poses replayed on another grid more.
REPLAYED = 1e-4


def key_results(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Sentences that tell the outcome, what is asked first at the head."""
    cases = tables["cases"]
    return [
        *centre_sentences(cases),
        *trade_off_sentences(tables["regression"]),
        *range_sentences(cases),
        *comparison_sentences(tables.get("comparison", pd.DataFrame())),
        *statement_sentences(tables.get("statements", pd.DataFrame())),
        *failure_sentences(tables.get("failures", pd.DataFrame())),
        validity_sentence(tables["validity"]),
        *border_sentences(cases),
        balance_sentence(cases),
    ]


def centre_sentences(cases: pd.DataFrame) -> Iterable[str]:
    """Wear and damage of both sides in the middle of the design, by life."""
    name = centre_name(cases)
    lives = list(dict.fromkeys(cases["life"]))
    for life in lives:
        own = cases[(cases["case"] == name) & (cases["life"] == life)]
        parts = []
        for side in ("medial", "lateral"):
            values = own[own["side"] == side].set_index("quantity")["value"]
            parts.append(
                f"{side} wear {values['wear_depth']:.2f} mm deep, with creep "
                f"{values['damage_depth']:.2f} mm and {shown(values['damage_volume'], 3)} mm³"
            )
        place = own.iloc[0]
        of_life = f", {life}" if len(lives) > 1 else ""
        yield (
            f"In the middle of the study ({place['thickness_mm']:g} mm insert, "
            f"{place['body_mass_kg']:g} kg{of_life}): {'; '.join(parts)}."
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
    parts = [f"{row['side']} {row['mm_per_10kg']:.1f} mm" for row in own.to_dict("records")]
    yield (
        "Thickness against mass: 10 kg more body mass deepen the damage as much as an insert "
        f"thinner by {', '.join(parts)}."
    )
    r2 = regression["r2"]
    yield (
        "A plane over thickness and mass explains the results with R² of "
        f"{r2.min():.3f} to {r2.max():.3f} (damage depth "
        + ", ".join(f"{row['side']} {row['r2']:.3f}" for row in own.to_dict("records"))
        + ")."
    )


def range_sentences(cases: pd.DataFrame) -> Iterable[str]:
    """Ranges over all cases."""
    for quantity in ("damage_depth", "wear_depth", "damage_volume", "max_pressure"):
        parts = []
        for side in ("medial", "lateral"):
            rows = cases[(cases["side"] == side) & (cases["quantity"] == quantity)]
            unit = unit_name(rows["unit"].iloc[0])
            ends = dict.fromkeys(shown(rows["value"].agg(end), 3) for end in ("min", "max"))
            parts.append(f"{side} {' to '.join(ends)} {unit}")
        yield f"{quantity_name(quantity)} over all cases: {', '.join(parts)}."


def comparison_sentences(comparison: pd.DataFrame) -> Iterable[str]:
    """Errors against published values, fitted cells apart."""
    if comparison.empty:
        return
    for used, text in ((False, "not fitted"), (True, "fitted")):
        rows = comparison[comparison["calibration"] == used]
        error, beyond = 100.0 * rows["relative_error"].abs(), 100.0 * rows["error_beyond_rounding"]
        if len(error):
            yield (
                f"Against the published tables, {len(error)} values of cells {text} in the "
                f"calibration: median error {error.median():.1f} %, 95 % under "
                f"{error.quantile(0.95):.1f} %, largest {error.max():.1f} %; beyond what rounding "
                f"of the printed values explains {beyond.median():.1f} % and {beyond.max():.1f} %."
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
    """Warnings of the run's jobs, and its machine."""
    if "warnings" in provenance:
        found = provenance["warnings"]
        yield f"{len(found)} warnings in the logs." if found else "No warnings in the logs."
        yield from (f"{log}: {message}" for log, message in found)
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
    text = f"Balance: largest remaining imbalance {worst:.1e} of the load"
    if worst > REPLAYED:
        text += " (of the fine grid, at poses that balance the coarse one)"
    if spring > 0.0:
        return f"{text}; the medial-lateral spring takes up to {100 * spring:.2g} % of the load."
    return f"{text}; no spring was needed."


def _largest(cases: pd.DataFrame, quantity: str) -> float:
    return float(cases.loc[cases["quantity"] == quantity, "value"].max())
