"""Axial load over one cycle from a measured curve."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from kneewear.activity.cycles import close_cycle, resample_cycle
from kneewear.errors import InputDataError
from kneewear.settings.activity import LoadSettings

Array = NDArray[np.float64]

# Standard gravity as orthopaedics rounds it, m/s2.
GRAVITY = 9.81
# Telemetry has never measured ten body weights in a knee; newtons are in the hundreds.
MOST_BODY_WEIGHTS = 15.0
# The maximum of a cycle is above this many body weights, unless the file is in kN or body weights.
LEAST_PEAK = 0.05


def scale_ground_reaction(force: ArrayLike, limits: tuple[float, float]) -> Array:
    """Axial knee load, body weights, from a vertical ground reaction, any unit.

    load = low + (high - low) (force - min) / (max - min), with the limits low and high (0.25 and
    3.0 in Bei 2003, section 4.2.1, after Taylor et al. 1998, 2001): the shape of the ground
    reaction; no muscle force is computed. ValueError if the force is constant.
    """
    force = np.asarray(force, dtype=float)
    span = np.ptp(force)
    if span == 0:
        raise ValueError("a constant ground reaction cannot be scaled to a range of loads")
    return limits[0] + (limits[1] - limits[0]) * (force - force.min()) / span


def axial_load(
    load: pd.DataFrame, settings: LoadSettings, frames: int, closing_percent: float
) -> tuple[Array, tuple[str, ...]]:
    """Axial load at each frame, body weights, and notes on its processing.

    `load` has columns percent and load (body weights, N, or a ground reaction in any unit).
    InputDataError if the load is not positive, or in another unit.
    """
    percent, values = (load[name].to_numpy(dtype=float) for name in ("percent", "load"))
    notes = []
    if settings.kind == "ground_reaction":
        limits = settings.load_range_body_weights
        if limits is None:
            raise ValueError("a ground reaction needs load_range_body_weights")
        if np.ptp(values) == 0:
            raise InputDataError(
                settings.file,
                f"a constant ground reaction of {values[0]:g}",
                "a curve with a minimum and a maximum",
                "Check `columns.load`, or use kind: axial_load.",
            )
        values = scale_ground_reaction(values, limits)
        notes.append(f"ground reaction scaled linearly to {limits[0]:g}-{limits[1]:g} body weights")
    if settings.body_mass_kg is not None:
        values = values / (settings.body_mass_kg * GRAVITY)
        notes.append(f"axial force in N divided by the weight of {settings.body_mass_kg:g} kg")
    _check_body_weights(values, settings)
    closed, gap = close_cycle(percent, values, closing_percent)
    if gap:
        notes.append(
            f"load gap of {float(gap):+.3g} body weights between 100 and 0 percent blended out "
            f"over the last {closing_percent:g} percent"
        )
    sampled = resample_cycle(percent, closed, frames)
    if sampled.min() <= 0:
        raise InputDataError(
            settings.file,
            f"a resampled load down to {sampled.min():.3g} body weights",
            "a load that stays positive",
            "Give more samples, or a load that is positive everywhere.",
        )
    notes.append(f"load of {len(percent)} samples resampled to {frames} frames")
    return sampled, tuple(notes)


def _check_body_weights(values: Array, settings: LoadSettings) -> None:
    """Refuse loads that pull or are in another unit."""
    column = f"column '{settings.columns.load}'"
    unit = "body weights" if settings.body_mass_kg is None else "body weights after division"
    if values.min() <= 0:
        row = int(values.argmin())
        raise InputDataError(
            settings.file,
            f"a load of {values[row]:g} {unit}",
            "a positive (compressive) load",
            "Reverse the sign, or use kind: ground_reaction to scale the curve.",
            f"{column}, data row {row + 1}",
        )
    if values.max() > MOST_BODY_WEIGHTS:
        raise InputDataError(
            settings.file,
            f"a load of {values.max():g}",
            f"body weights, below {MOST_BODY_WEIGHTS:g}",
            "This looks like newtons: use kind: axial_force_n with body_mass_kg.",
            f"{column}, data row {int(values.argmax()) + 1}",
        )
    if settings.body_mass_kg is not None and values.max() < LEAST_PEAK:
        raise InputDataError(
            settings.file,
            f"a maximum force of {values.max() * settings.body_mass_kg * GRAVITY:.3g} N",
            f"more than {LEAST_PEAK:g} of the weight of {settings.body_mass_kg:g} kg",
            "This looks like body weights or kN: use kind: axial_load, or convert to N.",
            column,
        )
