"""Compiled tricubic interpolation on a regular grid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.base.compilation import compiled


class FieldArrays(NamedTuple):
    """Tricubic B-spline on a regular grid."""

    origin: NDArray[np.float64]  # of the first node, mm
    spacing: float
    coefficient: NDArray[np.float64]  # (i, j, k)
    coarse: NDArray[np.float32]  # value at every node


@compiled(inlined=True)
def cubic_weights(t: float) -> tuple[float, float, float, float]:
    """Cubic B-spline at a fraction of a cell."""
    s = 1.0 - t
    return (
        s * s * s / 6.0,
        (4.0 - 6.0 * t * t + 3.0 * t * t * t) / 6.0,
        (4.0 - 6.0 * s * s + 3.0 * s * s * s) / 6.0,
        t * t * t / 6.0,
    )


@compiled(inlined=True)
def cubic_slopes(t: float) -> tuple[float, float, float, float]:
    """Their derivatives over the fraction."""
    s = 1.0 - t
    return -0.5 * s * s, 1.5 * t * t - 2.0 * t, -1.5 * s * s + 2.0 * s, 0.5 * t * t


@compiled(inlined=True)
def cubic_bends(t: float) -> tuple[float, float, float, float]:
    """Their second derivatives."""
    return 1.0 - t, 3.0 * t - 2.0, 1.0 - 3.0 * t, t


@compiled
def is_in_field(field: FieldArrays, x: float, y: float, z: float) -> bool:
    """True if a point is in a cell that four nodes surround in every direction."""
    inside = True
    for a in range(3):
        at = ((x, y, z)[a] - field.origin[a]) / field.spacing
        inside = inside and 1.0 <= at < field.coefficient.shape[a] - 2.0
    return inside


@compiled
def interpolate(field: FieldArrays, x: float, y: float, z: float, out: NDArray) -> None:
    """Value, gradient (3) and second derivatives xx, yy, zz, xy, xz, yz at a point inside."""
    rate = 1.0 / field.spacing
    a = (x - field.origin[0]) * rate
    b = (y - field.origin[1]) * rate
    c = (z - field.origin[2]) * rate
    i, j, k = int(a), int(b), int(c)
    wx, sx, bx = cubic_weights(a - i), cubic_slopes(a - i), cubic_bends(a - i)
    wy, sy, by = cubic_weights(b - j), cubic_slopes(b - j), cubic_bends(b - j)
    wz, sz, bz = cubic_weights(c - k), cubic_slopes(c - k), cubic_bends(c - k)
    for m in range(10):
        out[m] = 0.0
    coefficient = field.coefficient
    for p in range(4):
        v = vy = vz = vyy = vzz = vyz = 0.0
        for q in range(4):
            line = coefficient[i - 1 + p, j - 1 + q, k - 1 : k + 3]
            flat = wz[0] * line[0] + wz[1] * line[1] + wz[2] * line[2] + wz[3] * line[3]
            rise = sz[0] * line[0] + sz[1] * line[1] + sz[2] * line[2] + sz[3] * line[3]
            bend = bz[0] * line[0] + bz[1] * line[1] + bz[2] * line[2] + bz[3] * line[3]
            v += wy[q] * flat
            vy += sy[q] * flat
            vz += wy[q] * rise
            vyy += by[q] * flat
            vzz += wy[q] * bend
            vyz += sy[q] * rise
        out[0] += wx[p] * v
        out[1] += sx[p] * v
        out[2] += wx[p] * vy
        out[3] += wx[p] * vz
        out[4] += bx[p] * v
        out[5] += wx[p] * vyy
        out[6] += wx[p] * vzz
        out[7] += sx[p] * vy
        out[8] += sx[p] * vz
        out[9] += wx[p] * vyz
    for m in range(1, 4):
        out[m] *= rate
    for m in range(4, 10):
        out[m] *= rate * rate


@compiled
def interpolate_many(field: FieldArrays, points: NDArray, out: NDArray) -> None:
    """Values and derivatives (n, 10) at points (n, 3); NaN outside the grid."""
    for n in range(points.shape[0]):
        x, y, z = points[n, 0], points[n, 1], points[n, 2]
        if is_in_field(field, x, y, z):
            interpolate(field, x, y, z, out[n])
        else:
            out[n] = np.nan
