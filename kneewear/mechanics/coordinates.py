"""Generalized coordinates of the moving body, and smooth periodic histories of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from kneewear.mechanics import _kernels

Array = NDArray[np.float64]

# Position of the moving body's origin, mm, and body-three 1-2-3 angles, rad (Bei 2003, 2.2.1).
COORDINATES = ("x", "y", "z", "theta_1", "theta_2", "theta_3")
ROTATIONS = COORDINATES[3:]
# Columns of the coordinates in tables, and factors from mm and rad to their units and signs.
POSE_FACTORS = {
    "posterior_mm": 1.0,
    "superior_mm": 1.0,
    "medial_mm": 1.0,
    "varus_deg": np.degrees(1.0),
    "tibial_external_rotation_deg": np.degrees(1.0),
    "flexion_deg": -np.degrees(1.0),
}
# From the axes of a knee (posterior, superior, medial) to the axes of a patella (proximal,
# posterior, lateral).
OF_PATELLA = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
# Turns an angle into a length or a moment into a force, mm: half a usual spacing of condyles.
CHARACTERISTIC_LENGTH = 23.0
# Weights of the frames before, the latest first, that extrapolate the next by a polynomial.
EXTRAPOLATION = {1: (1.0,), 2: (2.0, -1.0), 3: (3.0, -3.0, 1.0)}


def weights(count: int) -> Array:
    """Factors (6 count,) from coordinates of bodies to lengths, mm: 1 and `CHARACTERISTIC_LENGTH`.

    They weigh angles against lengths in steps and residuals; the poses found do not depend on them.
    """
    return np.tile(np.repeat([1.0, CHARACTERISTIC_LENGTH], 3), count)


def coordinate_numbers(names: ArrayLike) -> NDArray[np.int64]:
    """Ascending indices of coordinates by name; ValueError for unknown or repeated names."""
    given = [str(name) for name in np.atleast_1d(np.asarray(names, dtype=str))]
    unknown = sorted(set(given) - set(COORDINATES))
    if unknown or len(set(given)) < len(given):
        raise ValueError(
            f"coordinates {', '.join(given)}; expected different ones of {', '.join(COORDINATES)}"
        )
    return np.array(sorted(COORDINATES.index(name) for name in given), dtype=np.int64)


@dataclass(frozen=True)
class PeriodicSpline:
    """Periodic cubic splines: value, rate and acceleration are continuous everywhere.

    `coefficients` (interval, power, channel) are those of the powers 0 to 3 of the time since each
    interval's start; `period` is the duration of the cycle, s.
    """

    coefficients: Array
    period: float

    def __call__(self, time: float) -> tuple[Array, Array, Array]:
        """Values and their first two derivatives at a time, s, each of shape (n_channels,)."""
        value, rate, acceleration = np.empty((3, self.coefficients.shape[2]))
        _kernels.sample_spline(
            self.coefficients, self.period, float(time), value, rate, acceleration
        )
        return value, rate, acceleration


def fit_periodic(samples: ArrayLike, period: float) -> PeriodicSpline:
    """Cubic splines through samples (time, channel) at n equal intervals of a period, s.

    ValueError if there are fewer than three samples or they are not finite.

    Notes
    -----
    With u the rates at the samples, continuity of the acceleration requires
    u[i-1] + 4 u[i] + u[i+1] = 3 (y[i+1] - y[i-1]) / h, a circulant system that the discrete Fourier
    transform solves.
    """
    values = np.asarray(samples, dtype=float)
    if values.ndim != 2 or values.shape[0] < 3 or not np.isfinite(values).all():
        raise ValueError("a periodic spline needs three or more rows of finite samples")
    count = values.shape[0]
    step = period / count
    phase = 2.0 * np.pi * np.fft.rfftfreq(count)[:, None]
    growth = 3j * np.sin(phase) / (step * (2.0 + np.cos(phase)))
    rate = np.fft.irfft(np.fft.rfft(values, axis=0) * growth, count, axis=0)
    rise = np.roll(values, -1, axis=0) - values
    after = np.roll(rate, -1, axis=0)
    square = (3.0 * rise / step - 2.0 * rate - after) / step
    cube = (rate + after - 2.0 * rise / step) / step**2
    return PeriodicSpline(np.ascontiguousarray(np.stack([values, rate, square, cube], 1)), period)


def follow_samples(samples: ArrayLike, duration: float) -> PeriodicSpline:
    """Monotone cubics through samples (time, channel) at equal times from 0 to `duration`, s.

    After it they stay at the last sample for one interval more. Rates are continuous, accelerations
    are not (Fritsch and Butland 1984, doi:10.1137/0905021).
    """
    values = np.asarray(samples, dtype=float)
    values = np.concatenate([values, values[-1:]])
    step = duration / (len(values) - 2)
    pieces = scipy.interpolate.PchipInterpolator(step * np.arange(len(values)), values).c[::-1]
    coefficients = np.ascontiguousarray(np.moveaxis(pieces, 0, 1))
    return PeriodicSpline(coefficients, step * (len(values) - 1))
