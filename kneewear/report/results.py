"""Figures of the results of a life of a wear study, each where what it needs is there.

`life` is the number of the life among those of the maps, and `outside` names the cases outside
validity; the tables are of this life.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from kneewear.geometry.element_grid import ElementGrid
from kneewear.report.declared import figure
from kneewear.report.maps import draw_damage_maps, draw_wear_maps
from kneewear.report.regression import (
    can_draw_curves,
    draw_depth_surfaces,
    draw_design,
    draw_models,
    draw_residuals,
    draw_trends,
)
from kneewear.report.tables import rows_with
from kneewear.report.wear import draw_blocks, draw_spread, draw_wear_over_cycles
from kneewear.report.wear_tables import blocks, deepest_places
from kneewear.wear.leading import DAMAGE, LeadingDepth


@figure("damage_maps", of="life")
def damage_maps(
    maps: xr.Dataset, grid: ElementGrid, life: int, outside: Sequence[str], leading: LeadingDepth
) -> Figure | None:
    """Damage depth of the corner, centre, best and worst cases, unless its creep is too deep."""
    return draw_damage_maps(maps, grid, life, outside) if leading is DAMAGE else None


@figure("wear_maps", of="life")
def wear_maps(maps: xr.Dataset, grid: ElementGrid, life: int, outside: Sequence[str]) -> Figure:
    """Wear, creep and cross-shear of the centre case."""
    return draw_wear_maps(maps, grid, life, outside)


@figure("model_spread", of="life")
def model_spread(
    model_spread: pd.DataFrame,
    leading: LeadingDepth,
    constant_intervals: pd.DataFrame | None = None,
) -> Figure:
    """Wear and depth of the centre case by choices of the model."""
    return draw_spread(model_spread, constant_intervals, leading)


@figure("blocks", of="life")
def blocks_of_life(cases: pd.DataFrame) -> Figure | None:
    """Depth, area and volume over the number of blocks, where it varies."""
    return draw_blocks(cases) if len(blocks(cases)) else None


@figure("trends", of="life")
def trends(
    cases: pd.DataFrame, regression_models: pd.DataFrame, leading: LeadingDepth
) -> Figure | None:
    """Depth over thickness and mass, with the model that predicts other cases best."""
    known = rows_with(regression_models, quantity=leading.quantity)
    if not (len(known) and can_draw_curves(cases)):
        return None
    return draw_trends(cases, regression_models, leading)


@figure("damage_surfaces", of="life")
def damage_surfaces(
    cases: pd.DataFrame, regression: pd.DataFrame, leading: LeadingDepth
) -> Figure | None:
    """Depth over thickness and mass with its regression plane."""
    if not can_draw_curves(cases):
        return None
    return draw_depth_surfaces(cases, regression, leading)


@figure("design", of="life")
def design(
    cases: pd.DataFrame, outside_of: dict[str, list[str]], leading: LeadingDepth
) -> Figure | None:
    """Largest depth over thickness and mass with the limit of validity."""
    if not can_draw_curves(cases):
        return None
    return draw_design(deepest_places(cases, outside_of, leading), leading)


@figure("regression", of="life")
def regression_models(
    regression_models: pd.DataFrame, regression_points: pd.DataFrame
) -> dict[str, Figure]:
    """Residuals and cross-validated errors of the models of the trends."""
    return {
        "regression_residuals": draw_residuals(regression_points),
        "regression_models": draw_models(regression_models),
    }


@figure("wear_over_cycles", of="study")
def cycles_of_lives(
    wear_over_cycles: pd.DataFrame, simulator_tests: pd.DataFrame | None = None
) -> Figure:
    """Material lost over the cycles, beside what simulators measured."""
    return draw_wear_over_cycles(wear_over_cycles, simulator_tests)
