"""Compiled forces on the bodies of a system, and its equations of motion."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.base.compilation import by_reference, compiled
from kneewear.contact._kernels import evaluate_pairs
from kneewear.mechanics._kernels import (
    BodyArrays,
    apply_load,
    cross,
    inertia_along,
    orient,
    rate_along,
    sample_spline,
    wrench_along,
)
from kneewear.mechanics._tissue_kernels import SpringArrays, add_spring_forces
from kneewear.mechanics.coordinates import CHARACTERISTIC_LENGTH


class SystemArrays(NamedTuple):
    """Arrays of a system of n bodies, and work space of its kernels.

    Bodies are numbered from 1; body 0 is the ground. Kernels add contact, loads and springs to what
    other actions have added to `wrench`, `stiffness` and `damping`.
    """

    order: NDArray[np.int64]  # (n, 3) coordinate axis of each turn
    sign: NDArray[np.float64]  # (n, 3)
    mass: NDArray[np.float64]  # (n,), zero without inertia
    inertia: NDArray[np.float64]  # (n, 3, 3)
    centre: NDArray[np.float64]  # (n, 3)
    contact_body: int  # the body that touches the ground
    has_rate: bool  # whether contact depends on velocity
    load_body: NDArray[np.int64]  # (m,)
    follows: NDArray[np.bool_]  # (m,) given in the frame of the body
    carried: NDArray[np.bool_]  # (m,) its point given in the frame of the body
    loads: NDArray[np.float64]  # (9 m,) force, moment and point
    springs: SpringArrays

    coordinates: NDArray[np.float64]  # (6 n,)
    rates: NDArray[np.float64]
    accelerations: NDArray[np.float64]
    rotation: NDArray[np.float64]  # (n + 1, 3, 3)
    translation: NDArray[np.float64]  # (n + 1, 3)
    velocity: NDArray[np.float64]  # (n + 1, 6)
    axes: NDArray[np.float64]  # (n + 1, 3, 3)
    wrench: NDArray[np.float64]  # (6 n + 6,) of all that acts, as of `BodyForces`
    stiffness: NDArray[np.float64]  # (6 n + 6, 6 n + 6)
    damping: NDArray[np.float64]
    energy: NDArray[np.float64]  # (1,)
    scale: NDArray[np.float64]  # (1,) largest force of one action
    contact: NDArray[np.void]  # RESULT of each pair
    applied: NDArray[np.float64]  # (m, 6) wrench of each load
    pulls: NDArray[np.float64]  # force of each spring
    force: NDArray[np.float64]  # (6 n,) along the coordinates
    derivative: NDArray[np.float64]  # (6 n, 6 n) over the coordinates
    resistance: NDArray[np.float64]  # over their rates
    masses: NDArray[np.float64]  # over the coordinates
    bias: NDArray[np.float64]  # (6 n,)
    reaction: NDArray[np.float64]  # (6 n,) of prescribed coordinates


class MotionArrays(NamedTuple):
    """Arrays of the bodies that move over time, and of their motion."""

    time_history: NDArray[np.float64]  # spline of 6 n coordinates and, if given, of the loads
    period: float
    free: NDArray[np.int64]  # numbers of the free coordinates
    origin: NDArray[np.float64]  # (6 n,) coordinates that the states count from
    dampers: NDArray[np.float64]  # (6 n, 6 n) force along each coordinate over each rate
    # Load that the dampers belong to, N, exponent of the load over it, and what that power is now.
    damper_scale: NDArray[np.float64]


class Record(NamedTuple):
    """Contact of a body with the ground, without pairs if there is none, and the arrays."""

    model: Any
    arrays: SystemArrays


_new_record = by_reference(Record)


@compiled
def build_record(model: Any, arrays: SystemArrays) -> Record:
    """A `Record` that kernels take; a call from Python takes longer for every array passed."""
    return _new_record(model, arrays)


@compiled
def place_bodies(
    coordinates: NDArray,
    rates: NDArray,
    order: NDArray,
    sign: NDArray,
    rotation: NDArray,
    translation: NDArray,
    velocity: NDArray,
    axes: NDArray,
) -> None:
    """Fill poses, velocities and axes of turns (n + 1, 3, 3); body 0 is the ground, at rest."""
    for b in range(1, rotation.shape[0]):
        q, v = coordinates[6 * (b - 1) : 6 * b], rates[6 * (b - 1) : 6 * b]
        orient(q[3:], order[b - 1], sign[b - 1], rotation[b], axes[b])
        for i in range(3):
            translation[b, i], velocity[b, i], velocity[b, 3 + i] = q[i], v[i], 0.0
            for k in range(3):
                velocity[b, 3 + i] += axes[b, i, k] * v[3 + k]


@compiled
def place(record: Any) -> None:
    """Place the bodies of a system, on which nothing acts yet."""
    s = record.arrays
    place_bodies(
        s.coordinates, s.rates, s.order, s.sign, s.rotation, s.translation, s.velocity, s.axes
    )
    s.wrench[:], s.stiffness[:], s.damping[:] = 0.0, 0.0, 0.0
    s.energy[0] = s.scale[0] = 0.0


@compiled
def find_forces(record: Any, resisted: bool) -> None:
    """Forces along the coordinates of placed bodies, and their derivatives.

    `resisted` states that other actions depend on velocity.
    """
    s = record.arrays
    b = s.contact_body
    evaluate_pairs(
        record.model, s.rotation[b], s.translation[b], s.velocity[b], s.has_rate, s.contact
    )
    touch = np.zeros(6)
    for n in range(s.contact.shape[0]):
        for i in range(6):
            touch[i] += s.contact[n].wrench[i]
            for j in range(6):
                s.stiffness[6 * b + i, 6 * b + j] += s.contact[n].stiffness[i, j]
                if s.has_rate:
                    s.damping[6 * b + i, 6 * b + j] += s.contact[n].damping[i, j]
    add_wrench(s, b, touch)
    for n in range(s.load_body.shape[0]):
        b = s.load_body[n]
        force, point = s.loads[9 * n : 9 * n + 3], s.loads[9 * n + 6 : 9 * n + 9]
        s.applied[n] = 0.0
        apply_load(
            force,
            s.loads[9 * n + 3 : 9 * n + 6],
            point,
            s.follows[n],
            s.carried[n],
            s.translation[b],
            s.rotation[b],
            s.applied[n],
            s.stiffness[6 * b : 6 * b + 6, 6 * b : 6 * b + 6],
        )
        add_wrench(s, b, s.applied[n])
        if s.carried[n] and not s.follows[n]:
            # A dead force has a potential, zero with its point at the ground's origin.
            for i in range(3):
                s.energy[0] -= force[i] * s.translation[b, i]
                for j in range(3):
                    s.energy[0] -= force[i] * s.rotation[b, i, j] * point[j]
    s.force[:], s.derivative[:], s.resistance[:] = 0.0, 0.0, 0.0
    project_forces(s, resisted or s.has_rate)
    s.energy[0] += add_spring_forces(
        s.springs, s.coordinates, s.rates, s.pulls, s.force, s.derivative, s.resistance
    )
    for n in range(s.pulls.shape[0]):
        lever = 1.0 if s.springs.coordinate[n] % 6 < 3 else CHARACTERISTIC_LENGTH
        s.scale[0] = max(s.scale[0], abs(s.pulls[n]) / lever)


@compiled
def add_wrench(s: SystemArrays, b: int, wrench: NDArray) -> None:
    """Add the wrench of one action on a body."""
    for i in range(3):
        s.wrench[6 * b + i] += wrench[i]
        s.wrench[6 * b + 3 + i] += wrench[3 + i]
        s.scale[0] = max(s.scale[0], abs(wrench[i]), abs(wrench[3 + i]) / CHARACTERISTIC_LENGTH)


@compiled
def project_forces(s: SystemArrays, resisted: bool) -> None:
    """Forces along coordinates from wrenches, and their derivatives.

    The twist of a body is J q' with J = diag(I, axes). Derivatives over coordinates hold the
    rates: a turn's axis moves with the turns before it, and velocities with the axes.
    """
    size = s.force.shape[0]
    for a in range(0, size, 6):
        row = s.axes[a // 6 + 1]
        for b in range(0, size, 6):
            column = s.axes[b // 6 + 1]
            of_a, of_b = slice(a + 6, a + 12), slice(b + 6, b + 12)
            rate_along(s.stiffness[of_a, of_b], row, column, s.derivative[a : a + 6, b : b + 6])
            if resisted:
                rate_along(s.damping[of_a, of_b], row, column, s.resistance[a : a + 6, b : b + 6])
        wrench = s.wrench[a + 6 : a + 12]
        wrench_along(wrench, row, s.force[a : a + 6], s.derivative[a : a + 6, a : a + 6])
    if resisted:
        add_turning(s)


@compiled
def add_turning(s: SystemArrays) -> None:
    """Add the derivative of damping as angular velocities change with the angles."""
    size = s.force.shape[0]
    part = np.empty(3)
    for b in range(size // 6):
        for i in range(3):
            for j in range(i):
                cross(s.axes[b + 1, :, j], s.axes[b + 1, :, i], part)
                for r in range(size):
                    column = 0.0
                    for k in range(3):
                        if r % 6 < 3:
                            column += s.damping[6 + r, 9 + 6 * b + k] * part[k]
                        else:
                            a, first = r // 6, 9 + 6 * (r // 6)
                            for m in range(3):
                                column += (
                                    s.axes[a + 1, m, r % 6 - 3]
                                    * s.damping[first + m, 9 + 6 * b + k]
                                    * part[k]
                                )
                    s.derivative[r, 6 * b + 3 + j] += column * s.rates[6 * b + 3 + i]


@compiled
def scale_dampers(loads: NDArray, scale: NDArray) -> None:
    """Power of the present load over the load of the dampers, into the last number of `scale`."""
    if scale[1] > 0.0:
        total = 0.0
        for n in range(0, loads.shape[0], 9):
            total += np.sqrt(loads[n] ** 2 + loads[n + 1] ** 2 + loads[n + 2] ** 2)
        scale[2] = (total / scale[0]) ** scale[1]


@compiled
def follow(record: Any, motion: MotionArrays, time: float, state: NDArray) -> None:
    """Coordinates and rates: of the time history where prescribed, of the state where free.

    Fills in the accelerations of the prescribed coordinates, zero for the free ones, and the loads
    if the time history has them.
    """
    s = record.arrays
    size, channels = s.force.shape[0], motion.time_history.shape[2]
    values, rates, accelerations = np.empty(channels), np.empty(channels), np.empty(channels)
    sample_spline(motion.time_history, motion.period, time, values, rates, accelerations)
    s.coordinates[:], s.rates[:] = values[:size], rates[:size]
    s.accelerations[:] = accelerations[:size]
    if channels > size:
        s.loads[:] = values[size:]
        scale_dampers(s.loads, motion.damper_scale)
    count = motion.free.shape[0]
    for k in range(count):
        i = motion.free[k]
        s.coordinates[i] = motion.origin[i] + state[k]
        s.rates[i] = state[count + k]
        s.accelerations[i] = 0.0


@compiled
def find_inertia(record: Any) -> None:
    """Mass matrix over the coordinates, and the forces that rates of the angles alone need."""
    s = record.arrays
    s.masses[:] = 0.0
    for b in range(s.mass.shape[0]):
        own = slice(6 * b, 6 * b + 6)
        body = BodyArrays(s.mass[b], s.inertia[b], s.centre[b])
        inertia_along(
            body, s.rotation[b + 1], s.axes[b + 1], s.rates[own], s.masses[own, own], s.bias[own]
        )


@compiled
def accelerate(
    record: Any, motion: MotionArrays, state: NDArray, slope: NDArray, matrix: NDArray
) -> None:
    """Add dampers; slope of the state (free coordinates, their rates), its derivative, reactions.

    M q'' + b = Q + R, with R zero along free coordinates and q'' prescribed along the others. A
    state with one number more has the work of Q and R at its end. `matrix` is filled if it has
    rows, without the derivative of work; inertia's own change with the pose, small beside the
    stiffness of contact, is left out of it.
    """
    s, free = record.arrays, motion.free
    find_inertia(record)
    count, size = free.shape[0], s.force.shape[0]
    share = motion.damper_scale[2]
    for i in range(size):
        for j in range(size):
            damper = share * motion.dampers[i, j]
            s.force[i] -= damper * s.rates[j]
            s.resistance[i, j] -= damper
    wanted = matrix.shape[0] > 0
    inner = np.empty((count, count))
    right = np.empty((count, 1 + 2 * count if wanted else 1))
    for a in range(count):
        i = free[a]
        right[a, 0] = s.force[i] - s.bias[i]
        for j in range(size):
            right[a, 0] -= s.masses[i, j] * s.accelerations[j]
        for b in range(count):
            inner[a, b] = s.masses[i, free[b]]
            if wanted:
                right[a, 1 + b] = s.derivative[i, free[b]]
                right[a, 1 + count + b] = s.resistance[i, free[b]]
    solved = np.linalg.solve(inner, right)
    if wanted:
        matrix[:] = 0.0
    for a in range(count):
        s.accelerations[free[a]] = solved[a, 0]
        slope[a], slope[count + a] = state[count + a], solved[a, 0]
        if wanted:
            matrix[a, count + a] = 1.0
            for b in range(2 * count):
                matrix[count + a, b] = solved[a, 1 + b]
    for i in range(size):
        s.reaction[i] = s.bias[i] - s.force[i]
        for j in range(size):
            s.reaction[i] += s.masses[i, j] * s.accelerations[j]
    for i in free:
        s.reaction[i] = 0.0
    if slope.shape[0] > 2 * count:
        slope[2 * count] = 0.0
        for i in range(size):
            slope[2 * count] += (s.force[i] + s.reaction[i]) * s.rates[i]


@compiled
def move(
    record: Any,
    motion: MotionArrays,
    time: float,
    state: NDArray,
    slope: NDArray,
    matrix: NDArray,
) -> None:
    """As `accelerate`, where nothing acts but what kernels add."""
    follow(record, motion, time, state)
    place(record)
    # A plain False is a type of its own, for which all of contact would be compiled once more.
    find_forces(record, bool(0))
    accelerate(record, motion, state, slope, matrix)


@compiled
def carried_parts(record: Any, lost: float, margins: NDArray) -> None:
    """Force of all contact pairs, and of each, beyond the part of the load that counts as lost."""
    s = record.arrays
    load = 0.0
    for i in range(3):
        load += s.applied[:, i].sum() ** 2
    load = max(np.sqrt(load), 1e-300)
    margins[0] = -lost
    for n in range(s.contact.shape[0]):
        force = 0.0
        for i in range(3):
            force += s.contact[n].wrench[i] ** 2
        part = np.sqrt(force) / load
        margins[0] += part
        margins[1 + n] = part - lost
