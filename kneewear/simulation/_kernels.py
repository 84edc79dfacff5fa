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
    add_cross_matrix,
    along_coordinates,
    apply_load,
    inertia_along,
    orient,
    pull_springs,
    sample_spline,
)

MARGIN = 0.4


class PairArrays(NamedTuple):
    """One contact pair with its layer."""

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
    """What acts on the moving body over a cycle."""

    pairs: Any  # a tuple of PairArrays
    body: BodyArrays
    springs: SpringArrays
    damping: NDArray[np.float64]  # (6, 6), force along each coordinate over each rate
    course: NDArray[np.float64]  # spline of the six coordinates and of nine numbers a load
    period: float
    follows: NDArray[np.bool_]  # of each load: given in the moving frame
    carried: NDArray[np.bool_]  # of each load: its point given in the moving frame
    free: NDArray[np.int64]  # numbers of the free coordinates
    origin: NDArray[np.float64]  # (6,) coordinates that the states count from


class Forces(NamedTuple):
    """Room for forces along the coordinates and what they are made of."""

    force: NDArray[np.float64]  # (6,)
    derivative: NDArray[np.float64]  # (6, 6) over the coordinates
    contact: NDArray[np.float64]  # (pair, 6) wrenches about the moving origin
    applied: NDArray[np.float64]  # (6,) wrench of the loads


@compiled
def resist(
    pair: PairArrays, rotation: NDArray, translation: NDArray, wrench: NDArray, rate: NDArray
) -> int:  # pragma: no cover
    """Wrench of one pair on the moving body, and its derivative."""
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
def balance(
    model: ModelArrays,
    values: NDArray,
    place: NDArray,
    rates: NDArray,
    rotation: NDArray,
    axes: NDArray,
    found: Forces,
) -> int:  # pragma: no cover
    """Forces of contact, loads, springs and dampers along the coordinates, and their derivative.

    `values` is a row of the course, `rotation` and `axes` are those of the place. Returns how many
    elements could not be looked up.
    """
    wrench, rate = np.zeros(6), np.zeros((6, 6))
    slope = np.empty((6, 6))
    failed = 0
    for n in range(len(model.pairs)):
        failed += resist(model.pairs[n], rotation, place[:3], found.contact[n], slope)
        for i in range(6):
            wrench[i] += found.contact[n, i]
            for j in range(6):
                rate[i, j] += slope[i, j]
    # A contact's stiffness is symmetric, in turns that commute; the moment itself turns along.
    add_cross_matrix(rate[3:, 3:], wrench[3:], -0.5)
    found.applied[:] = 0.0
    for n in range(model.follows.shape[0]):
        k = 6 + 9 * n
        apply_load(
            values[k : k + 3],
            values[k + 3 : k + 6],
            values[k + 6 : k + 9],
            model.follows[n],
            model.carried[n],
            place[:3],
            rotation,
            found.applied,
            rate,
        )
    for i in range(6):
        wrench[i] += found.applied[i]
    found.force[:] = 0.0
    found.derivative[:] = 0.0
    along_coordinates(wrench, rate, axes, found.force, found.derivative)
    pull_springs(model.springs, place, rates, found.force, found.derivative)
    for i in range(6):
        for j in range(6):
            found.force[i] -= model.damping[i, j] * rates[j]
    return failed


@compiled
def place_state(
    model: ModelArrays,
    time: float,
    state: NDArray,
    place: NDArray,
    rates: NDArray,
    accelerations: NDArray,
    values: NDArray,
) -> None:  # pragma: no cover
    """Coordinates and rates: of the course where prescribed, of the state where free.

    Fills in the course's `values` at that time, and the accelerations of all coordinates, which
    only count where prescribed.
    """
    speeds, changes = np.empty_like(values), np.empty_like(values)
    sample_spline(model.course, model.period, time, values, speeds, changes)
    place[:], rates[:], accelerations[:] = values[:6], speeds[:6], changes[:6]
    count = model.free.shape[0]
    for k in range(count):
        i = model.free[k]
        place[i] = model.origin[i] + state[k]
        rates[i] = state[count + k]
        accelerations[i] = 0.0


@compiled
def move(
    model: ModelArrays,
    time: float,
    state: NDArray,
    slope: NDArray,
    matrix: NDArray,
    reaction: NDArray,
    found: Forces,
) -> int:  # pragma: no cover
    """Slope of the state (free coordinates, their rates), its derivative, and what drivers exert.

    M q'' + b = Q + R, with R zero along free coordinates and q'' prescribed along the others.
    `matrix` is filled if it has rows; inertia's own change with the pose, small beside the
    stiffness of contact, is left out of it. Returns how many elements could not be looked up.
    """
    free = model.free
    count = free.shape[0]
    values = np.empty(model.course.shape[2])
    place, rates, accelerations = np.empty(6), np.empty(6), np.empty(6)
    place_state(model, time, state, place, rates, accelerations, values)
    rotation, axes = np.empty((3, 3)), np.empty((3, 3))
    orient(place[3:], rotation, axes)
    failed = balance(model, values, place, rates, rotation, axes, found)
    mass, bias = np.empty((6, 6)), np.empty(6)
    inertia_along(model.body, rotation, axes, rates, mass, bias)

    wanted = matrix.shape[0] > 0
    inner = np.empty((count, count))
    right = np.empty((count, 1 + 2 * count if wanted else 1))
    for a in range(count):
        i = free[a]
        right[a, 0] = found.force[i] - bias[i]
        for j in range(6):
            right[a, 0] -= mass[i, j] * accelerations[j]
        for b in range(count):
            inner[a, b] = mass[i, free[b]]
            if wanted:
                right[a, 1 + b] = found.derivative[i, free[b]]
                right[a, 1 + count + b] = -model.damping[i, free[b]]
                for n in range(model.springs.coordinate.shape[0]):
                    if i == free[b] and model.springs.coordinate[n] == i:
                        right[a, 1 + count + b] -= model.springs.damping[n]
    solved = np.linalg.solve(inner, right)
    for a in range(count):
        accelerations[free[a]] = solved[a, 0]
        slope[a], slope[count + a] = state[count + a], solved[a, 0]
        if wanted:
            for b in range(count):
                matrix[a, b], matrix[a, count + b] = 0.0, 1.0 if a == b else 0.0
                matrix[count + a, b] = solved[a, 1 + b]
                matrix[count + a, count + b] = solved[a, 1 + count + b]
    for i in range(6):
        reaction[i] = bias[i] - found.force[i]
        for j in range(6):
            reaction[i] += mass[i, j] * accelerations[j]
    return failed
