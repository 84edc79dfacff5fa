"""Motion of a system under forces and prescribed coordinates, with its balance of energy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.errors import ConvergenceError
from kneewear.mechanics import _kernels as inertia
from kneewear.mechanics.integration import STOPPED, Solver, integrate
from kneewear.multibody.system import System, SystemForces, weights

Array = NDArray[np.float64]
# Coordinates (6 n,), their rates and accelerations at a time, s.
Motion = Callable[[float], tuple[Array, Array, Array]]
# A function that falls through zero at an event, from time, coordinates, rates and forces.
Margin = Callable[[float, Array, Array, SystemForces], float]

# Errors are relative to this length, mm, and to this speed, mm/s.
LENGTH, SPEED = 0.1, 10.0


@dataclass(frozen=True)
class SystemMotion:
    """Motion of a system at `time`, s, shape (n_times,).

    `coordinates`, `rates` and `accelerations` (n_times, 6 n) are in mm, rad and s; `reaction` (the
    same shape) holds prescribed coordinates, N and N mm, zero along free ones; `parts` is, for each
    time, what each action found. `kinetic` is the kinetic energy, and `work` what all forces,
    reactions included, have done since the start, N mm: their difference is the error of the
    balance of energy. `events` are times, s, and numbers of margins; `evaluations` counts
    right-hand sides. Where an event stopped the motion, `stop` holds its time, and coordinates,
    rates and work there.
    """

    time: Array
    coordinates: Array
    rates: Array
    accelerations: Array
    reaction: Array
    parts: tuple[Mapping[str, Any], ...]
    energy: Array
    kinetic: Array
    work: Array
    events: tuple[tuple[float, int], ...]
    evaluations: int
    stop: tuple[float, Array, Array, float] | None = None

    @property
    def energy_error(self) -> float:
        """Largest error of the balance of energy relative to the largest kinetic energy."""
        gained = self.kinetic - self.kinetic[0]
        return float(np.abs(gained - self.work).max() / self.kinetic.max())


def at_rest(coordinates: ArrayLike) -> Motion:
    """Coordinates that do not move."""
    held = np.array(coordinates, dtype=float)
    still = np.zeros_like(held)
    return lambda time: (held, still, still)


def integrate_system(
    system: System,
    times: ArrayLike,
    start: ArrayLike,
    free: Sequence[str],
    *,
    rates: ArrayLike | None = None,
    motion: Motion | None = None,
    margins: Sequence[Margin] = (),
    stops: tuple[bool, ...] | None = None,
    relative_tolerance: float = 1e-6,
    largest_step: float = 1e-3,
    solver: Solver | None = None,
    case: str = "",
) -> SystemMotion:
    """Integrate M q'' + b(q, q') = Q(q, q', t) + R from a start (6 n,), by default at rest.

    Coordinates not in `free` follow `motion`, or stay at their start. Each of `margins` is an event
    where it falls through zero, which ends the integration where `stops` says so. `largest_step`,
    s, must be below the duration of the shortest contact. Backward differentiation formulas of
    `kneewear.mechanics.integration`, with a Jacobian without the small derivatives of the mass
    matrix. ConvergenceError if the integration ends early, unless an event stopped it; ValueError
    if a body without inertia has free coordinates.
    """
    run = _Run(system, start, free, motion, margins, relative_tolerance, largest_step)
    begin = np.zeros(system.size) if rates is None else np.asarray(rates, dtype=float)
    state = np.concatenate([np.zeros(run.free.size), begin[run.free], [0.0]])
    ends = (False,) * len(margins) if stops is None else stops
    done = integrate(run, np.asarray(times, dtype=float), state, ends, solver)
    if done.failure and done.failure != STOPPED:
        what = f"Dynamics{f' of {case}' if case else ''} at {done.time[-1]:g} s ({done.failure})"
        left = float(np.abs(run.found.force / weights(system.size))[run.free].max())
        remedy = "Check masses, units and start; a stronger damping or smaller steps may help."
        raise ConvergenceError(what, len(done.time) - 1, left, "N", remedy)
    frames = [run.at(time, one) for time, one in zip(done.time, done.state, strict=True)]
    columns = {name: np.array([one[name] for one in frames]) for name in frames[0]}
    parts = tuple(columns.pop("parts"))
    return SystemMotion(
        time=done.time, parts=parts, events=done.events, evaluations=done.evaluations,
        stop=None if done.stop is None
        else (done.stop[0], *run.kinematics(*done.stop)[:2], float(done.stop[1][-1])),
        **columns,
    )  # fmt: skip


class _Run:
    """Equations of motion, as `integration.Problem`.

    States are the free coordinates, counted from the start, their rates and the work.
    """

    def __init__(
        self,
        system: System,
        start: ArrayLike,
        free: Sequence[str],
        motion: Motion | None,
        margins: Sequence[Margin],
        relative_tolerance: float,
        largest_step: float,
    ) -> None:
        self.system, self.free = system, system.coordinates(*free)
        self.origin = np.array(start, dtype=float)
        self.motion = at_rest(self.origin) if motion is None else motion
        self._margins = tuple(margins)
        for number, body in enumerate(system.bodies):
            if body.inertia is None and np.any(self.free // 6 == number):
                raise ValueError(f"body {body.name} has free coordinates and no inertia; give it")
        scale = (LENGTH / weights(system.size))[self.free]
        speed = (SPEED / weights(system.size))[self.free]
        self.scale = np.concatenate([scale, speed, [1.0]])
        self.relative_tolerance, self.largest_step = relative_tolerance, largest_step
        self._held = np.setdiff1d(np.arange(system.size), self.free)

    def kinematics(self, time: float, state: Array) -> tuple[Array, Array, Array]:
        """Coordinates, rates, and accelerations of prescribed coordinates, at a state."""
        coordinates, rates, accelerations = (np.array(part) for part in self.motion(time))
        count = self.free.size
        coordinates[self.free] = self.origin[self.free] + state[:count]
        rates[self.free] = state[count : 2 * count]
        return coordinates, rates, accelerations

    def _inertia(self, coordinates: Array, rates: Array) -> tuple[Array, Array]:
        """Mass matrix and bias of all bodies; zero for those without inertia."""
        size = self.system.size
        mass, bias = np.zeros((size, size)), np.zeros(size)
        poses, axes = self.system.placed(coordinates)
        for number, body in enumerate(self.system.bodies):
            if body.inertia is not None:
                own = slice(6 * number, 6 * number + 6)
                part, lack = np.empty((6, 6)), np.empty(6)
                inertia.inertia_along(
                    body.inertia.arrays, poses.rotation[number + 1], axes[number + 1], rates[own],
                    part, lack,
                )  # fmt: skip
                mass[own, own], bias[own] = part, lack
        return mass, bias

    def _move(self, time: float, state: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Coordinates, rates, accelerations, mass matrix and reactions at a state."""
        coordinates, rates, accelerations = self.kinematics(time, state)
        self.found = self.system.forces(coordinates, rates, time)
        mass, bias = self._inertia(coordinates, rates)
        free, held = self.free, self._held
        net = self.found.force - bias - mass[:, held] @ accelerations[held]
        accelerations[free] = np.linalg.solve(mass[np.ix_(free, free)], net[free])
        reaction = mass[:, free] @ accelerations[free] - net
        reaction[free] = 0.0
        return coordinates, rates, accelerations, mass, reaction

    def slope(self, time: float, state: Array, slope: Array) -> None:
        """Right-hand side."""
        _, rates, accelerations, _, reaction = self._move(time, state)
        count = self.free.size
        slope[:count], slope[count : 2 * count] = rates[self.free], accelerations[self.free]
        slope[-1] = (self.found.force + reaction) @ rates

    def jacobian(self, time: float, state: Array, slope: Array, matrix: Array) -> None:
        """Its derivative over the state, without those of inertia and work."""
        *_, mass, _ = self._move(time, state)
        count, part = self.free.size, np.ix_(self.free, self.free)
        matrix[:] = 0.0
        matrix[:count, count : 2 * count] = np.eye(count)
        over = np.hstack([self.found.derivative[part], self.found.resistance[part]])
        matrix[count : 2 * count, : 2 * count] = np.linalg.solve(mass[part], over)

    def margins(self, time: float, state: Array, margins: Array) -> None:
        """Values of all events."""
        coordinates, rates, *_ = self._move(time, state)
        for number, margin in enumerate(self._margins):
            margins[number] = margin(time, coordinates, rates, self.found)

    def at(self, time: float, state: Array) -> dict[str, Any]:
        """What `SystemMotion` holds of one time."""
        coordinates, rates, accelerations, mass, reaction = self._move(time, state)
        return {
            "coordinates": coordinates,
            "rates": rates,
            "accelerations": accelerations,
            "reaction": reaction,
            "parts": self.found.parts,
            "energy": self.found.energy,
            "kinetic": 0.5 * rates @ mass @ rates,
            "work": state[-1],
        }
