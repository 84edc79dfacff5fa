"""Figures of the analyses of a study."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from kneewear.evidence.measured_wear.figures import draw_measured_wear
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.implant import Implant
from kneewear.report.cohort import draw_grouped_effects, draw_levels, draw_percentile_figures
from kneewear.report.optimisation import draw_optimisation
from kneewear.report.regression import draw_calibration_figures
from kneewear.report.sweep import draw_sweep
from kneewear.report.uncertainty import (
    draw_effects,
    draw_indices,
    draw_predictions,
    draw_sample_spread,
)
from kneewear.study.element_sums import ElementSums
from kneewear.study.models import model_of
from kneewear.study.plan_settings import Search
from kneewear.study.study import Study


def draw_cases(
    study: Study,
    tables: Mapping[str, pd.DataFrame],
    kept: ElementSums | xr.Dataset | None,
    grid: ElementGrid | None,
    implants: Mapping[str, Implant],
) -> dict[str, Figure]:
    """Draw the figures of a study of cases.

    Parameters
    ----------
    study : Study
        Settings.
    tables : mapping of str to DataFrame
        `results` and the tables of the analyses.
    kept : ElementSums, Dataset or None
        What cases keep besides: depths of all samples of model wear, contact of model press,
        curves and lower faces of model backside, elements of model wear_test.
    grid : ElementGrid or None
        Elements of the samples.
    implants : mapping of str to Implant
        Implant of each design of model press.
    """
    figures = model_of(study).draw_cases(study, tables, kept, grid, implants)
    return dict(figures)


def draw_samples(
    study: Study,
    tables: Mapping[str, pd.DataFrame],
    kept: ElementSums | None,
    grid: ElementGrid | None,
    implants: Mapping[str, Implant],
) -> dict[str, Figure]:
    """Draw the figures of a wear study without maps (`draw_cases`)."""
    return draw_analyses(study, tables, kept, grid)


def draw_analyses(
    study: Study,
    tables: Mapping[str, pd.DataFrame],
    sums: ElementSums | None,
    grid: ElementGrid | None,
) -> dict[str, Figure]:
    """Draw the figures of all analyses of a study.

    Parameters
    ----------
    study : Study
        Settings.
    tables : mapping of str to DataFrame
        `results` and the tables of the analyses.
    sums : ElementSums or None
        Depths of all samples, where cases are samples.
    grid : ElementGrid or None
        Elements of the samples.
    """
    results, chosen = tables["results"], study.analyses
    units = {name: variable.unit for name, variable in study.variables.items()}
    figures: dict[str, Figure] = {}
    if chosen.effects is not None and chosen.effects.by is None:
        figures |= draw_sweep(results, tables["effects"], units)
    elif chosen.effects is not None and chosen.effects.by is not None:
        by = chosen.effects.by
        figures |= draw_grouped_effects(results, tables["effects"], by, units)
    if chosen.percentiles is not None and chosen.percentiles.by is not None:
        by = chosen.percentiles.by
        figures |= draw_percentile_figures(results, tables["percentiles"], by)
    elif chosen.paired is not None and study.has_lives:
        figures["levels"] = draw_levels(results, chosen.paired.between)
    if chosen.steps is not None:
        figures["effects"] = draw_effects(tables["steps"])
    if chosen.indices is not None:
        figures["indices"] = draw_indices(tables["indices"])
    if chosen.intervals is not None:
        figures["predictions"] = draw_predictions(tables["intervals"], results)
    if (chosen.intervals or chosen.indices) and sums is not None and grid is not None:
        figures |= (
            {"damage_spread": draw_sample_spread(sums, grid)} if int(sums.samples) > 1 else {}
        )
    if chosen.measured is not None:
        figures["wear_over_measured"] = draw_measured_wear(tables["measured_wear"])
    if chosen.front is not None and isinstance(study.cases, Search):
        figures |= draw_optimisation(study.cases, study.variables, tables)
    if chosen.fit is not None:
        names = "constants", "comparison", "correlations", "trade_off"
        figures |= draw_calibration_figures(**{name: tables[name] for name in names})
    return figures
