"""Closing and resampling of measured curves over one cycle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

Array = NDArray[np.float64]


def frame_percent(frames: int) -> Array:
    """Percent of the cycle at each frame, shape (frames,): from 0, equally spaced, below 100."""
    return 100.0 * np.arange(frames) / frames


def close_cycle(percent: Array, values: Array, closing_percent: float) -> tuple[Array, Array]:
    """Curves whose end meets their start.

    Parameters
    ----------
    percent : array, shape (n,)
        Ascending, from 0. Without a sample at 100 percent the curves count as closed.
    values : array, shape (n, ...)
        Samples.
    closing_percent : float
        Last part of the cycle, percent, over which the gap is taken off.

    Returns
    -------
    closed : array, shape (n, ...)
        Samples; a last one at 100 percent equals the first.
    gap : array, shape (...)
        Last sample minus first one before closing; zero without a sample at 100 percent.

    Notes
    -----
    f(p) - gap s^2 (3 - 2 s), s = (p - 100 + c) / c inside the closing part: start, and everything
    before that part, stay as measured.
    """
    values = np.asarray(values, dtype=float)
    if percent[-1] < 100.0 - 1e-9:
        return values, np.zeros(values.shape[1:])
    gap = values[-1] - values[0]
    # Without a closing part the last interval alone takes the gap up.
    part = max(closing_percent, 1e-9)
    share = np.clip((percent - 100.0 + part) / part, 0.0, 1.0)
    blend = share**2 * (3.0 - 2.0 * share)
    closed = values - blend.reshape(-1, *[1] * (values.ndim - 1)) * gap
    closed[-1] = closed[0]
    return closed, gap


def resample_cycle(percent: Array, values: Array, frames: int) -> Array:
    """Periodic cubic spline through closed curves, at equally spaced frames.

    Parameters
    ----------
    percent : array, shape (n,)
        Ascending, from 0; at least 4 samples.
    values : array, shape (n, ...)
        Samples of closed curves.
    frames : int
        Number of frames of the cycle.

    Returns
    -------
    array, shape (frames, ...)
    """
    if percent[-1] < 100.0 - 1e-9:
        percent = np.append(percent, 100.0)
        values = np.concatenate([values, values[:1]])
    return CubicSpline(percent, values, bc_type="periodic")(frame_percent(frames))
