"""Separation of wear and creep, as far as measured surfaces allow.

Lives of a study are fitted to the measured depths: wear factor, creep constant, and offsets of
position, rotation and load share, each repeated over wear laws and amplitudes of the motion. Forms
of wear and creep are alike, and another law or amplitude fits as well with another wear volume:
what is stated is the union of all fits whose residual is small, and a single value only where mass
loss or a prior of the creep constant is stated that determines wear within a quarter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from kneewear.errors import Finding
from kneewear.models.retrieval.lives import LifeTrial, fitted_laws
from kneewear.models.retrieval.settings import SplitSettings

Array = NDArray[np.float64]
# Depths of wear and creep at the blocks of a measurement, mm, of a trial.
Depths = Callable[[LifeTrial], tuple[Array, Array]]

AMPLITUDES = (0.8, 1.0, 1.2)
# Standard deviation of depths of a model that is not the right one, mm: residuals of other laws and
# amplitudes were 15 to 21 um in a trial of this package.
_MODEL = 0.025
# Residual of fits that are kept, over the smallest one.
_KEPT = 1.5
# Independent values of a map; its blocks are many, and their deviations are of one piece.
_INDEPENDENT = 16
# Standard deviation of volumes by the model, and of the logarithm of a creep constant that is not
# stated.
_VOLUME = 0.02
_UNKNOWN_CREEP = 0.7
# Unknowns of a fit, standard deviations of their prior distributions, steps of derivatives, and
# largest changes at once. The wear factor is free.
_UNKNOWNS = ("log_wear", "log_creep", "posterior", "rotation", "share", "medial")
_PRIOR = np.array([np.inf, np.nan, 2.0, 3.0, 0.08, 1.0])
_STEPS = np.array([0.1, 0.1, 0.3, 0.5, 0.02, 0.2])
_MAX_CHANGES = np.array([0.7, 0.7, 1.0, 2.0, 0.06, 0.5])
_ITERATIONS = 2
# Factors of the creep volume that are tried where nothing is stated.
_TRIED = np.geomspace(0.05, 20.0, 41)
_NINETY = 1.645
# Relative standard deviation of wear above which a range is stated and no value, and above which
# more knowledge is asked for.
_STATED = 0.25
_USEFUL = 0.2


@dataclass(frozen=True)
class Measured:
    """Depths of wear and creep together, as measured.

    Parameters
    ----------
    depth, sd, area : array, shape (n,)
        Of blocks: depth, mm, its standard deviation, and area, mm2.
    side : array, shape (n,)
        Number of the plateau.
    volume, volume_sd : array, shape (2,)
        Volume of each plateau, mm3.
    """

    depth: Array
    sd: Array
    area: Array
    side: NDArray[np.int64]
    volume: Array
    volume_sd: Array

    def volumes(self, depth: Array) -> Array:
        """Volumes of depths on the blocks of each plateau, mm3."""
        sums = np.bincount(self.side, weights=depth * self.area, minlength=2)
        return sums[:2].astype(float)


@dataclass(frozen=True)
class FittedLife:
    """A fitted life: depths of wear and creep at the blocks, mm, and residual, mm."""

    trial: LifeTrial
    wear: Array
    creep: Array
    residual: float


def fit_lives(
    measured: Measured,
    depths: Depths,
    prior: float | None = None,
    laws: Sequence[str] | None = None,
    amplitudes: Sequence[float] = AMPLITUDES,
    fixed: Sequence[str] = (),
) -> list[FittedLife]:
    """Fit a life by every law and amplitude.

    Parameters
    ----------
    measured : Measured
    depths : callable
        Depths of wear and creep of a trial at the blocks.
    prior : float, optional
        Relative standard deviation of the creep constant of the study.
    laws, amplitudes : sequence
        What fits are repeated over; laws with a wear factor when absent.
    fixed : sequence of str
        Offsets of a trial that have no effect and are not fitted.
    """
    sd = _UNKNOWN_CREEP if prior is None else prior
    chosen = fitted_laws() if laws is None else laws
    return [
        _fitted(measured, depths, LifeTrial(law, amplitude), sd, fixed)
        for law, amplitude in product(chosen, amplitudes)
    ]


def _fitted(
    measured: Measured, depths: Depths, trial: LifeTrial, creep_sd: float, fixed: Sequence[str]
) -> FittedLife:
    """Fit of one law and amplitude by damped Gauss-Newton steps."""
    trial = _started(measured, depths, trial)
    free = np.array([name not in fixed for name in _UNKNOWNS])
    unknowns = [name for name in _UNKNOWNS if name not in fixed]
    sd = np.where(np.isnan(_PRIOR), creep_sd, _PRIOR)[free]
    for _ in range(_ITERATIONS):
        base = _residuals(measured, *depths(trial))
        columns = []
        for name, step in zip(unknowns, _STEPS[free], strict=True):
            changed = replace(trial, **{name: getattr(trial, name) + step})
            columns.append((_residuals(measured, *depths(changed)) - base) / step)
        values = np.array([getattr(trial, name) for name in unknowns])
        rows = np.vstack([np.column_stack(columns), np.diag(1.0 / sd)])
        change = np.linalg.lstsq(rows, -np.r_[base, values / sd], rcond=None)[0]
        change = np.clip(change, -_MAX_CHANGES[free], _MAX_CHANGES[free])
        new = dict(zip(unknowns, (values + change).tolist(), strict=True))
        trial = replace(trial, **new)
    wear, creep = depths(trial)
    return FittedLife(trial, wear, creep, _misfit(measured, wear + creep))


def _started(measured: Measured, depths: Depths, trial: LifeTrial) -> LifeTrial:
    """Trial with about the measured volume."""
    for _ in range(2):
        wear, creep = (float(measured.volumes(item).sum()) for item in depths(trial))
        total = float(measured.volume.sum())
        part = min(max(total - creep, 0.2 * total) / max(wear, 1e-9), 1e3)
        trial = replace(trial, log_wear=trial.log_wear + float(np.log(max(part, 1e-3))))
        if creep > 0.8 * total:
            less = float(np.log(0.8 * total / creep))
            trial = replace(trial, log_creep=trial.log_creep + less)
    return trial


def _residuals(measured: Measured, wear: Array, creep: Array) -> Array:
    """Weighted differences of depths and volumes from the measured ones."""
    depth = wear + creep
    known = np.isfinite(measured.depth)
    weight = np.sqrt(_INDEPENDENT / known.sum()) / np.hypot(_MODEL, measured.sd[known])
    total = measured.volumes(depth)
    sd = np.hypot(measured.volume_sd, _VOLUME * np.abs(measured.volume))
    of_volumes = (total - measured.volume) / np.maximum(sd, 1e-3)
    return np.r_[weight * (depth - measured.depth)[known], of_volumes]


def _misfit(measured: Measured, depth: Array) -> float:
    """Root mean square of the difference of depths, mm."""
    known = np.isfinite(measured.depth)
    weight = measured.area[known]
    square = (depth - measured.depth)[known] ** 2
    return float(np.sqrt(weight @ square / weight.sum()))


def split_table(
    measured: Measured, fits: Sequence[FittedLife], settings: SplitSettings
) -> pd.DataFrame:
    """Volume and share of wear, by what they rest on.

    Columns basis, wear_mm3, sd_mm3, low_mm3, high_mm3, share, low_share, high_share, fits and
    residual_um. There is a range and no value where only the surface is known, or where a creep
    constant leaves wear unknown by more than a quarter: an error of it is one of the creep volume,
    and of wear a multiple of that where most of the sum is creep. The range is the union of the
    intervals of all fits, and wider than an interval of this standard deviation.
    """
    rows = []
    total, total_sd = float(measured.volume.sum()), float(np.hypot(*measured.volume_sd))
    if settings.mass_loss_mg is not None:
        lost = (settings.mass_loss_mg + settings.soak_gain_mg) / settings.density_mg_per_mm3
        sd = settings.mass_loss_sd * lost
        share_sd = lost / total * np.hypot(settings.mass_loss_sd, total_sd / total)
        ends = lost + _NINETY * sd * np.array([-1.0, 1.0])
        shares = lost / total + _NINETY * share_sd * np.array([-1.0, 1.0])
        rows.append(("mass loss", lost, sd, ends, lost / total, shares, 0, np.nan))
    kept = _kept(fits)
    worst = 1e3 * max((item.residual for item in kept), default=np.nan)
    if kept and settings.creep_constant_sd is not None:
        middle, sd, ends = _with_prior(measured, kept, settings.creep_constant_sd)
        if sd > _STATED * middle:
            middle = sd = np.nan
        known = (middle, sd, ends, middle / total, ends / total)
        rows.append(("creep constant", *known, len(kept), worst))
    elif kept:
        ends = np.array(_range(measured, kept))
        unknown = (np.nan, np.nan, ends, np.nan, ends / total)
        rows.append(("surface alone", *unknown, len(kept), worst))
    return pd.DataFrame(
        [
            {
                "basis": basis,
                "wear_mm3": value,
                "sd_mm3": sd,
                "low_mm3": max(ends[0], 0.0),
                "high_mm3": ends[1],
                "share": share,
                "low_share": float(np.clip(shares[0], 0.0, 1.0)),
                "high_share": float(np.clip(shares[1], 0.0, 1.0)),
                "fits": count,
                "residual_um": residual,
            }
            for basis, value, sd, ends, share, shares, count, residual in rows
        ]
    )


def judge_split(table: pd.DataFrame, lives: pd.DataFrame, name: str) -> list[Finding]:
    """Findings about wear that is not known within a fifth, and about what contradicts itself."""
    findings = []
    ends = table[["low_mm3", "high_mm3"]].to_numpy(dtype=float)
    values = table[["wear_mm3", "sd_mm3"]].to_numpy(dtype=float)
    low, high = ends[:, 0].max(), ends[:, 1].min()
    if low > high:
        ranges = (f"{row.low_mm3:.3g} to {row.high_mm3:.3g} mm3" for row in table.itertuples())
        stated = zip(table["basis"], ranges, strict=True)
        result = "; ".join(f"wear by {basis} {text}" for basis, text in stated)
        remedy = "Check the mass loss with its soak control, and the creep constant of the study."
        findings.append(
            Finding("retrieval.contradiction", "warn", name, result, "a common range", remedy)
        )
    elif not any(sd <= _USEFUL * value for value, sd in values):
        result = f"wear between {low:.3g} and {high:.3g} mm3"
        remedy = (
            "Weigh the insert: mass_loss_mg in the file of --settings separates wear from creep."
        )
        expected = f"a standard deviation of {100 * _USEFUL:.0f} % at most"
        findings.append(Finding("retrieval.split", "warn", name, result, expected, remedy))
    least = lives["residual_um"].min() if len(lives) else 0.0
    if least > 1e3 * _MODEL:
        result = f"lives that are {least:.0f} um or more from the measured depths (rms)"
        remedy = (
            "Correct implant, activities and thickness of the study: the range by its lives may "
            "not hold the wear."
        )
        expected = f"{1e3 * _MODEL:.0f} um at most"
        findings.append(Finding("retrieval.lives", "warn", name, result, expected, remedy))
    return findings


def _kept(fits: Sequence[FittedLife]) -> list[FittedLife]:
    """Fits whose residual is small."""
    if not fits:
        return []
    limit = max(_MODEL, _KEPT * min(item.residual for item in fits))
    return [item for item in fits if item.residual <= limit]


def _weights(fits: Sequence[FittedLife], prior: float) -> Array:
    """Weights of fits by their residuals and by the creep constants that they need."""
    squares = [
        _INDEPENDENT * (item.residual / _MODEL) ** 2 + (item.trial.log_creep / prior) ** 2
        for item in fits
    ]
    weights = np.exp(-0.5 * (np.array(squares) - min(squares)))
    return np.asarray(weights / weights.sum())


def _with_prior(
    measured: Measured, fits: Sequence[FittedLife], prior: float
) -> tuple[float, float, Array]:
    """Mean wear volume of fits, its standard deviation, and the ends of all their intervals, mm3.

    The creep constant contributes to the standard deviation within each fit, and laws and
    amplitudes between fits.
    """
    total = float(measured.volume.sum())
    wear, creep = (
        np.array([measured.volumes(getattr(item, name)).sum() for item in fits])
        for name in ("wear", "creep")
    )
    values, sds = total * wear / (wear + creep), prior * total * creep / (wear + creep)
    weights = _weights(fits, prior)
    mean = float(weights @ values)
    sd = float(np.sqrt(weights @ (sds**2 + (values - mean) ** 2)))
    low, high = values - _NINETY * sds, values + _NINETY * sds
    return mean, sd, np.array([low.min(), high.max()])


def _range(measured: Measured, fits: Sequence[FittedLife]) -> tuple[float, float]:
    """Ends of the wear volumes, mm3, of all shares of creep that fit as well."""
    total = float(measured.volume.sum())
    limit = max(_MODEL, _KEPT * min(item.residual for item in fits))
    values = []
    for item in fits:
        wear, creep = (float(measured.volumes(depth).sum()) for depth in (item.wear, item.creep))
        values.append(total * wear / (wear + creep))
        for factor in _TRIED:
            rest = total - factor * creep
            if rest < 0.0 or wear <= 0.0:
                continue
            depth = item.wear * rest / wear + factor * item.creep
            if _misfit(measured, depth) <= limit:
                values.append(rest)
    return min(values), max(values)


def fit_table(measured: Measured, fits: Sequence[FittedLife]) -> pd.DataFrame:
    """Fitted lives: what was found with each law and amplitude."""
    kept = {id(item) for item in _kept(fits)}
    rows = []
    for item in fits:
        wear, creep = (float(measured.volumes(depth).sum()) for depth in (item.wear, item.creep))
        trial = item.trial
        rows.append(
            {
                "law": trial.law,
                "amplitude": trial.amplitude,
                "wear_mm3": wear,
                "creep_mm3": creep,
                "wear_factor_ratio": np.exp(trial.log_wear),
                "creep_ratio": np.exp(trial.log_creep),
                "posterior_mm": trial.posterior,
                "medial_mm": trial.medial,
                "rotation_deg": trial.rotation,
                "share": trial.share,
                "residual_um": 1e3 * item.residual,
                "kept": id(item) in kept,
            }
        )
    return pd.DataFrame(rows)


def at_blocks(plan: Array, blocks: Array) -> Callable[[Array], Array]:
    """Interpolation of values at plan positions (m, 2) to blocks (n, 2)."""
    triangles = scipy.spatial.Delaunay(plan)

    def interpolated(values: Array) -> Array:
        inside = scipy.interpolate.LinearNDInterpolator(triangles, values, fill_value=0.0)
        return np.asarray(inside(blocks))

    return interpolated
