"""All figures of a wear study by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from kneewear.activity.activity import Activity
from kneewear.base.cases import PLASTIC_MAPS
from kneewear.geometry.distance_table import DistanceTable
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.extraction import Extraction
from kneewear.geometry.fit_quality import FitQuality
from kneewear.geometry.implant import Implant
from kneewear.report.bodies import (
    draw_activity,
    draw_bearing_sections,
    draw_control_nets,
    draw_curve_samples,
    draw_dynamics,
    draw_history,
    draw_implant,
)
from kneewear.report.declared import draw_declared
from kneewear.report.maps import (
    ROUNDING,
    draw_deviation,
    draw_distance_errors,
    draw_extraction,
    draw_geometry,
    draw_pressure_map,
    draw_subsurface_map,
    draw_yield_maps,
)
from kneewear.report.tables import rows_with
from kneewear.report.understood_figures import draw_directions, draw_shapes
from kneewear.report.wear_tables import cases_outside
from kneewear.wear.leading import DAMAGE, LeadingDepth


def draw_results(
    grid: ElementGrid,
    maps: xr.Dataset,
    tables: Mapping[str, pd.DataFrame],
    leading: LeadingDepth = DAMAGE,
) -> dict[str, Figure]:
    """Draw the results of the cases of a study, by name and in the order of the page.

    Names end in that of the life where there are several. Of the tables, `model_spread`,
    `constant_intervals`, `comparison` (with published values), `regression_models` and
    `regression_points` may be absent or empty. `leading` is the depth that is drawn and ranked.
    """
    figures: dict[str, Figure] = {}
    lives = maps["life"].values.tolist()
    outside_of = cases_outside(tables.get("validity"), lives)
    for number, life in enumerate(lives):
        ending = f"_{life}" if len(lives) > 1 else ""
        inputs: dict[str, Any] = {
            name: rows_with(table, life=life) if "life" in table else table
            for name, table in tables.items()
        }
        if number:
            # Constants are sampled for the first life only.
            inputs.pop("constant_intervals", None)
        inputs |= {
            "maps": maps,
            "grid": grid,
            "life": number,
            "outside_of": outside_of,
            "leading": leading,
            "outside": outside_of.get(life, []),
        }
        drawn = draw_declared("life", inputs)
        figures |= {f"{name}{ending}": figure for name, figure in drawn.items()}
    return figures | draw_declared("study", tables)


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
        history.max_pressure.values.max(initial=0.0) > limits[0]
        or history.avg_pressure.values.max(initial=0.0) > limits[1]
        for history in histories.values()
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
            if PLASTIC_MAPS[0] in histories[name]:
                figures[f"yield_maps_{name}"] = draw_yield_maps(histories[name], grid)
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
    figures |= draw_declared("method", tables)
    figures["understood_shapes"] = draw_shapes(implant)
    beside = measured or {}
    for name, one in activities.items():
        figures[f"understood_motion_{name}"] = draw_directions(one)
        figures[f"activity_{name}"] = draw_activity(one, beside.get(name, {}))
        if one.measured_pose is not None:
            figures[f"curve_samples_{name}"] = draw_curve_samples(one)
    if distance_tables:
        figures["distance_errors"] = draw_distance_errors(implant, distance_tables)
    figures["control_nets"] = draw_control_nets(implant)
    return figures | draw_geometry(implant, grid, nominal)
