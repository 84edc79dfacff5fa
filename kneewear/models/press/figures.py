"""Figures of contact under axial loads, by the analyses of the study."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from kneewear.analysis.contact_tables import case_conditions
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.implant import Implant
from kneewear.models.press.design_figures import draw_characterisation, draw_laxity
from kneewear.models.press.static_figures import draw_static_figures
from kneewear.report import style
from kneewear.report.tables import quantity_name, rows_with, words
from kneewear.study.plans import CASE, VARIED
from kneewear.study.study import Study

# What laxity loops are drawn by.
LOOP_VARIABLES = {"design", "test", "flexion_deg", "friction"}
# Results whose effects are drawn.
SHOWN = (
    "stiffness",
    "positive_end",
    "negative_end",
    "peak_load",
    "max_pressure",
    "avg_pressure",
    "contact_area",
)
MAX_PANELS = 10


def draw_cases(
    study: Study,
    tables: Mapping[str, pd.DataFrame],
    kept: xr.Dataset,
    grid: ElementGrid | None,
    implants: Mapping[str, Implant],
) -> dict[str, Figure]:
    """Draw the figures of a study of contact under axial loads.

    Parameters
    ----------
    study : Study
        Settings.
    tables : mapping of str to DataFrame
        `results` and the tables of the analyses.
    kept : Dataset
        As of :func:`kneewear.motion.press_results.join_cases`.
    grid : ElementGrid or None
        Not used: cases have elements of their own.
    implants : mapping of str to Implant
        Implant of each design.
    """
    chosen = study.analyses
    figures: dict[str, Figure] = {}
    if chosen.effects is not None and chosen.effects.by is None and len(tables["effects"]):
        figures["press_effects"] = draw_press_effects(tables["effects"])
    if chosen.loops is not None and set(study.variables) <= LOOP_VARIABLES:
        figures |= draw_laxity(tables["loops"], tables["laxity"])
    if chosen.worst_cases is not None:
        figures |= draw_characterisation(tables, kept, implants)
    elif chosen.contact is not None and "element_case" in kept:
        cases = case_conditions(tables["results"], study)
        cases = cases[cases[CASE].isin(kept["case"].values)]
        figures |= draw_static_figures(kept, cases, next(iter(implants.values())), tables)
    return figures


@style.styled
def draw_press_effects(effects: pd.DataFrame) -> Figure:
    """Change of each result over the range of each variable, largest on top."""
    results = [
        (side, quantity)
        for side, quantity in dict.fromkeys(zip(effects["side"], effects["quantity"], strict=True))
        if quantity in SHOWN
    ]
    figure, panels = style.panels_in_rows(len(results), 2, 2.4)
    for axes, (side, quantity) in zip(panels, results, strict=True):
        rows = rows_with(effects, side=side, quantity=quantity)
        rows = rows.sort_values("span", kind="stable").tail(MAX_PANELS)
        heights = np.arange(len(rows))
        for end, strength in (("at_low", 0.4), ("at_high", 1.0)):
            change = rows[end] - rows["at_centre"]
            axes.barh(heights, change, 0.6, color=style.BLUE, alpha=strength, label=words(end))
        axes.axvline(0.0, color=style.INK, lw=0.8)
        axes.set_yticks(heights, [words(str(name)) for name in rows[VARIED]])
        of_side = "" if side == "all" else f", {side}"
        axes.set_title(f"{quantity_name(quantity)}{of_side}")
        axes.set_xlabel(f"change ({rows['unit'].iloc[0]})")
    style.share_legend(figure, panels[0], 2, below=True)
    return figure
