"""Settling of a system by the numerical damping of the implicit Euler method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.errors import ConvergenceError
from kneewear.mechanics.coordinates import weights
from kneewear.mechanics.descent import descend
from kneewear.motion import _kernels
from kneewear.motion.system import System, SystemForces

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

# Steps are solved to these parts of the largest acceleration, and of the one that counts as rest.
ACCURACY = 1e-6
AT_REST = 0.1
# Largest number of steps, and distance from the start, mm, beyond which nothing holds the bodies.
MAX_STEPS = 10000
MAX_DISTANCE = 200.0
# Largest and smallest factors from one duration to the next, and part of the one that fits.
GROWTH = 2.0
SHRINKAGE = 0.25
CAUTION = 0.9
REMEDY = (
    "Allow larger errors of steps or larger accelerations; a weak spring settles a coordinate that "
    "nothing restores, and heavier bodies need less accuracy of the forces."
)


class Settled(NamedTuple):
    """Motion of n bodies to rest: a row for the start and for the end of each step.

    `time`, s; `coordinates`, `rates` and `accelerations` (n_times, 6 n), mm, rad and s, the last
    zero along coordinates that are not free; `kinetic` energy, N mm.
    """

    time: Array
    coordinates: Array
    rates: Array
    accelerations: Array
    kinetic: Array


def settle_system(
    system_at: Callable[[Array], System],
    start: ArrayLike,
    free: Sequence[str],
    *,
    step_error: float,
    tolerance: float,
) -> Settled:
    """Move a system from a start (6 n,) at rest until the method's own damping has settled it.

    `system_at` is the system over a step from its coordinates (6 n,); what depends on the pose
    otherwise than by forces, as the thickness of cartilage, stays constant during a step. `free` is
    as of `solve_system`; each body with a free coordinate needs inertia. The other coordinates keep
    their values. `step_error`, mm, is the largest error of a step, the second derivative's term of
    Taylor's series, and decides on its duration. The motion ends when accelerations and rates of
    all free coordinates are below `tolerance`, mm/s2 and rad/s2, mm/s and rad/s. ConvergenceError
    if they do not within `MAX_STEPS`, or move farther than `MAX_DISTANCE`.

    Notes
    -----
    Implicit Euler, M (v1 - v0) / h + b = Q(q0 + h v1, v1), is of first order and multiplies a free
    vibration of angular frequency w by 1 / sqrt(1 + (w h)^2) in each step. While the bodies move by
    more than the error steps resolve the motion; then they grow without limit and become Newton's
    method for the equilibrium (Bei 2003, section 2.2.4). Only times depend on the mass.
    """
    place = np.array(start, dtype=float)
    speed = np.zeros(place.size)
    weight = weights(place.size // 6)
    time, duration = 0.0, 0.0
    rows: list[tuple[float, Array, Array, Array, float]] = []
    for _ in range(MAX_STEPS):
        system = system_at(place)
        chosen = system.coordinates(*free)
        acceleration, kinetic, least = _state(system, place, speed, chosen)
        worst = float(np.abs(weight * acceleration).max())
        if np.abs(weight * (place - start)).max() > MAX_DISTANCE:
            break
        if not rows or time > rows[-1][0]:
            rows.append((time, place, speed, acceleration, kinetic))
        if max(np.abs(acceleration).max(), np.abs(speed).max()) < tolerance:
            return Settled(*(np.array(column) for column in zip(*rows, strict=True)))
        if not duration:
            duration = (2.0 * step_error / worst) ** 0.5
        unbalanced = least * max(ACCURACY * worst, AT_REST * tolerance)
        step = step_implicitly(system, place, speed, duration, chosen, unbalanced)
        reached = step / duration
        error = 0.5 * float(np.abs(weight * (step - speed * duration)).max())
        if error <= step_error:
            time, place, speed = time + duration, place + step, reached
        factor = CAUTION * (step_error / max(error, 1e-300)) ** 0.5
        duration *= min(max(factor, SHRINKAGE), GROWTH)
    raise ConvergenceError("Settling", len(rows) - 1, worst, "mm/s2", REMEDY)


def step_implicitly(
    system: System,
    place: Array,
    speed: Array,
    duration: float,
    free: Numbers,
    tolerance: float,
) -> Array:
    """Change of the coordinates (6 n,) in a step of the implicit Euler method, s.

    `place` and `speed` (6 n,) are coordinates and rates at its start; `free` are numbers of
    coordinates. `tolerance` is the largest error of a force, N, moments divided by 23 mm. The end
    is found by `kneewear.mechanics.descent`, with the stiffness of what acts and of inertia; the
    change of inertia with the pose is left out of it. The change is the unknown, because the
    coordinates round it off.
    """

    def forces(step: Array) -> SystemForces:
        rates = step / duration
        found = system.forces(place + step, rates)
        _kernels.find_inertia(system.record)
        mass, bias = system.arrays.masses, system.arrays.bias
        return found._replace(
            force=found.force - bias - mass @ (rates - speed) / duration,
            derivative=found.derivative + found.resistance / duration - mass / duration**2,
            scale=1.0,
            apart=False,
        )

    start = np.zeros(place.size)
    return descend(forces, start, free, weights(place.size // 6), tolerance).coordinates


def _state(system: System, place: Array, speed: Array, free: Numbers) -> tuple[Array, float, float]:
    """Accelerations (6 n,), kinetic energy, and the least mass along a coordinate, t."""
    force = system.forces(place, speed).force
    _kernels.find_inertia(system.record)
    s, own = system.arrays, np.ix_(free, free)
    accelerations = np.zeros(place.size)
    accelerations[free] = np.linalg.solve(s.masses[own], (force - s.bias)[free])
    weight = weights(place.size // 6)[free]
    least = np.linalg.eigvalsh(s.masses[own] / np.outer(weight, weight))[0]
    return accelerations, float(0.5 * speed @ s.masses @ speed), float(least)
