"""Compiled forces on the moving body, and its equations of motion."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import compiled
from kneewear.contact._kernels import (
    ElementArrays,
    StartArrays,
    Workspace,
    find_candidates,
    press,
)
from kneewear.geometry._kernels import DistanceArrays, PatchArrays
from kneewear.mechanics._kernels import (
    BodyArrays,
    SpringArrays,
    along_coordinates,
    apply_load,
    inertia_along,
    orient,
    pull_springs,
    sample_spline,
)

MARGIN = 0.4


class PairArrays(NamedTuple):
    elements: ElementArrays
    patch: PatchArrays
    table: DistanceArrays
    start: StartArrays
    law: int
    parameters: NDArray[np.float64]
    thickness: NDArray[np.float64]
    direction: int
    listed: Workspace
    pose: NDArray[np.float64]  # (3,4) rotation, translation when listed
    count: NDArray[np.int64]
    corners: NDArray[np.float64]  # lowest, highest


class ModelArrays(NamedTuple):
    pairs: Any
    follows: NDArray[np.bool_]
    carried: NDArray[np.bool_]
    springs: SpringArrays
    damping: NDArray[np.float64]
    body: BodyArrays
    course: NDArray[np.float64]
    period: float
    free: NDArray[np.int64]
    origin: NDArray[np.float64]
    wrenches: NDArray[np.float64]  # (n_pairs, 6)


@compiled
def resist(pair, rotation, translation, wrench, rate):
    moved = 0.0
    turned = 0.0
    reach = 0.0
    for i in range(3):
        d = translation[i] - pair.pose[i, 3]
        moved += d * d
        e = max(pair.corners[1, i] - translation[i], translation[i] - pair.corners[0, i])
        reach += e * e
        for j in range(3):
            d = rotation[i, j] - pair.pose[i, j]
            turned += d * d
    if not np.sqrt(moved) + np.sqrt(reach * turned) < MARGIN:
        count, buried = find_candidates(
            pair.elements,
            pair.patch,
            pair.table,
            pair.start,
            rotation,
            translation,
            MARGIN,
            pair.listed,
        )
        if buried:
            pair.pose[0, 3] = np.nan
            return buried
        pair.count[0] = count
        for i in range(3):
            pair.pose[i, 3] = translation[i]
            for j in range(3):
                pair.pose[i, j] = rotation[i, j]
    return press(
        pair.elements,
        pair.patch,
        pair.table,
        pair.law,
        pair.parameters,
        pair.thickness,
        rotation,
        translation,
        pair.direction,
        pair.count[0],
        pair.listed,
        wrench,
        rate,
    )


@compiled
def balance(model, values, place, rates, rotation, axes, force, derivative):
    wrench = np.zeros(6)
    rate = np.zeros((6, 6))
    one = np.empty(6)
    slope = np.empty((6, 6))
    failed = 0
    translation = place[:3]
    for n in range(len(model.pairs)):
        pair = model.pairs[n]
        failed += resist(pair, rotation, translation, one, slope)
        for i in range(6):
            model.wrenches[n, i] = one[i]
            wrench[i] += one[i]
            for j in range(6):
                rate[i, j] += slope[i, j]
    x, y, z = 0.5 * wrench[3], 0.5 * wrench[4], 0.5 * wrench[5]
    rate[3, 4] += z
    rate[3, 5] -= y
    rate[4, 3] -= z
    rate[4, 5] += x
    rate[5, 3] += y
    rate[5, 4] -= x
    for n in range(model.follows.shape[0]):
        k = 6 + 9 * n
        apply_load(
            values[k : k + 3],
            values[k + 3 : k + 6],
            values[k + 6 : k + 9],
            model.follows[n],
            model.carried[n],
            translation,
            rotation,
            wrench,
            rate,
        )
    force[:] = 0.0
    derivative[:] = 0.0
    along_coordinates(wrench, rate, axes, force, derivative)
    pull_springs(model.springs, place, rates, force, derivative)
    for i in range(6):
        for j in range(6):
            force[i] -= model.damping[i, j] * rates[j]
    return failed


@compiled
def accelerate(time, state, slope, model, jacobian, want):
    n_channels = model.course.shape[2]
    values, speeds, accelerations = np.empty(n_channels), np.empty(n_channels), np.empty(n_channels)
    sample_spline(model.course, model.period, time, values, speeds, accelerations)
    free = model.free
    m = free.shape[0]
    place, rates = values[:6].copy(), speeds[:6].copy()
    for k in range(m):
        place[free[k]] = model.origin[k] + state[k]
        rates[free[k]] = state[m + k]
    rotation, axes = np.empty((3, 3)), np.empty((3, 3))
    orient(place[3:], rotation, axes)
    force, derivative = np.empty(6), np.empty((6, 6))
    failed = balance(model, values, place, rates, rotation, axes, force, derivative)
    mass, bias = np.empty((6, 6)), np.empty(6)
    inertia_along(model.body, rotation, axes, rates, mass, bias)
    inner = np.empty((m, m))
    right = np.empty((m, 1 + (2 * m if want else 0)))
    for a in range(m):
        i = free[a]
        right[a, 0] = force[i] - bias[i]
        for j in range(6):
            held = True
            for b in range(m):
                held = held and free[b] != j
            if held:
                right[a, 0] -= mass[i, j] * accelerations[j]
        for b in range(m):
            inner[a, b] = mass[i, free[b]]
            if want:
                right[a, 1 + b] = derivative[i, free[b]]
                right[a, 1 + m + b] = -model.damping[i, free[b]]
    solved = np.linalg.solve(inner, right)
    for a in range(m):
        slope[a] = state[m + a]
        slope[m + a] = solved[a, 0]
        if want:
            for b in range(m):
                jacobian[a, b] = 0.0
                jacobian[a, m + b] = 1.0 if a == b else 0.0
                jacobian[m + a, b] = solved[a, 1 + b]
                jacobian[m + a, m + b] = solved[a, 1 + m + b]
    return failed
