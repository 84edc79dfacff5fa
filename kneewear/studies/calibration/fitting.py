"""Least-squares fit of a study's constants to published cells."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, least_squares

from kneewear.reference.published import HALF_UNITS, published_values
from kneewear.settings.base import LifeStudy
from kneewear.settings.calibration import CalibrationSettings, StageSettings
from kneewear.sides import SIDES
from kneewear.studies.calibration.closed_form import QUANTITIES, Resolution, simulate_cells
from kneewear.studies.calibration.constants import Constants, apply_overrides, plain_values

Array = NDArray[np.float64]
Cells = Sequence[tuple[float, float]]

logger = logging.getLogger(__name__)

# Step of the finite differences, of the width of the bounds: wide enough to pass over the jumps
# that single elements make.
DIFFERENCE = 3e-3
# Relative fall of the sum of squares at which a stage ends.
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
        What errors, in spreads, are raised to; 1 is plain least squares.
    """

    cells: Cells
    values: Array
    spread: Array
    exponent: float

    def residuals(self, computed: Array) -> Array:
        """Logarithm of computed over published values in spreads, to the exponent, in one row."""
        error = np.log(computed / self.values) / self.spread
        return (np.sign(error) * np.abs(error) ** self.exponent).ravel()


@dataclass(frozen=True)
class Fit:
    """Outcome of a fit.

    Parameters
    ----------
    constants : Constants
        What was fitted.
    places : array
        Where each constant was found, 0 to 1 between its bounds.
    study : LifeStudy
        The study with these constants.
    overrides : dict of key to value
        The constants, to four digits, and the plain values of those not fitted.
    target : Target
        What was to be met.
    errors : array, shape (cells, sides, quantities)
        Logarithm of computed over published values.
    slopes : array, shape (cells, sides, quantities, constants)
        Its derivative over the places.
    """

    constants: Constants
    places: Array
    study: LifeStudy
    overrides: Mapping[str, float]
    target: Target
    errors: Array
    slopes: Array

    @property
    def sum_of_squares(self) -> float:
        """What was made least: squares of the errors in spreads, to the exponent, added up."""
        return float(
            np.sum(np.abs(self.errors / self.target.spread) ** (2.0 * self.target.exponent))
        )


def published_target(cells: Cells, settings: CalibrationSettings) -> Target:
    """Published values of some cells.

    Parameters
    ----------
    cells : sequence of (thickness in mm, body mass in kg)
        Some of the 25 published cells.
    settings : CalibrationSettings
        Spread of each quantity, and exponent.

    Returns
    -------
    Target

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
    study: LifeStudy,
    settings: CalibrationSettings,
    target: Target,
    number: int | None = None,
    near: Fit | None = None,
) -> Fit:
    """Fit constants stage by stage.

    Parameters
    ----------
    study : LifeStudy
        Everything that is not fitted.
    settings : CalibrationSettings
        Constants, bounds, stages.
    target : Target
        What to meet.
    number : int, optional
        How many constants, from the top of the list, are fitted; the others take their plain
        value. All by default.
    near : Fit, optional
        Fit of more constants, from whose outcome the search starts instead of from the settings'.

    Returns
    -------
    Fit

    Notes
    -----
    Trust-region reflective least squares between bounds (Branch, Coleman and Li 1999, as in SciPy)
    on the logarithms of computed over published values; nothing is random. Constants that enter
    linearly, as the wear factor, are fitted with the others. The minimum found is a local one.
    """
    names = list(settings.constants)[:number]
    constants = Constants({name: settings.constants[name] for name in names})
    plain = plain_values(settings.constants)
    base = apply_overrides(study, plain)
    places = constants.start if near is None else near.places[: len(names)]
    places = np.clip(places, 0.01, 0.99)
    for stage in settings.stages:
        found = _run_stage(base, settings, target, constants, places, stage)
        places = found.x
        logger.info(
            "%d constants, %d x %d elements, %d frames: sum of squares %.4g after %d analyses",
            len(names), stage.rows, stage.columns, stage.frames, 2.0 * found.cost, found.nfev,
        )  # fmt: skip
    found_values = constants.overrides(places)
    overrides = plain | {key: float(f"{value:.4g}") for key, value in found_values.items()}
    resolution = _resolution(settings.stages[-1])
    errors, slopes = _linearize(base, settings, target, constants, places, resolution)
    fitted = apply_overrides(study, overrides)
    return Fit(constants, places, fitted, overrides, target, errors, slopes)


def _run_stage(
    base: LifeStudy,
    settings: CalibrationSettings,
    target: Target,
    constants: Constants,
    places: Array,
    stage: StageSettings,
) -> OptimizeResult:
    """One stage of the search."""
    resolution = _resolution(stage)

    def residuals(tried: Array) -> Array:
        study = apply_overrides(base, constants.overrides(tried))
        try:
            computed = simulate_cells(study, settings.activity, target.cells, resolution)
        except ValueError:
            return np.full(target.values.size, REFUSED)
        return target.residuals(computed)

    return least_squares(
        residuals,
        places,
        bounds=(0.0, 1.0),
        x_scale="jac",
        diff_step=DIFFERENCE,
        ftol=ENOUGH,
        max_nfev=stage.steps,
    )


def _resolution(stage: StageSettings) -> Resolution:
    return Resolution(stage.rows, stage.columns, stage.frames)


def _linearize(
    base: LifeStudy,
    settings: CalibrationSettings,
    target: Target,
    constants: Constants,
    places: Array,
    resolution: Resolution,
) -> tuple[Array, Array]:
    """Logarithmic errors and their one-sided derivatives, taken inwards of the bounds."""

    def errors(tried: Array) -> Array:
        study = apply_overrides(base, constants.overrides(tried))
        computed = simulate_cells(study, settings.activity, target.cells, resolution)
        return np.log(computed / target.values)

    here = errors(places)
    steps = np.where(places < 0.5, DIFFERENCE, -DIFFERENCE)
    moved = [
        errors(places + step * axis) for step, axis in zip(steps, np.eye(len(steps)), strict=True)
    ]
    return here, np.stack(
        [(one - here) / step for one, step in zip(moved, steps, strict=True)], axis=-1
    )


def tabulate_constants(fit: Fit) -> pd.DataFrame:
    """Every constant with its bounds, value and sensitivity.

    Parameters
    ----------
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
    Standard errors follow from the slopes, with the residuals' own scatter for the spread: they say
    how well the cells tell a constant, not how far it is from that of the source's implant.
    """
    degrees = max(fit.errors.size - fit.places.size, 1)
    slopes = (fit.slopes / fit.target.spread[..., None]).reshape(-1, fit.places.size)
    scatter = float(np.sum((fit.errors / fit.target.spread) ** 2)) / degrees
    places_error = np.sqrt(scatter * np.diag(np.linalg.pinv(slopes.T @ slopes)))
    value = fit.constants.values(fit.places)
    # A reciprocal scale is uneven: the error is that of the neighbourhood.
    inward = np.where(fit.places < 0.5, 1e-4, -1e-4)
    evenness = np.abs(fit.constants.values(fit.places + inward) - value) / 1e-4
    sizes = np.sqrt(np.mean(fit.slopes**2, axis=(0, 1)))
    rows = [
        {
            "constant": name,
            "key": constant.key,
            "low": constant.low,
            "high": constant.high,
            "value": value[number],
            "standard_error": places_error[number] * evenness[number],
            "at_bound": bool(min(fit.places[number], 1.0 - fit.places[number]) < 0.005),
        }
        for number, (name, constant) in enumerate(fit.constants.settings.items())
    ]
    columns = [f"{quantity}_percent" for quantity in QUANTITIES]
    return pd.concat([pd.DataFrame(rows), pd.DataFrame(sizes.T, columns=columns)], axis=1)
