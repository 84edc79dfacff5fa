"""Forward dynamics of the moving body over one or more cycles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kneewear.contact.foundation import Layer
from kneewear.contact.pair import ContactPair
from kneewear.errors import ConvergenceError
from kneewear.mechanics.coordinates import coordinate_numbers, fit_periodic
from kneewear.mechanics.integration import STOPPED, Solver, integrate
from kneewear.mechanics.rigid_body import RigidBody, modal_damping
from kneewear.mechanics.rotations import turn_axes
from kneewear.simulation import _kernels
from kneewear.simulation.balance import WEIGHT, Balance
from kneewear.simulation.cycle import CycleBoundaryConditions, CycleSolution
from kneewear.simulation.quasi_static import medial_lateral_force

Array = NDArray[np.float64]

# Errors are relative to a typical penetration, mm, and to rotations that move a condyle as far.
PENETRATION = 0.1
# A pair that carries less than this fraction of the load has lost contact.
LOST = 1e-3
# Formulas of order four and five are unstable for vibration damped by less than 0.29 and 0.62 of
# critical, where their steps collapse until it is resolved; order three is stable from 0.07 on. On
# conforming bearings it takes a third of the evaluations. Tabled distances keep five, with which
# the shipped studies were run.
HIGHEST_ORDER, HIGHEST_ORDER_EXACT = 5, 3


@dataclass(frozen=True)
class Integrator:
    """Accuracy and damping of forward dynamics.

    `relative_tolerance` is the largest local error relative to 0.1 mm of penetration and its rates,
    `damping_ratio` the damping of each mode at the frame of the largest load relative to critical
    damping, `cycles` the number of cycles simulated, of which the last is returned; `solver` as of
    `integrate`.
    """

    relative_tolerance: float = 1e-5
    damping_ratio: float = 0.0
    cycles: int = 1
    solver: Solver | None = None


@dataclass(frozen=True)
class Trajectory:
    """Motion over the last cycle, at `time` since its start, s, shape (n,).

    `coordinates`, `rates` and `accelerations` (n, 6) are in mm, rad and s; `reaction` (n, 6) are
    the forces that keep prescribed coordinates prescribed, N and N mm, zero along free ones;
    `inertia` (n, 6) the forces along the coordinates that accelerate the body; `contact` (n,
    n_pairs, 6) the wrench of each pair on the moving body about its origin. `gap` (6,) is the end
    of the cycle minus its start, `lost` the time since the start of the simulation, s, and number
    of each pair that lost contact, `evaluations` the number of right-hand sides over all cycles.
    """

    time: Array
    coordinates: Array
    rates: Array
    accelerations: Array
    reaction: Array
    inertia: Array
    contact: Array
    gap: Array
    lost: tuple[tuple[float, int], ...]
    evaluations: int


def solve_forward(
    pairs: Sequence[ContactPair],
    layers: Sequence[Layer],
    body: RigidBody,
    conditions: CycleBoundaryConditions,
    integrator: Integrator,
    *,
    samples: int | None = None,
    case: str = "",
) -> Trajectory:
    """Integrate M q'' + b(q, q') = Q(q, q', t) + R under prescribed motion and loads.

    Bei (2003), section 2.2.4. The boundary conditions are interpolated by periodic cubic splines;
    the simulation starts at frame 0 with the rates of the motion. The step never exceeds a frame
    because a solver that starts in equilibrium could step over the whole cycle. Returned are
    `samples` equally spaced times, the frames by default. ConvergenceError, with `case` and frame,
    if all pairs lose contact, elements are too deep inside the moving body or the step collapses;
    its residual is the unbalanced force relative to the load.
    """
    cycle = _Cycle(pairs, layers, body, conditions, integrator)
    count = samples or conditions.n_frames
    first = (integrator.cycles - 1) * conditions.duration
    output = first + conditions.duration * np.arange(count + 1) / count
    times = np.concatenate([[0.0], output]) if first > 0.0 else output
    # Losing all contact ends the simulation, losing one pair does not.
    stops = (True,) + (False,) * len(pairs) if pairs else ()
    start = np.concatenate([np.zeros(cycle.free.size), cycle.spline(0.0)[1][cycle.free]])
    tabled = all(pair.is_tabled for pair in pairs)
    order = HIGHEST_ORDER if tabled else HIGHEST_ORDER_EXACT
    done = integrate(cycle, times, start, stops, integrator.solver, order)
    if done.failure:
        lost = done.failure == STOPPED
        reason = "contact was lost" if lost else done.failure
        what = f"Forward dynamics{f' of case {case}' if case else ''} ({reason})"
        raise cycle.failure(what, done.events[-1][0] if lost else done.time[-1])
    states = zip(output, done.state[-count - 1 :], strict=True)
    solved = [cycle.at(time, state) for time, state in states]
    columns = {name: np.array([one[name] for one in solved]) for name in solved[0]}
    return Trajectory(
        time=output[:-1] - first,
        **{name: column[:-1] for name, column in columns.items()},
        gap=columns["coordinates"][-1] - columns["coordinates"][0],
        lost=tuple((time, number - 1) for time, number in done.events if number > 0),
        evaluations=done.evaluations,
    )


def forward_solution(moved: Trajectory, equilibria: CycleSolution) -> CycleSolution:
    """Solution of a forward simulation that started from the equilibria of a cycle."""
    conditions = equilibria.conditions
    inertia = moved.inertia.copy()
    projection = turn_axes(moved.coordinates[:, 3:]).swapaxes(1, 2)
    inertia[:, 3:] = np.linalg.solve(projection, inertia[:, 3:, None])[..., 0]
    return replace(
        equilibria,
        coordinates=moved.coordinates,
        contact=moved.contact.sum(axis=1),
        inertia=inertia,
        spring_force=medial_lateral_force(conditions.springs, moved.coordinates),
        residual=np.zeros(conditions.n_frames),
        evaluations=equilibria.evaluations + moved.evaluations,
    )


class _Cycle:
    """Equations of motion, as `integration.Problem`."""

    def __init__(
        self,
        pairs: Sequence[ContactPair],
        layers: Sequence[Layer],
        body: RigidBody,
        conditions: CycleBoundaryConditions,
        integrator: Integrator,
    ) -> None:
        self.duration, self.frames = conditions.duration, conditions.n_frames
        self.free = coordinate_numbers(conditions.free)
        loads = [load.time_history(self.frames) for load in conditions.loads]
        self.spline = fit_periodic(
            np.concatenate([conditions.motion, *loads], axis=1), self.duration
        )
        self.balance = Balance(pairs, layers, conditions.loads, conditions.springs)
        self.motion = _kernels.MotionArrays(
            body=body.arrays,
            time_history=self.spline.coefficients,
            period=self.duration,
            free=self.free,
            origin=self.spline(0.0)[0][:6].copy(),
        )
        self._found = self.balance.found
        self._reaction, self._none = np.empty(6), np.empty((0, 0))
        self._time = np.nan
        size = sum(np.linalg.norm(load[:, :3], axis=1) for load in loads)
        mass, stiffness = self._linearized(body, int(np.argmax(size)))
        damping = modal_damping(mass, stiffness, integrator.damping_ratio)
        self.balance.arrays.damping[np.ix_(self.free, self.free)] = damping
        # Errors of coordinates are relative to a penetration, those of rates to their energy.
        slowest = 20.0 * np.pi / self.duration
        rate = np.sqrt(np.maximum(np.diag(stiffness) / np.diag(mass), slowest**2))
        scale = (PENETRATION / WEIGHT)[self.free]
        self.scale = np.concatenate([scale, scale * rate])
        self.relative_tolerance = integrator.relative_tolerance
        self.largest_step = self.duration / self.frames

    def _linearized(self, body: RigidBody, frame: int) -> tuple[Array, Array]:
        """Mass and stiffness over the free coordinates at a frame."""
        time = self.duration * frame / self.frames
        value, rate, _ = self.spline(time)
        state = np.concatenate([(value[:6] - self.motion.origin)[self.free], rate[self.free]])
        self._move(time, state, np.empty(state.size))
        mass, _ = body.equations(value[:6], rate[:6])
        part = np.ix_(self.free, self.free)
        return mass[part], -self._found.derivative[part]

    def _move(self, time: float, state: Array, slope: Array, matrix: Array | None = None) -> None:
        _kernels.move(
            self.balance.record,
            self.balance.arrays,
            self.motion,
            time,
            # The solver's own arrays are read-only, for which kernels would be compiled once more.
            state.copy(),
            slope,
            self._none if matrix is None else matrix,
            self._reaction,
            self._found,
        )
        self._time = time

    def slope(self, time: float, state: Array, slope: Array) -> None:
        """Right-hand side."""
        self._move(time, state, slope)

    def jacobian(self, time: float, state: Array, slope: Array, matrix: Array) -> None:
        """Its derivative over the state."""
        self._move(time, state, np.empty_like(slope), matrix)

    def margins(self, time: float, state: Array, margins: Array) -> None:
        """Force of all pairs and of each above the limit of lost contact, relative to the load."""
        # At the end of a step the last forces were found at the same time, and nearly the state.
        if time != self._time:
            self._move(time, state, np.empty(state.size))
        _kernels.carried_parts(self._found, LOST, margins)

    def at(self, time: float, state: Array) -> dict[str, Array]:
        """Coordinates, their derivatives and forces at a state, as in `Trajectory`."""
        slope = np.empty(state.size)
        self._move(time, state, slope)
        coordinates, rates, accelerations = (part[:6].copy() for part in self.spline(time))
        count = self.free.size
        coordinates[self.free] = self.motion.origin[self.free] + state[:count]
        rates[self.free], accelerations[self.free] = state[count:], slope[count:]
        return {
            "coordinates": coordinates,
            "rates": rates,
            "accelerations": accelerations,
            "reaction": self._reaction.copy(),
            "inertia": self._reaction + self._found.force,
            "contact": self._found.contact["wrench"].copy(),
        }

    def failure(self, what: str, time: float) -> ConvergenceError:
        """Error with the frame and the unbalanced force."""
        load = max(float(np.linalg.norm(self._found.applied)), np.finfo(float).tiny)
        left = float(np.max(np.abs(self._found.force / WEIGHT)[self.free]))
        frame = int(time / self.duration * self.frames) % self.frames
        return ConvergenceError(
            what,
            frame,
            left / load,
            "of the load",
            "Check motion, load and their units; a stronger damping or smaller tolerance may help.",
        )
