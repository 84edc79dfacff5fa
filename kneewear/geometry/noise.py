"""Noise of the vertices of a mesh, as a scan leaves it."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Neighbours of a vertex that a quadratic surface is fitted to, its coefficients, and vertices that
# are sampled.
_NEIGHBOURS = 24
_COEFFICIENTS = 6
_SAMPLES = 600
# Noise, mm, above which a mesh is a scan.
NOISY = 0.002


def estimate_noise(points: Array) -> float:
    """Standard deviation of points of a smooth surface across it, mm.

    Parameters
    ----------
    points : array, shape (n, 3)
        Vertices of a bearing, mm; edges between them may be a small part.

    Returns
    -------
    float
        Zero of fewer points than a quadratic surface needs.

    Notes
    -----
    About each sampled vertex a quadratic surface is fitted to its neighbours, and the deviations
    have n - 6 degrees of freedom; the median over the samples is not moved by edges. The surface
    itself deviates by cubic terms: on a sphere of 25 mm by 0.3 um within 2.5 mm. Noise that is
    equal over several millimetres is shape to it.
    """
    points = np.unique(points, axis=0)
    if len(points) < 2 * _NEIGHBOURS:
        return 0.0
    tree = scipy.spatial.cKDTree(points)
    chosen = points[:: 1 + len(points) // _SAMPLES]
    near = points[tree.query(chosen, _NEIGHBOURS)[1]]
    near = near - near.mean(axis=1, keepdims=True)
    # Along the principal directions of the neighbours, the last of which is across the surface.
    directions = np.linalg.svd(near, full_matrices=False)[2]
    along, beside, across = np.moveaxis(near @ np.swapaxes(directions, 1, 2), -1, 0)
    scale = np.abs(along).max(axis=1, keepdims=True)
    u, v = along / scale, beside / scale
    terms = np.stack([np.ones_like(u), u, v, u**2, u * v, v**2], axis=-1)
    fitted = terms @ (np.linalg.pinv(terms) @ across[..., None])
    left = across - fitted[..., 0]
    variance = (left**2).sum(axis=1) / (_NEIGHBOURS - _COEFFICIENTS)
    return float(np.sqrt(np.median(variance)))
