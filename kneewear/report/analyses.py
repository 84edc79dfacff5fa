"""Figures of the analyses of a study."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.implant import Implant
from kneewear.report.declared import draw_declared
from kneewear.study.element_sums import ElementSums
from kneewear.study.models import model_of
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
        curves and backsides of model backside, elements of model wear_test.
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
    inputs = {"study": study, "sums": sums, "grid": grid}
    return draw_declared("cases", dict(tables) | inputs)
