"""Compiled forces of the active elements, their sums, and the result of a pair.

All is summed in the frame of the moving body, where an element is a point x with a normal n and
feels the force f; only the sums are turned into the frame of the fixed body. A small motion of the
moving body, translation t and turn s about its origin, moves the point by -t - s x x there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import compiled
from kneewear.contact._law_kernels import press_law
from kneewear.contact._record_kernels import (
    ALONG_MINIMUM_DISTANCE,
    AREA,
    CARRIED,
    CENTRE,
    DEEPEST,
    FOOT_ROWS,
    FORCE,
    HIGHEST,
    MINIMUM_DISTANCE,
    MOMENTS,
    OUT_AREA,
    OUT_DIRECTION,
    OUT_ELEMENT,
    OUT_NUMBERS,
    OUT_PENETRATION,
    OUT_PRESSURE,
    PLACES_CARRIED,
    POINT,
    PRESSURES,
    PUSH,
    RATE,
    RATES,
    TOUCHED,
    elements_of,
    indices_of,
    numbers_of,
    rows_of,
    work_of,
)


@compiled
def is_conservative(pair: Any) -> bool:
    """Whether forces act along the line of minimum distance and depend on it alone."""
    return (
        pair.method == MINIMUM_DISTANCE
        and pair.corrected == 0
        and pair.direction == ALONG_MINIMUM_DISTANCE
    )


@compiled
def press_active(pair: Any, rotation: NDArray, first: int, last: int, total: NDArray) -> None:
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
def keep_outcome(pair: Any, slot: int, depth: float, pressure: float, total: NDArray) -> None:
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


@compiled
def add_conservative(pair: Any, first: int, last: int, total: NDArray) -> None:
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
    # The point moves by dx = -t + X s: df = -M t + M X s, and x x df with X M = -(M X)'.
    put(total, RATES, -m_xx, -m_xy, -m_xz)
    put(total, RATES + 3, b_xx, b_xy, b_xz)
    put(total, RATES + 6, -m_xy, -m_yy, -m_yz)
    put(total, RATES + 9, b_yx, b_yy, b_yz)
    put(total, RATES + 12, -m_xz, -m_yz, -m_zz)
    put(total, RATES + 15, b_zx, b_zy, b_zz)
    put(total, RATES + 18, b_xx, b_yx, b_zx)
    put(total, RATES + 21, c_xx, c_xy, c_xz)
    put(total, RATES + 24, b_xy, b_yy, b_zy)
    put(total, RATES + 27, c_xy, c_yy, c_yz)
    put(total, RATES + 30, b_xz, b_yz, b_zz)
    put(total, RATES + 33, c_xz, c_yz, c_zz)


@compiled
def put(total: NDArray, place: int, a: float, b: float, c: float) -> None:
    total[place] += a
    total[place + 1] += b
    total[place + 2] += c
