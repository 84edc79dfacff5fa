"""Compiled distances to triangle meshes, and tricubic interpolation on a regular grid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import compiled


class FieldArrays(NamedTuple):
    """Tricubic B-spline on a regular grid."""

    origin: NDArray[np.float64]  # of the first node, mm
    spacing: float
    coefficient: NDArray[np.float64]  # (i, j, k)
    coarse: NDArray[np.float32]  # value at every node


@compiled
def nearest_on_triangle(
    p: NDArray, a: NDArray, b: NDArray, c: NDArray, nearest: NDArray
) -> tuple[float, int]:
    """Squared distance to a triangle and its feature; fills the nearest point.

    Features: 0 to 2 a corner, 3 the edge ab, 4 bc, 5 ca, 6 the face (Ericson 2005, Real-Time
    Collision Detection, section 5.1.5).
    """
    d1 = d2 = d3 = d4 = d5 = d6 = 0.0
    for i in range(3):
        ab, ac = b[i] - a[i], c[i] - a[i]
        d1 += ab * (p[i] - a[i])
        d2 += ac * (p[i] - a[i])
        d3 += ab * (p[i] - b[i])
        d4 += ac * (p[i] - b[i])
        d5 += ab * (p[i] - c[i])
        d6 += ac * (p[i] - c[i])
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    v = w = 0.0
    feature = 6
    if d1 <= 0.0 and d2 <= 0.0:
        feature = 0
    elif d3 >= 0.0 and d4 <= d3:
        feature, v = 1, 1.0
    elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        feature, v = 3, d1 / (d1 - d3)
    elif d6 >= 0.0 and d5 <= d6:
        feature, w = 2, 1.0
    elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        feature, w = 5, d2 / (d2 - d6)
    elif va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        feature, v = 4, 1.0 - w
    else:
        v, w = vb / (va + vb + vc), vc / (va + vb + vc)
    square = 0.0
    for i in range(3):
        nearest[i] = a[i] + v * (b[i] - a[i]) + w * (c[i] - a[i])
        square += (p[i] - nearest[i]) ** 2
    return square, feature


@compiled
def signed_distances(
    points: NDArray,
    candidates: NDArray,
    vertices: NDArray,
    faces: NDArray,
    face_normals: NDArray,
    edge_normals: NDArray,
    vertex_normals: NDArray,
    open_edge: NDArray,
    open_vertex: NDArray,
    distance: NDArray,
) -> None:
    """Signed distance of points (n, 3) to the nearest of their candidate faces (n, m).

    The sign is that of the angle-weighted normal of the nearest face, edge or vertex; beyond an
    open border the distance is positive.
    """
    nearest, best = np.empty(3), np.empty(3)
    for n in range(points.shape[0]):
        least, chosen, feature = np.inf, 0, 0
        for m in range(candidates.shape[1]):
            f = candidates[n, m]
            square, part = nearest_on_triangle(
                points[n], vertices[faces[f, 0]], vertices[faces[f, 1]], vertices[faces[f, 2]],
                nearest,
            )  # fmt: skip
            if square < least:
                least, chosen, feature = square, f, part
                best[:] = nearest
        side, border = 0.0, False
        for i in range(3):
            away = points[n, i] - best[i]
            if feature < 3:
                side += away * vertex_normals[faces[chosen, feature], i]
            elif feature < 6:
                side += away * edge_normals[chosen, feature - 3, i]
            else:
                side += away * face_normals[chosen, i]
        if feature < 3:
            border = open_vertex[faces[chosen, feature]]
        elif feature < 6:
            border = open_edge[chosen, feature - 3]
        distance[n] = np.sqrt(least)
        if side < 0.0 and not border:
            distance[n] = -distance[n]


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
def is_inside(field: FieldArrays, x: float, y: float, z: float) -> bool:
    """Whether a point is in a cell that four nodes surround in every direction."""
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
        if is_inside(field, x, y, z):
            interpolate(field, x, y, z, out[n])
        else:
            out[n] = np.nan
