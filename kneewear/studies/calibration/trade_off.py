"""How well fewer constants meet the published tables, fitted and other cells apart."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kneewear.errors import ConvergenceError
from kneewear.reference.published import CALIBRATION_CASES, published_values
from kneewear.regression.comparison import compare_published
from kneewear.regression.groups import QUANTITIES
from kneewear.settings.calibration import CalibrationStudy, ResolutionSettings
from kneewear.sides import SIDES
from kneewear.studies.calibration.cells import simulate_cells
from kneewear.studies.calibration.fitting import (
    Fit,
    fit_constants,
    published_target,
    tabulate_constants,
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Calibration:
    """Outcome of a calibration.

    Parameters
    ----------
    fit : Fit
        Fit of all constants.
    constants : DataFrame
        As `tabulate_constants` returns it.
    comparison : DataFrame
        The 25 published cells by the fitted study, as
        `kneewear.regression.comparison.compare_published` returns it.
    trade_off : DataFrame
        Columns constants (their number), cells (fitted, not fitted), quantities (average pressure,
        all others), median_percent, largest_percent, median_beyond_rounding_percent and
        largest_beyond_rounding_percent.
    """

    fit: Fit
    constants: pd.DataFrame
    comparison: pd.DataFrame
    trade_off: pd.DataFrame


def calibrate(study: CalibrationStudy) -> Calibration:
    """Fit the constants a study names to the declared published cells.

    Parameters
    ----------
    study : CalibrationStudy
        Settings.

    Returns
    -------
    Calibration

    Raises
    ------
    ConvergenceError
        If a published cell has no equilibrium with all constants fitted. Fits of fewer constants
        without one are left out of the trade-off, with a warning.
    """
    # A line for each of some ten thousand cases would hide those of the search.
    logging.getLogger("kneewear.simulation").setLevel(logging.WARNING)
    settings = study.calibration
    target = published_target(CALIBRATION_CASES, settings)
    fits = [fit_constants(study, target)]
    for number in sorted(settings.trade_off, reverse=True):
        fits.append(fit_constants(study, target, number, near=fits[-1]))
    rows = []
    for number in sorted(fit.parts.size for fit in fits if np.isfinite(fit.sum_of_squares)):
        # A fit of fewer constants is one of more, with the others plain: searches are local.
        fewer = [fit for fit in fits if fit.parts.size <= number]
        best = min(fewer, key=lambda fit: fit.sum_of_squares)
        try:
            cells = simulate_published(study, best.overrides, settings.stages[-1])
        except ConvergenceError as error:
            if number == fits[0].parts.size:
                raise
            logger.warning("%d constants are left out of the trade-off: %s", number, error)
            continue
        comparison = compare_published(cells)
        rows += [{"constants": number} | row for row in error_rows(comparison)]
    return Calibration(fits[0], tabulate_constants(study, fits[0]), comparison, pd.DataFrame(rows))


def simulate_published(
    study: CalibrationStudy, values: Mapping[str, float], resolution: ResolutionSettings
) -> pd.DataFrame:
    """The 25 published cells as a tidy case table; parameters as in `simulate_cells`."""
    keys = published_values()[["thickness_mm", "body_mass_kg"]].drop_duplicates()
    cells = list(keys.itertuples(index=False, name=None))
    computed = simulate_cells(study, values, cells, resolution)
    labels = itertools.product(cells, SIDES, QUANTITIES)
    rows = [
        ("published", *cell, side, quantity, value)
        for (cell, side, quantity), value in zip(labels, computed.ravel(), strict=True)
    ]
    columns = ["life", "thickness_mm", "body_mass_kg", "side", "quantity", "value"]
    return pd.DataFrame(rows, columns=columns)


def error_rows(comparison: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Median and largest error, per cent, of fitted and other cells, average pressure apart.

    Parameters
    ----------
    comparison : DataFrame
        Result of `compare_published`.

    Yields
    ------
    dict
        Columns of `Calibration.trade_off` but the number of constants.
    """
    average = comparison["quantity"] == "avg_pressure"
    for used, of_average in itertools.product((True, False), (False, True)):
        rows = comparison[(comparison["calibration"] == used) & (average == of_average)]
        plain, beyond = rows["relative_error"].abs(), rows["error_beyond_rounding"]
        yield {
            "cells": "fitted" if used else "not fitted",
            "quantities": "average pressure" if of_average else "all others",
            "median_percent": 100.0 * plain.median(),
            "largest_percent": 100.0 * plain.max(),
            "median_beyond_rounding_percent": 100.0 * beyond.median(),
            "largest_beyond_rounding_percent": 100.0 * beyond.max(),
        }
