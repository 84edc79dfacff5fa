"""Forward dynamics of the moving body over one or more cycles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.contact.foundation import Layer
from kneewear.contact.pair import ContactPair
from kneewear.errors import ConvergenceError
from kneewear.mechanics.coordinates import coordinate_numbers
from kneewear.mechanics.generalized_forces import turn_axes
from kneewear.mechanics.loads import spring_forces
from kneewear.mechanics.periodic import fit_periodic
from kneewear.mechanics.rigid_body import RigidBody, modal_damping
from kneewear.simulation import _kernels
from kneewear.simulation.balance import WEIGHT, Balance
from kneewear.simulation.drive import Drive, applied_wrench
from kneewear.simulation.integration import STOPPED, Solver, Tolerances, integrate
from kneewear.simulation.passage import Passage

Array = NDArray[np.float64]

# Errors count against a usual penetration, mm, and against turns that move a condyle as far.
PENETRATION = 0.1
# A pair that carries less than this part of the load has lost contact.
LOST = 1e-3


@dataclass(frozen=True)
class Integrator:
    """How forward dynamics is integrated and damped.

    Parameters
    ----------
    relative_tolerance : float
        Largest local error, relative to 0.1 mm of penetration and its rates.
    damping_ratio : float
        Part of the critical damping of each mode at the frame of the largest load.
    cycles : int
        Cycles simulated; the last one is returned.
    solver : {"sundials", "scipy"}, optional
        See `integrate`.
    """

    relative_tolerance: float = 1e-5
    damping_ratio: float = 0.0
    cycles: int = 1
    solver: Solver | None = None


@dataclass(frozen=True)
class Trajectory:
    """Motion over the last cycle.

    Parameters
    ----------
    time : array, shape (n,)
        Time since the start of that cycle, s.
    place, rates, accelerations : array, shape (n, 6)
        Coordinates, mm and rad, and their derivatives per s and per s2.
    reaction : array, shape (n, 6)
        What drivers exert along prescribed coordinates, N and N mm; zero along free ones.
    inertia : array, shape (n, 6)
        Forces along the coordinates that acceleration takes, N and N mm.
    contact : array, shape (n, n_pairs, 6)
        Wrench of each pair on the moving body about its origin, N and N mm.
    gap : array, shape (6,)
        Coordinates at the end of the cycle minus those at its start.
    lost : tuple of (float, int)
        Moments, s since the start of the simulation, at which a pair lost contact, and its number.
    evaluations : int
        Right-hand sides evaluated over all cycles.
    """

    time: Array
    place: Array
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
    drive: Drive,
    integrator: Integrator,
    *,
    samples: int | None = None,
    case: str = "",
) -> Trajectory:
    """Integrate the equations of motion under prescribed motion and loads.

    Parameters
    ----------
    pairs, layers : sequence
        Contact pairs and the elastic layer of each.
    body : RigidBody
        Inertia of the moving body.
    drive : Drive
        Prescribed motion, loads and springs; periodic cubic splines lead from frame to frame. The
        simulation starts at frame 0 with the rates of the motion.
    integrator : Integrator
        Accuracy, damping and number of cycles.
    samples : int, optional
        Equally spaced moments of the cycle to return; the frames by default.
    case : str
        Case, for messages.

    Returns
    -------
    Trajectory

    Raises
    ------
    ConvergenceError
        If all pairs lose contact, elements lie too deep inside the moving body or the solver's step
        collapses; it names case and frame, and as residual the unbalanced force in parts of the
        load.

    Notes
    -----
    M q'' + b(q, q') = Q(q, q', t) + R, Bei (2003) section 2.2.4. The step never exceeds a frame,
    for a solver that starts in equilibrium could step over the whole cycle.
    """
    cycle = _Cycle(pairs, layers, body, drive, integrator)
    count = samples or drive.n_frames
    first = (integrator.cycles - 1) * drive.duration
    wanted = first + drive.duration * np.arange(count + 1) / count
    times = np.concatenate([[0.0], wanted]) if first > 0.0 else wanted
    what = f"Forward dynamics{f' of case {case}' if case else ''}"
    done = integrate(
        cycle, times, cycle.start(), cycle.tolerances(), cycle.stops(), integrator.solver
    )
    if done.complaint:
        reason = "contact was lost" if done.complaint == STOPPED else done.complaint
        last = done.events[-1][0] if done.complaint == STOPPED else done.time[-1]
        raise cycle.failure(f"{what} ({reason})", last)
    states = done.state[-count - 1 :]
    found = [cycle.at(time, state) for time, state in zip(wanted, states, strict=True)]
    columns = {
        name: np.array([moment[name] for moment in found])
        for name in ("place", "rates", "accelerations", "reaction", "inertia", "contact")
    }
    return Trajectory(
        time=wanted[:-1] - first,
        **{name: column[:-1] for name, column in columns.items()},
        gap=columns["place"][-1] - columns["place"][0],
        lost=tuple((time, number - 1) for time, number in done.events if number > 0),
        evaluations=done.evaluations,
    )


def forward_passage(moved: Trajectory, drive: Drive, still: Passage) -> Passage:
    """Passage of a forward simulation.

    Parameters
    ----------
    moved : Trajectory
        Motion at the frames of the drive.
    drive : Drive
        What drove it.
    still : Passage
        Quasi-static passage the drive was recorded from.

    Returns
    -------
    Passage
        Its residual is zero: acceleration takes up all that is unbalanced.
    """
    translation, rotation = moved.place[:, :3], moved.place[:, 3:]
    inertia = moved.inertia.copy()
    for frame, angles in enumerate(rotation):
        inertia[frame, 3:] = np.linalg.solve(turn_axes(angles).T, inertia[frame, 3:])
    sideways = [spring for spring in drive.springs if spring.coordinate == "z"]
    return Passage(
        free=tuple(drive.free),
        translation=translation,
        rotation=rotation,
        load=still.load,
        contact=moved.contact.sum(axis=1),
        applied=applied_wrench(drive.loads, translation, rotation),
        inertia=inertia,
        load_line=still.load_line,
        spring_force=np.array([spring_forces(sideways, place)[0][2] for place in moved.place]),
        residual=np.zeros(still.load.size),
        evaluations=still.evaluations + moved.evaluations,
    )


class _Cycle:
    """Equations of motion as the integrator wants them."""

    def __init__(
        self,
        pairs: Sequence[ContactPair],
        layers: Sequence[Layer],
        body: RigidBody,
        drive: Drive,
        integrator: Integrator,
    ) -> None:
        self.drive, self.integrator = drive, integrator
        self.free = coordinate_numbers(drive.free)
        courses = [load.course(drive.n_frames) for load in drive.loads]
        self.spline = fit_periodic(np.concatenate([drive.motion, *courses], axis=1), drive.duration)
        self.balance = Balance(pairs, layers, drive.loads, drive.springs)
        self.motion = _kernels.MotionArrays(
            body=body.arrays,
            course=self.spline.coefficients,
            period=drive.duration,
            free=self.free,
            origin=self.spline(0.0)[0][:6].copy(),
        )
        self._found = self.balance.found
        self._reaction, self._none = np.empty(6), np.empty((0, 0))
        self._time = np.nan
        self._mass, self._stiffness = self._stiffest(body)
        damping = modal_damping(self._mass, self._stiffness, integrator.damping_ratio)
        self.balance.arrays.damping[np.ix_(self.free, self.free)] = damping

    def _stiffest(self, body: RigidBody) -> tuple[Array, Array]:
        """Mass and stiffness over the free coordinates at the frame of the largest load."""
        pulls = [np.linalg.norm(load.course(self.drive.n_frames)[:, :3], axis=1)
                 for load in self.drive.loads]  # fmt: skip
        frame = int(np.argmax(sum(pulls))) if pulls else 0
        value, rate, _ = self.spline(self.drive.duration * frame / self.drive.n_frames)
        state = np.concatenate([(value[:6] - self.motion.origin)[self.free], rate[self.free]])
        self._move(self.drive.duration * frame / self.drive.n_frames, state, np.empty(state.size))
        mass, _ = body.equations(value[:6], rate[:6])
        part = np.ix_(self.free, self.free)
        return mass[part], -self._found.derivative[part]

    def _move(self, time: float, state: Array, slope: Array, matrix: Array | None = None) -> None:
        _kernels.move(
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
        """Force of all pairs and of each beyond what counts as lost, in parts of the load."""
        # At the end of a step the last forces were found at the same time, and nearly the state.
        if time != self._time:
            self._move(time, state, np.empty(state.size))
        _kernels.carried_parts(self._found, LOST, margins)

    def stops(self) -> tuple[bool, ...]:
        """Losing all contact ends a simulation, losing one pair does not."""
        pairs = len(self.balance.pairs)
        return (True,) + (False,) * pairs if pairs else ()

    def start(self) -> Array:
        """State at frame 0, moving as the drive's motion does."""
        return np.concatenate([np.zeros(self.free.size), self.spline(0.0)[1][self.free]])

    def tolerances(self) -> Tolerances:
        """Errors of coordinates count against a penetration, rates by the energy they stand for."""
        scale = (PENETRATION / WEIGHT)[self.free]
        slowest = 20.0 * np.pi / self.drive.duration
        rate = np.sqrt(np.maximum(np.diag(self._stiffness) / np.diag(self._mass), slowest**2))
        return Tolerances(
            self.integrator.relative_tolerance,
            np.concatenate([scale, scale * rate]),
            self.drive.duration / self.drive.n_frames,
        )

    def at(self, time: float, state: Array) -> dict[str, Array]:
        """Coordinates, their derivatives and what acts at a state, as `Trajectory` names them."""
        slope = np.empty(state.size)
        self._move(time, state, slope)
        place, rates, accelerations = (column[:6].copy() for column in self.spline(time))
        count = self.free.size
        place[self.free] = self.motion.origin[self.free] + state[:count]
        rates[self.free], accelerations[self.free] = state[count:], slope[count:]
        return {
            "place": place,
            "rates": rates,
            "accelerations": accelerations,
            "reaction": self._reaction.copy(),
            "inertia": self._reaction + self._found.force,
            "contact": self._found.contact[:, :6].copy(),
        }

    def failure(self, what: str, time: float) -> ConvergenceError:
        """Error that names the frame and what force was left."""
        load = max(float(np.linalg.norm(self._found.applied)), np.finfo(float).tiny)
        left = float(np.max(np.abs(self._found.force / WEIGHT)[self.free]))
        frame = int(time / self.drive.duration * self.drive.n_frames) % self.drive.n_frames
        return ConvergenceError(
            what,
            frame,
            left / load,
            "of the load",
            "Check motion, load and their units; a stronger damping or smaller tolerance may help.",
        )
