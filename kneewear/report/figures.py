"""All figures of a wear study by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from kneewear.activity.activity import Activity
from kneewear.evidence.verification.figures import draw_cost, draw_distance_methods
from kneewear.geometry.distance_table import DistanceTable
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.extraction import Extraction
from kneewear.geometry.fit_quality import FitQuality
from kneewear.geometry.implant import Implant
from kneewear.report.bodies import (
    draw_activity,
    draw_bearing_sections,
    draw_control_nets,
    draw_dynamics,
    draw_history,
    draw_implant,
    draw_measured,
)
from kneewear.report.maps import (
    ROUNDING,
    draw_damage_maps,
    draw_deviation,
    draw_distance_errors,
    draw_extraction,
    draw_geometry,
    draw_pressure_map,
    draw_subsurface_map,
    draw_wear_maps,
)
from kneewear.report.regression import (
    can_draw_surfaces,
    draw_damage_surfaces,
    draw_design,
    draw_models,
    draw_published_errors,
    draw_published_scatter,
    draw_residuals,
    draw_trade_off,
)
from kneewear.report.tables import rows_with
from kneewear.report.wear import draw_blocks, draw_spread, draw_wear_over_cycles
from kneewear.report.wear_tables import blocks, cases_outside, deepest_damage


def draw_results(
    grid: ElementGrid, maps: xr.Dataset, tables: Mapping[str, pd.DataFrame]
) -> dict[str, Figure]:
    """Draw the results of the cases of a study, by name and in the order of the page.

    Names end in that of the life where there are several. Of the tables, `model_spread`,
    `constant_intervals`, `comparison` (with published values), `regression_models` and
    `regression_points` may be absent or empty.
    """
    figures: dict[str, Figure] = {}
    lives = maps["life"].values.tolist()
    outside_of = cases_outside(tables.get("validity"), lives)
    for number, life in enumerate(lives):
        ending = f"_{life}" if len(lives) > 1 else ""
        own = {
            name: rows_with(table, life=life) if "life" in table else table
            for name, table in tables.items()
        }
        beyond = outside_of.get(life, [])
        figures[f"damage_maps{ending}"] = draw_damage_maps(maps, grid, number, beyond)
        figures[f"wear_maps{ending}"] = draw_wear_maps(maps, grid, number, beyond)
        if "model_spread" in own:
            # Of the first life only.
            sampled = own.get("constant_intervals") if number == 0 else None
            figures[f"model_spread{ending}"] = draw_spread(own["model_spread"], sampled)
        if len(blocks(own["cases"])):
            figures[f"blocks{ending}"] = draw_blocks(own["cases"])
        if can_draw_surfaces(own["cases"]):
            surfaces = draw_damage_surfaces(own["cases"], own["regression"])
            figures[f"damage_surfaces{ending}"] = surfaces
            figures[f"design{ending}"] = draw_design(deepest_damage(own["cases"], outside_of))
        if "comparison" in own and len(own["comparison"]):
            figures[f"published_scatter{ending}"] = draw_published_scatter(own["comparison"])
            figures[f"published_errors{ending}"] = draw_published_errors(own["comparison"])
        if "regression_models" in own and len(own["regression_models"]):
            residuals = draw_residuals(own["regression_points"])
            figures[f"regression_residuals{ending}"] = residuals
            figures[f"regression_models{ending}"] = draw_models(own["regression_models"])
    if "wear_over_cycles" in tables:
        figures["wear_over_cycles"] = draw_wear_over_cycles(
            tables["wear_over_cycles"], tables.get("simulator_tests")
        )
    return figures


def draw_contact(
    implant: Implant,
    grid: ElementGrid,
    cycles: xr.Dataset,
    activities: Mapping[str, Activity],
    histories: Mapping[str, xr.Dataset],
    limits: tuple[float, float] = (math.inf, math.inf),
    poisson_ratio: float | None = None,
) -> dict[str, Figure]:
    """Draw contact through the cycle of each activity; `histories` hold the centre case or none.

    Stress below the surface is drawn where `poisson_ratio` is that of a coupled layer. Above the
    `limits` of maximum and mean pressure, MPa, in any activity it is outside validity.
    """
    outside = any(
        one.max_pressure.values.max(initial=0.0) > limits[0]
        or one.avg_pressure.values.max(initial=0.0) > limits[1]
        for one in histories.values()
    )
    figures = {
        "implant": draw_implant(implant, cycles, 0),
        "bearing_sections": draw_bearing_sections(implant, cycles, 0),
    }
    for number, name in enumerate(cycles["activity"].values.tolist()):
        figures[f"history_{name}"] = draw_history(cycles, number, activities[name].prescribed)
        if histories[name].sizes["case"]:
            figures[f"pressure_{name}"] = draw_pressure_map(histories[name], grid, outside)
            if poisson_ratio is not None:
                figures[f"subsurface_{name}"] = draw_subsurface_map(
                    histories[name], grid, poisson_ratio
                )
    return figures | draw_dynamics(implant, grid, histories)


def draw_method(
    implant: Implant,
    grid: ElementGrid,
    activities: Mapping[str, Activity],
    tables: Mapping[str, pd.DataFrame],
    distance_tables: Mapping[str, DistanceTable] | None = None,
    quality: Sequence[FitQuality] = (),
    extractions: Mapping[str, Extraction] | None = None,
    measured: Mapping[str, Mapping[str, Activity]] | None = None,
    nominal: float | None = None,
) -> dict[str, Figure]:
    """Draw the inputs and parts of a study that are known before its cases.

    Deviations are drawn where there is more than rounding, tables where they are given, and
    `measured` activities beside those of the names they are grouped by; the thickness map is that
    of an insert of `nominal` thickness, mm, or as built.
    """
    figures: dict[str, Figure] = {}
    if any(fit.max_mm > ROUNDING for fit in quality):
        figures["surface_deviation"] = draw_deviation(quality)
    if extractions is not None:
        figures["bearing_extraction"] = draw_extraction(extractions)
    for name, draw in (
        ("calibration_trade_off", draw_trade_off),
        ("distance_methods", draw_distance_methods),
        ("cost", draw_cost),
    ):
        if name in tables:
            figures[name] = draw(tables[name])
    beside = measured or {}
    for name, one in activities.items():
        figures[f"activity_{name}"] = draw_activity(one, beside.get(name, {}))
        if one.measured_pose is not None:
            figures[f"measured_{name}"] = draw_measured(one)
    if distance_tables:
        figures["distance_errors"] = draw_distance_errors(implant, distance_tables)
    figures["control_nets"] = draw_control_nets(implant)
    return figures | draw_geometry(implant, grid, nominal)
