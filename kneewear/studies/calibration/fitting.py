"""Global search for constants of a study that meet published cells, by least squares."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import approx_fprime, least_squares
from scipy.stats.qmc import LatinHypercube

from kneewear.errors import KneewearError
from kneewear.reference.published import HALF_UNITS
from kneewear.regression.groups import QUANTITIES
from kneewear.settings.calibration import (
    CalibrationStudy,
    ConstantSettings,
    ResolutionSettings,
    StageSettings,
)
from kneewear.settings.cases import location
from kneewear.settings.files import value_at
from kneewear.studies.calibration.cells import simulate_cells

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)

# Step of the finite differences, as part of the width of the bounds: wide enough to pass over the
# jumps that single elements make. With 0.003, searches end far from the minimum.
DIFFERENCE = 2e-2
# Relative decrease of the sum of squares at which a search ends.
ENOUGH = 1e-3
# Residual of constants with which no equilibrium is found: above any other.
REFUSED = 1e4


def part_of(constant: ConstantSettings, value: float) -> float:
    """Position of a value between the bounds of its constant, 0 to 1."""
    power = -1.0 if constant.scale == "reciprocal" else 1.0
    low, high = constant.low**power, constant.high**power
    return (value**power - low) / (high - low)


def value_of(constant: ConstantSettings, part: float) -> float:
    """Value of a constant at a position between its bounds; the inverse of `part_of`."""
    power = -1.0 if constant.scale == "reciprocal" else 1.0
    low, high = constant.low**power, constant.high**power
    return float((low + part * (high - low)) ** power)


@dataclass(frozen=True)
class Problem:
    """Constants to fit, and the published values to meet.

    Parameters
    ----------
    study : CalibrationStudy
        Settings, and everything that is not fitted.
    constants : mapping of name to ConstantSettings
        Constants that are fitted; the others of the study have their plain values.
    published : Series
        Published values by thickness (mm), body mass (kg), side and quantity.
    """

    study: CalibrationStudy
    constants: Mapping[str, ConstantSettings]
    published: pd.Series

    @property
    def own(self) -> Array:
        """Positions of the study's own values."""
        content = self.study.model_dump(mode="json")
        return np.array(
            [part_of(one, value_at(content, location(one.key))) for one in self.constants.values()]
        )

    @property
    def finest(self) -> ResolutionSettings:
        """Grid and frames of the study, which the search compares its coarser ones with."""
        grid = self.study.grid
        frames = self.study.simulation.frames
        return ResolutionSettings(rows=grid.rows, columns=grid.columns, frames=frames)

    def at(self, parts: Array, resolution: ResolutionSettings) -> Problem:
        """The problem on a coarser resolution: values to meet as they would be computed on it.

        The difference between the logarithms computed on both at `parts` is added to the
        published values; none where a constant of `parts` allows no equilibrium.
        """
        coarse, fine = (self.errors(parts, one) for one in (resolution, self.finest))
        if not np.isfinite([coarse, fine]).all():
            return self
        return replace(self, published=self.published * np.exp(coarse - fine))

    @property
    def spread(self) -> Array:
        """Relative spread of each value: root sum of squares of the settings' and of rounding.

        A value rounded to a unit u is uniform over u: its standard deviation is u / sqrt(12).
        """
        chosen = self.study.calibration.spread_percent
        names = self.published.index.get_level_values("quantity")
        wanted = np.array([0.01 * getattr(chosen, str(name)) for name in names])
        half = np.array([HALF_UNITS[str(name)] for name in names])
        spread: Array = np.hypot(wanted, half / np.sqrt(3.0) / self.published.to_numpy())
        return spread

    def overrides(self, parts: Array, digits: int = 17) -> dict[str, float]:
        """Value of every setting the study's constants change, by path."""
        given = self.study.calibration.constants
        values = {name: one.plain for name, one in given.items()}
        for part, (name, one) in zip(parts, self.constants.items(), strict=True):
            values[name] = float(f"{value_of(one, part):.{digits}g}")
        return {path: values[name] for name, one in given.items() for path in (one.key, *one.also)}

    def errors(self, parts: Array, resolution: ResolutionSettings) -> Array:
        """Logarithm of computed over published values; infinite without an equilibrium."""
        cells = list(
            dict.fromkeys((thickness, mass) for thickness, mass, *_ in self.published.index)
        )
        try:
            table = simulate_cells(self.study, self.overrides(parts), cells, resolution)
        except (KneewearError, ValueError):
            return np.full(len(self.published), np.inf)
        computed = table.set_index(self.published.index.names)["value"][self.published.index]
        errors: Array = np.log(computed.to_numpy() / self.published.to_numpy())
        return errors

    def residuals(self, parts: Array, resolution: ResolutionSettings) -> Array:
        """Errors in spreads, to the exponent."""
        error = self.errors(parts, resolution) / self.spread
        powered: Array = np.sign(error) * np.abs(error) ** self.study.calibration.exponent
        return powered

    def refine(self, stage: StageSettings, parts: Array) -> tuple[float, Array]:
        """Sum of squares and positions after a stage's steps; infinite without an equilibrium."""
        if stage.steps:
            parts = least_squares(
                lambda parts: np.nan_to_num(self.residuals(parts, stage), posinf=REFUSED),
                parts,
                bounds=(0.0, 1.0),
                x_scale="jac",
                diff_step=DIFFERENCE,
                ftol=ENOUGH,
                max_nfev=stage.steps,
            ).x
        return float(np.sum(self.residuals(parts, stage) ** 2)), parts


def search_constants(problem: Problem, pool: Executor, near: Array | None = None) -> pd.DataFrame:
    """Search between the bounds of all constants, stage by stage.

    Returns every point of every stage that has an equilibrium, those of the last stage first and
    the best of each stage before the others: columns stage, sum_of_squares (of errors in spreads,
    to the exponent) and for each constant its position between the bounds, 0 to 1. `near` is a
    further point to begin from.

    Notes
    -----
    A Latin hypercube, the plain values, the study's own and `near` are the points of the first
    stage: a repeated calibration begins from the outcome of the last one as well. Each stage
    takes the best of the one before and improves each by trust-region reflective least squares
    between bounds (Branch, Coleman and Li 1999, as in SciPy) on the logarithms of computed over
    published values. The error of a stage's discretisation, at the best point so far, is subtracted
    (`Problem.at`): a fit on the coarse grid itself would compensate it by other constants.
    Constants that enter linearly, as the wear factor, are fitted with the others.
    The outcome depends on the study's seed, not on the number of processes.
    """
    constants, stages = problem.constants, problem.study.calibration.stages
    sampler = LatinHypercube(len(constants), rng=problem.study.seed)
    points = [np.array([part_of(one, one.plain) for one in constants.values()]), problem.own]
    points += [] if near is None else [near]
    points += [*sampler.random(stages[0].starts)]
    tables: list[pd.DataFrame] = []
    for number, stage in enumerate(stages, start=1):
        begin = np.clip(points[: stage.starts], 0.01, 0.99)
        coarse = problem.at(begin[0], stage)
        sums, ends = zip(*pool.map(partial(coarse.refine, stage), begin), strict=True)
        table = pd.DataFrame(ends, columns=list(constants))
        table.insert(0, "sum_of_squares", sums)
        table.insert(0, "stage", number)
        found = table[np.isfinite(sums)].sort_values("sum_of_squares", kind="stable")
        logger.info(
            "%d constants, stage %d: %d of %d points have an equilibrium, least sum of squares "
            "%.4g", len(constants), number, len(found), len(sums), found["sum_of_squares"].min(),
        )  # fmt: skip
        tables.insert(0, found)
        if found.empty:
            break
        points = list(found[list(constants)].to_numpy())
    return pd.concat(tables, ignore_index=True)


def separate_constants(
    problem: Problem, parts: Array, resolution: ResolutionSettings
) -> dict[str, pd.DataFrame]:
    """Tables of how well the cells separate the constants of a fit, from the slopes at its end.

    Notes
    -----
    With the singular value decomposition U S V' of the slopes, the covariance is s^2 V S^-2 V';
    s is the residuals' own scatter. Standard errors are how well the cells determine a constant,
    not how far it is from that of the source's implant.
    """
    names, size = list(problem.constants), len(problem.published)
    inwards = np.where(parts < 0.5, DIFFERENCE, -DIFFERENCE)
    slopes = approx_fprime(parts, problem.errors, inwards, resolution).reshape(size, len(names))
    spread = problem.spread
    sum_of_squares = np.sum((problem.errors(parts, resolution) / spread) ** 2)
    scatter = np.sqrt(sum_of_squares / max(size - len(names), 1))
    _, singular, weights = np.linalg.svd(slopes / spread[:, None], full_matrices=False)
    combined = scatter / np.maximum(singular, 1e-12)
    covariance = (weights.T * combined**2) @ weights
    deviation = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(deviation, deviation)
    others = correlation - np.eye(len(names))
    partner = np.abs(others).argmax(axis=0)
    rows = []
    for index, (name, one) in enumerate(problem.constants.items()):
        value, nearby = (value_of(one, parts[index] + step) for step in (0.0, inwards[index]))
        rows.append(
            {
                "constant": name,
                **one.model_dump(include={"key", "low", "high", "source"}),
                "value": value,
                # A reciprocal scale is uneven: the error is that of the neighbourhood.
                "standard_error": deviation[index] * abs(nearby - value) / DIFFERENCE,
                "at_bound": bool(min(parts[index], 1.0 - parts[index]) < 0.005),
                "largest_correlation": others[partner[index], index],
                "correlated_with": names[partner[index]],
            }
        )
    sizes = np.sqrt(np.mean(slopes.reshape(-1, len(QUANTITIES), len(names)) ** 2, axis=0))
    by_quantity = pd.DataFrame(sizes.T, columns=[f"{name}_percent" for name in QUANTITIES])
    combinations = {"singular_value": singular, "standard_error": combined}
    return {
        "constants": pd.concat([pd.DataFrame(rows), by_quantity], axis=1),
        "correlations": pd.DataFrame(
            {"constant": names} | dict(zip(names, correlation, strict=True))
        ),
        "singular_values": pd.DataFrame(combinations | dict(zip(names, weights.T, strict=True))),
    }
