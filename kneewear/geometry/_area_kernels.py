"""Compiled area that a positive value of elements covers, finer than the elements.

Around each active element, one of positive value, the value is a quadratic function of row and
column through the elements about it. Its zero level ends the covered area, within that element and
within the inactive ones beside it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kneewear.base.compilation import compiled

# Lines across an element on which the zero level is found.
LINES = 8
# A value that falls by less than half to the place of an inactive element ends abruptly before it,
# as at an edge of the other body.
ABRUPT = 0.5


@compiled
def cut_area(value: NDArray, area: NDArray) -> float:
    """Area, mm2, of the elements' surface on which their value is positive.

    `value` and `area`, mm2, zero where there is no element, have the shape (rows, columns).
    """
    rows, columns = value.shape
    total = 0.0
    for i in range(rows):
        for j in range(columns):
            if not value[i, j] > 0.0:
                continue
            if is_surrounded(value, i, j):
                total += area[i, j]
            else:
                total += area_around(value, area, i, j)
    return total


@compiled
def is_active(value: NDArray, i: int, j: int) -> bool:
    """True if there is an element, with a positive value."""
    return 0 <= i < value.shape[0] and 0 <= j < value.shape[1] and value[i, j] > 0.0


@compiled
def is_surrounded(value: NDArray, i: int, j: int) -> bool:
    """True if all eight elements around one are active."""
    if not (0 < i < value.shape[0] - 1 and 0 < j < value.shape[1] - 1):
        return False
    for k in range(i - 1, i + 2):
        for m in range(j - 1, j + 2):
            if not value[k, m] > 0.0:
                return False
    return True


@compiled
def area_around(value: NDArray, area: NDArray, i: int, j: int) -> float:
    """Covered area of an active element at a border, and its share in inactive ones beside it."""
    centre = value[i, j]
    # Numbers written as such are types of their own, for which `beside` is compiled once more each.
    back, here, ahead = np.int64(-1), np.int64(0), np.int64(1)
    low_i, high_i = beside(value, i, j, back, here), beside(value, i, j, ahead, here)
    low_j, high_j = beside(value, i, j, here, back), beside(value, i, j, here, ahead)
    slope_i, slope_j = 0.5 * (high_i - low_i), 0.5 * (high_j - low_j)
    bend_i, bend_j = low_i - 2.0 * centre + high_i, low_j - 2.0 * centre + high_j
    twist = twist_at(value, i, j)
    total = area[i, j] * positive_part(centre, slope_i, slope_j, bend_i, twist, bend_j)
    for di, dj, end in ((-1, 0, low_i), (1, 0, high_i), (0, -1, low_j), (0, 1, high_j)):
        k, m = i + di, j + dj
        if end > 0.0 or not (0 <= k < value.shape[0] and 0 <= m < value.shape[1]):
            continue
        neighbours = 0
        for dk, dm in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            neighbours += is_active(value, k + dk, m + dm)
        part = positive_part(
            end,
            slope_i + di * bend_i + dj * twist,
            slope_j + dj * bend_j + di * twist,
            bend_i,
            twist,
            bend_j,
        )
        total += area[k, m] * part / neighbours
    return total


@compiled
def beside(value: NDArray, i: int, j: int, di: int, dj: int) -> float:
    """Value next to an active element: where inactive, extrapolated, and not positive.

    By three active elements in line; else by one or two and the difference in the line beside them
    where that is longer. It is positive only if the value does not tend to zero there.
    """
    centre = value[i, j]
    if is_active(value, i + di, j + dj):
        return value[i + di, j + dj]
    # The line beside that has the larger value.
    ai, aj = dj, di
    if not is_active(value, i + ai, j + aj) or (
        is_active(value, i - ai, j - aj) and value[i - ai, j - aj] > value[i + ai, j + aj]
    ):
        ai, aj = -ai, -aj
    longer = is_active(value, i + ai, j + aj) and is_active(value, i + ai + di, j + aj + dj)
    ahead = value[i + ai + di, j + aj + dj] - value[i + ai, j + aj] if longer else 0.0
    if not is_active(value, i - di, j - dj):
        end = centre + ahead
    else:
        behind = value[i - di, j - dj]
        end = 2.0 * centre - behind
        if is_active(value, i - 2 * di, j - 2 * dj):
            end += centre - 2.0 * behind + value[i - 2 * di, j - 2 * dj]
        elif longer and is_active(value, i + ai - di, j + aj - dj):
            end += ahead + value[i + ai - di, j + aj - dj] - value[i + ai, j + aj]
    return end if end >= ABRUPT * centre else min(end, 0.0)


@compiled
def twist_at(value: NDArray, i: int, j: int) -> float:
    """Mixed second difference at an active element, over those quadrants whose elements are."""
    total, quadrants = 0.0, 0
    for di in (-1, 1):
        for dj in (-1, 1):
            if (
                is_active(value, i + di, j + dj)
                and is_active(value, i + di, j)
                and is_active(value, i, j + dj)
            ):
                across = value[i + di, j + dj] - value[i + di, j] - value[i, j + dj] + value[i, j]
                total += di * dj * across
                quadrants += 1
    return total / quadrants if quadrants else 0.0


@compiled
def positive_part(
    value: float, slope_i: float, slope_j: float, bend_i: float, twist: float, bend_j: float
) -> float:
    """Part of a unit square on which a quadratic function, given at its middle, is positive."""
    if abs(slope_i) < abs(slope_j):
        slope_i, slope_j, bend_i, bend_j = slope_j, slope_i, bend_j, bend_i
    total = 0.0
    for line in range(LINES):
        y = (line + 0.5) / LINES - 0.5
        total += positive_length(
            0.5 * bend_i, slope_i + twist * y, value + (slope_j + 0.5 * bend_j * y) * y
        )
    return total / LINES


@compiled
def positive_length(a: float, b: float, c: float) -> float:
    """Length within -1/2 to 1/2 on which a x^2 + b x + c is positive."""
    inside = b * b - 4.0 * a * c
    if inside <= 0.0:
        return 1.0 if a + c > 0.0 else 0.0
    q = -0.5 * (b + np.copysign(np.sqrt(inside), b))
    one, other = c / q, np.copysign(np.inf, -q) if a == 0.0 else q / a
    low, high = min(one, other), max(one, other)
    between = max(min(high, 0.5) - max(low, -0.5), 0.0)
    return between if a <= 0.0 else 1.0 - between
