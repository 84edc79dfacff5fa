"""Compiled forces of the active elements, their sums, and the result of a pair.

All is summed in the frame of the moving body, where an element is a point x with a normal n and
feels the force f; only the sums are turned into the frame of the fixed body. A small motion of the
moving body, translation t and turn s about its origin, moves the point by -t - s x x there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import FUSED, FUSED_SUMS, compiled
from kneewear.contact._law_kernels import press_law
from kneewear.contact._record_kernels import (
    ACTIVE,
    ACTIVE_COUNT,
    ADDED,
    ALONG_ELEMENT_NORMAL,
    ALONG_MID_SURFACE,
    ALONG_MINIMUM_DISTANCE,
    AREA,
    CARRIED,
    CENTRE,
    CENTRE_OF_PRESSURE,
    CONTACT_AREA,
    DAMPING,
    DEEPEST,
    DEPTH,
    DRAG,
    DRAG_X,
    EVALUATED,
    EVALUATED_COUNT,
    FACE,
    FOOT_ROWS,
    FORCE,
    HIGHEST,
    MEAN,
    MINIMUM_DISTANCE,
    MOMENTS,
    MOVING,
    ORIGIN,
    OUT_AREA,
    OUT_DIRECTION,
    OUT_ELEMENT,
    OUT_NUMBERS,
    OUT_PENETRATION,
    OUT_PRESSURE,
    OUT_SLIP,
    PEAK,
    PLACES_CARRIED,
    POINT,
    PRESSURES,
    PUSH,
    RATE,
    RAY,
    SOFT,
    SOFT_X,
    STIFFNESS,
    SUMS,
    TANGENT_COLUMN,
    TANGENT_ROW,
    TOUCHED,
    TURN,
    WRENCH,
    X_DRAG,
    X_DRAG_X,
    X_SOFT,
    X_SOFT_X,
    X_TURN,
    elements_of,
    indices_of,
    numbers_of,
    rows_of,
    traction_of,
    work_of,
)
from kneewear.contact._traction_kernels import traction_slopes, tractions


@compiled
def is_conservative(pair: Any) -> bool:  # pragma: no cover
    """Whether forces act along the line of minimum distance and depend on it alone."""
    return (
        pair.method == MINIMUM_DISTANCE
        and pair.corrected == 0
        and pair.direction == ALONG_MINIMUM_DISTANCE
    )


@compiled(relaxed=FUSED)
def press_active(
    pair: Any, rotation: NDArray, first: int, last: int, total: NDArray
) -> None:  # pragma: no cover
    """Pressures of active elements whose penetration is their distance, and sums of them."""
    elements, work = elements_of(pair), work_of(pair)
    listed, order = indices_of(pair.listed, pair.count), indices_of(pair.order, pair.count)
    thickness = numbers_of(pair.thickness, pair.count)
    parameters = numbers_of(pair.parameters, pair.parameter_count)
    outcome = rows_of(pair.outcome, pair.count, OUT_NUMBERS)
    for n in range(first, last):
        element = listed[n]
        depth, area = -work[FOOT_ROWS, n], elements[AREA, element]
        pressure, rate = press_law(pair.law, parameters, depth, thickness[order[element]])
        work[PUSH, n], work[RATE, n] = pressure * area, rate * area
        keep_outcome(pair, n, depth, pressure, total)
        nx, ny, nz = work[FOOT_ROWS + 1, n], work[FOOT_ROWS + 2, n], work[FOOT_ROWS + 3, n]
        for a in range(3):
            outcome[n, OUT_DIRECTION + a] = (
                rotation[a, 0] * nx + rotation[a, 1] * ny + rotation[a, 2] * nz
            )


@compiled
def keep_outcome(
    pair: Any, slot: int, depth: float, pressure: float, total: NDArray
) -> None:  # pragma: no cover
    """Note one element's penetration and pressure, and add what a pair reports of them."""
    elements, outcome = elements_of(pair), rows_of(pair.outcome, pair.count, OUT_NUMBERS)
    element = indices_of(pair.listed, pair.count)[slot]
    area = elements[AREA, element]
    push = pressure * area
    outcome[slot, OUT_ELEMENT] = indices_of(pair.order, pair.count)[element]
    outcome[slot, OUT_PENETRATION], outcome[slot, OUT_PRESSURE] = depth, pressure
    outcome[slot, OUT_AREA] = area
    total[PRESSURES] += pressure
    total[TOUCHED] += area
    total[CARRIED] += push
    for a in range(3):
        total[PLACES_CARRIED + a] += push * elements[CENTRE + a, element]
    total[HIGHEST] = max(total[HIGHEST], pressure)
    total[DEEPEST] = max(total[DEEPEST], depth)


@compiled(relaxed=FUSED_SUMS)
def add_conservative(pair: Any, first: int, last: int, total: NDArray) -> None:  # pragma: no cover
    """Sums of forces f = -push N along the gradient N of the distance.

    With H its second derivatives, M = rate N N' - push H, symmetric.
    """
    work = work_of(pair)
    fx = fy = fz = xfx = xfy = xfz = yfx = yfy = yfz = zfx = zfy = zfz = 0.0
    m_xx = m_yy = m_zz = m_xy = m_xz = m_yz = 0.0
    b_xx = b_xy = b_xz = b_yx = b_yy = b_yz = b_zx = b_zy = b_zz = 0.0
    c_xx = c_yy = c_zz = c_xy = c_xz = c_yz = 0.0
    for n in range(np.uint64(first), np.uint64(last)):
        x, y, z = work[POINT, n], work[POINT + 1, n], work[POINT + 2, n]
        nx, ny, nz = work[FOOT_ROWS + 1, n], work[FOOT_ROWS + 2, n], work[FOOT_ROWS + 3, n]
        push, rate = work[PUSH, n], work[RATE, n]
        gx, gy, gz = -push * nx, -push * ny, -push * nz
        fx, fy, fz = fx + gx, fy + gy, fz + gz
        xfx, xfy, xfz = xfx + x * gx, xfy + x * gy, xfz + x * gz
        yfx, yfy, yfz = yfx + y * gx, yfy + y * gy, yfz + y * gz
        zfx, zfy, zfz = zfx + z * gx, zfy + z * gy, zfz + z * gz
        k_xx = rate * nx * nx - push * work[FOOT_ROWS + 4, n]
        k_yy = rate * ny * ny - push * work[FOOT_ROWS + 5, n]
        k_zz = rate * nz * nz - push * work[FOOT_ROWS + 6, n]
        k_xy = rate * nx * ny - push * work[FOOT_ROWS + 7, n]
        k_xz = rate * nx * nz - push * work[FOOT_ROWS + 8, n]
        k_yz = rate * ny * nz - push * work[FOOT_ROWS + 9, n]
        m_xx, m_yy, m_zz = m_xx + k_xx, m_yy + k_yy, m_zz + k_zz
        m_xy, m_xz, m_yz = m_xy + k_xy, m_xz + k_xz, m_yz + k_yz
        # M X
        d_xx, d_xy, d_xz = k_xy * z - k_xz * y, k_xz * x - k_xx * z, k_xx * y - k_xy * x
        d_yx, d_yy, d_yz = k_yy * z - k_yz * y, k_yz * x - k_xy * z, k_xy * y - k_yy * x
        d_zx, d_zy, d_zz = k_yz * z - k_zz * y, k_zz * x - k_xz * z, k_xz * y - k_yz * x
        b_xx, b_xy, b_xz = b_xx + d_xx, b_xy + d_xy, b_xz + d_xz
        b_yx, b_yy, b_yz = b_yx + d_yx, b_yy + d_yy, b_yz + d_yz
        b_zx, b_zy, b_zz = b_zx + d_zx, b_zy + d_zy, b_zz + d_zz
        # X M X, symmetric
        c_xx, c_xy = c_xx + y * d_zx - z * d_yx, c_xy + y * d_zy - z * d_yy
        c_xz, c_yy = c_xz + y * d_zz - z * d_yz, c_yy + z * d_xy - x * d_zy
        c_yz, c_zz = c_yz + z * d_xz - x * d_zz, c_zz + x * d_yz - y * d_xz
    put(total, FORCE, fx, fy, fz)
    put(total, MOMENTS, xfx, xfy, xfz)
    put(total, MOMENTS + 3, yfx, yfy, yfz)
    put(total, MOMENTS + 6, zfx, zfy, zfz)
    put(total, SOFT, m_xx, m_xy, m_xz)
    put(total, SOFT + 3, m_xy, m_yy, m_yz)
    put(total, SOFT + 6, m_xz, m_yz, m_zz)
    put(total, SOFT_X, b_xx, b_xy, b_xz)
    put(total, SOFT_X + 3, b_yx, b_yy, b_yz)
    put(total, SOFT_X + 6, b_zx, b_zy, b_zz)
    # X M = -(M X)' for a symmetric M.
    put(total, X_SOFT, -b_xx, -b_yx, -b_zx)
    put(total, X_SOFT + 3, -b_xy, -b_yy, -b_zy)
    put(total, X_SOFT + 6, -b_xz, -b_yz, -b_zz)
    put(total, X_SOFT_X, c_xx, c_xy, c_xz)
    put(total, X_SOFT_X + 3, c_xy, c_yy, c_yz)
    put(total, X_SOFT_X + 6, c_xz, c_yz, c_zz)


@compiled
def put(total: NDArray, place: int, a: float, b: float, c: float) -> None:  # pragma: no cover
    total[place] += a
    total[place + 1] += b
    total[place + 2] += c


@compiled
def skew(a: NDArray, out: NDArray) -> None:  # pragma: no cover
    """Matrix of the cross product with a vector."""
    out[0, 0] = out[1, 1] = out[2, 2] = 0.0
    out[0, 1], out[0, 2], out[1, 2] = -a[2], a[1], -a[0]
    out[1, 0], out[2, 0], out[2, 1] = a[2], -a[1], a[0]


@compiled
def add_matrix(total: NDArray, place: int, matrix: NDArray) -> None:  # pragma: no cover
    for a in range(3):
        for b in range(3):
            total[place + 3 * a + b] += matrix[a, b]


@compiled
def multiply(left: NDArray, right: NDArray, out: NDArray) -> None:  # pragma: no cover
    for a in range(3):
        for b in range(3):
            out[a, b] = 0.0
            for k in range(3):
                out[a, b] += left[a, k] * right[k, b]


@compiled
def add_general(
    pair: Any,
    rotation: NDArray,
    velocity: NDArray,
    moving: bool,
    first: int,
    last: int,
    total: NDArray,
) -> None:  # pragma: no cover
    """Pressures and sums for any distance, correction and direction, with friction and damping.

    `velocity` is that of the moving body's origin and its angular velocity, in its own frame. With
    s the distance used (minimum or along the ray), c = -N . n the cosine that an element faces the
    indenter by and k(c) the correction, the penetration is -s k. The traction t per pressure is -P
    without motion, P the direction; f = area p t.
    """
    elements, work = elements_of(pair), work_of(pair)
    listed, order = indices_of(pair.listed, pair.count), indices_of(pair.order, pair.count)
    thickness = numbers_of(pair.thickness, pair.count)
    parameters = numbers_of(pair.parameters, pair.parameter_count)
    outcome = rows_of(pair.outcome, pair.count, OUT_NUMBERS)
    law = traction_of(pair)
    x, n, normal, push_line = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    hessian, spin = np.empty((3, 3)), np.empty((3, 3))
    n_skew, x_skew = np.empty((3, 3)), np.empty((3, 3))
    along_x, along_turn = np.empty((3, 3)), np.empty((3, 3))  # of N
    line_x, line_turn = np.empty((3, 3)), np.empty((3, 3))  # of P
    s_x, s_turn, c_x, c_turn = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    d_x, d_turn = np.empty(3), np.empty(3)
    point_velocity, traction = np.zeros(3), np.empty(3)
    over_velocity, over_line = np.zeros((3, 3)), np.zeros((3, 3))
    velocity_turn, product = np.empty((3, 3)), np.empty((3, 3))
    soft, turned, drag = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    skew(velocity[3:], spin)
    for slot in range(first, last):
        element = listed[slot]
        for a in range(3):
            x[a], n[a] = work[POINT + a, slot], work[FACE + a, slot]
            normal[a] = work[FOOT_ROWS + 1 + a, slot]
            hessian[a, a] = work[FOOT_ROWS + 4 + a, slot]
        hessian[0, 1] = hessian[1, 0] = work[FOOT_ROWS + 7, slot]
        hessian[0, 2] = hessian[2, 0] = work[FOOT_ROWS + 8, slot]
        hessian[1, 2] = hessian[2, 1] = work[FOOT_ROWS + 9, slot]
        skew(n, n_skew)
        skew(x, x_skew)
        distance = work[FOOT_ROWS, slot]
        facing = -(normal[0] * n[0] + normal[1] * n[1] + normal[2] * n[2])

        # Derivatives of N and of the distance over x and over the turn; n turns by -turn x n.
        if pair.method == RAY:
            for a in range(3):
                b, c = (a + 1) % 3, (a + 2) % 3
                s_x[a] = normal[a] / facing
                s_turn[a] = distance / facing * (normal[b] * n[c] - normal[c] * n[b])
            for a in range(3):
                for b in range(3):
                    line_x[a, b] = n[a] * s_x[b] + (1.0 if a == b else 0.0)
                    line_turn[a, b] = n[a] * s_turn[b] + distance * n_skew[a, b]
            multiply(hessian, line_x, along_x)
            multiply(hessian, line_turn, along_turn)
        else:
            for a in range(3):
                s_x[a], s_turn[a] = normal[a], 0.0
                for b in range(3):
                    along_x[a, b], along_turn[a, b] = hessian[a, b], 0.0
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            c_x[a], c_turn[a] = 0.0, -(normal[b] * n[c] - normal[c] * n[b])
            for q in range(3):
                c_x[a] -= along_x[q, a] * n[q]
                c_turn[a] -= along_turn[q, a] * n[q]

        half = np.sqrt(0.5 * (1.0 + facing))  # cosine of half the angle
        factor, factor_rate = 1.0, 0.0
        if pair.corrected == 1:
            factor, factor_rate = 1.0 / half, -0.25 / half**3
            if pair.method == RAY:
                factor, factor_rate = facing * factor, factor + facing * factor_rate
        depth = -distance * factor
        for a in range(3):
            d_x[a] = -factor * s_x[a] - distance * factor_rate * c_x[a]
            d_turn[a] = -factor * s_turn[a] - distance * factor_rate * c_turn[a]
        area = elements[AREA, element]
        pressure, rate = press_law(pair.law, parameters, depth, thickness[order[element]])
        push, rate = pressure * area, rate * area

        for a in range(3):
            push_line[a] = normal[a]
            if pair.direction == ALONG_ELEMENT_NORMAL:
                push_line[a] = -n[a]
            elif pair.direction == ALONG_MID_SURFACE:
                push_line[a] = 0.5 * (normal[a] - n[a]) / half
            for b in range(3):
                line_x[a, b], line_turn[a, b] = along_x[a, b], along_turn[a, b]
                if pair.direction == ALONG_ELEMENT_NORMAL:
                    line_x[a, b], line_turn[a, b] = 0.0, -n_skew[a, b]
                elif pair.direction == ALONG_MID_SURFACE:
                    bent = 0.25 * push_line[a] / half**2
                    line_x[a, b] = 0.5 * along_x[a, b] / half - bent * c_x[b]
                    line_turn[a, b] = (
                        0.5 * (along_turn[a, b] - n_skew[a, b]) / half - bent * c_turn[b]
                    )

        for a in range(3):
            traction[a] = -push_line[a]
            for b in range(3):
                over_line[a, b] = -1.0 if a == b else 0.0
        if moving:
            for a in range(3):
                b, c = (a + 1) % 3, (a + 2) % 3
                point_velocity[a] = velocity[a] + velocity[3 + b] * x[c] - velocity[3 + c] * x[b]
            tractions(law, push_line, point_velocity, traction, over_velocity)
            traction_slopes(law, push_line, point_velocity, over_line)

        # At a turn the velocities, fixed in space, turn the other way in the moving frame.
        skew(velocity, velocity_turn)
        swept = x[0] * velocity[3] + x[1] * velocity[4] + x[2] * velocity[5]
        for a in range(3):
            for b in range(3):
                velocity_turn[a, b] += (swept if a == b else 0.0) - velocity[3 + a] * x[b]
        multiply(over_line, line_x, soft)
        multiply(over_velocity, spin, product)
        for a in range(3):
            for b in range(3):
                soft[a, b] = rate * traction[a] * d_x[b] + push * (soft[a, b] + product[a, b])
        multiply(over_line, line_turn, turned)
        multiply(over_velocity, velocity_turn, product)
        for a in range(3):
            for b in range(3):
                turned[a, b] = push * (turned[a, b] + product[a, b])
                turned[a, b] += rate * traction[a] * d_turn[b]
                drag[a, b] = push * over_velocity[a, b]

        put(total, FORCE, push * traction[0], push * traction[1], push * traction[2])
        for a in range(3):
            for b in range(3):
                total[MOMENTS + 3 * a + b] += push * x[a] * traction[b]
        add_matrix(total, SOFT, soft)
        multiply(soft, x_skew, product)
        add_matrix(total, SOFT_X, product)
        multiply(x_skew, product, over_line)
        add_matrix(total, X_SOFT_X, over_line)
        multiply(x_skew, soft, product)
        add_matrix(total, X_SOFT, product)
        add_matrix(total, TURN, turned)
        multiply(x_skew, turned, product)
        add_matrix(total, X_TURN, product)
        if moving:
            add_matrix(total, DRAG, drag)
            multiply(drag, x_skew, product)
            add_matrix(total, DRAG_X, product)
            multiply(x_skew, product, over_line)
            add_matrix(total, X_DRAG_X, over_line)
            multiply(x_skew, drag, product)
            add_matrix(total, X_DRAG, product)
        keep_outcome(pair, slot, depth, pressure, total)
        for a in range(3):
            outcome[slot, OUT_DIRECTION + a] = (
                rotation[a, 0] * push_line[0]
                + rotation[a, 1] * push_line[1]
                + rotation[a, 2] * push_line[2]
            )


@compiled(relaxed=FUSED)
def note_motion(
    pair: Any, rotation: NDArray, velocity: NDArray, first: int, last: int
) -> None:  # pragma: no cover
    """Slip velocity of the moving body's points along the two tangents of the active elements."""
    elements, work = elements_of(pair), work_of(pair)
    listed = indices_of(pair.listed, pair.count)
    outcome = rows_of(pair.outcome, pair.count, OUT_NUMBERS)
    for n in range(first, last):
        element = listed[n]
        x, y, z = work[POINT, n], work[POINT + 1, n], work[POINT + 2, n]
        vx = velocity[0] + velocity[4] * z - velocity[5] * y
        vy = velocity[1] + velocity[5] * x - velocity[3] * z
        vz = velocity[2] + velocity[3] * y - velocity[4] * x
        along_row = along_column = 0.0
        for a in range(3):
            fixed = rotation[a, 0] * vx + rotation[a, 1] * vy + rotation[a, 2] * vz
            along_row += fixed * elements[TANGENT_ROW + a, element]
            along_column += fixed * elements[TANGENT_COLUMN + a, element]
        outcome[n, OUT_SLIP], outcome[n, OUT_SLIP + 1] = along_row, along_column


@compiled
def turn_block(
    rotation: NDArray, block: NDArray, numbers: NDArray, row: int, column: int
) -> None:  # pragma: no cover
    """Write R B R' as a 3 x 3 block of a 6 x 6 matrix."""
    for a in range(3):
        for b in range(3):
            total = 0.0
            for p in range(3):
                for q in range(3):
                    total += rotation[a, p] * block[p, q] * rotation[b, q]
            numbers[6 * (row + a) + column + b] = total


@compiled
def finish(
    pair: Any,
    rotation: NDArray,
    translation: NDArray,
    moving: bool,
    numbers: NDArray,
    outcomes: NDArray,
) -> int:  # pragma: no cover
    """A pair's result in the fixed frame, from the sums of its chunks in their order.

    What its active elements bear goes to the front of `outcomes`; returns how many there are.
    """
    sums = rows_of(pair.sums, pair.chunk_count, SUMS)
    total = np.zeros(SUMS)
    for chunk in range(pair.chunk_count):
        for k in range(ADDED):
            total[k] += sums[chunk, k]
        for k in range(ADDED, SUMS):
            total[k] = max(total[k], sums[chunk, k])
    numbers[:] = 0.0
    numbers[ACTIVE_COUNT], numbers[EVALUATED_COUNT] = total[ACTIVE], total[EVALUATED]
    numbers[MOVING] = 1.0 if moving else 0.0
    for a in range(3):
        numbers[ORIGIN + a] = translation[a]
    if total[ACTIVE] == 0.0:
        return 0
    numbers[PEAK], numbers[DEPTH] = total[HIGHEST], total[DEEPEST]
    numbers[MEAN] = total[PRESSURES] / total[ACTIVE]
    numbers[CONTACT_AREA] = total[TOUCHED]
    fill_wrench(rotation, total, numbers[WRENCH:])
    fill_stiffness(rotation, total, numbers[STIFFNESS:])
    fill_damping(rotation, total, numbers[DAMPING:])
    for a in range(3):
        numbers[CENTRE_OF_PRESSURE + a] = total[PLACES_CARRIED + a] / total[CARRIED]
    return gather_outcome(pair, sums, outcomes)


@compiled
def gather_outcome(pair: Any, sums: NDArray, outcomes: NDArray) -> int:  # pragma: no cover
    """Copy the outcomes of all chunks together, in the order of the chunks; their number."""
    outcome = rows_of(pair.outcome, pair.count, OUT_NUMBERS)
    first_tile = indices_of(pair.chunk_first, pair.chunk_count + 1)
    first_element = indices_of(pair.tile_first, pair.tile_count + 1)
    slot = np.int64(0)
    for chunk in range(pair.chunk_count):
        first = first_element[first_tile[chunk]]
        count = np.int64(sums[chunk, ACTIVE])
        for n in range(count):
            for k in range(OUT_NUMBERS):
                outcomes[slot + n, k] = outcome[first + n, k]
        slot += count
    return int(slot)


@compiled
def fill_wrench(rotation: NDArray, total: NDArray, wrench: NDArray) -> None:  # pragma: no cover
    """Force and moment about the moving body's origin."""
    for a in range(3):
        wrench[a] = wrench[3 + a] = 0.0
        for b in range(3):
            c, d = (b + 1) % 3, (b + 2) % 3
            moment = total[MOMENTS + 3 * c + d] - total[MOMENTS + 3 * d + c]
            wrench[a] += rotation[a, b] * total[FORCE + b]
            wrench[3 + a] += rotation[a, b] * moment


@compiled
def fill_stiffness(
    rotation: NDArray, total: NDArray, stiffness: NDArray
) -> None:  # pragma: no cover
    """Derivative of the wrench over translation and turn.

    In the moving frame df = -M t + (M X + Q) s and, with s x f for the turn of that frame itself,
    d(x x f) = [f] t - X M t + ((x . f) - x f' + X M X + X Q) s + s x (x x f).
    """
    block, force, moment = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    skew(total[FORCE:], force)
    twist = np.empty(3)
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        twist[a] = total[MOMENTS + 3 * b + c] - total[MOMENTS + 3 * c + b]
    skew(twist, moment)
    trace = total[MOMENTS] + total[MOMENTS + 4] + total[MOMENTS + 8]
    for a in range(3):
        for b in range(3):
            block[a, b] = -total[SOFT + 3 * a + b]
    origin, half = np.int64(0), np.int64(3)
    turn_block(rotation, block, stiffness, origin, origin)
    for a in range(3):
        for b in range(3):
            k = 3 * a + b
            block[a, b] = total[SOFT_X + k] + total[TURN + k] - force[a, b]
    turn_block(rotation, block, stiffness, origin, half)
    for a in range(3):
        for b in range(3):
            block[a, b] = force[a, b] - total[X_SOFT + 3 * a + b]
    turn_block(rotation, block, stiffness, half, origin)
    for a in range(3):
        for b in range(3):
            k = 3 * a + b
            block[a, b] = total[X_SOFT_X + k] + total[X_TURN + k] - total[MOMENTS + k]
            block[a, b] += (trace if a == b else 0.0) - moment[a, b]
    turn_block(rotation, block, stiffness, half, half)


@compiled
def fill_damping(rotation: NDArray, total: NDArray, damping: NDArray) -> None:  # pragma: no cover
    """Derivative of the wrench over velocity and angular velocity: C, -C X, X C, -X C X."""
    block = np.empty((3, 3))
    for row, column, place, sign in (
        (0, 0, DRAG, 1.0),
        (0, 3, DRAG_X, -1.0),
        (3, 0, X_DRAG, 1.0),
        (3, 3, X_DRAG_X, -1.0),
    ):
        for a in range(3):
            for b in range(3):
                block[a, b] = sign * total[place + 3 * a + b]
        turn_block(rotation, block, damping, row, column)
