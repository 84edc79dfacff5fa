"""Figures of distributions: percentiles, and wear over the variables, by a column."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kneewear.base.cases import OUTPUTS
from kneewear.base.sides import BOTH
from kneewear.report import style
from kneewear.report.declared import figure
from kneewear.report.study_tables import SHOWN
from kneewear.report.tables import quantity_name, rows_with, unit_name, with_unit, words
from kneewear.study.plans import VARIED
from kneewear.study.study import Study
from kneewear.study.wear import column_name

DISTRIBUTED = ("volumetric_wear_rate", "max_wear_depth", "max_pressure", "avg_pressure")
RATE = "volumetric_wear_rate"
# Columns of the results that have a panel.
MAX_PANELS = 8


@figure("cohort_effects", of="cases")
def draw_effects_of_groups(
    study: Study, results: pd.DataFrame, effects: pd.DataFrame
) -> dict[str, Figure]:
    """Figures of the effects of variables by the values of a column."""
    options = study.analyses.effects
    if options is None or options.by is None:
        return {}
    units = {name: variable.unit for name, variable in study.variables.items()}
    return draw_grouped_effects(results, effects, options.by, units)


@figure("cohort_percentiles", of="cases")
def draw_percentiles_of_groups(
    study: Study, results: pd.DataFrame, percentiles: pd.DataFrame
) -> dict[str, Figure]:
    """Distributions and percentiles by the values of a column."""
    options = study.analyses.percentiles
    if options is None or options.by is None:
        return {}
    return draw_percentile_figures(results, percentiles, options.by)


@figure("levels", of="cases")
def draw_paired_levels(study: Study, results: pd.DataFrame) -> Figure | None:
    """Key results by the levels of the variable that pairs differ in."""
    options, percentiles = study.analyses.paired, study.analyses.percentiles
    by_column = percentiles is not None and percentiles.by is not None
    if options is None or by_column or not study.has_lives:
        return None
    return draw_levels(results, options.between)


def draw_percentile_figures(
    results: pd.DataFrame, percentiles: pd.DataFrame, by: str
) -> dict[str, Figure]:
    """Distributions and percentiles of key results by the values of a column."""
    return {
        "cohort_distribution": draw_distribution(results, by),
        "cohort_percentiles": draw_percentiles(percentiles, by),
    }


def draw_grouped_effects(
    results: pd.DataFrame, effects: pd.DataFrame, by: str, units: Mapping[str, str]
) -> dict[str, Figure]:
    """Wear rate over the variables with the largest effects; none where cases are too few."""
    rates = rows_with(effects, side=BOTH, quantity=RATE)
    # Without a span where the cases are too few for effects.
    sizes = rates.groupby(VARIED, sort=False)["span"].max().dropna()
    columns = list(sizes.sort_values(ascending=False, kind="stable").index[:MAX_PANELS])
    if not columns:
        return {}
    named = {name: units.get(name, "") for name in columns}
    return {"cohort_covariates": draw_covariates(results, named, by)}


def _colours(table: pd.DataFrame, by: str) -> dict[str, str]:
    """Colour of each design."""
    designs = list(dict.fromkeys(table[by]))
    return {name: style.SERIES[n % len(style.SERIES)] for n, name in enumerate(designs)}


@style.styled
def draw_distribution(results: pd.DataFrame, by: str) -> Figure:
    """Cumulative distribution of key results, a line per value of a column."""
    figure, panels = style.new_figure(5.6, 2, 2)
    for axes, quantity in zip(panels.flat, DISTRIBUTED, strict=True):
        for design, colour in _colours(results, by).items():
            values = rows_with(results, **{by: design})[column_name(BOTH, quantity)].dropna()
            part = 100.0 * np.arange(1, len(values) + 1) / max(1, len(values))
            axes.step(np.sort(values), part, where="post", color=colour, label=words(design))
        axes.set(ylim=(0, 100), ylabel="cases (%)")
        axes.set_xlabel(f"{quantity_name(quantity)} ({unit_name(OUTPUTS[quantity])})")
    style.share_legend(figure, panels[0, 0], 4, below=True)
    return figure


@style.styled
def draw_levels(results: pd.DataFrame, by: str) -> Figure:
    """Key results by the levels of a column: median bars, and the range of several cases."""
    names = list(dict.fromkeys(results[by]))
    figure, panels = style.new_figure(1.5 + 0.35 * len(names), 1, len(DISTRIBUTED), sharey=True)
    for axes, quantity in zip(panels[0], DISTRIBUTED, strict=True):
        values = results.groupby(by, sort=False)[column_name(BOTH, quantity)]
        spread = values.agg(["median", "min", "max"]).loc[names]
        axes.barh(
            range(len(names)), spread["median"], 0.7, color=list(_colours(results, by).values())
        )
        if values.size().max() > 1:
            axes.hlines(range(len(names)), spread["min"], spread["max"], color=style.INK, lw=1.2)
        axes.set_title(quantity_name(quantity))
        axes.set_xlabel(unit_name(OUTPUTS[quantity]))
        axes.grid(visible=False, axis="y")
    panels[0, 0].set_yticks(range(len(names)), [words(str(name)) for name in names])
    panels[0, 0].invert_yaxis()
    return figure


@style.styled
def draw_percentiles(percentiles: pd.DataFrame, by: str) -> Figure:
    """Percentiles of results by design."""
    names = sorted(
        (name for name in map(str, percentiles) if re.fullmatch(r"p[\d.]+", name)),
        key=lambda name: float(name[1:]),
    )
    colours = _colours(percentiles, by)
    figure, panels = style.new_figure(1.8 + 0.7 * len(colours), 2, 4, style.WIDTH + 1.5)
    for axes, quantity in zip(panels.flat, SHOWN, strict=True):
        for height, (design, colour) in zip(
            range(len(colours))[::-1], colours.items(), strict=True
        ):
            row = rows_with(percentiles, side=BOTH, quantity=quantity, **{by: design}).iloc[0]
            values = row[names].to_numpy(float)
            axes.plot(values[[0, -1]], [height, height], color=colour, lw=1.5)
            inner = values[1:-1] if len(values) > 2 else values
            axes.plot(inner[[0, -1]], [height, height], color=colour, lw=7, solid_capstyle="butt")
            if "p50" in names:
                axes.plot(row["p50"], height, "|", color="white", ms=7, mew=2)
        axes.set_yticks(range(len(colours))[::-1], [words(name) for name in colours])
        axes.set_ylim(-0.6, len(colours) - 0.4)
        axes.grid(visible=False, axis="y")
        axes.set_title(quantity_name(quantity))
        axes.set_xlabel(unit_name(OUTPUTS[quantity]))
    return figure


@style.styled
def draw_covariates(results: pd.DataFrame, columns: Mapping[str, str], by: str) -> Figure:
    """Volumetric wear rate over columns of the results, given with their units."""
    rows = -(-len(columns) // 4)
    figure, panels = style.new_figure(
        2.4 * rows + 0.5, rows, min(4, len(columns)), style.WIDTH + 1.5, sharey=True
    )
    for axes, (name, unit) in zip(panels.flat, columns.items(), strict=False):
        for design, colour in _colours(results, by).items():
            own = rows_with(results, **{by: design})
            axes.plot(
                own[name],
                own[column_name(BOTH, RATE)],
                ".",
                ms=3,
                color=colour,
                alpha=0.6,
                label=words(design),
                rasterized=len(own) > style.MANY,
            )
        axes.set_xlabel(with_unit(name, unit))
    for axes in panels.flat[len(columns) :]:
        axes.set_visible(False)
    for row in panels:
        row[0].set_ylabel(f"{quantity_name(RATE)}\n({unit_name(OUTPUTS[RATE])})")
    style.share_legend(figure, panels[0, 0], 4, below=True)
    return figure
