"""Calibration: the fit of all constants, what it separates, and how well fewer constants do."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

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
    Array,
    Problem,
    search_constants,
    separate_constants,
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Calibration:
    """Outcome of a calibration.

    Parameters
    ----------
    overrides : dict of path to value
        The constants, to four digits.
    tables : dict of name to DataFrame
        `comparison`, the 25 published cells as
        `kneewear.regression.comparison.compare_published` returns them.

        `points` of the search, as `search_constants` returns them.

        `constants`: bounds with their source, value, standard_error, at_bound, the largest
        correlation, and for each quantity how much it changes, per cent, when the constant moves by
        a hundredth of the way between its bounds (root mean square over cells and sides).

        `correlations` of the constants, and `singular_values` of the slopes (in spreads per width
        of the bounds), each with the standard_error of its combination of constants (in widths)
        and the weights in it: the cells do not determine a combination whose error is about 1.

        `trade_off`: errors by number of constants, cells (fitted, not fitted) and quantities
        (average pressure, all others), per cent, with and without rounding.
    """

    overrides: Mapping[str, float]
    tables: Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Fit:
    """Best point of a search, with the 25 published cells."""

    problem: Problem
    parts: Array
    sum_of_squares: float
    overrides: Mapping[str, float]
    comparison: pd.DataFrame
    points: pd.DataFrame


def calibrate(study: CalibrationStudy, processes: int = 1) -> Calibration:
    """Fit the constants a study names to the declared published cells.

    Parameters
    ----------
    study : CalibrationStudy
        Settings.
    processes : int
        Processes that share the search; the outcome does not depend on them.

    Returns
    -------
    Calibration

    Raises
    ------
    ConvergenceError
        If no point of the search for all constants has an equilibrium in every published cell.
        Fits of fewer constants without one are left out of the trade-off, with a warning.
    """
    fits: list[Fit] = []
    # Forked processes have the compiled kernels, and do not run the calling script again.
    with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
        for number in (
            len(study.calibration.constants),
            *sorted(study.calibration.trade_off)[::-1],
        ):
            try:
                fits.append(fit_constants(pose_problem(study, number), pool, fits))
            except ConvergenceError as error:
                if not fits:
                    raise
                logger.warning("%d constants are left out of the trade-off: %s", number, error)
    rows = []
    for number in sorted(fit.parts.size for fit in fits):
        # A fit of fewer constants is one of more, with the others plain.
        fewer = [fit for fit in fits if fit.parts.size <= number]
        best = min(fewer, key=lambda fit: fit.sum_of_squares)
        rows += [{"constants": number} | row for row in error_rows(best.comparison)]
    full = fits[0]
    tables = {"comparison": full.comparison, "points": full.points, "trade_off": pd.DataFrame(rows)}
    tables |= separate_constants(full.problem, full.parts, study.calibration.stages[-1])
    return Calibration(full.overrides, tables)


def pose_problem(study: CalibrationStudy, number: int | None = None) -> Problem:
    """Fit of the first constants of a study, all by default, to the cells declared for it."""
    keys = ["thickness_mm", "body_mass_kg", "side", "quantity"]
    wanted = pd.MultiIndex.from_tuples(
        [(*cell, *one) for cell, *one in itertools.product(CALIBRATION_CASES, SIDES, QUANTITIES)],
        names=keys,
    )
    published = published_values().set_index(keys)["published"].reindex(wanted)
    constants = dict(list(study.calibration.constants.items())[:number])
    return Problem(study, constants, published)


def fit_constants(problem: Problem, pool: Executor, more: Sequence[Fit] = ()) -> Fit:
    """Best point of a search with which every published cell has an equilibrium.

    The search begins from the last of the fits of more constants as well. Raises ConvergenceError
    if there is no such point.
    """
    names, stages = list(problem.constants), problem.study.calibration.stages
    points = search_constants(problem, pool, more[-1].parts[: len(names)] if more else None)
    last = points[points["stage"] == len(stages)]
    for total, parts in zip(last["sum_of_squares"], last[names].to_numpy(), strict=True):
        overrides = problem.overrides(parts, digits=4)
        try:
            cells = simulate_published(problem.study, overrides, problem.finest)
        except ConvergenceError as error:
            logger.warning("a point with sum of squares %.4g is left out: %s", total, error)
            continue
        return Fit(problem, parts, float(total), overrides, compare_published(cells), points)
    raise ConvergenceError(
        f"the search for {len(names)} constants", 0, np.inf, "of the load",
        "Begin from more points (calibration.stages[].starts), or narrow the bounds.",
    )  # fmt: skip


def simulate_published(
    study: CalibrationStudy, values: Mapping[str, float], resolution: ResolutionSettings
) -> pd.DataFrame:
    """The 25 published cells as a tidy case table; parameters as in `simulate_cells`."""
    keys = published_values()[["thickness_mm", "body_mass_kg"]].drop_duplicates()
    return simulate_cells(study, values, list(keys.itertuples(index=False, name=None)), resolution)


def error_rows(comparison: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Median and largest error, per cent, of fitted and other cells, average pressure apart."""
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
