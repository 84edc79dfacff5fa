"""Compiled forces for any distance, correction and direction, with friction and damping.

Everything is in the frame of the moving body, where an element is a point x with a normal n. A
small motion of the body, translation t and turn s about its origin, moves the point by -t - s x x
and turns the normal by -s x n there. Names that end in `rate` hold derivatives over the six numbers
of that motion: (6,) of a number, (3, 6) of a vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import compiled
from kneewear.contact._force_kernels import keep_outcome
from kneewear.contact._law_kernels import press_law
from kneewear.contact._record_kernels import (
    ALONG_ELEMENT_NORMAL,
    ALONG_MID_SURFACE,
    AREA,
    DRAGS,
    FACE,
    FOOT_ROWS,
    FORCE,
    MOMENTS,
    OUT_DIRECTION,
    OUT_NUMBERS,
    OUT_SLIP,
    POINT,
    RATES,
    RAY,
    TANGENT_COLUMN,
    TANGENT_ROW,
    elements_of,
    indices_of,
    numbers_of,
    rows_of,
    traction_of,
    work_of,
)
from kneewear.contact._traction_kernels import traction_slopes, tractions


@compiled
def fill_turning(vector: NDArray, rate: NDArray) -> None:
    """Rate of a vector that rests in the fixed frame: it turns by -s x vector."""
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        for k in range(3):
            rate[a, k] = 0.0
        rate[a, 3 + a], rate[a, 3 + b], rate[a, 3 + c] = 0.0, -vector[c], vector[b]


@compiled
def add_product(matrix: NDArray, rate: NDArray, factor: float, out: NDArray) -> None:
    """Add factor times a 3 x 3 matrix times a rate."""
    for a in range(3):
        for b in range(3):
            f = factor * matrix[a, b]
            for k in range(6):
                out[a, k] += f * rate[b, k]


@compiled
def rate_distance(
    pair: Any,
    distance: float,
    facing: float,
    n: NDArray,
    normal: NDArray,
    hessian: NDArray,
    point_rate: NDArray,
    n_rate: NDArray,
    distance_rate: NDArray,
    normal_rate: NDArray,
    facing_rate: NDArray,
    hit_rate: NDArray,
) -> None:
    """Rates of the distance, of the surface's normal N and of the cosine c = -N . n.

    The foot of a point moves with it: N changes by H dx. A ray of length s ends at x + s n, which
    stays on the surface: N . (dx + ds n + s dn) = 0.
    """
    for k in range(6):
        distance_rate[k] = 0.0
        for a in range(3):
            hit_rate[a, k] = point_rate[a, k]
            if pair.method == RAY:
                hit_rate[a, k] += distance * n_rate[a, k]
            distance_rate[k] += normal[a] * hit_rate[a, k]
    if pair.method == RAY:
        for k in range(6):
            distance_rate[k] /= facing
            for a in range(3):
                hit_rate[a, k] += n[a] * distance_rate[k]
    normal_rate[:] = 0.0
    add_product(hessian, hit_rate, 1.0, normal_rate)
    for k in range(6):
        facing_rate[k] = 0.0
        for a in range(3):
            facing_rate[k] -= normal_rate[a, k] * n[a] + normal[a] * n_rate[a, k]


@compiled
def correct(pair: Any, facing: float) -> tuple[float, float]:
    """Penetration over distance, and its derivative over the cosine of the angle."""
    if pair.corrected == 0:
        return 1.0, 0.0
    half = np.sqrt(0.5 * (1.0 + facing))
    factor, rate = 1.0 / half, -0.25 / half**3
    if pair.method == RAY:
        return facing * factor, factor + facing * rate
    return factor, rate


@compiled
def aim(
    pair: Any,
    facing: float,
    n: NDArray,
    normal: NDArray,
    n_rate: NDArray,
    normal_rate: NDArray,
    facing_rate: NDArray,
    line: NDArray,
    line_rate: NDArray,
) -> None:
    """Line along which pressure acts on the element, and its rate.

    It is N, -n or, between them, (N - n) / (2 cos(theta / 2)).
    """
    half = np.sqrt(0.5 * (1.0 + facing))
    of_normal, of_n, bend = 1.0, 0.0, 0.0
    if pair.direction == ALONG_ELEMENT_NORMAL:
        of_normal, of_n = 0.0, 1.0
    elif pair.direction == ALONG_MID_SURFACE:
        of_normal = of_n = 0.5 / half
        bend = 0.25 / half**2
    for a in range(3):
        line[a] = of_normal * normal[a] - of_n * n[a]
        for k in range(6):
            line_rate[a, k] = of_normal * normal_rate[a, k] - of_n * n_rate[a, k]
            line_rate[a, k] -= bend * line[a] * facing_rate[k]


@compiled
def rate_velocity(
    velocity: NDArray, x: NDArray, point_rate: NDArray, out: NDArray, out_rate: NDArray
) -> None:
    """Velocity v + w x x of the body's point at the element, and its rate.

    v and w rest in the fixed frame: they turn against the body.
    """
    v, w = velocity[:3], velocity[3:]
    swept = w[0] * x[0] + w[1] * x[1] + w[2] * x[2]
    fill_turning(v, out_rate)
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        out[a] = v[a] + w[b] * x[c] - w[c] * x[b]
        for k in range(6):
            out_rate[a, k] += w[b] * point_rate[c, k] - w[c] * point_rate[b, k]
        for k in range(3):
            out_rate[a, 3 + k] -= w[a] * x[k]
        out_rate[a, 3 + a] += swept


@compiled
def add_element(total: NDArray, place: int, x: NDArray, rate: NDArray) -> None:
    """Add a force's rate, and that of its moment about a resting point, to a 6 x 6 sum."""
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        for k in range(6):
            total[place + 6 * a + k] += rate[a, k]
            total[place + 18 + 6 * a + k] += x[b] * rate[c, k] - x[c] * rate[b, k]


@compiled
def add_general(
    pair: Any,
    rotation: NDArray,
    velocity: NDArray,
    moving: bool,
    first: int,
    last: int,
    total: NDArray,
) -> None:
    """Pressures and sums of active elements; `velocity` (6) is in the moving frame.

    With the distance s and the correction k the penetration is -s k. The traction t per pressure is
    minus the line without motion; the force is area p t.
    """
    elements, work = elements_of(pair), work_of(pair)
    listed, order = indices_of(pair.listed, pair.count), indices_of(pair.order, pair.count)
    thickness = numbers_of(pair.thickness, pair.count)
    parameters = numbers_of(pair.parameters, pair.parameter_count)
    outcome = rows_of(pair.outcome, pair.count, OUT_NUMBERS)
    law = traction_of(pair)
    x, n, normal, line = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    point_velocity, traction = np.empty(3), np.empty(3)
    hessian, over_velocity, over_line = np.empty((3, 3)), np.zeros((3, 3)), np.zeros((3, 3))
    distance_rate, facing_rate = np.empty(6), np.empty(6)
    point_rate, n_rate, normal_rate = np.zeros((3, 6)), np.empty((3, 6)), np.empty((3, 6))
    line_rate, force_rate, hit_rate = np.empty((3, 6)), np.empty((3, 6)), np.empty((3, 6))
    velocity_rate, drag = np.empty((3, 6)), np.empty((3, 6))
    for slot in range(first, last):
        element = listed[slot]
        for a in range(3):
            x[a], n[a] = work[POINT + a, slot], work[FACE + a, slot]
            normal[a] = work[FOOT_ROWS + 1 + a, slot]
            hessian[a, a] = work[FOOT_ROWS + 4 + a, slot]
        hessian[0, 1] = hessian[1, 0] = work[FOOT_ROWS + 7, slot]
        hessian[0, 2] = hessian[2, 0] = work[FOOT_ROWS + 8, slot]
        hessian[1, 2] = hessian[2, 1] = work[FOOT_ROWS + 9, slot]
        fill_turning(x, point_rate)
        for a in range(3):
            point_rate[a, a] = -1.0
        fill_turning(n, n_rate)
        distance = work[FOOT_ROWS, slot]
        facing = -(normal[0] * n[0] + normal[1] * n[1] + normal[2] * n[2])
        rate_distance(
            pair, distance, facing, n, normal, hessian, point_rate, n_rate,
            distance_rate, normal_rate, facing_rate, hit_rate,
        )  # fmt: skip
        factor, factor_rate = correct(pair, facing)
        depth, area = -distance * factor, elements[AREA, element]
        pressure, rate = press_law(pair.law, parameters, depth, thickness[order[element]])
        push, rate = pressure * area, rate * area
        aim(pair, facing, n, normal, n_rate, normal_rate, facing_rate, line, line_rate)

        force_rate[:] = 0.0
        if moving:
            rate_velocity(velocity, x, point_rate, point_velocity, velocity_rate)
            tractions(law, line, point_velocity, traction, over_velocity)
            traction_slopes(law, line, point_velocity, over_line)
            add_product(over_line, line_rate, push, force_rate)
            add_product(over_velocity, velocity_rate, push, force_rate)
            # Over velocities the point moves as against a motion of the body.
            drag[:] = 0.0
            add_product(over_velocity, point_rate, -push, drag)
            add_element(total, DRAGS, x, drag)
        else:
            for a in range(3):
                traction[a] = -line[a]
                for k in range(6):
                    force_rate[a, k] = -push * line_rate[a, k]
        for a in range(3):
            for k in range(6):
                depth_rate = -factor * distance_rate[k] - distance * factor_rate * facing_rate[k]
                force_rate[a, k] += rate * depth_rate * traction[a]
            total[FORCE + a] += push * traction[a]
            for b in range(3):
                total[MOMENTS + 3 * a + b] += push * x[a] * traction[b]
            outcome[slot, OUT_DIRECTION + a] = (
                rotation[a, 0] * line[0] + rotation[a, 1] * line[1] + rotation[a, 2] * line[2]
            )
        add_element(total, RATES, x, force_rate)
        keep_outcome(pair, slot, depth, pressure, total)


@compiled
def note_motion(pair: Any, rotation: NDArray, velocity: NDArray, first: int, last: int) -> None:
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
