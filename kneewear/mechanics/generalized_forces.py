"""Forces along the generalized coordinates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.mechanics import _kernels

Array = NDArray[np.float64]


def turn_axes(angles: ArrayLike) -> Array:
    """Axes about which each of the body-three 1-2-3 angles, rad, rotates.

    Returns
    -------
    array, shape (3, 3)
        Unit axes in the fixed frame, one per column: the angular velocity is this matrix times the
        rates of the angles. Singular when the second angle is a quarter turn.

    References
    ----------
    Kane, T. R., Likins, P. W., Levinson, D. A. (1983), Spacecraft Dynamics: body-three 1-2-3.
    """
    rotation, axes = np.empty((3, 3)), np.empty((3, 3))
    _kernels.orient(np.asarray(angles, dtype=float), rotation, axes)
    return axes


def generalized_forces(wrench: Array, rate: Array, angles: Array) -> tuple[Array, Array]:
    """Forces along the coordinates, and their derivative, from a wrench and its derivative.

    Parameters
    ----------
    wrench : array, shape (6,)
        Force, N, and moment about the moving origin, N mm, on the moving body in the fixed frame.
    rate : array, shape (6, 6)
        Derivative of the wrench over translation, mm, and rotation about axes of the fixed frame,
        rad.
    angles : array, shape (3,)
        Body-three 1-2-3 angles, rad.

    Returns
    -------
    force : array, shape (6,)
        Q = J' wrench, N and N mm, with J = diag(I, turn axes).
    derivative : array, shape (6, 6)
        dQ/dq = J' rate J plus the moment on axes that rotate: (b_j x b_i) . moment for j < i.
    """
    force, derivative = np.zeros(6), np.zeros((6, 6))
    _kernels.along_coordinates(wrench, rate, turn_axes(angles), force, derivative)
    return force, derivative
