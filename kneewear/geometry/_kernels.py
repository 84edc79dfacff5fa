"""Compiled evaluation and projection of NURBS patches.

A patch is kept as one polynomial (numerator and weight) per pair of knot spans, in local
coordinates between -1/2 and 1/2: evaluation is then a handful of Horner sums without basis
functions. Kernels make no checks; status codes go up to the step around them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import compiled

FOOT = 1
BORDER = 0
FAILED = -1

MAX_ITERATIONS = 40
# A Newton step this short (mm) leaves nothing in the distance and 1e-14 in the normal, and 1e-7
# where curvature jumps.
FINAL_STEP = 1e-6
# How far the end of the normal may miss the point, mm; at a border it misses by far more.
FOOT_MISS = 1e-5
# How far a line may miss the point where it meets a patch, mm.
LINE_MISS = 1e-10


class PatchArrays(NamedTuple):
    """Plain arrays of one surface, as kernels want them."""

    breaks_u: NDArray[np.float64]
    breaks_v: NDArray[np.float64]
    coefficients: NDArray[np.float64]  # span u, span v, power of u, power of v, (x w, y w, z w, w)
    rational: bool


@compiled
def find_span(breaks: NDArray, value: float) -> int:  # pragma: no cover
    low, high = 0, breaks.shape[0] - 2
    while low < high:
        middle = (low + high + 1) // 2
        if breaks[middle] <= value:
            low = middle
        else:
            high = middle - 1
    return low


@compiled
def evaluate(patch: PatchArrays, u: float, v: float, out: NDArray) -> None:  # pragma: no cover
    """Fill out[0:6, 0:3] with S, Su, Sv, Suu, Suv, Svv."""
    i = find_span(patch.breaks_u, u)
    j = find_span(patch.breaks_v, v)
    width_u = patch.breaks_u[i + 1] - patch.breaks_u[i]
    width_v = patch.breaks_v[j + 1] - patch.breaks_v[j]
    s = (u - patch.breaks_u[i]) / width_u - 0.5
    t = (v - patch.breaks_v[j]) / width_v - 0.5
    block = patch.coefficients[i, j]
    n_u, n_v = block.shape[0], block.shape[1]
    n_c = 4 if patch.rational else 3
    for c in range(n_c):
        f = fu = fuu = fv = fuv = fvv = 0.0
        for k in range(n_u - 1, -1, -1):
            g = gv = gvv = 0.0
            for m in range(n_v - 1, -1, -1):
                gvv = gvv * t + gv
                gv = gv * t + g
                g = g * t + block[k, m, c]
            fuu = fuu * s + fu
            fu = fu * s + f
            f = f * s + g
            fuv = fuv * s + fv
            fv = fv * s + gv
            fvv = fvv * s + gvv
        out[0, c] = f
        out[1, c] = fu / width_u
        out[2, c] = fv / width_v
        out[3, c] = 2.0 * fuu / (width_u * width_u)
        out[4, c] = fuv / (width_u * width_v)
        out[5, c] = 2.0 * fvv / (width_v * width_v)
    if patch.rational:
        w, wu, wv = out[0, 3], out[1, 3], out[2, 3]
        wuu, wuv, wvv = out[3, 3], out[4, 3], out[5, 3]
        for c in range(3):
            point = out[0, c] / w
            along_u = (out[1, c] - wu * point) / w
            along_v = (out[2, c] - wv * point) / w
            out[3, c] = (out[3, c] - 2.0 * wu * along_u - wuu * point) / w
            out[4, c] = (out[4, c] - wu * along_v - wv * along_u - wuv * point) / w
            out[5, c] = (out[5, c] - 2.0 * wv * along_v - wvv * point) / w
            out[0, c], out[1, c], out[2, c] = point, along_u, along_v


@compiled
def evaluate_many(
    patch: PatchArrays, u: NDArray, v: NDArray, out: NDArray
) -> None:  # pragma: no cover
    work = np.empty((6, 4))
    for n in range(u.shape[0]):
        evaluate(patch, u[n], v[n], work)
        for k in range(6):
            for c in range(3):
                out[k, n, c] = work[k, c]


@compiled
def closest_point(
    patch: PatchArrays,
    x: float,
    y: float,
    z: float,
    u: float,
    v: float,
    foot: NDArray,
    work: NDArray,
) -> tuple[float, float, int]:  # pragma: no cover
    """Project a point onto a patch by safeguarded Newton from (u, v).

    Fills foot with signed distance, normal (3) and the six independent entries of the Hessian of
    the distance (xx, yy, zz, xy, xz, yz). Returns u, v and a status.
    """
    u0, u1 = patch.breaks_u[0], patch.breaks_u[-1]
    v0, v1 = patch.breaks_v[0], patch.breaks_v[-1]
    evaluate(patch, u, v, work)
    rx, ry, rz = work[0, 0] - x, work[0, 1] - y, work[0, 2] - z
    for _ in range(MAX_ITERATIONS):
        ux, uy, uz = work[1, 0], work[1, 1], work[1, 2]
        vx, vy, vz = work[2, 0], work[2, 1], work[2, 2]
        g_u = rx * ux + ry * uy + rz * uz
        g_v = rx * vx + ry * vy + rz * vz
        e = ux * ux + uy * uy + uz * uz
        f = ux * vx + uy * vy + uz * vz
        g = vx * vx + vy * vy + vz * vz
        h_uu = e + rx * work[3, 0] + ry * work[3, 1] + rz * work[3, 2]
        h_uv = f + rx * work[4, 0] + ry * work[4, 1] + rz * work[4, 2]
        h_vv = g + rx * work[5, 0] + ry * work[5, 1] + rz * work[5, 2]
        held_u = (u <= u0 and g_u > 0.0) or (u >= u1 and g_u < 0.0)
        held_v = (v <= v0 and g_v > 0.0) or (v >= v1 and g_v < 0.0)
        determinant = h_uu * h_vv - h_uv * h_uv
        if held_u and held_v:
            du = dv = 0.0
        elif held_u:
            du, dv = 0.0, -g_v / (h_vv if h_vv > 0.05 * g else g)
        elif held_v:
            du, dv = -g_u / (h_uu if h_uu > 0.05 * e else e), 0.0
        else:
            # Far inside the metal the Hessian loses its sign; the metric alone still descends.
            if h_uu < 0.05 * e or determinant < 0.05 * (e * g - f * f):
                h_uu, h_uv, h_vv = e, f, g
                determinant = e * g - f * f
            du = -(h_vv * g_u - h_uv * g_v) / determinant
            dv = -(h_uu * g_v - h_uv * g_u) / determinant
        # A step cut off at a border goes along it: cut alone, it may not descend.
        if v + dv < v0 or v + dv > v1:
            dv = (v0 if v + dv < v0 else v1) - v
            if not held_u:
                du = -(g_u + h_uv * dv) / (h_uu if h_uu > 0.05 * e else e)
        if u + du < u0 or u + du > u1:
            du = (u0 if u + du < u0 else u1) - u
            if not held_v:
                dv = -(g_v + h_uv * du) / (h_vv if h_vv > 0.05 * g else g)
        next_u = min(max(u + du, u0), u1)
        next_v = min(max(v + dv, v0), v1)
        du, dv = next_u - u, next_v - v
        step_x, step_y, step_z = ux * du + vx * dv, uy * du + vy * dv, uz * du + vz * dv
        if step_x * step_x + step_y * step_y + step_z * step_z < FINAL_STEP * FINAL_STEP:
            nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
            area = np.sqrt(nx * nx + ny * ny + nz * nz)
            nx, ny, nz = nx / area, ny / area, nz / area
            rx, ry, rz = rx + step_x, ry + step_y, rz + step_z
            distance = -(rx * nx + ry * ny + rz * nz)
            fill_foot(work, distance, nx, ny, nz, du, dv, foot)
            off_x, off_y = rx + distance * foot[1], ry + distance * foot[2]
            off_z = rz + distance * foot[3]
            sideways = np.sqrt(off_x * off_x + off_y * off_y + off_z * off_z)
            return next_u, next_v, FOOT if sideways < FOOT_MISS else BORDER
        before = rx * rx + ry * ry + rz * rz
        for _halving in range(12):
            evaluate(patch, next_u, next_v, work)
            rx, ry, rz = work[0, 0] - x, work[0, 1] - y, work[0, 2] - z
            if rx * rx + ry * ry + rz * rz <= before + 1e-14:
                break
            next_u, next_v = 0.5 * (u + next_u), 0.5 * (v + next_v)
        u, v = next_u, next_v
    foot[0] = np.inf
    return u, v, FAILED


@compiled
def fill_foot(
    work: NDArray,
    distance: float,
    nx: float,
    ny: float,
    nz: float,
    du: float,
    dv: float,
    foot: NDArray,
) -> None:  # pragma: no cover
    """Distance, normal carried along the last step (du, dv), and Hessian of the distance.

    With metric G, second form B and rows T = (Su, Sv): Hessian = -T' G^-1 B (G - m B)^-1 T.
    """
    ux, uy, uz = work[1, 0], work[1, 1], work[1, 2]
    vx, vy, vz = work[2, 0], work[2, 1], work[2, 2]
    e = ux * ux + uy * uy + uz * uz
    f = ux * vx + uy * vy + uz * vz
    g = vx * vx + vy * vy + vz * vz
    b_uu = nx * work[3, 0] + ny * work[3, 1] + nz * work[3, 2]
    b_uv = nx * work[4, 0] + ny * work[4, 1] + nz * work[4, 2]
    b_vv = nx * work[5, 0] + ny * work[5, 1] + nz * work[5, 2]
    det_g = e * g - f * f
    # Shape operator W = G^-1 B.
    w_uu = (g * b_uu - f * b_uv) / det_g
    w_uv = (g * b_uv - f * b_vv) / det_g
    w_vu = (e * b_uv - f * b_uu) / det_g
    w_vv = (e * b_vv - f * b_uv) / det_g
    shift_u = -(w_uu * du + w_uv * dv)
    shift_v = -(w_vu * du + w_vv * dv)
    foot[0] = distance
    foot[1] = nx + shift_u * ux + shift_v * vx
    foot[2] = ny + shift_u * uy + shift_v * vy
    foot[3] = nz + shift_u * uz + shift_v * vz
    m_uu, m_uv, m_vv = e - distance * b_uu, f - distance * b_uv, g - distance * b_vv
    det_m = m_uu * m_vv - m_uv * m_uv
    # Q = -G^-1 B (G - m B)^-1, symmetric.
    q_uu = -(w_uu * m_vv - w_uv * m_uv) / det_m
    q_uv = -(w_uv * m_uu - w_uu * m_uv) / det_m
    q_vv = -(w_vv * m_uu - w_vu * m_uv) / det_m
    foot[4] = q_uu * ux * ux + 2.0 * q_uv * ux * vx + q_vv * vx * vx
    foot[5] = q_uu * uy * uy + 2.0 * q_uv * uy * vy + q_vv * vy * vy
    foot[6] = q_uu * uz * uz + 2.0 * q_uv * uz * vz + q_vv * vz * vz
    foot[7] = q_uu * ux * uy + q_uv * (ux * vy + vx * uy) + q_vv * vx * vy
    foot[8] = q_uu * ux * uz + q_uv * (ux * vz + vx * uz) + q_vv * vx * vz
    foot[9] = q_uu * uy * uz + q_uv * (uy * vz + vy * uz) + q_vv * vy * vz


@compiled
def closest_many(
    patch: PatchArrays,
    points: NDArray,
    u: NDArray,
    v: NDArray,
    feet: NDArray,
    status: NDArray,
) -> None:  # pragma: no cover
    work = np.empty((6, 4))
    for n in range(points.shape[0]):
        u[n], v[n], status[n] = closest_point(
            patch, points[n, 0], points[n, 1], points[n, 2], u[n], v[n], feet[n], work
        )


@compiled
def drop_many(
    patch: PatchArrays, x: NDArray, z: NDArray, u: NDArray, v: NDArray, hit: NDArray
) -> None:  # pragma: no cover
    """Find where vertical lines through (x, z) meet a patch, by Newton from (u, v)."""
    work = np.empty((6, 4))
    u0, u1 = patch.breaks_u[0], patch.breaks_u[-1]
    v0, v1 = patch.breaks_v[0], patch.breaks_v[-1]
    for n in range(x.shape[0]):
        hit[n] = False
        for _ in range(MAX_ITERATIONS):
            evaluate(patch, u[n], v[n], work)
            miss_x, miss_z = work[0, 0] - x[n], work[0, 2] - z[n]
            if miss_x * miss_x + miss_z * miss_z < 1e-22:
                hit[n] = True
                break
            determinant = work[1, 0] * work[2, 2] - work[1, 2] * work[2, 0]
            if abs(determinant) < 1e-12:
                break
            du = -(work[2, 2] * miss_x - work[2, 0] * miss_z) / determinant
            dv = -(work[1, 0] * miss_z - work[1, 2] * miss_x) / determinant
            u[n] = min(max(u[n] + du, u0), u1)
            v[n] = min(max(v[n] + dv, v0), v1)


# Distance tables: where a place lies.
TABLED = 1
APART = 2  # farther out than the table's band
UNTABLED = 0  # deeper than the band, beside it or at a border of the patch: ask the patch

ZERO, ONE, TWO, THREE = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
SIXTH = 1.0 / 6.0
# Weights of the cubic B-spline coefficient at a node: the inverse of the sampled B-spline
# (1 + d2 / 6) in powers of the second difference d2, cut after d2 * d2. It needs two nodes to each
# side, where the full inverse needs all; of smooth data it loses terms of sixth order only.
COEFFICIENT = np.array([1 / 36, -10 / 36, 54 / 36, -10 / 36, 1 / 36])
# The same followed by the B-spline half-way between two nodes: value there from eight nodes.
HALF_WAY = np.convolve(COEFFICIENT, np.array([1.0, 23.0, 23.0, 1.0]) / 48.0)


class DistanceArrays(NamedTuple):
    """B-spline coefficients of the signed distance in a band along one patch.

    Coordinates are the angle about an axis parallel to z (0 is distal, posterior positive), z and
    the distance from that axis. Each (angle, z) column of nodes is one run along the radius.
    """

    axis: NDArray[np.float64]  # x, y
    origin: NDArray[np.float64]  # angle, z, radius of node 0
    rate: NDArray[np.float64]  # one over the spacing along each
    first: NDArray[np.int32]  # first radial node of each column
    length: NDArray[np.int32]  # its number of nodes
    base: NDArray[np.int32]  # place of its node 0 (if it had one) in the flat arrays
    coefficient: NDArray[np.float32]
    state: NDArray[np.uint8]  # of the cell that starts at each node


@compiled
def spline_weights(t: float) -> tuple[float, float, float, float]:  # pragma: no cover
    """Weights of the four cubic B-splines at t of a cell."""
    s = 1.0 - t
    first, last = s * s * s * SIXTH, t * t * t * SIXTH
    second = (3.0 * t - 6.0) * t * t * SIXTH + 4.0 * SIXTH
    return first, second, 1.0 - first - second - last, last


@compiled
def spline_slopes(t: float, rate: float) -> tuple[float, float, float, float]:  # pragma: no cover
    """First derivatives of the weights; `rate` is one over the spacing."""
    s = 1.0 - t
    first, last = -0.5 * s * s * rate, 0.5 * t * t * rate
    second = (1.5 * t - 2.0) * t * rate
    return first, second, -(first + second + last), last


@compiled
def spline_bends(t: float, rate: float) -> tuple[float, float, float, float]:  # pragma: no cover
    """Second derivatives of the weights; `rate` is one over the spacing, squared."""
    return (1.0 - t) * rate, (3.0 * t - 2.0) * rate, (1.0 - 3.0 * t) * rate, t * rate


@compiled
def look_up(
    table: DistanceArrays,
    points: NDArray,
    count: int,
    limit: float,
    feet: NDArray,
    state: NDArray,
) -> None:  # pragma: no cover
    """Signed distances of the first `count` points from the table; below `limit` with derivatives.

    Fills feet as `closest_point` does, but with the gradient as it is, which misses unit length by
    the error of the table: so it is the derivative of the distance to the last digit. One flat
    loop, because a call that takes the arrays costs more than a look-up; unsigned indices, because
    signed ones are tested for counting from the end.
    """
    state[:count] = UNTABLED
    if table.first.shape[0] == 0:
        return
    first, length, base = table.first, table.length, table.base
    value, kind = table.coefficient, table.state
    axis_x, axis_y = table.axis[0], table.axis[1]
    origin_a, origin_b, origin_c = table.origin[0], table.origin[1], table.origin[2]
    rate_a, rate_b, rate_c = table.rate[0], table.rate[1], table.rate[2]
    last_a, last_b = first.shape[0] - 2.0, first.shape[1] - 2.0
    for number in range(count):
        dx, dy = points[number, 0] - axis_x, points[number, 1] - axis_y
        radius = np.sqrt(dx * dx + dy * dy)
        angle = (np.arctan2(dx, -dy) - origin_a) * rate_a
        across = (points[number, 2] - origin_b) * rate_b
        out = (radius - origin_c) * rate_c
        if not (1.0 <= angle < last_a and 1.0 <= across < last_b and out >= 1.0):
            continue
        i, k, j = np.uint64(angle), np.uint64(across), np.uint64(out)
        start, nodes = np.uint64(first[i, k]), np.uint64(length[i, k])
        if j < start or nodes == ZERO:
            continue
        place = min(j - start, nodes - ONE)
        known = kind[np.uint64(base[i, k] + first[i, k]) + place]
        state[number] = known
        if known != TABLED:
            continue

        j0 = np.int64(j) - 1
        a = spline_weights(angle - i)
        b0, b1, b2, b3 = spline_weights(across - k)
        c0, c1, c2, c3 = spline_weights(out - j)
        v0 = v1 = v2 = v3 = 0.0
        for m in range(4):
            w = a[0] if m == 0 else a[1] if m == 1 else a[2] if m == 2 else a[3]
            row = i + np.uint64(m) - ONE
            p, q = np.uint64(base[row, k - ONE] + j0), np.uint64(base[row, k] + j0)
            r, s = np.uint64(base[row, k + ONE] + j0), np.uint64(base[row, k + TWO] + j0)
            w0, w1, w2, w3 = w * b0, w * b1, w * b2, w * b3
            v0 += w0 * value[p] + w1 * value[q] + w2 * value[r] + w3 * value[s]
            p, q, r, s = p + ONE, q + ONE, r + ONE, s + ONE
            v1 += w0 * value[p] + w1 * value[q] + w2 * value[r] + w3 * value[s]
            p, q, r, s = p + ONE, q + ONE, r + ONE, s + ONE
            v2 += w0 * value[p] + w1 * value[q] + w2 * value[r] + w3 * value[s]
            p, q, r, s = p + ONE, q + ONE, r + ONE, s + ONE
            v3 += w0 * value[p] + w1 * value[q] + w2 * value[r] + w3 * value[s]
        feet[number, 0] = c0 * v0 + c1 * v1 + c2 * v2 + c3 * v3
        if feet[number, 0] >= limit:
            continue

        da, dda = spline_slopes(angle - i, rate_a), spline_bends(angle - i, rate_a * rate_a)
        db, ddb = spline_slopes(across - k, rate_b), spline_bends(across - k, rate_b * rate_b)
        d0, d1, d2, d3 = spline_slopes(out - j, rate_c)
        e0, e1, e2, e3 = spline_bends(out - j, rate_c * rate_c)
        f_a = f_b = f_c = f_aa = f_bb = f_cc = f_ab = f_ac = f_bc = 0.0
        for m in range(4):
            g = g_b = g_c = g_bb = g_cc = g_bc = 0.0
            for n in range(4):
                p = np.uint64(base[i + np.uint64(m) - ONE, k + np.uint64(n) - ONE] + j0)
                v0, v1 = np.float64(value[p]), np.float64(value[p + ONE])
                v2, v3 = np.float64(value[p + TWO]), np.float64(value[p + THREE])
                h = c0 * v0 + c1 * v1 + c2 * v2 + c3 * v3
                h_c = d0 * v0 + d1 * v1 + d2 * v2 + d3 * v3
                w = b0 if n == 0 else b1 if n == 1 else b2 if n == 2 else b3
                w_b = db[0] if n == 0 else db[1] if n == 1 else db[2] if n == 2 else db[3]
                w_bb = ddb[0] if n == 0 else ddb[1] if n == 1 else ddb[2] if n == 2 else ddb[3]
                g += w * h
                g_b += w_b * h
                g_bb += w_bb * h
                g_c += w * h_c
                g_bc += w_b * h_c
                g_cc += w * (e0 * v0 + e1 * v1 + e2 * v2 + e3 * v3)
            w = a[0] if m == 0 else a[1] if m == 1 else a[2] if m == 2 else a[3]
            w_a = da[0] if m == 0 else da[1] if m == 1 else da[2] if m == 2 else da[3]
            f_a += w_a * g
            f_aa += (dda[0] if m == 0 else dda[1] if m == 1 else dda[2] if m == 2 else dda[3]) * g
            f_b += w * g_b
            f_ab += w_a * g_b
            f_bb += w * g_bb
            f_c += w * g_c
            f_ac += w_a * g_c
            f_bc += w * g_bc
            f_cc += w * g_cc

        # From (angle, z, radius) to (x, y, z): radial unit vector (o, -e), angular one (e, o).
        o, e = dx / radius, -dy / radius
        turn = f_a / radius
        feet[number, 1] = f_c * o + turn * e
        feet[number, 2] = -f_c * e + turn * o
        feet[number, 3] = f_b
        along = f_c / radius + f_aa / (radius * radius)
        mixed, sideways = (f_ac - turn) / radius, f_ab / radius
        feet[number, 4] = f_cc * o * o + 2.0 * mixed * o * e + along * e * e
        feet[number, 5] = f_cc * e * e - 2.0 * mixed * o * e + along * o * o
        feet[number, 6] = f_bb
        feet[number, 7] = (along - f_cc) * o * e + mixed * (o * o - e * e)
        feet[number, 8] = f_bc * o + sideways * e
        feet[number, 9] = -f_bc * e + sideways * o


@compiled
def half_way_errors(
    patch: PatchArrays,
    axis: NDArray,
    points: NDArray,
    u: NDArray,
    v: NDArray,
    step: NDArray,
    distance: NDArray,
    error: NDArray,
) -> None:  # pragma: no cover
    """Error of a spline along one line through each point, half-way between nodes `step` apart.

    A step is (turn about the axis, dz, dr); NaN where a node has no foot.
    """
    foot, work = np.empty(10), np.empty((6, 4))
    for n in range(points.shape[0]):
        dx, dy = points[n, 0] - axis[0], points[n, 1] - axis[1]
        radius = np.sqrt(dx * dx + dy * dy)
        total = 0.0
        for side in (-1, 1):
            at_u, at_v = u[n], v[n]
            for m in range(4):
                q = side * (m + 0.5)
                turn, out = q * step[0], 1.0 + q * step[2] / radius
                cosine, sine = np.cos(turn), np.sin(turn)
                x = axis[0] + out * (dx * cosine - dy * sine)
                y = axis[1] + out * (dx * sine + dy * cosine)
                z = points[n, 2] + q * step[1]
                at_u, at_v, status = closest_point(patch, x, y, z, at_u, at_v, foot, work)
                total += HALF_WAY[4 + m if side > 0 else 3 - m] * foot[0]
                if status != FOOT:
                    total = np.nan
        error[n] = total - distance[n]


@compiled
def mark_cells(
    patch: PatchArrays,
    axis: NDArray,
    origin: NDArray,
    spacing: NDArray,
    u: NDArray,
    v: NDArray,
    depth: NDArray,
    outside: float,
    layers: int,
    low: NDArray,
    high: NDArray,
    start_u: NDArray,
    start_v: NDArray,
) -> None:  # pragma: no cover
    """Widen each column's range of cells to hold points of all layers of the band over (u, v)."""
    work = np.empty((6, 4))
    for p in range(u.shape[0]):
        for q in range(v.shape[0]):
            evaluate(patch, u[p], v[q], work)
            nx = work[1, 1] * work[2, 2] - work[1, 2] * work[2, 1]
            ny = work[1, 2] * work[2, 0] - work[1, 0] * work[2, 2]
            nz = work[1, 0] * work[2, 1] - work[1, 1] * work[2, 0]
            area = np.sqrt(nx * nx + ny * ny + nz * nz)
            for m in range(layers + 1):
                reach = ((outside + depth[p, q]) * m / layers - depth[p, q]) / area
                dx, dy = work[0, 0] + reach * nx - axis[0], work[0, 1] + reach * ny - axis[1]
                z = work[0, 2] + reach * nz
                i = int((np.arctan2(dx, -dy) - origin[0]) / spacing[0])
                k = int((z - origin[1]) / spacing[1])
                j = int((np.sqrt(dx * dx + dy * dy) - origin[2]) / spacing[2])
                low[i, k] = min(low[i, k], j)
                high[i, k] = max(high[i, k], j)
                start_u[i, k], start_v[i, k] = u[p], v[q]


@compiled
def height_over(
    patch: PatchArrays, x: float, y: float, z: float, u: float, v: float, work: NDArray
) -> float:  # pragma: no cover
    """Height of a point over the tangent plane at (u, v)."""
    evaluate(patch, u, v, work)
    nx = work[1, 1] * work[2, 2] - work[1, 2] * work[2, 1]
    ny = work[1, 2] * work[2, 0] - work[1, 0] * work[2, 2]
    nz = work[1, 0] * work[2, 1] - work[1, 1] * work[2, 0]
    height = (x - work[0, 0]) * nx + (y - work[0, 1]) * ny + (z - work[0, 2]) * nz
    return height / np.sqrt(nx * nx + ny * ny + nz * nz)


@compiled
def fill_columns(
    patch: PatchArrays,
    domain: NDArray,
    axis: NDArray,
    origin: NDArray,
    spacing: NDArray,
    first: NDArray,
    offset: NDArray,
    count: NDArray,
    start_u: NDArray,
    start_v: NDArray,
    distance: NDArray,
    is_foot: NDArray,
) -> None:  # pragma: no cover
    """Signed distance at every node, and whether its foot lies in the domain of the patch.

    Where the foot leaves even the continued patch, the distance is that to its tangent plane.
    """
    foot, work = np.empty(10), np.empty((6, 4))
    for i in range(first.shape[0]):
        angle = origin[0] + spacing[0] * i
        sine, cosine = np.sin(angle), np.cos(angle)
        for k in range(first.shape[1]):
            u, v = start_u[i, k], start_v[i, k]
            z = origin[1] + spacing[1] * k
            # From outside in, for there feet are far from jumping.
            for m in range(count[i, k] - 1, -1, -1):
                radius = origin[2] + spacing[2] * (first[i, k] + m)
                x, y = axis[0] + radius * sine, axis[1] - radius * cosine
                q = offset[i, k] + m
                new_u, new_v, status = closest_point(patch, x, y, z, u, v, foot, work)
                is_foot[q] = (
                    status == FOOT
                    and domain[0, 0] <= new_u <= domain[0, 1]
                    and domain[1, 0] <= new_v <= domain[1, 1]
                )
                distance[q] = foot[0]
                if status != FAILED:
                    u, v = new_u, new_v
                elif m < count[i, k] - 4:
                    # Far below the band, where feet are about to jump: carried on smoothly.
                    distance[q] = (
                        4 * distance[q + 1]
                        - 6 * distance[q + 2]
                        + 4 * distance[q + 3]
                        - distance[q + 4]
                    )
                else:
                    distance[q] = height_over(patch, x, y, z, u, v, work)


@compiled
def fill_coefficients(
    low: NDArray,
    high: NDArray,
    first_node: NDArray,
    offset_node: NDArray,
    distance: NDArray,
    is_foot: NDArray,
    first: NDArray,
    offset: NDArray,
    count: NDArray,
    coefficient: NDArray,
    state: NDArray,
) -> None:  # pragma: no cover
    """Coefficients from the distances at the nodes round each, and what each cell holds."""
    for i in range(first.shape[0]):
        for k in range(first.shape[1]):
            for m in range(count[i, k]):
                j = first[i, k] + m
                total = 0.0
                for a in range(-2, 3):
                    for b in range(-2, 3):
                        q = offset_node[i + a, k + b] + j - first_node[i + a, k + b]
                        line = 0.0
                        for c in range(-2, 3):
                            line += COEFFICIENT[c + 2] * distance[q + c]
                        total += COEFFICIENT[a + 2] * COEFFICIENT[b + 2] * line
                place = offset[i, k] + m
                coefficient[place] = total
                if high[i, k] < 0 or j < low[i, k]:
                    state[place] = UNTABLED
                elif j > high[i, k]:
                    state[place] = APART
                else:
                    state[place] = TABLED
                    for a in range(2):
                        for b in range(2):
                            q = offset_node[i + a, k + b] + j - first_node[i + a, k + b]
                            if not (is_foot[q] and is_foot[q + 1]):
                                state[place] = UNTABLED


class BoxTree(NamedTuple):
    """Boxes round the cells of a patch, and round every four of them up to one box."""

    boxes: NDArray[np.float64]  # box, (x0, y0, z0, x1, y1, z1); finest level first
    starts: NDArray[np.int64]  # first box of each level
    rows: NDArray[np.int64]  # cells along u of each level
    columns: NDArray[np.int64]  # cells along v of each level
    u: NDArray[np.float64]  # middle of each finest row
    v: NDArray[np.float64]  # middle of each finest column


@compiled
def enters_box(
    box: NDArray, ox: float, oy: float, oz: float, ix: float, iy: float, iz: float
) -> float:  # pragma: no cover
    """Distance at which a ray (inverse direction i) enters a box, at least 0; inf if never."""
    near, far = 0.0, np.inf
    for low, high, o, inverse in (
        (box[0], box[3], ox, ix),
        (box[1], box[4], oy, iy),
        (box[2], box[5], oz, iz),
    ):
        if np.isinf(inverse):
            if o < low or o > high:
                return np.inf
        else:
            a, b = (low - o) * inverse, (high - o) * inverse
            near, far = max(near, min(a, b)), min(far, max(a, b))
    return near if near <= far else np.inf


@compiled
def meet_line(
    patch: PatchArrays,
    origin: NDArray,
    direction: NDArray,
    u: float,
    v: float,
    work: NDArray,
) -> tuple[float, float, float]:  # pragma: no cover
    """Newton from (u, v) to where a line meets a patch: u, v and distance; inf without success."""
    u0, u1 = patch.breaks_u[0], patch.breaks_u[-1]
    v0, v1 = patch.breaks_v[0], patch.breaks_v[-1]
    dx, dy, dz = direction[0], direction[1], direction[2]
    outside = 0
    for _ in range(MAX_ITERATIONS):
        evaluate(patch, u, v, work)
        rx, ry, rz = work[0, 0] - origin[0], work[0, 1] - origin[1], work[0, 2] - origin[2]
        along = rx * dx + ry * dy + rz * dz
        rx, ry, rz = rx - along * dx, ry - along * dy, rz - along * dz
        if rx * rx + ry * ry + rz * rz < LINE_MISS * LINE_MISS:
            return u, v, along
        # r + Su du + Sv dv = m d: eliminate m by the normals n x d of the two planes.
        ux, uy, uz = work[1, 0], work[1, 1], work[1, 2]
        vx, vy, vz = work[2, 0], work[2, 1], work[2, 2]
        volume = dx * (uy * vz - uz * vy) + dy * (uz * vx - ux * vz) + dz * (ux * vy - uy * vx)
        size = np.sqrt((ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz))
        if abs(volume) < 1e-9 * size:
            return u, v, np.inf
        du = (
            -(rx * (vy * dz - vz * dy) + ry * (vz * dx - vx * dz) + rz * (vx * dy - vy * dx))
            / volume
        )
        dv = (
            -(rx * (dy * uz - dz * uy) + ry * (dz * ux - dx * uz) + rz * (dx * uy - dy * ux))
            / volume
        )
        next_u, next_v = min(max(u + du, u0), u1), min(max(v + dv, v0), v1)
        # Held at a border and pushed outward again and again: the line passes beside the patch.
        if next_u == u and next_v == v:
            return u, v, np.inf
        outside = outside + 1 if (next_u != u + du or next_v != v + dv) else 0
        if outside > 6:
            return u, v, np.inf
        u, v = next_u, next_v
    return u, v, np.inf


@compiled
def ray_many(
    patch: PatchArrays,
    tree: BoxTree,
    origins: NDArray,
    directions: NDArray,
    u: NDArray,
    v: NDArray,
    distance: NDArray,
) -> None:  # pragma: no cover
    """First point of a patch on each ray; distance inf where there is none."""
    work = np.empty((6, 4))
    stack = np.empty((256, 3), dtype=np.int64)
    entry = np.empty(256)
    top_level = tree.starts.shape[0] - 1
    for n in range(origins.shape[0]):
        ox, oy, oz = origins[n, 0], origins[n, 1], origins[n, 2]
        inverse = np.empty(3)
        for c in range(3):
            inverse[c] = 1.0 / directions[n, c] if directions[n, c] != 0.0 else np.inf
        ix, iy, iz = inverse[0], inverse[1], inverse[2]
        best = np.inf
        depth = 0
        first = enters_box(tree.boxes[tree.starts[top_level]], ox, oy, oz, ix, iy, iz)
        if first < np.inf:
            stack[0, 0], stack[0, 1], stack[0, 2] = top_level, 0, 0
            entry[0] = first
            depth = 1
        while depth > 0:
            depth -= 1
            if entry[depth] > best:
                continue
            level, i, j = stack[depth, 0], stack[depth, 1], stack[depth, 2]
            if level == 0:
                at_u, at_v, found = meet_line(
                    patch, origins[n], directions[n], tree.u[i], tree.v[j], work
                )
                if -LINE_MISS <= found < best:
                    best, u[n], v[n] = found, at_u, at_v
                continue
            base = depth
            for a in range(2 * i, min(2 * i + 2, tree.rows[level - 1])):
                for b in range(2 * j, min(2 * j + 2, tree.columns[level - 1])):
                    box = tree.boxes[tree.starts[level - 1] + a * tree.columns[level - 1] + b]
                    near = enters_box(box, ox, oy, oz, ix, iy, iz)
                    if near <= best and near < np.inf:
                        # The nearest child ends on top of the stack.
                        place = depth
                        while place > base and entry[place - 1] < near:
                            entry[place] = entry[place - 1]
                            for c in range(3):
                                stack[place, c] = stack[place - 1, c]
                            place -= 1
                        entry[place] = near
                        stack[place, 0], stack[place, 1], stack[place, 2] = level - 1, a, b
                        depth += 1
        distance[n] = best
