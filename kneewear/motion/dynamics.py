"""Motion of a system under forces and prescribed coordinates, with its balance of energy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.errors import ConvergenceError
from kneewear.mechanics.coordinates import PeriodicSpline, weights
from kneewear.mechanics.integration import STOPPED, integrate
from kneewear.mechanics.rigid_body import modal_damping
from kneewear.motion import _kernels
from kneewear.motion.system import System

Array = NDArray[np.float64]
# Fills values of functions that fall through zero at events, from time, coordinates, rates and a
# function that finds the forces, as long as a step, and returns what called actions found.
Margins = Callable[[float, Array, Array, Callable[[], Mapping[str, Any]], Array], None]

# Errors are relative to this length, mm, and to this speed, mm/s.
LENGTH = 0.1
SPEED = 10.0
REMEDY = "Check motion, masses, loads and units; stronger damping or smaller steps may help."
# Modes slower than this, per period of the motion, do not count for errors of rates.
SLOWEST = 10.0
# Errors of rates over those of the same energy as errors of coordinates, where modes are damped by
# this part of critical: vibrations die out. Frames of the default design err by no more, with a
# quarter fewer evaluations.
DAMPED = 0.1
RATES = 4.0


class Stepping(NamedTuple):
    """Accuracy of an integration: largest relative error of a step, and the steps themselves.

    `largest_step`, s, must be below the duration of the shortest contact; `highest_order` is as of
    `kneewear.mechanics.integration.integrate`.
    """

    relative_tolerance: float = 1e-6
    largest_step: float = 1e-3
    highest_order: int = 5  # two damps vibrations faster than the motion


class ModalDamping(NamedTuple):
    """Dampers that damp each mode over the free coordinates by a ratio to critical damping.

    Modes are those at a `time` of the motion, s; errors of rates are then relative to their energy.
    Modes damped by `DAMPED` or more are allowed `RATES` times these errors. Where the motion has
    loads, the dampers change with the sum of their forces over that at `time`, to the power
    `load_exponent`.
    """

    ratio: float
    time: float
    load_exponent: float = 0.0


@dataclass(frozen=True)
class SystemMotion:
    """Motion of a system at `time`, s, shape (n_times,).

    `coordinates`, `rates` and `accelerations` (n_times, 6 n) are in mm, rad and s; `reaction` (the
    same shape) holds prescribed coordinates, N and N mm, zero along free ones, and `inertia` (the
    same shape) is what accelerates the bodies; `parts` is, for each time, what each action found.
    `energy` is stored, `kinetic` the kinetic energy, and `work` what all forces, with reactions,
    have done since the start, N mm: the difference of the last two is the error of the balance of
    energy. `events` are times, s, and numbers of margins; `evaluations` counts right-hand sides.
    Where an event stopped the motion, `stop` holds its time, and coordinates, rates and work there.
    """

    time: Array
    coordinates: Array
    rates: Array
    accelerations: Array
    reaction: Array
    inertia: Array
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


def integrate_system(
    system: System,
    times: ArrayLike,
    start: ArrayLike,
    free: Sequence[str],
    *,
    rates: ArrayLike | None = None,
    motion: PeriodicSpline | None = None,
    margins: Margins | None = None,
    stops: tuple[bool, ...] = (),
    damping: ModalDamping | None = None,
    with_work: bool = True,
    stepping: Stepping | None = None,
    what: str = "Dynamics",
) -> SystemMotion:
    """Integrate M q'' + b(q, q') = Q(q, q', t) + R from a start (6 n,), by default at rest.

    Coordinates not in `free` follow `motion`, splines of all 6 n coordinates and, with 9 channels
    more per load, of its force, moment and point; by default they stay at their start. Each of
    `margins` is an event where it falls through zero, which ends the integration where `stops` says
    so. `with_work` integrates the work, which is otherwise not a number. Backward differentiation
    formulas of `kneewear.mechanics.integration`, with a Jacobian without the small derivatives of
    the mass matrix. ConvergenceError, named `what`, if the integration ends early, unless an event
    stopped it; ValueError if a body without inertia has free coordinates.
    """
    steps = stepping or Stepping()
    run = _Run(system, start, free, motion, margins, steps, with_work)
    if damping is not None:
        run.damp(damping)
    begin = np.zeros(system.size) if rates is None else np.asarray(rates, dtype=float)
    state = run.state(np.asarray(start, dtype=float), begin)
    frames: list[dict[str, Any]] = []
    done = integrate(
        run,
        np.asarray(times, dtype=float),
        state,
        stops,
        steps.highest_order,
        lambda time, state: frames.append(run.at(time, state)),
    )
    if done.failure and done.failure != STOPPED:
        left = float(np.abs(system.arrays.force / weights(len(system.bodies)))[run.free].max())
        raise ConvergenceError(
            f"{what} at {done.time[-1]:g} s ({done.failure})", len(done.time) - 1, left, "N", REMEDY
        )
    parts = tuple(frame.pop("parts") for frame in frames)
    stop = None
    if done.stop is not None:
        coordinates, rates = run.kinematics(*done.stop)
        stop = (done.stop[0], coordinates, rates, float(done.stop[1][-1]))
    return SystemMotion(
        time=done.time,
        parts=parts,
        events=done.events,
        evaluations=done.evaluations,
        stop=stop,
        **{name: np.array([one[name] for one in frames]) for name in frames[0]},
    )


class _Run:
    """Equations of motion, as `integration.Problem`.

    States are the free coordinates, counted from the start, their rates and, if wanted, the work.
    """

    def __init__(
        self,
        system: System,
        start: ArrayLike,
        free: Sequence[str],
        motion: PeriodicSpline | None,
        margins: Margins | None,
        stepping: Stepping,
        with_work: bool,
    ) -> None:
        self.system, self.free = system, system.coordinates(*free)
        for number, body in enumerate(system.bodies):
            if body.inertia is None and np.any(self.free // 6 == number):
                raise ValueError(f"body {body.name} has free coordinates and no inertia; give it")
        origin = np.array(start, dtype=float)
        at_rest = PeriodicSpline(origin * np.eye(4)[:1, :, None], 1.0)
        self.motion = at_rest if motion is None else motion
        if self.motion.coefficients.shape[2] == system.size:
            system.arrays.loads[:] = system.steady_loads
        self._arrays = _kernels.MotionArrays(
            self.motion.coefficients,
            self.motion.period,
            self.free,
            origin,
            dampers=np.zeros((system.size, system.size)),
            damper_scale=np.array([1.0, 0.0, 1.0]),
        )
        self._margins, self._none = margins, np.empty((0, 0))
        self._time, self._state, self._parts = np.nan, np.empty(0), dict[str, Any]()
        self._step = np.nan, np.empty(0)  # end of the last step with its margins
        scale = np.array([[LENGTH], [SPEED]]) / weights(len(system.bodies))[self.free]
        self.scale = np.append(scale, np.ones(int(with_work)))
        self.relative_tolerance = stepping.relative_tolerance
        self.largest_step = stepping.largest_step

    def state(self, coordinates: Array, rates: Array) -> Array:
        """State at coordinates and rates (6 n,), before any work."""
        state = np.zeros(self.scale.size)
        count = self.free.size
        state[:count] = (coordinates - self._arrays.origin)[self.free]
        state[count : 2 * count] = rates[self.free]
        return state

    def damp(self, damping: ModalDamping) -> None:
        """Add modal dampers, and make errors of rates relative to the energy of the modes."""
        s, part, count = self.system.arrays, np.ix_(self.free, self.free), self.free.size
        place, rates, _ = self.motion(damping.time)
        size = self.system.size
        self._move(damping.time, self.state(place[:size], rates[:size]), np.empty(self.scale.size))
        mass, stiffness = s.masses[part], -s.derivative[part]
        self._arrays.dampers[part] = modal_damping(mass, stiffness, damping.ratio)
        forces = s.loads.reshape(-1, 9)[:, :3]
        largest = float(np.linalg.norm(forces, axis=1).sum())
        if largest > 0.0:
            self._arrays.damper_scale[:2] = largest, damping.load_exponent
        slowest = 2.0 * np.pi * SLOWEST / self.motion.period
        modes = np.sqrt(np.maximum(np.diag(stiffness) / np.diag(mass), slowest**2))
        self.scale[count : 2 * count] = self.scale[:count] * modes
        if damping.ratio >= DAMPED:
            self.scale[count : 2 * count] *= RATES

    def _move(self, time: float, state: Array, slope: Array, matrix: Array | None = None) -> None:
        """Everything in the system's arrays, at a state; fills slope and derivative."""
        system = self.system
        # The solver's own arrays are read-only, for which kernels would be compiled once more.
        state, matrix = state.copy(), self._none if matrix is None else matrix
        if system.is_compiled:
            _kernels.move(system.record, self._arrays, time, state, slope, matrix)
        else:
            _kernels.follow(system.record, self._arrays, time, state)
            self._parts = system.act(time)
            _kernels.accelerate(system.record, self._arrays, state, slope, matrix)
        self._time, self._state = time, state

    def slope(self, time: float, state: Array, slope: Array) -> None:
        """Right-hand side."""
        self._move(time, state, slope)

    def jacobian(self, time: float, state: Array, slope: Array, matrix: Array) -> None:
        """Its derivative over the state, without those of inertia and work."""
        self._move(time, state, np.empty_like(slope), matrix)

    def margins(self, time: float, state: Array, margins: Array) -> None:
        """Values of all events."""
        if self._margins is None:
            return

        def parts() -> Mapping[str, Any]:
            if time != self._time:
                self._move(time, state, np.empty(state.size))
            return self._parts

        s = self.system.arrays
        # At the end of a step the last forces were found at the same time, and nearly the state;
        # the solver returns to it after an output time within the step.
        if time == self._step[0]:
            margins[:] = self._step[1]
            return
        if time != self._time:
            if self._time > time:
                self._step = self._time, np.empty_like(margins)
                self._margins(
                    self._time, s.coordinates, s.rates, lambda: self._parts, self._step[1]
                )
            _kernels.follow(self.system.record, self._arrays, time, state.copy())
            self._time = np.nan
        self._margins(time, s.coordinates, s.rates, parts, margins)

    def kinematics(self, time: float, state: Array) -> tuple[Array, Array]:
        """Coordinates and rates at a state."""
        _kernels.follow(self.system.record, self._arrays, time, state.copy())
        self._time = np.nan
        return self.system.arrays.coordinates.copy(), self.system.arrays.rates.copy()

    def at(self, time: float, state: Array) -> dict[str, Any]:
        """Values of `SystemMotion` at one time."""
        if time != self._time or not np.array_equal(state, self._state):
            self._move(time, state, np.empty(state.size))
        s, found = self.system.arrays, self.system.found(self._parts)
        names = ("coordinates", "rates", "accelerations", "reaction")
        return {name: getattr(s, name).copy() for name in names} | {
            "inertia": s.masses @ s.accelerations + s.bias,
            "parts": found.parts,
            "energy": found.energy,
            "kinetic": 0.5 * s.rates @ s.masses @ s.rates,
            "work": state[-1] if state.size > 2 * self.free.size else np.nan,
        }
