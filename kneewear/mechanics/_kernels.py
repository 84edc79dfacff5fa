"""Compiled equations of one rigid body."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.base.compilation import compiled

# Body-three 1-2-3: R = Rx Ry Rz.
BODY_THREE_ORDER = np.arange(3)
BODY_THREE_SIGN = np.ones(3)


class BodyArrays(NamedTuple):
    """Mass, inertia about the centre of mass and position of that in the body's frame."""

    mass: float
    inertia: NDArray[np.float64]
    centre: NDArray[np.float64]


@compiled
def cross(a: NDArray, b: NDArray, product: NDArray) -> None:
    """Cross product of two vectors."""
    product[0] = a[1] * b[2] - a[2] * b[1]
    product[1] = a[2] * b[0] - a[0] * b[2]
    product[2] = a[0] * b[1] - a[1] * b[0]


@compiled
def add_double_cross(matrix: NDArray, a: NDArray, b: NDArray, factor: float) -> None:
    """Add factor times [a]x [b]x = b a' - (a . b) I to a matrix."""
    dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    for i in range(3):
        for j in range(3):
            matrix[i, j] += factor * b[i] * a[j]
        matrix[i, i] -= factor * dot


@compiled
def add_cross_matrix(matrix: NDArray, a: NDArray, factor: float) -> None:
    """Add factor times [a]x, which takes w to a x w, to a matrix."""
    matrix[0, 1] -= factor * a[2]
    matrix[0, 2] += factor * a[1]
    matrix[1, 0] += factor * a[2]
    matrix[1, 2] -= factor * a[0]
    matrix[2, 0] -= factor * a[1]
    matrix[2, 1] += factor * a[0]


@compiled
def orient(
    angles: NDArray, order: NDArray, sign: NDArray, rotation: NDArray, axes: NDArray
) -> None:
    """Rotation of three turns of a body, and the axes (columns) they turn about.

    Turn k is by `sign[k]` times its angle about coordinate axis `order[k]`, after those before it.
    """
    for i in range(3):
        for j in range(3):
            rotation[i, j] = 1.0 if i == j else 0.0
    for n in range(3):
        axis, way = order[n], sign[n]
        j, k = (axis + 1) % 3, (axis + 2) % 3
        c, s = np.cos(way * angles[n]), np.sin(way * angles[n])
        for i in range(3):
            axes[i, n] = way * rotation[i, axis]
            one, other = rotation[i, j], rotation[i, k]
            rotation[i, j] = c * one + s * other
            rotation[i, k] = c * other - s * one


@compiled
def apply_load(
    force: NDArray,
    moment: NDArray,
    point: NDArray,
    follows: bool,
    carried: bool,
    translation: NDArray,
    rotation: NDArray,
    wrench: NDArray,
    rate: NDArray,
) -> None:
    """Add a load's wrench about the moving origin, and its derivative over the twist."""
    pull, twist, lever, about = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for i in range(3):
        pull[i], twist[i], lever[i] = force[i], moment[i], point[i] - translation[i]
        if follows:
            pull[i] = twist[i] = 0.0
            for j in range(3):
                pull[i] += rotation[i, j] * force[j]
                twist[i] += rotation[i, j] * moment[j]
        if carried:
            lever[i] = 0.0
            for j in range(3):
                lever[i] += rotation[i, j] * point[j]
    cross(lever, pull, about)
    for i in range(3):
        wrench[i] += pull[i]
        wrench[3 + i] += twist[i] + about[i]
    if carried:
        add_double_cross(rate[3:, 3:], pull, lever, 1.0)
    else:
        add_cross_matrix(rate[3:, :3], pull, 1.0)
    if follows:
        add_cross_matrix(rate[:3, 3:], pull, -1.0)
        add_double_cross(rate[3:, 3:], lever, pull, -1.0)
        add_cross_matrix(rate[3:, 3:], twist, -1.0)


@compiled
def rate_along(rate: NDArray, row: NDArray, column: NDArray, derivative: NDArray) -> None:
    """Add R' K C with diag(1, axes) of the body of the rows as R, and that of the columns as C."""
    for i in range(3):
        for j in range(3):
            derivative[i, j] += rate[i, j]
            for k in range(3):
                derivative[i, 3 + j] += rate[i, 3 + k] * column[k, j]
                derivative[3 + i, j] += row[k, i] * rate[3 + k, j]
                for m in range(3):
                    derivative[3 + i, 3 + j] += row[k, i] * rate[3 + k, 3 + m] * column[m, j]


@compiled
def wrench_along(wrench: NDArray, axes: NDArray, force: NDArray, derivative: NDArray) -> None:
    """Add forces along the coordinates, and their derivative as axes turn with the angles."""
    turned = np.empty(3)
    for i in range(3):
        force[i] += wrench[i]
        for k in range(3):
            force[3 + i] += axes[k, i] * wrench[3 + k]
    # Axes turn with the angles before theirs.
    for i in range(1, 3):
        for j in range(i):
            cross(axes[:, j], axes[:, i], turned)
            for k in range(3):
                derivative[3 + i, 3 + j] += turned[k] * wrench[3 + k]


@compiled
def inertia_along(
    body: BodyArrays,
    rotation: NDArray,
    axes: NDArray,
    rates: NDArray,
    mass: NDArray,
    bias: NDArray,
) -> None:
    """Mass matrix over the coordinates, and the forces that rates of the angles alone need.

    Newton's and Euler's laws about the body's origin, R c = r off the centre of mass:
    F = m (a + alpha x r + w x (w x r)), M = m r x a + I alpha + w x I w, with alpha = B q'' + B' q'
    and I about the origin; then projected on the coordinates.
    """
    lever = np.zeros(3)
    about = np.zeros((3, 3))
    spin, swing = np.zeros(3), np.zeros(3)
    one, two = np.empty(3), np.empty(3)
    for i in range(3):
        for j in range(3):
            lever[i] += rotation[i, j] * body.centre[j]
            spin[i] += axes[i, j] * rates[3 + j]
            for k in range(3):
                for m in range(3):
                    about[i, j] += rotation[i, k] * body.inertia[k, m] * rotation[j, m]
    add_double_cross(about, lever, lever, -body.mass)
    # Rates of the axes times those of the angles.
    for i in range(1, 3):
        for j in range(i):
            cross(axes[:, j], axes[:, i], one)
            for k in range(3):
                swing[k] += one[k] * rates[3 + i] * rates[3 + j]

    spatial = np.zeros((6, 6))
    for i in range(3):
        spatial[i, i] = body.mass
        for j in range(3):
            spatial[3 + i, 3 + j] = about[i, j]
    add_cross_matrix(spatial[:3, 3:], lever, -body.mass)
    add_cross_matrix(spatial[3:, :3], lever, body.mass)
    wrench = np.zeros(6)
    cross(spin, lever, one)
    cross(spin, one, two)
    for i in range(3):
        wrench[i] = body.mass * two[i]
        one[i] = 0.0
        for j in range(3):
            one[i] += about[i, j] * spin[j]
    cross(spin, one, two)
    for i in range(3):
        wrench[3 + i] = two[i]
        for j in range(3):
            wrench[i] += spatial[i, 3 + j] * swing[j]
            wrench[3 + i] += about[i, j] * swing[j]

    # J = diag(I, axes): only rows and columns of turns change.
    for i in range(3):
        bias[i], bias[3 + i] = wrench[i], 0.0
        for j in range(3):
            bias[3 + i] += axes[j, i] * wrench[3 + j]
            mass[i, j] = spatial[i, j]
            mass[i, 3 + j] = mass[3 + i, 3 + j] = 0.0
            for k in range(3):
                mass[i, 3 + j] += spatial[i, 3 + k] * axes[k, j]
                for m in range(3):
                    mass[3 + i, 3 + j] += axes[k, i] * about[k, m] * axes[m, j]
    for i in range(3):
        for j in range(3):
            mass[3 + i, j] = mass[j, 3 + i]


@compiled
def sample_spline(
    coefficients: NDArray,
    period: float,
    time: float,
    value: NDArray,
    rate: NDArray,
    acceleration: NDArray,
) -> None:
    """Values and two derivatives of periodic cubics on equal intervals.

    `coefficients` (interval, power, channel) are those of the time since the interval's start.
    """
    intervals = coefficients.shape[0]
    step = period / intervals
    along = time / period - np.floor(time / period)
    n = min(int(along * intervals), intervals - 1)
    s = along * period - n * step
    for c in range(coefficients.shape[2]):
        k0, k1 = coefficients[n, 0, c], coefficients[n, 1, c]
        k2, k3 = coefficients[n, 2, c], coefficients[n, 3, c]
        value[c] = k0 + s * (k1 + s * (k2 + s * k3))
        rate[c] = k1 + s * (2.0 * k2 + 3.0 * s * k3)
        acceleration[c] = 2.0 * k2 + 6.0 * s * k3
