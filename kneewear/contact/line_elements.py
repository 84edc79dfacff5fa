"""Quadratic elements on a line, and solutions of the banded systems that they make."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

GAUSS = 3  # points of an element


def quadratic_elements(lines: Array) -> tuple[Array, Array, Array, Array]:
    """Depths and weights (p,) of Gauss points; values and upward slopes (p, nodes) of functions."""
    gauss, weights = np.polynomial.legendre.leggauss(GAUSS)
    length = np.diff(lines)
    depth = lines[:-1, None] + 0.5 * length[:, None] * (1.0 + gauss)
    shape = np.stack([0.5 * gauss * (gauss - 1.0), 1.0 - gauss**2, 0.5 * gauss * (gauss + 1.0)])
    change = np.stack([gauss - 0.5, -2.0 * gauss, gauss + 0.5])
    value = np.zeros((length.size, 3, 2 * length.size + 1))
    slope = np.zeros_like(value)
    for number, own in enumerate(length):
        nodes = slice(2 * number, 2 * number + 3)
        value[number, :, nodes] = shape.T
        slope[number, :, nodes] = -2.0 / own * change.T  # depth grows downwards
    points = depth.size
    weight = 0.5 * length[:, None] * weights
    return depth.ravel(), weight.ravel(), value.reshape(points, -1), slope.reshape(points, -1)


def solve_banded(matrix: Array, right: Array) -> Array:
    """Solutions (wave, n, m) of positive definite systems (wave, n, n); both are overwritten.

    Written here because the results of a linear algebra library depend on its number of threads.
    """
    row, column = np.nonzero(matrix.any(axis=0))
    size, band = matrix.shape[1], int(np.abs(row - column).max())
    for k in range(size):
        below = slice(k + 1, k + 1 + band)
        share = matrix[:, below, k, None] / matrix[:, None, k, k, None]
        matrix[:, below, below] -= share * matrix[:, k, None, below]
        right[:, below] -= share * right[:, k, None]
    for k in reversed(range(size)):
        right[:, k] /= matrix[:, k, k, None]
        above = slice(max(k - band, 0), k)
        right[:, above] -= matrix[:, above, k, None] * right[:, k, None]
    return right
