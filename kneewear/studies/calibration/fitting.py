"""Least-squares fit of a study's constants to published cells."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, least_squares

from kneewear.errors import KneewearError
from kneewear.reference.published import HALF_UNITS, published_values
from kneewear.regression.groups import QUANTITIES
from kneewear.settings.calibration import (
    CalibrationSettings,
    CalibrationStudy,
    ConstantSettings,
    StageSettings,
)
from kneewear.sides import SIDES
from kneewear.studies.calibration.cells import Cell, simulate_cells

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)

# Step of the finite differences, as part of the width of the bounds: wide enough to pass over the
# jumps that single elements make.
DIFFERENCE = 3e-3
# Relative decrease of the sum of squares at which a stage ends.
ENOUGH = 1e-3
# Residual, in spreads, of constants with which no equilibrium is found.
REFUSED = 50.0


@dataclass(frozen=True)
class Target:
    """Published values of some cells and how closely they can be met.

    Parameters
    ----------
    cells : sequence of (thickness in mm, body mass in kg)
        Cells.
    values : array, shape (cells, sides, quantities)
        Published values, in the order of `QUANTITIES`.
    spread : array, same shape
        Relative spread: that of the settings and the rounding of the value, as root of the sum of
        squares.
    exponent : float
        Power to which errors, in spreads, are raised; 1 is plain least squares.
    """

    cells: Sequence[Cell]
    values: Array
    spread: Array
    exponent: float


@dataclass(frozen=True)
class Fit:
    """Outcome of a fit.

    Parameters
    ----------
    constants : mapping of name to ConstantSettings
        Constants that were fitted.
    parts : array
        Position of each constant between its bounds, 0 to 1.
    overrides : dict of path to value
        The constants, to four digits, and the plain values of those not fitted.
    target : Target
        Published values.
    errors : array, shape (cells, sides, quantities)
        Logarithm of computed over published values; infinite without an equilibrium.
    """

    constants: Mapping[str, ConstantSettings]
    parts: Array
    overrides: Mapping[str, float]
    target: Target
    errors: Array

    @property
    def sum_of_squares(self) -> float:
        """Minimized sum: squares of the errors in spreads, to the exponent."""
        return float(
            np.sum(np.abs(self.errors / self.target.spread) ** (2.0 * self.target.exponent))
        )


def on_scale(constant: ConstantSettings, value: float) -> float:
    """Value of a constant on its scale; its own inverse."""
    return 1.0 / value if constant.scale == "reciprocal" else value


def part_of(constant: ConstantSettings, value: float) -> float:
    """Position of a value between the bounds of its constant, 0 to 1."""
    low, high = sorted((on_scale(constant, constant.low), on_scale(constant, constant.high)))
    return (on_scale(constant, value) - low) / (high - low)


def value_of(constant: ConstantSettings, part: float) -> float:
    """Value of a constant at a position between its bounds; the inverse of `part_of`."""
    low, high = sorted((on_scale(constant, constant.low), on_scale(constant, constant.high)))
    return float(on_scale(constant, low + part * (high - low)))


def overrides_at(constants: Mapping[str, ConstantSettings], parts: Array) -> dict[str, float]:
    """Value of every setting the constants change, by path."""
    return {
        path: value_of(constant, part)
        for constant, part in zip(constants.values(), parts, strict=True)
        for path in (constant.key, *constant.also)
    }


def plain_values(constants: Mapping[str, ConstantSettings]) -> dict[str, float]:
    """Value of every setting the constants change where they are not fitted, by path."""
    return {key: one.plain for one in constants.values() for key in (one.key, *one.also)}


def published_target(cells: Sequence[Cell], settings: CalibrationSettings) -> Target:
    """Published values of some cells, with the spread the settings allow.

    Notes
    -----
    A value rounded to a unit u is uniform over u: its standard deviation is u / sqrt(12).
    """
    table = published_values().set_index(["thickness_mm", "body_mass_kg", "side", "quantity"])
    values = np.array(
        [
            [[table["published"][(*cell, side, name)] for name in QUANTITIES] for side in SIDES]
            for cell in cells
        ]
    )
    half = np.array([HALF_UNITS[name] for name in QUANTITIES])
    wanted = 0.01 * np.array([getattr(settings.spread_percent, name) for name in QUANTITIES])
    spread = np.hypot(wanted, half / np.sqrt(3.0) / values)
    return Target(cells, values, spread, settings.exponent)


def fit_constants(
    study: CalibrationStudy,
    target: Target,
    number: int | None = None,
    near: Fit | None = None,
) -> Fit:
    """Fit constants stage by stage.

    Parameters
    ----------
    study : CalibrationStudy
        Constants, bounds and stages, and everything that is not fitted.
    target : Target
        Published values.
    number : int, optional
        How many constants, from the top of the list, are fitted; the others take their plain
        value. All by default.
    near : Fit, optional
        Fit of more constants; the search starts from its outcome if that is closer to the target
        than the settings' start.

    Returns
    -------
    Fit

    Notes
    -----
    Trust-region reflective least squares between bounds (Branch, Coleman and Li 1999, as in SciPy)
    on the logarithms of computed over published values; nothing is random. Constants that enter
    linearly, as the wear factor, are fitted with the others. The minimum found is a local one.
    """
    settings = study.calibration
    constants = dict(list(settings.constants.items())[:number])
    trial = _Trial(study, target, constants)
    starts = [np.array([part_of(one, one.start) for one in constants.values()])]
    if near is not None:
        starts.append(near.parts[: len(constants)])
    starts = [np.clip(start, 0.01, 0.99) for start in starts]
    first = settings.stages[0]
    parts = min(starts, key=lambda start: float(np.sum(trial.residuals(start, first) ** 2)))
    for stage in settings.stages:
        found = trial.search(parts, stage)
        parts = found.x
        logger.info(
            "%d constants, %d x %d elements, %d frames: sum of squares %.4g after %d analyses",
            len(constants), stage.rows, stage.columns, stage.frames, 2.0 * found.cost, found.nfev,
        )  # fmt: skip
    fitted = overrides_at(constants, parts)
    overrides = plain_values(settings.constants) | {
        key: float(f"{value:.4g}") for key, value in fitted.items()
    }
    return Fit(constants, parts, overrides, target, trial.errors(parts, settings.stages[-1]))


@dataclass(frozen=True)
class _Trial:
    """Analyses of some of the constants of a study; the others have their plain values."""

    study: CalibrationStudy
    target: Target
    constants: Mapping[str, ConstantSettings]

    def errors(self, parts: Array, stage: StageSettings) -> Array:
        """Logarithm of computed over published values; infinite without an equilibrium."""
        plain = plain_values(self.study.calibration.constants)
        values = plain | overrides_at(self.constants, parts)
        try:
            computed = simulate_cells(self.study, values, self.target.cells, stage)
        except (KneewearError, ValueError):
            return np.full(self.target.values.shape, np.inf)
        return np.log(computed / self.target.values)

    def residuals(self, parts: Array, stage: StageSettings) -> Array:
        """Errors in spreads, to the exponent, in one row; bounded without an equilibrium."""
        error = self.errors(parts, stage) / self.target.spread
        powered = np.sign(error) * np.abs(error) ** self.target.exponent
        return np.where(np.isfinite(powered), powered, REFUSED).ravel()

    def search(self, parts: Array, stage: StageSettings) -> OptimizeResult:
        """One stage of the search."""
        return least_squares(
            self.residuals,
            parts,
            args=(stage,),
            bounds=(0.0, 1.0),
            x_scale="jac",
            diff_step=DIFFERENCE,
            ftol=ENOUGH,
            max_nfev=stage.steps,
        )


def _slopes(study: CalibrationStudy, fit: Fit) -> Array:
    """One-sided derivatives of the errors with respect to the positions, inwards of the bounds."""
    trial, stage = _Trial(study, fit.target, fit.constants), study.calibration.stages[-1]
    steps = np.where(fit.parts < 0.5, DIFFERENCE, -DIFFERENCE)
    slopes = [
        (trial.errors(fit.parts + step * axis, stage) - fit.errors) / step
        for step, axis in zip(steps, np.eye(len(steps)), strict=True)
    ]
    return np.stack(slopes, axis=-1)


def tabulate_constants(study: CalibrationStudy, fit: Fit) -> pd.DataFrame:
    """Every constant with its bounds, value and sensitivity.

    Parameters
    ----------
    study : CalibrationStudy
        Settings.
    fit : Fit
        The fit.

    Returns
    -------
    DataFrame
        Columns constant, key, low, high, value, standard_error, at_bound, and for each quantity
        how much it changes, per cent, when the constant moves by a hundredth of the way between
        its bounds (root mean square over cells and sides).

    Notes
    -----
    Standard errors follow from the slopes, with the residuals' own scatter as the spread: they are
    how well the cells determine a constant, not how far it is from that of the source's implant.
    """
    degrees = max(fit.errors.size - fit.parts.size, 1)
    by_part = _slopes(study, fit)
    slopes = (by_part / fit.target.spread[..., None]).reshape(-1, fit.parts.size)
    scatter = float(np.sum((fit.errors / fit.target.spread) ** 2)) / degrees
    errors = np.sqrt(scatter * np.diag(np.linalg.pinv(slopes.T @ slopes)))
    rows = []
    for part, error, (name, constant) in zip(fit.parts, errors, fit.constants.items(), strict=True):
        value = value_of(constant, part)
        # A reciprocal scale is uneven: the error is that of the neighbourhood.
        inward = 1e-4 if part < 0.5 else -1e-4
        evenness = abs(value_of(constant, part + inward) - value) / 1e-4
        rows.append(
            {
                "constant": name,
                "key": constant.key,
                "low": constant.low,
                "high": constant.high,
                "value": value,
                "standard_error": error * evenness,
                "at_bound": bool(min(part, 1.0 - part) < 0.005),
            }
        )
    columns = [f"{quantity}_percent" for quantity in QUANTITIES]
    sizes = np.sqrt(np.mean(by_part**2, axis=(0, 1)))
    return pd.concat([pd.DataFrame(rows), pd.DataFrame(sizes.T, columns=columns)], axis=1)
