"""Frictional work of a cycle along and across its principal direction."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Cross-shear ratio of a square path, the largest possible.
SQUARE_PATH = 0.5


def frictional_work(pressure: ArrayLike, slip: ArrayLike) -> tuple[Array, Array]:
    """Work of friction of a cycle, total and across its principal direction.

    Parameters
    ----------
    pressure : array, shape (n_frames, ...)
        Contact pressure, MPa.
    slip : array, shape (n_frames, ..., 2)
        Tangential displacement during each frame's interval, mm.

    Returns
    -------
    work, cross_work : array, shape (...)
        Work per area and coefficient of friction, MPa mm.

    Notes
    -----
    A step in direction a does p |s| cos^2(a - b) along direction b and p |s| sin^2(a - b) across
    it. The principal direction is the b that minimizes the work across over the cycle. With
    W = sum p |s| and D = |sum p |s| (cos 2a, sin 2a)| that minimum is (W - D) / 2: the smaller
    eigenvalue of sum p |s| t t^T.

    References
    ----------
    Kang, L., Galvin, A.L., Brown, T.D., Jin, Z. and Fisher, J. (2008) Quantification of the effect
    of cross-shear on the wear of conventional and highly cross-linked UHMWPE. J. Biomechanics 41,
    340-346 (the ratio of work across to all work; from memory).
    """
    load = np.asarray(pressure, dtype=np.float64)
    along, aside = np.moveaxis(np.asarray(slip, dtype=np.float64), -1, 0)
    distance = np.hypot(along, aside)
    moving = np.where(distance > 0.0, distance, 1.0)
    cosine, sine = along / moving, aside / moving
    step = load * distance
    work = np.sum(step, axis=0)
    double_cosine = np.sum(step * (cosine**2 - sine**2), axis=0)
    double_sine = np.sum(step * (2.0 * cosine * sine), axis=0)
    across = 0.5 * (work - np.hypot(double_cosine, double_sine))
    return work, np.maximum(across, 0.0)


def cross_shear_ratio(work: ArrayLike, cross_work: ArrayLike) -> Array:
    """Work across the principal direction relative to all work, both of :func:`frictional_work`.

    From 0 (straight paths, and where nothing slides) to 0.5 (square or round ones).
    """
    total = np.asarray(work, dtype=np.float64)
    return np.asarray(cross_work, dtype=np.float64) / np.where(total > 0.0, total, 1.0)
