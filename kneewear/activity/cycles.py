"""Closing and resampling of measured curves over one cycle."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Number of samples that harmonics are computed from, far above that of any file or setting.
_DENSE = 1024


def frame_percent(frames: int) -> Array:
    """Percent of the cycle at each frame: from 0, equally spaced, below 100."""
    return 100.0 * np.arange(frames) / frames


def close_cycle(percent: Array, values: Array, closing_percent: float) -> tuple[Array, Array]:
    """Curves whose end meets their start, and the gap before, last sample minus first one.

    The gap is removed over the last part of the cycle, `closing_percent`: f(p) - gap s^2 (3 - 2 s),
    s = (p - 100 + c) / c, c = `closing_percent`. Samples (n, ...) are at ascending percents from 0;
    without one at 100 percent the curves count as closed.
    """
    values = np.asarray(values, dtype=float)
    if percent[-1] < 100.0 - 1e-9:
        return values, np.zeros(values.shape[1:])
    gap = values[-1] - values[0]
    # Without a closing part the last interval alone closes the gap.
    part = max(closing_percent, 1e-9)
    share = np.clip((percent - 100.0 + part) / part, 0.0, 1.0)
    blend = share**2 * (3.0 - 2.0 * share)
    closed = values - blend.reshape(-1, *[1] * (values.ndim - 1)) * gap
    closed[-1] = closed[0]
    return closed, gap


def resample_cycle(
    percent: Array, values: Array, frames: int, harmonics: int | None = None
) -> Array:
    """Smooth periodic curves through closed samples, or near them, at equally spaced frames.

    Four or more samples (n, ...) at ascending percents from 0. A cubic spline with periodic ends:
    value, velocity and acceleration are continuous everywhere; with a number of `harmonics` to
    keep, its truncated Fourier series, with continuous derivatives of all orders.
    """
    spline = periodic_spline(percent, values, 100.0)
    if harmonics is None:
        return spline(frame_percent(frames))
    return keep_harmonics(spline(frame_percent(_DENSE)), harmonics, frames)


def periodic_spline(
    positions: Array, values: Array, period: float
) -> scipy.interpolate.CubicSpline:
    """Periodic cubic spline through samples at ascending positions from 0.

    A sample at the end of the period is optional; it equals the first.
    """
    if positions[-1] < period * (1.0 - 1e-11):
        positions = np.append(positions, period)
        values = np.concatenate([values, values[:1]])
    return scipy.interpolate.CubicSpline(positions, values, bc_type="periodic")


def keep_harmonics(samples: Array, harmonics: int, frames: int) -> Array:
    """First harmonics of a periodic curve, at a number of equally spaced frames.

    f(t) = a_0 + sum over k up to the highest of a_k cos(2 pi k t) + b_k sin(2 pi k t), from equally
    spaced samples of one cycle, shape (n, ...), with the highest harmonic below n / 2.
    """
    spectrum = np.fft.rfft(samples, axis=0)[: harmonics + 1] / len(samples)
    spectrum[1:] *= 2.0
    turns = np.outer(frame_percent(frames) / 100.0, np.arange(harmonics + 1))
    return np.tensordot(np.exp(2j * np.pi * turns), spectrum, axes=1).real
