"""Fits: plans that search for the constants with which cells are as published, by least squares."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from kneewear.base.cases import BODY_MASS, THICKNESS
from kneewear.base.files import Location, value_at
from kneewear.base.sides import SIDES
from kneewear.base.variables import Variable, locations_of
from kneewear.errors import ConvergenceError, KneewearError
from kneewear.evidence.published.values import CALIBRATION_CASES, HALF_UNITS, published_values
from kneewear.study.inputs import CaseInputs, built_in_activities, exact_knee
from kneewear.study.plan_settings import Fit, ResolutionSettings, SpreadSettings, StageSettings
from kneewear.study.plans import CASE
from kneewear.study.run import FAILURE, run_cases
from kneewear.study.study import Study, WearStudy
from kneewear.study.wear import column_name

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)

# Step of the finite differences, as part of the width of the bounds: wide enough to pass over the
# jumps that single elements make. With 0.003, searches end far from the minimum.
DIFFERENCE = 2e-2
# Relative decrease of the sum of squares at which a search ends.
ENOUGH = 1e-3
# Residual of constants with which a cell cannot be computed: above any other.
REFUSED = 1e4
# Columns of the results of fits: number of fitted constants; sum of squares; whether rows are of
# the fit on all cells or of slopes at its end; and the constant that is stepped.
CONSTANTS = "constants"
SUM = "sum_of_squares"
ROLE = "role"
STEPPED = "stepped"
ON_CELLS = "cells"
SLOPE = "slope"
QUANTITIES = tuple(SpreadSettings.model_fields)

# Insert thickness, mm, and body mass, kg.
Cell = tuple[float, float]
_CELL_VARIABLES = {
    THICKNESS: Variable(settings=("insert.thickness_mm",)),
    BODY_MASS: Variable(settings=("patient.body_mass_kg",)),
}


def fit_plan(study: Study) -> Fit:
    """Plan of a fit; ValueError for other plans."""
    if not isinstance(study.cases, Fit):
        raise ValueError(f"a study of plan {study.cases.plan}")
    return study.cases


def compute_cells(
    study: WearStudy,
    values: Mapping[str, float],
    cells: Sequence[Cell],
    resolution: ResolutionSettings,
    contact: dict[str, CaseInputs] | None = None,
) -> pd.DataFrame:
    """Results of some cells for values of the variables, by equilibria at exact distances.

    As of :func:`kneewear.study.run.run_cases`. ValidationError for impossible values, ValueError
    or InputDataError for a geometry that cannot be built. `contact` keeps the knee and the cycles
    of the last values: values that differ in wear and creep alone have the same ones.
    """
    grid = {"rows": resolution.rows, "columns": resolution.columns}
    simulation = {"analysis": "quasi_static", "frames": resolution.frames}
    changed = study.at(values)
    cycle = changed.model_copy(
        update={
            "variables": _CELL_VARIABLES,
            "grid": changed.grid.model_copy(update=grid),
            "simulation": changed.simulation.model_copy(update=simulation),
        }
    )
    table = pd.DataFrame(cells, columns=list(_CELL_VARIABLES))
    table.insert(0, CASE, [f"{thickness:g}mm_{mass:g}kg" for thickness, mass in cells])
    contact = {} if contact is None else contact
    key = cycle.model_dump_json(exclude={"wear"})
    if key not in contact:
        contact.clear()
        contact[key] = CaseInputs(
            cycle,
            exact_knee(cycle),
            built_in_activities(cycle),
            exact=True,
            kept_cycles=len(CALIBRATION_CASES),
        )
    return run_cases(cycle, table, contact[key])


def fitted_cells(cells: Sequence[Cell] = CALIBRATION_CASES) -> pd.Series:
    """Published values by thickness (mm), body mass (kg), side and quantity; the fitted ones."""
    keys = [THICKNESS, BODY_MASS, "side", "quantity"]
    index = pd.MultiIndex.from_tuples(
        [(*cell, *rest) for cell, *rest in itertools.product(cells, SIDES, QUANTITIES)],
        names=keys,
    )
    return published_values().set_index(keys)["published"].reindex(index)


def computed_values(results: pd.DataFrame, index: pd.Index[Any]) -> Array:
    """Results of `compute_cells` in the order of published values."""
    cells = results.set_index([THICKNESS, BODY_MASS])
    return np.array(
        [
            cells.loc[(thickness, mass), column_name(side, quantity)]
            for thickness, mass, side, quantity in index
        ],
        dtype=float,
    )


def relative_spread(plan: Fit, published: pd.Series) -> Array:
    """Relative spread of each value: root sum of squares of the plan's and of rounding.

    A value rounded to a unit u is uniform over u: its standard deviation is u / sqrt(12).
    """
    names = published.index.get_level_values("quantity")
    wanted = np.array([0.01 * getattr(plan.spread_percent, str(name)) for name in names])
    half = np.array([HALF_UNITS[str(name)] for name in names])
    spread: Array = np.hypot(wanted, half / np.sqrt(3.0) / published.to_numpy())
    return spread


@dataclass(frozen=True)
class FitProblem:
    """Variables to fit, and the published values to meet.

    Parameters
    ----------
    study : WearStudy
        Settings of plan `fit`.
    variables : mapping of str to Variable
        Variables that are fitted; the others of the study keep their start.
    published : Series
        As of `fitted_cells`.
    contact : dict
        Knee and cycles of the last point; see `compute_cells`.
    """

    study: WearStudy
    variables: Mapping[str, Variable]
    published: pd.Series
    contact: dict[str, CaseInputs] = field(default_factory=dict, repr=False, compare=False)

    @property
    def plan(self) -> Fit:
        """Plan of the study."""
        return fit_plan(self.study)

    @property
    def starts(self) -> list[Array]:
        """Positions of the starting values, and of those of the study's settings."""
        settings = self.study.model_dump(mode="json")
        variables = self.variables.values()
        start = np.array([variable.position(variable.start or 0.0) for variable in variables])
        baseline = np.array(
            [variable.position(variable.current(settings)) for variable in variables]
        )
        return [start, np.where(np.isfinite(baseline), baseline, start)]

    @property
    def finest(self) -> ResolutionSettings:
        """Elements and frames of the study, which the search compares its coarser ones with."""
        grid, frames = self.study.grid, self.study.simulation.frames
        return ResolutionSettings(rows=grid.rows, columns=grid.columns, frames=frames)

    def at(self, parts: Array, resolution: ResolutionSettings) -> FitProblem:
        """The problem on a coarser resolution: values to meet as they would be computed on it.

        The difference between the logarithms computed on both at `parts` is added to the
        published values; none where a cell at `parts` cannot be computed.
        """
        coarse, fine = (self.errors(parts, one) for one in (resolution, self.finest))
        if not np.isfinite([coarse, fine]).all():
            return replace(self, contact={})
        return replace(self, published=self.published * np.exp(coarse - fine), contact={})

    def values(self, parts: Array, digits: int = 17) -> dict[str, float]:
        """Value of every variable of the study at positions between the bounds, 0 to 1."""
        values = {name: float(one.start or 0.0) for name, one in self.study.variables.items()}
        for part, (name, variable) in zip(parts, self.variables.items(), strict=True):
            values[name] = float(f"{variable.quantiles(part).item():.{digits}g}")
        return values

    def errors(self, parts: Array, resolution: ResolutionSettings) -> Array:
        """Logarithm of computed over published values; infinite where a cell has no results."""
        index = self.published.index
        cells = list(dict.fromkeys((thickness, mass) for thickness, mass, *_ in index))
        try:
            results = compute_cells(self.study, self.values(parts), cells, resolution, self.contact)
        except (KneewearError, ValueError):
            return np.full(len(index), np.inf)
        if (results[FAILURE] != "").any():
            return np.full(len(index), np.inf)
        errors: Array = np.log(computed_values(results, index) / self.published.to_numpy())
        return errors

    def residuals(self, parts: Array, resolution: ResolutionSettings) -> Array:
        """Errors in spreads, to the exponent."""
        spread = relative_spread(self.plan, self.published)
        error = self.errors(parts, resolution) / spread
        powered: Array = np.sign(error) * np.abs(error) ** self.plan.exponent
        return powered

    def refine(self, stage: StageSettings, parts: Array) -> tuple[float, Array]:
        """Sum of squares and positions after the steps of a stage; infinite without results."""
        # Points are refined in processes, or threads, of their own.
        own = replace(self, contact={})
        if stage.steps:
            parts = scipy.optimize.least_squares(
                lambda parts: np.nan_to_num(own.residuals(parts, stage), posinf=REFUSED),
                parts,
                bounds=(0.0, 1.0),
                x_scale="jac",
                diff_step=DIFFERENCE,
                ftol=ENOUGH,
                max_nfev=stage.steps,
            ).x
        return float(np.sum(own.residuals(parts, stage) ** 2)), parts


def pose_problem(study: WearStudy, number: int | None = None) -> FitProblem:
    """Fit of the first variables of a study, all by default, to the cells that are fitted."""
    return FitProblem(study, dict(list(study.variables.items())[:number]), fitted_cells())


def search_constants(
    problem: FitProblem, pool: Executor, near: Array | None = None
) -> pd.DataFrame:
    """Search between the bounds of all variables, stage by stage.

    Returns every point of every stage that has results, those of the last stage first and the best
    of each stage before the others: columns stage, sum_of_squares (of errors in spreads, to the
    exponent) and for each variable its position between the bounds, 0 to 1. `near` is a further
    point to begin from.

    Notes
    -----
    A Latin hypercube, the starting values, those of the settings and `near` are the points of the
    first stage: a repeated fit begins from the outcome of the last one as well. Each stage takes
    the best of the one before and improves each by trust-region reflective least squares between
    bounds (Branch, Coleman and Li 1999, as in SciPy) on the logarithms of computed over published
    values. The error of a stage's discretisation, at the best point so far, is subtracted
    (`Problem.at`): a fit on the coarse elements themselves would compensate it by other constants.
    Constants that enter linearly, as the wear factor, are fitted with the others.
    The outcome depends on the study's seed, not on the number of processes.
    """
    names, stages = list(problem.variables), problem.plan.stages
    sampler = scipy.stats.qmc.LatinHypercube(len(names), rng=problem.study.seed)
    points = problem.starts + ([] if near is None else [near])
    points += [*sampler.random(stages[0].starts)]
    tables: list[pd.DataFrame] = []
    for number, stage in enumerate(stages, start=1):
        begin = np.clip(points[: stage.starts], 0.01, 0.99)
        coarse = problem.at(begin[0], stage)
        sums, ends = zip(*pool.map(partial(coarse.refine, stage), begin), strict=True)
        table = pd.DataFrame(ends, columns=names)
        table.insert(0, SUM, sums)
        table.insert(0, "stage", number)
        known = table[np.isfinite(sums)].sort_values(SUM, kind="stable")
        logger.info(
            "%d constants, stage %d: %d of %d points have results, least sum of squares %.4g",
            len(names),
            number,
            len(known),
            len(sums),
            known[SUM].min(),
        )
        tables.insert(0, known)
        if known.empty:
            break
        points = list(known[names].to_numpy())
    return pd.concat(tables, ignore_index=True)


@dataclass(frozen=True)
class FittedPoint:
    """Best point of a search with the results of all published cells, and all its points."""

    problem: FitProblem
    parts: Array
    sum_of_squares: float
    values: Mapping[str, float]
    results: pd.DataFrame
    points: pd.DataFrame


def fit_constants(
    problem: FitProblem, pool: Executor, more: Sequence[FittedPoint] = ()
) -> FittedPoint:
    """Best point of a search with which every published cell has results.

    The search begins from the last of the fits of more variables as well. Raises ConvergenceError
    if there is no such point.
    """
    names, stages = list(problem.variables), problem.plan.stages
    points = search_constants(problem, pool, more[-1].parts[: len(names)] if more else None)
    last = points[points["stage"] == len(stages)]
    every = published_values()[[THICKNESS, BODY_MASS]].drop_duplicates()
    for total, parts in zip(last[SUM], last[names].to_numpy(), strict=True):
        values = problem.values(parts, digits=4)
        cells = list(every.itertuples(index=False, name=None))
        results = compute_cells(problem.study, values, cells, problem.finest, problem.contact)
        reasons = results[FAILURE][results[FAILURE] != ""]
        if reasons.empty:
            return FittedPoint(problem, parts, float(total), values, results, points)
        logger.warning("a point with sum of squares %.4g is left out: %s", total, reasons.iloc[0])
    raise ConvergenceError(
        f"the search for {len(names)} constants",
        0,
        np.inf,
        "of the load",
        "Begin from more points (cases.stages[].starts), or narrow the bounds.",
    )


@dataclass(frozen=True)
class FittedStudy:
    """Outcome of the fits of a study.

    Parameters
    ----------
    values : mapping of str to float
        Value of each variable, to four digits, of the fit of all of them.
    results : DataFrame
        Results of cells, as of :func:`kneewear.study.run.run_cases`, after columns constants
        (number of fitted ones), sum_of_squares, role, stepped and those of the variables. Of each
        fit all published cells (role `cells`); of the fit of all variables the fitted cells on the
        elements of the last stage too, and the same with each variable `stepped` inwards by
        `DIFFERENCE` of its bounds (role `slope`).
    points : DataFrame
        As of `search_constants` for all variables.
    """

    values: Mapping[str, float]
    results: pd.DataFrame
    points: pd.DataFrame

    def settings(self, study: WearStudy) -> dict[Location, float]:
        """Fitted settings by their locations."""
        before, after = (one.model_dump(mode="json") for one in (study, study.at(self.values)))
        return {
            at: float(value_at(after, at))
            for variable in study.variables.values()
            for path in variable.settings
            for at in locations_of(before, path)
        }


def fit_study(study: WearStudy, processes: int = 1) -> FittedStudy:
    """Fit the variables of a study to the published cells.

    Parameters
    ----------
    study : WearStudy
        Settings of plan `fit`.
    processes : int
        Processes that share the search; the outcome does not depend on them.

    Returns
    -------
    FittedStudy

    Raises
    ------
    ConvergenceError
        If no point of the search for all variables has results in every published cell. Fits of
        fewer variables without one are left out, with a warning.
    """
    fits: list[FittedPoint] = []
    numbers = len(study.variables), *sorted(fit_plan(study).trade_off)[::-1]
    # Forked processes have the compiled kernels, and do not run the calling script again.
    with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
        for number in numbers:
            try:
                fits.append(fit_constants(pose_problem(study, number), pool, fits))
            except ConvergenceError as error:
                if not fits:
                    raise
                logger.warning("%d constants are left out of the trade-off: %s", number, error)
    tables = [_labelled(fit.results, fit, fit.values, role=ON_CELLS, stepped="") for fit in fits]
    tables += _slope_tables(fits[0])
    results = pd.concat(tables, ignore_index=True)
    return FittedStudy(fits[0].values, results, fits[0].points)


def inward_steps(parts: Array) -> Array:
    """Step of each position between bounds for finite differences, shape (variable,)."""
    return np.where(parts < 0.5, DIFFERENCE, -DIFFERENCE)


def _slope_tables(fit: FittedPoint) -> Iterator[pd.DataFrame]:
    """Fitted cells at the end of a fit and with each variable stepped."""
    problem, names = fit.problem, list(fit.problem.variables)
    compute: Callable[..., pd.DataFrame] = partial(
        compute_cells,
        problem.study,
        cells=CALIBRATION_CASES,
        resolution=problem.plan.stages[-1],
        contact={},
    )
    for stepped in ("", *names):
        parts = fit.parts.copy()
        if stepped:
            at = names.index(stepped)
            parts[at] += inward_steps(parts)[at]
        values = problem.values(parts)
        yield _labelled(compute(values=values), fit, values, role=SLOPE, stepped=stepped)


def _labelled(
    results: pd.DataFrame, fit: FittedPoint, values: Mapping[str, float], **labels: str
) -> pd.DataFrame:
    """Results of cells after what they are of."""
    columns: dict[str, Any] = {
        CONSTANTS: len(fit.problem.variables),
        SUM: fit.sum_of_squares,
        **labels,
        **values,
    }
    return results.assign(**columns)[[*columns, *results]]
