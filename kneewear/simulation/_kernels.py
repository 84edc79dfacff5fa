"""Compiled forces on the moving body, and its equations of motion."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import compiled
from kneewear.contact._kernels import evaluate_pairs
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


class ActionArrays(NamedTuple):
    """What acts on the moving body, without inertia."""

    has_friction: bool  # whether contact depends on velocity
    follows: NDArray[np.bool_]  # of each load: given in the moving frame
    carried: NDArray[np.bool_]  # of each load: its point given in the moving frame
    springs: SpringArrays
    damping: NDArray[np.float64]  # (6, 6), force along each coordinate over each rate


class MotionArrays(NamedTuple):
    """What moves over a cycle, and how."""

    body: BodyArrays
    time_history: NDArray[np.float64]  # spline of six coordinates and of nine numbers per load
    period: float
    free: NDArray[np.int64]  # numbers of the free coordinates
    origin: NDArray[np.float64]  # (6,) coordinates that the states count from


class Forces(NamedTuple):
    """Forces along the coordinates and their parts, filled by `balance`."""

    force: NDArray[np.float64]  # (6,)
    derivative: NDArray[np.float64]  # (6, 6) over the coordinates
    resistance: NDArray[np.float64]  # (6, 6) over their rates
    contact: NDArray[np.void]  # RESULT of each pair
    applied: NDArray[np.float64]  # (6,) wrench of the loads


@compiled
def balance(
    model: Any,
    action: ActionArrays,
    loads: NDArray,
    pose: NDArray,
    rates: NDArray,
    rotation: NDArray,
    axes: NDArray,
    found: Forces,
) -> None:
    """Forces of contact, loads, springs and dampers along the coordinates, and their derivatives.

    `loads` holds force, moment and point of each load (9 numbers); `rotation` and `axes` are those
    of the pose.
    """
    wrench, rate, drag = np.zeros(6), np.zeros((6, 6)), np.zeros((6, 6))
    velocity = np.zeros(6)
    for i in range(3):
        velocity[i] = rates[i]
        for j in range(3):
            velocity[3 + i] += axes[i, j] * rates[3 + j]
    contact = found.contact
    evaluate_pairs(model, rotation, pose[:3], velocity, action.has_friction, contact)
    for n in range(contact.shape[0]):
        for i in range(6):
            wrench[i] += contact[n].wrench[i]
            for j in range(6):
                rate[i, j] += contact[n].stiffness[i, j]
                if action.has_friction:
                    drag[i, j] += contact[n].damping[i, j]
    found.applied[:] = 0.0
    for n in range(action.follows.shape[0]):
        apply_load(
            loads[9 * n : 9 * n + 3],
            loads[9 * n + 3 : 9 * n + 6],
            loads[9 * n + 6 : 9 * n + 9],
            action.follows[n],
            action.carried[n],
            pose[:3],
            rotation,
            found.applied,
            rate,
        )
    for i in range(6):
        wrench[i] += found.applied[i]
    found.force[:] = 0.0
    found.derivative[:] = 0.0
    found.resistance[:] = 0.0
    along_coordinates(wrench, rate, axes, found.force, found.derivative)
    if action.has_friction:
        nothing = np.zeros(6)
        along_coordinates(nothing, drag, axes, np.zeros(6), found.resistance)
    pull_springs(action.springs, pose, rates, found.force, found.derivative, found.resistance)
    for i in range(6):
        for j in range(6):
            found.force[i] -= action.damping[i, j] * rates[j]
            found.resistance[i, j] -= action.damping[i, j]


@compiled
def fill_pose(
    motion: MotionArrays,
    time: float,
    state: NDArray,
    pose: NDArray,
    rates: NDArray,
    accelerations: NDArray,
    values: NDArray,
) -> None:
    """Coordinates and rates: of the time history where prescribed, of the state where free.

    Fills in the `values` of the time history, and the accelerations of the prescribed coordinates,
    zero for the free ones.
    """
    speeds, changes = np.empty_like(values), np.empty_like(values)
    sample_spline(motion.time_history, motion.period, time, values, speeds, changes)
    pose[:], rates[:], accelerations[:] = values[:6], speeds[:6], changes[:6]
    count = motion.free.shape[0]
    for k in range(count):
        i = motion.free[k]
        pose[i] = motion.origin[i] + state[k]
        rates[i] = state[count + k]
        accelerations[i] = 0.0


@compiled
def move(
    model: Any,
    action: ActionArrays,
    motion: MotionArrays,
    time: float,
    state: NDArray,
    slope: NDArray,
    matrix: NDArray,
    reaction: NDArray,
    found: Forces,
) -> None:
    """Slope of the state (free coordinates, their rates), its derivative, and driving forces.

    M q'' + b = Q + R, with R zero along free coordinates and q'' prescribed along the others.
    `matrix` is filled if it has rows; inertia's own change with the pose, small beside the
    stiffness of contact, is left out of it.
    """
    free = motion.free
    count = free.shape[0]
    values = np.empty(motion.time_history.shape[2])
    pose, rates, accelerations = np.empty(6), np.empty(6), np.empty(6)
    fill_pose(motion, time, state, pose, rates, accelerations, values)
    rotation, axes = np.empty((3, 3)), np.empty((3, 3))
    orient(pose[3:], rotation, axes)
    balance(model, action, values[6:], pose, rates, rotation, axes, found)
    mass, bias = np.empty((6, 6)), np.empty(6)
    inertia_along(motion.body, rotation, axes, rates, mass, bias)

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
                right[a, 1 + count + b] = found.resistance[i, free[b]]
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


@compiled
def carried_parts(found: Forces, lost: float, margins: NDArray) -> None:
    """Force of all pairs, and of each, beyond the part of the load that counts as lost contact."""
    load = 0.0
    for i in range(3):
        load += found.applied[i] ** 2
    load = max(np.sqrt(load), 1e-300)
    margins[0] = -lost
    for n in range(found.contact.shape[0]):
        force = 0.0
        for i in range(3):
            force += found.contact[n].wrench[i] ** 2
        part = np.sqrt(force) / load
        margins[0] += part
        margins[1 + n] = part - lost
