"""Compiled poses of bodies from their coordinates, and forces along these."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import compiled
from kneewear.mechanics._kernels import cross


@compiled
def place_bodies(
    coordinates: NDArray,
    rates: NDArray,
    order: NDArray,
    sign: NDArray,
    rotation: NDArray,
    translation: NDArray,
    velocity: NDArray,
    axes: NDArray,
) -> None:
    """Fill poses, velocities and axes of turns (n + 1, 3, 3); body 0 is the ground, at rest.

    Turn k of a body is by `sign` times its angle about coordinate axis `order`, after those before
    it; its axis is a column of `axes`.
    """
    turned = np.empty((3, 3))
    for b in range(1, rotation.shape[0]):
        q, v = coordinates[6 * (b - 1) : 6 * b], rates[6 * (b - 1) : 6 * b]
        place = rotation[b]
        for i in range(3):
            translation[b, i], velocity[b, i], velocity[b, 3 + i] = q[i], v[i], 0.0
            for j in range(3):
                place[i, j] = 1.0 if i == j else 0.0
        for k in range(3):
            axis, way = order[b - 1, k], sign[b - 1, k]
            i, j = (axis + 1) % 3, (axis + 2) % 3
            c, s = np.cos(way * q[3 + k]), np.sin(way * q[3 + k])
            for m in range(3):
                axes[b, m, k] = way * place[m, axis]
                velocity[b, 3 + m] += axes[b, m, k] * v[3 + k]
                turned[m, axis] = place[m, axis]
                turned[m, i] = c * place[m, i] + s * place[m, j]
                turned[m, j] = c * place[m, j] - s * place[m, i]
            for m in range(3):
                for n in range(3):
                    place[m, n] = turned[m, n]


@compiled
def project(
    axes: NDArray,
    wrench: NDArray,
    stiffness: NDArray,
    damping: NDArray,
    rates: NDArray,
    force: NDArray,
    derivative: NDArray,
    resistance: NDArray,
) -> None:
    """Forces along coordinates, and their derivatives over these and over their rates.

    The twist of a body is J q' with J = diag(I, axes). Derivatives over coordinates hold the
    rates: a turn's axis moves with the turns before it, and velocities with the axes.
    """
    size = force.shape[0]
    half = np.empty((size, size))
    part = np.empty(3)
    # Change of each body's angular velocity over its angles, at constant rates.
    for matrix, out in ((stiffness, derivative), (damping, resistance)):
        for r in range(size):
            for b in range(size // 6):
                for i in range(3):
                    half[r, 6 * b + i] = matrix[6 + r, 6 + 6 * b + i]
                    half[r, 6 * b + 3 + i] = 0.0
                    for k in range(3):
                        half[r, 6 * b + 3 + i] += matrix[6 + r, 9 + 6 * b + k] * axes[b + 1, k, i]
        for b in range(size // 6):
            for c in range(size):
                for i in range(3):
                    out[6 * b + i, c] = half[6 * b + i, c]
                    out[6 * b + 3 + i, c] = 0.0
                    for k in range(3):
                        out[6 * b + 3 + i, c] += axes[b + 1, k, i] * half[6 * b + 3 + k, c]
    for b in range(size // 6):
        moment = wrench[9 + 6 * b : 12 + 6 * b]
        for i in range(3):
            force[6 * b + i] = wrench[6 + 6 * b + i]
            force[6 * b + 3 + i] = 0.0
            for k in range(3):
                force[6 * b + 3 + i] += axes[b + 1, k, i] * moment[k]
        for i in range(3):
            for j in range(i):
                cross(axes[b + 1, :, j], axes[b + 1, :, i], part)
                for k in range(3):
                    derivative[6 * b + 3 + i, 6 * b + 3 + j] += part[k] * moment[k]
                # Angular velocity over angle j: damping along every coordinate.
                for r in range(size):
                    column = 0.0
                    for k in range(3):
                        if r % 6 < 3:
                            column += damping[6 + r, 9 + 6 * b + k] * part[k]
                        else:
                            a, first = r // 6, 9 + 6 * (r // 6)
                            for m in range(3):
                                column += (
                                    axes[a + 1, m, r % 6 - 3]
                                    * damping[first + m, 9 + 6 * b + k]
                                    * part[k]
                                )
                    derivative[r, 6 * b + 3 + j] += column * rates[6 * b + 3 + i]
