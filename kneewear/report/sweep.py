"""Figures of sweeps: tornado, results over each factor, and cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kneewear.analysis.response import fit_response
from kneewear.base.cases import OUTPUTS
from kneewear.base.sides import BOTH, SIDES
from kneewear.report import style
from kneewear.report.declared import figure
from kneewear.report.study_tables import KEY_OUTPUTS, SHOWN
from kneewear.report.tables import panel_name, quantity_name, rows_with, unit_name, with_unit
from kneewear.report.uncertainty import draw_effects
from kneewear.study.plans import VARIED
from kneewear.study.study import Study
from kneewear.study.wear import column_name

# Factors that have a panel, and points of a curve.
MAX_PANELS = 5
POINTS = 41


@figure("sweep", of="cases")
def draw_effects_of_sweep(
    study: Study, results: pd.DataFrame, effects: pd.DataFrame
) -> dict[str, Figure]:
    """Figures of the effects of variables over all cases."""
    options = study.analyses.effects
    if options is None or options.by is not None:
        return {}
    units = {name: variable.unit for name, variable in study.variables.items()}
    return draw_sweep(results, effects, units)


def draw_sweep(
    sweep: pd.DataFrame, effects: pd.DataFrame, units: Mapping[str, str]
) -> dict[str, Figure]:
    """Figures of a sweep from its tables and the units of its factors.

    There is none where too few cases have a result.
    """
    if effects.empty:
        return {}
    by_side = effects[effects["side"].isin(SIDES)]
    named = by_side.rename(columns={"at_centre": "nominal"}).assign(
        effect_percent=100.0 * by_side["span"] / by_side["at_centre"]
    )
    factors = list(dict.fromkeys(effects[VARIED]))
    # The nominal case of a sample has no values of the factors.
    sweep = sweep.dropna(subset=factors)
    return {
        "tornado": draw_effects(named),
        "factor_curves": draw_factor_curves(
            sweep, effects, {name: units[name] for name in factors}
        ),
        "cross_validation": draw_cross_validation(sweep, factors),
    }


@style.styled
def draw_factor_curves(
    sweep: pd.DataFrame, effects: pd.DataFrame, units: Mapping[str, str]
) -> Figure:
    """Key results of all cases over the factors, given by `units`, with the largest effects."""
    factors = list(units)
    columns = min(MAX_PANELS, len(factors))
    figure, panels = style.new_figure(
        2.3 * len(KEY_OUTPUTS), len(KEY_OUTPUTS), columns, style.WIDTH + 1.5
    )
    for row, quantity in zip(panels, KEY_OUTPUTS, strict=True):
        own = rows_with(effects, quantity=quantity, side=BOTH)
        largest = own.sort_values("span", ascending=False, kind="stable")
        column = column_name(BOTH, quantity)
        known = sweep.dropna(subset=column)
        points = known[factors].to_numpy(float)
        surface = fit_response(points, known[column].to_numpy(float))
        for axes, name in zip(row, largest[VARIED], strict=False):
            look = {
                "ms": 3,
                "color": style.SKY,
                "alpha": 0.5,
                "rasterized": len(known) > style.MANY,
            }
            axes.plot(known[name], known[column], ".", **look)
            if surface is not None:
                number = factors.index(name)
                line = np.tile(0.5 * (surface.low + surface.high), (POINTS, 1))
                line[:, number] = np.linspace(surface.low[number], surface.high[number], POINTS)
                axes.plot(line[:, number], surface.predict(line), color=style.INK, lw=1.5)
            axes.set_xlabel(with_unit(name, units[name]))
        row[0].set_ylabel(f"{quantity_name(quantity)} ({unit_name(OUTPUTS[quantity])})")
    return figure


@style.styled
def draw_cross_validation(sweep: pd.DataFrame, factors: Sequence[str]) -> Figure:
    """Left-out predictions of the response surface over the computed values."""
    figure, panels = style.new_figure(5.2, 2, 4, style.WIDTH + 1.5)
    for axes, quantity in zip(panels.flat, SHOWN, strict=True):
        column = column_name(BOTH, quantity)
        known = sweep.dropna(subset=column)
        surface = fit_response(known[list(factors)].to_numpy(float), known[column].to_numpy(float))
        if surface is not None:
            look = {
                "ms": 3,
                "color": style.BLUE,
                "alpha": 0.6,
                "rasterized": len(known) > style.MANY,
            }
            axes.plot(surface.values, surface.left_out, ".", **look)
            ends = [surface.values.min(), surface.values.max()]
            axes.plot(ends, ends, color=style.INK, lw=0.8)
        axes.set_title(panel_name(quantity, OUTPUTS[quantity]))
        axes.set(xlabel="computed", ylabel="predicted")
    return figure
