"""Random variations of a measured motion within its measurement error, for Monte Carlo analyses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kneewear.activity.activity import Activity

Array = NDArray[np.float64]


def sample_activity(activity: Activity, generator: np.random.Generator) -> Activity:
    """Activity with a random error of measurement added to its pose.

    Parameters
    ----------
    activity : Activity
        As measured, with the standard deviation of each coordinate.
    generator : numpy.random.Generator
        Source of random numbers; the same state gives the same activity.

    Returns
    -------
    Activity
        With another motion; load, forces and all other fields are unchanged.
    """
    errors = motion_errors(
        activity.percent / 100.0, activity.deviation_harmonics, generator, columns=6
    )
    shifted = activity.coordinates + activity.deviation * errors
    return replace(activity, translation=shifted[:, :3], rotation=shifted[:, 3:])


def motion_errors(
    turn: Array, harmonics: int, generator: np.random.Generator, *, columns: int
) -> Array:
    """Smooth periodic random curves of unit variance, shape (frames, columns).

    Parameters
    ----------
    turn : array, shape (frames,)
        Fraction of the cycle, 0 to 1.
    harmonics : int
        Highest harmonic n of the curves.
    generator : numpy.random.Generator
        Source of random numbers.
    columns : int
        Number of independent curves.

    Notes
    -----
    (a_0 + sqrt 2 sum over k of a_k cos(2 pi k t) + b_k sin(2 pi k t)) / sqrt(2 n + 1), a and b
    independent standard normal numbers: at every t the variance is one, and errors at two times
    correlate by sin((2 n + 1) pi d) / ((2 n + 1) sin(pi d)) for times d of a cycle apart. With
    n = 0 the error is constant over the cycle, as that of a registered frame.
    """
    phase = 2.0 * np.pi * np.outer(turn, np.arange(1, harmonics + 1))
    waves = np.sqrt(2.0) * np.hstack([np.cos(phase), np.sin(phase)])
    basis = np.hstack([np.ones((turn.size, 1)), waves])
    return (
        basis @ generator.standard_normal((2 * harmonics + 1, columns)) / np.sqrt(2 * harmonics + 1)
    )
