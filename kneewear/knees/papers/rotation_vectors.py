"""Rotations from vectors: the Cayley map, the exponential map and geodesics of SO(3).

All functions take stacks: vectors (..., 3) and matrices (..., 3, 3). Those without a square root of
a norm (`cross`, `dot`, `turned`, `cayley`, `inverse_cayley`) are analytic and also accept complex
arrays, so that derivatives can be found by a complex step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]


def dot(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Sum of the products of components, shape (..., 1); no conjugate is taken."""
    product = a * b
    return product[..., :1] + product[..., 1:2] + product[..., 2:]


def cross_product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Vector product a x b."""
    after, before = [1, 2, 0], [2, 0, 1]
    return a[..., after] * b[..., before] - a[..., before] * b[..., after]


def turned(matrix: NDArray[Any], vector: NDArray[Any]) -> NDArray[Any]:
    """Product of each matrix with its vector."""
    return (matrix @ vector[..., None])[..., 0]


def transposed(matrix: NDArray[Any]) -> NDArray[Any]:
    """Transpose of each matrix."""
    return np.swapaxes(matrix, -1, -2)


def skew_matrix(vector: NDArray[Any]) -> NDArray[Any]:
    """Matrix [a]x of each vector, which takes b to a x b."""
    matrix = np.zeros((*vector.shape, 3), dtype=vector.dtype)
    for axis in range(3):
        one, other = (axis + 1) % 3, (axis + 2) % 3
        matrix[..., other, one] = vector[..., axis]
        matrix[..., one, other] = -vector[..., axis]
    return matrix


def cayley(vector: NDArray[Any]) -> NDArray[Any]:
    """Rotation about `vector` by an angle of 2 arctan(|vector| / 2).

    cay(a) = I + ([a]x + [a]x [a]x / 2) / (1 + |a|^2 / 4). It agrees with the exponential map up to
    third order, and never reaches half a turn.
    """
    matrix = skew_matrix(vector)
    share = 1.0 / (1.0 + 0.25 * dot(vector, vector))
    return np.eye(3) + share[..., None] * (matrix + 0.5 * matrix @ matrix)


def inverse_cayley(rotation: NDArray[Any]) -> NDArray[Any]:
    """Vector whose Cayley map is `rotation`; infinite at half a turn.

    The axial vector of R - R^T, divided by (1 + trace R) / 2, which equals the axial vector of
    2 (R + I)^-1 (R - I).
    """
    axial = np.stack(
        [
            rotation[..., 2, 1] - rotation[..., 1, 2],
            rotation[..., 0, 2] - rotation[..., 2, 0],
            rotation[..., 1, 0] - rotation[..., 0, 1],
        ],
        axis=-1,
    )
    return 2.0 * axial / (1.0 + np.trace(rotation, axis1=-2, axis2=-1))[..., None]


def exponential(vector: ArrayLike) -> Array:
    """Rotation about each vector by its length, rad."""
    vector = np.asarray(vector, dtype=float)
    matrices = Rotation.from_rotvec(vector.reshape(-1, 3)).as_matrix()
    return matrices.reshape(*vector.shape, 3)


def logarithm(rotation: ArrayLike) -> Array:
    """Rotation vector, rad, of each matrix; at most half a turn long."""
    rotation = np.asarray(rotation, dtype=float)
    return Rotation.from_matrix(rotation.reshape(-1, 3, 3)).as_rotvec().reshape(rotation.shape[:-1])


def polar_rotation(matrix: ArrayLike) -> Array:
    """Rotation closest to each matrix: the rotation of its polar decomposition.

    ValueError if a determinant is not positive, since then the closest orthogonal matrix is not a
    rotation.
    """
    matrix = np.asarray(matrix, dtype=float)
    if np.any(np.linalg.det(matrix) <= 0.0):
        raise ValueError("the determinant of a deformation gradient must be positive")
    left, _, right = np.linalg.svd(matrix)
    return np.asarray(left @ right)
