"""Compiled distance tables: building one from a patch, and looking distances up."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.base.compilation import compiled
from kneewear.geometry._kernels import (
    FAILED,
    INTERIOR,
    PatchArrays,
    area_vector,
    evaluate,
)

# State of a point.
TABLED = 1
APART = 2  # farther out than the table's band
UNTABLED = 0  # deeper than the band, beside it or at a border of the patch: use the patch

ONE = np.uint64(1)
TWO = np.uint64(2)
THREE = np.uint64(3)
SIXTH = 1.0 / 6.0
# Weights of the cubic B-spline coefficient at a node: the inverse of the sampled B-spline
# (1 + d2 / 6) in powers of the second difference d2, cut after d2 * d2. It needs two nodes to each
# side, where the full inverse needs all; of smooth data it loses terms of sixth order only.
COEFFICIENT = np.array([1 / 36, -10 / 36, 54 / 36, -10 / 36, 1 / 36])


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
    base: NDArray[np.int32]  # index of its node 0 (if it had one) in the flat arrays
    coefficient: NDArray[np.float32]
    state: NDArray[np.uint8]  # of the cell that starts at each node


class Nodes(NamedTuple):
    """Grid of nodes over angle about an axis parallel to z, z and radius."""

    axis: NDArray[np.float64]  # x, y
    origin: NDArray[np.float64]  # angle, z, radius of node 0
    spacing: NDArray[np.float64]


class Runs(NamedTuple):
    """Runs of radial nodes, one per column, in flat arrays."""

    first: NDArray[np.int32]  # first radial node of each column
    offset: NDArray[np.int32]  # its index in the flat arrays
    length: NDArray[np.int32]  # its number of nodes


# Signed distance, its gradient (3) and its second derivatives xx, yy, zz, xy, xz, yz.
PROJECTION_VALUES = 10


@compiled
def spline_weights(t: float) -> tuple[float, float, float, float]:
    """Weights of the four cubic B-splines at t of a cell.

    The four polynomials are written alike, so that they share a register.
    """
    return (
        ((-SIXTH * t + 0.5) * t - 0.5) * t + SIXTH,
        ((0.5 * t - 1.0) * t + 0.0) * t + 4.0 * SIXTH,
        ((-0.5 * t + 0.5) * t + 0.5) * t + SIXTH,
        ((SIXTH * t + 0.0) * t + 0.0) * t + 0.0,
    )


@compiled
def spline_slopes(t: float, rate: float) -> tuple[float, float, float, float]:
    """First derivatives of the weights; `rate` is one over the spacing."""
    return (
        ((-0.5 * t + 1.0) * t - 0.5) * rate,
        ((1.5 * t - 2.0) * t + 0.0) * rate,
        ((-1.5 * t + 1.0) * t + 0.5) * rate,
        ((0.5 * t + 0.0) * t + 0.0) * rate,
    )


@compiled
def spline_bends(t: float, rate: float) -> tuple[float, float, float, float]:
    """Second derivatives of the weights; `rate` is one over the spacing, squared."""
    return (1.0 - t) * rate, (3.0 * t - 2.0) * rate, (1.0 - 3.0 * t) * rate, t * rate


# Angles of 22.5, 45 and 90 deg split the arctangent's range.
EIGHTH = 0.41421356237309503
QUARTER = 0.7853981633974483
# Numerator and denominator of (arctan z - z) / z^3 in powers of z^2, falling, for |z| <= tan 22.5
# deg, to rounding (Cephes library, S. L. Moshier, atan.c).
UPPER = (
    -8.750608600031904122785e-1,
    -1.615753718733365076637e1,
    -7.500855792314704667340e1,
    -1.228866684490136173410e2,
    -6.485021904942025371773e1,
)
LOWER = (
    2.485846490142306297962e1,
    1.650270098316988542046e2,
    4.328810604912902668951e2,
    4.853903996359136964868e2,
    1.945506571482613964425e2,
)


@compiled
def find_coordinates(
    table: DistanceArrays, points: NDArray, first: int, last: int, coordinates: NDArray
) -> None:
    """Coordinates of points in units of the table's cells, and their radius.

    `points` (3, n) and `coordinates` (4, n: angle, z, radius in cells; radius) hold one row per
    coordinate. The arctangent is written out and loops use few arrays, so that the compiler
    vectorizes them.
    """
    axis_x, axis_y = table.axis[0], table.axis[1]
    origin_a, origin_b, origin_c = table.origin[0], table.origin[1], table.origin[2]
    rate_a, rate_b, rate_c = table.rate[0], table.rate[1], table.rate[2]
    for n in range(np.uint64(first), np.uint64(last)):
        sine, cosine = points[0, n] - axis_x, axis_y - points[1, n]
        radius = np.sqrt(sine * sine + cosine * cosine)
        low, high = min(abs(sine), abs(cosine)), max(abs(sine), abs(cosine))
        beyond = low > EIGHTH * high
        z = ((low - high) if beyond else low) / ((low + high) if beyond else max(high, 1e-300))
        q = z * z
        p = (((UPPER[0] * q + UPPER[1]) * q + UPPER[2]) * q + UPPER[3]) * q + UPPER[4]
        s = ((((q + LOWER[0]) * q + LOWER[1]) * q + LOWER[2]) * q + LOWER[3]) * q + LOWER[4]
        angle = z + z * q * p / s
        angle = angle + QUARTER if beyond else angle
        angle = 2.0 * QUARTER - angle if abs(sine) > abs(cosine) else angle
        angle = 4.0 * QUARTER - angle if cosine < 0.0 else angle
        angle = -angle if sine < 0.0 else angle
        coordinates[0, n] = (angle - origin_a) * rate_a
        coordinates[3, n] = radius
    for n in range(np.uint64(first), np.uint64(last)):
        coordinates[1, n] = (points[2, n] - origin_b) * rate_b
        coordinates[2, n] = (coordinates[3, n] - origin_c) * rate_c


@compiled
def find_states(
    table: DistanceArrays, coordinates: NDArray, first: int, last: int, state: NDArray
) -> None:
    """Find where the table has values, for points of given coordinates."""
    start, length, base, kind = table.first, table.length, table.base, table.state
    last_a, last_b = start.shape[0] - 2.0, start.shape[1] - 2.0
    for n in range(np.uint64(first), np.uint64(last)):
        angle, across, out = coordinates[0, n], coordinates[1, n], coordinates[2, n]
        state[n] = UNTABLED
        if not (1.0 <= angle < last_a and 1.0 <= across < last_b and 1.0 <= out < 1e9):
            continue
        i, k, j = np.uint64(angle), np.uint64(across), np.int64(out)
        lowest, nodes = np.int64(start[i, k]), np.int64(length[i, k])
        if j >= lowest and nodes > 0:
            here = np.int64(base[i, k]) + lowest + min(j - lowest, nodes - 1)
            state[n] = kind[np.uint64(here)]


@compiled
def look_up_distances(
    table: DistanceArrays,
    points: NDArray,
    first: int,
    last: int,
    coordinates: NDArray,
    state: NDArray,
    projections: NDArray,
) -> None:
    """Fill the first row of `projections` with signed distances of points first to last.

    Points without tabulated values are left as they are.

    Arrays hold one row per coordinate and one column per point. Loops are flat, because a call that
    takes the arrays costs more than a look-up, and indices unsigned, because signed ones are tested
    for counting from the end. The four radial nodes are adjacent and share a register.
    """
    find_coordinates(table, points, first, last, coordinates)
    find_states(table, coordinates, first, last, state)
    base, value = table.base, table.coefficient
    for n in range(np.uint64(first), np.uint64(last)):
        if state[n] != TABLED:
            continue
        angle, across, out = coordinates[0, n], coordinates[1, n], coordinates[2, n]
        i, k, j = np.uint64(angle), np.uint64(across), np.int64(out)
        a0, a1, a2, a3 = spline_weights(angle - i)
        b0, b1, b2, b3 = spline_weights(across - k)
        c0, c1, c2, c3 = spline_weights(out - j)
        f0 = f1 = f2 = f3 = 0.0
        for m in range(4):
            g0 = g1 = g2 = g3 = 0.0
            for q in range(4):
                column = base[i + np.uint64(m) - ONE, k + np.uint64(q) - ONE]
                p = np.uint64(np.int64(column) + j - 1)
                b = b0 if q == 0 else b1 if q == 1 else b2 if q == 2 else b3
                g0 += b * value[p]
                g1 += b * value[p + ONE]
                g2 += b * value[p + TWO]
                g3 += b * value[p + THREE]
            a = a0 if m == 0 else a1 if m == 1 else a2 if m == 2 else a3
            f0 += a * g0
            f1 += a * g1
            f2 += a * g2
            f3 += a * g3
        projections[0, n] = c0 * f0 + c1 * f1 + c2 * f2 + c3 * f3


@compiled
def look_up_projections(
    table: DistanceArrays,
    points: NDArray,
    first: int,
    last: int,
    coordinates: NDArray,
    state: NDArray,
    projections: NDArray,
) -> None:
    """Distances as `look_up_distances` with first and second derivatives, as `closest_point`.

    The gradient is not normalized: it is the exact derivative of the tabulated distance.
    """
    find_coordinates(table, points, first, last, coordinates)
    find_states(table, coordinates, first, last, state)
    base, value = table.base, table.coefficient
    axis_x, axis_y = table.axis[0], table.axis[1]
    rate_a, rate_b, rate_c = table.rate[0], table.rate[1], table.rate[2]
    for n in range(np.uint64(first), np.uint64(last)):
        if state[n] != TABLED:
            continue
        angle, across, out = coordinates[0, n], coordinates[1, n], coordinates[2, n]
        i, k, j = np.uint64(angle), np.uint64(across), np.int64(out)
        a, da = spline_weights(angle - i), spline_slopes(angle - i, rate_a)
        dda = spline_bends(angle - i, rate_a * rate_a)
        b, db = spline_weights(across - k), spline_slopes(across - k, rate_b)
        ddb = spline_bends(across - k, rate_b * rate_b)
        # Sums over angle and z at each of the four radial nodes; names state the derivatives.
        f0 = f1 = f2 = f3 = fa0 = fa1 = fa2 = fa3 = fb0 = fb1 = fb2 = fb3 = 0.0
        faa0 = faa1 = faa2 = faa3 = fab0 = fab1 = fab2 = fab3 = fbb0 = fbb1 = fbb2 = fbb3 = 0.0
        for m in range(4):
            g0 = g1 = g2 = g3 = gb0 = gb1 = gb2 = gb3 = gbb0 = gbb1 = gbb2 = gbb3 = 0.0
            for q in range(4):
                column = base[i + np.uint64(m) - ONE, k + np.uint64(q) - ONE]
                p = np.uint64(np.int64(column) + j - 1)
                v0, v1 = np.float64(value[p]), np.float64(value[p + ONE])
                v2, v3 = np.float64(value[p + TWO]), np.float64(value[p + THREE])
                w = b[0] if q == 0 else b[1] if q == 1 else b[2] if q == 2 else b[3]
                g0, g1, g2, g3 = g0 + w * v0, g1 + w * v1, g2 + w * v2, g3 + w * v3
                w = db[0] if q == 0 else db[1] if q == 1 else db[2] if q == 2 else db[3]
                gb0, gb1, gb2, gb3 = gb0 + w * v0, gb1 + w * v1, gb2 + w * v2, gb3 + w * v3
                w = ddb[0] if q == 0 else ddb[1] if q == 1 else ddb[2] if q == 2 else ddb[3]
                gbb0, gbb1, gbb2, gbb3 = gbb0 + w * v0, gbb1 + w * v1, gbb2 + w * v2, gbb3 + w * v3
            w = a[0] if m == 0 else a[1] if m == 1 else a[2] if m == 2 else a[3]
            f0, f1, f2, f3 = f0 + w * g0, f1 + w * g1, f2 + w * g2, f3 + w * g3
            fb0, fb1, fb2, fb3 = fb0 + w * gb0, fb1 + w * gb1, fb2 + w * gb2, fb3 + w * gb3
            fbb0, fbb1 = fbb0 + w * gbb0, fbb1 + w * gbb1
            fbb2, fbb3 = fbb2 + w * gbb2, fbb3 + w * gbb3
            w = da[0] if m == 0 else da[1] if m == 1 else da[2] if m == 2 else da[3]
            fa0, fa1, fa2, fa3 = fa0 + w * g0, fa1 + w * g1, fa2 + w * g2, fa3 + w * g3
            fab0, fab1, fab2, fab3 = fab0 + w * gb0, fab1 + w * gb1, fab2 + w * gb2, fab3 + w * gb3
            w = dda[0] if m == 0 else dda[1] if m == 1 else dda[2] if m == 2 else dda[3]
            faa0, faa1, faa2, faa3 = faa0 + w * g0, faa1 + w * g1, faa2 + w * g2, faa3 + w * g3
        c0, c1, c2, c3 = spline_weights(out - j)
        projections[0, n] = c0 * f0 + c1 * f1 + c2 * f2 + c3 * f3
        f_a = c0 * fa0 + c1 * fa1 + c2 * fa2 + c3 * fa3
        f_b = c0 * fb0 + c1 * fb1 + c2 * fb2 + c3 * fb3
        f_aa = c0 * faa0 + c1 * faa1 + c2 * faa2 + c3 * faa3
        f_ab = c0 * fab0 + c1 * fab1 + c2 * fab2 + c3 * fab3
        f_bb = c0 * fbb0 + c1 * fbb1 + c2 * fbb2 + c3 * fbb3
        c0, c1, c2, c3 = spline_slopes(out - j, rate_c)
        f_c = c0 * f0 + c1 * f1 + c2 * f2 + c3 * f3
        f_ac = c0 * fa0 + c1 * fa1 + c2 * fa2 + c3 * fa3
        f_bc = c0 * fb0 + c1 * fb1 + c2 * fb2 + c3 * fb3
        c0, c1, c2, c3 = spline_bends(out - j, rate_c * rate_c)
        f_cc = c0 * f0 + c1 * f1 + c2 * f2 + c3 * f3

        # From (angle, z, radius) to (x, y, z): radial unit vector (o, -e), angular one (e, o).
        inverse = 1.0 / coordinates[3, n]
        o, e = (points[0, n] - axis_x) * inverse, (axis_y - points[1, n]) * inverse
        turn = f_a * inverse
        projections[1, n] = f_c * o + turn * e
        projections[2, n] = -f_c * e + turn * o
        projections[3, n] = f_b
        along = (f_c + f_aa * inverse) * inverse
        mixed, sideways = (f_ac - turn) * inverse, f_ab * inverse
        projections[4, n] = f_cc * o * o + 2.0 * mixed * o * e + along * e * e
        projections[5, n] = f_cc * e * e - 2.0 * mixed * o * e + along * o * o
        projections[6, n] = f_bb
        projections[7, n] = (along - f_cc) * o * e + mixed * (o * o - e * e)
        projections[8, n] = f_bc * o + sideways * e
        projections[9, n] = -f_bc * e + sideways * o


@compiled
def mark_cells(
    patch: PatchArrays,
    nodes: Nodes,
    u: NDArray,
    v: NDArray,
    depth: NDArray,
    outside: float,
    layers: int,
    low: NDArray,
    high: NDArray,
    start_u: NDArray,
    start_v: NDArray,
) -> None:
    """Widen each column's range of cells to hold points of all layers of the band over (u, v)."""
    work, axis, origin, spacing = np.empty((6, 4)), nodes.axis, nodes.origin, nodes.spacing
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
) -> float:
    """Height of a point over the tangent plane at (u, v)."""
    evaluate(patch, u, v, work)
    nx, ny, nz = area_vector(work)
    height = (x - work[0, 0]) * nx + (y - work[0, 1]) * ny + (z - work[0, 2]) * nz
    return height / np.sqrt(nx * nx + ny * ny + nz * nz)


@compiled
def fill_columns(
    patch: PatchArrays,
    search: Any,
    domain: NDArray,
    nodes: Nodes,
    runs: Runs,
    start_u: NDArray,
    start_v: NDArray,
    distance: NDArray,
    interior: NDArray,
) -> None:
    """Signed distance at every node, and whether its projection lies in the domain of the patch.

    `search` is `closest_point`, or of an open patch `minimize_distance`, by its address. Where the
    projection leaves even the continued patch, the distance is that to its tangent plane.
    """
    projection, work = np.empty(10), np.empty((6, 4))
    axis, origin, spacing = nodes.axis, nodes.origin, nodes.spacing
    first, offset, count = runs.first, runs.offset, runs.length
    for i in range(first.shape[0]):
        angle = origin[0] + spacing[0] * i
        sine, cosine = np.sin(angle), np.cos(angle)
        for k in range(first.shape[1]):
            u, v = start_u[i, k], start_v[i, k]
            z = origin[1] + spacing[1] * k
            # From outside in, because projections do not jump there.
            for m in range(count[i, k] - 1, -1, -1):
                radius = origin[2] + spacing[2] * (first[i, k] + m)
                x, y = axis[0] + radius * sine, axis[1] - radius * cosine
                q = offset[i, k] + m
                new_u, new_v, status = search(patch, (x, y, z), u, v, projection, work)
                interior[q] = (
                    status == INTERIOR
                    and domain[0, 0] <= new_u <= domain[0, 1]
                    and domain[1, 0] <= new_v <= domain[1, 1]
                )
                distance[q] = projection[0]
                if status != FAILED:
                    u, v = new_u, new_v
                elif m < count[i, k] - 4:
                    # Far below the band, where projections are about to jump: extrapolated.
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
    nodes: Runs,
    distance: NDArray,
    interior: NDArray,
    cells: Runs,
    coefficient: NDArray,
    state: NDArray,
) -> None:
    """Coefficients from the distances at neighbouring nodes, and the state of each cell."""
    first, offset, count = cells.first, cells.offset, cells.length
    for i in range(first.shape[0]):
        for k in range(first.shape[1]):
            for m in range(count[i, k]):
                j = first[i, k] + m
                total = 0.0
                for a in range(-2, 3):
                    for b in range(-2, 3):
                        q = nodes.offset[i + a, k + b] + j - nodes.first[i + a, k + b]
                        line = 0.0
                        for c in range(-2, 3):
                            line += COEFFICIENT[c + 2] * distance[q + c]
                        total += COEFFICIENT[a + 2] * COEFFICIENT[b + 2] * line
                index = offset[i, k] + m
                coefficient[index] = total
                if high[i, k] < 0 or j < low[i, k]:
                    state[index] = UNTABLED
                elif j > high[i, k]:
                    state[index] = APART
                else:
                    state[index] = TABLED
                    for a in range(2):
                        for b in range(2):
                            q = nodes.offset[i + a, k + b] + j - nodes.first[i + a, k + b]
                            if not (interior[q] and interior[q + 1]):
                                state[index] = UNTABLED
