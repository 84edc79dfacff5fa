"""Equilibrium frame by frame over one cycle."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.contact.foundation import Layer
from kneewear.contact.pair import ContactPair
from kneewear.errors import ConvergenceError
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.loads import Load, Spring, spring_forces
from kneewear.settings.simulation import SimulationSettings
from kneewear.simulation.balance import contact_model
from kneewear.simulation.cycle import (
    Contacts,
    CycleBoundaryConditions,
    CycleSolution,
    activity_loads,
    axial_load,
)
from kneewear.simulation.equilibrium import Equilibrium, Loading, approach, solve_equilibrium
from kneewear.simulation.static import StaticEquilibrium, solve_static

Array = NDArray[np.float64]

# Weights of the frames before, the latest first, that extrapolate them by a polynomial.
_EXTRAPOLATION = {1: (1.0,), 2: (2.0, -1.0), 3: (3.0, -3.0, 1.0)}


def solve_quasi_static(
    pairs: Sequence[ContactPair],
    layers: Sequence[Layer],
    activity: Activity,
    weight: float,
    settings: SimulationSettings,
    on_frame_done: Callable[[], None] = lambda: None,
) -> tuple[CycleSolution, Contacts]:
    """Equilibrium at every frame of a cycle.

    Parameters
    ----------
    pairs, layers : sequence
        Medial and lateral contact pair, and the elastic layer of each.
    activity : Activity
        Motion, load and control.
    weight : float
        Body weight, N.
    settings : SimulationSettings
        Load line, medial-lateral freedom and tolerance.
    on_frame_done : callable
        Called after every frame.

    Returns
    -------
    solution : CycleSolution
        Poses and loads; its boundary conditions are those of a forward simulation that starts from
        these equilibria.
    contacts : tuple of tuple of Resultant
        Contact of each pair at every frame.

    Raises
    ------
    ConvergenceError
        If a frame has no equilibrium; the message names it.

    Notes
    -----
    An activity with a load line is solved along the coordinates that it does not prescribe. For
    others, flexion, internal-external rotation and anterior-posterior translation are prescribed;
    superior-inferior, varus-valgus and medial-lateral follow from frictionless equilibrium (Bei
    2003, section 4.2.1, without inertia).

    The cycle is entered at the frame of largest load, where the equilibrium is best determined.
    Each frame starts from an extrapolation of those before it and, where that fails, independently
    of them.
    """
    kind = _SharedLoad if activity.load_line is None else _GivenLoads
    problem: _FrameProblem = kind(pairs, layers, activity, weight, settings)
    count = activity.load.size
    first = int(np.argmax(activity.load))
    found: dict[int, Equilibrium | StaticEquilibrium] = {}
    before: list[Array] = []
    for frame in (*range(first, count), *range(first)):
        start = activity.coordinates[frame]
        if before:
            with suppress(ConvergenceError):
                found[frame] = problem.solve(_extrapolated(start, before, problem.orders), frame)
        if frame not in found:
            found[frame] = problem.solve(problem.restart(start, frame), frame)
        pose = np.concatenate([found[frame].translation, found[frame].rotation])
        before = [pose, *before[:2]]
        on_frame_done()
    frames = [found[frame] for frame in range(count)]
    contact = np.array([sum(pair.wrench for pair in frame.contacts) for frame in frames])
    coordinates = np.array([[*frame.translation, *frame.rotation] for frame in frames])
    load_line = problem.load_line(coordinates, contact)
    solution = CycleSolution(
        conditions=CycleBoundaryConditions(
            motion=coordinates,
            duration=activity.duration,
            free=problem.free,
            loads=problem.loads(load_line),
            springs=problem.springs,
        ),
        coordinates=coordinates,
        load=weight * activity.load,
        load_line=load_line,
        spring_force=problem.spring_force(coordinates),
        contact=contact,
        inertia=np.zeros((count, 6)),
        residual=np.array([frame.residual for frame in frames]),
        evaluations=sum(frame.iterations for frame in frames),
    )
    return solution, tuple(frame.contacts for frame in frames)


def medial_lateral_force(springs: Sequence[Spring], coordinates: Array) -> Array:
    """Force of medial-lateral springs on the moving body in every frame, N."""
    chosen = [spring for spring in springs if spring.coordinate == "z"]
    return np.array([spring_forces(chosen, pose)[0][2] for pose in coordinates])


def _extrapolated(start: Array, before: Sequence[Array], orders: Mapping[int, int]) -> Array:
    """The start with its free coordinates extrapolated from the frames before, latest first."""
    start = start.copy()
    for number, order in orders.items():
        known = [pose[number] for pose in before[:order]]
        start[number] = np.dot(_EXTRAPOLATION[len(known)], known)
    return start


class _FrameProblem(ABC):
    """Equilibrium of each frame, and the loads of the cycle."""

    free: Sequence[str]
    orders: Mapping[int, int]  # of each free coordinate: number of frames to extrapolate from
    springs: Sequence[Spring]

    @abstractmethod
    def solve(self, start: Array, frame: int) -> Equilibrium | StaticEquilibrium:
        """Equilibrium of a frame from a start."""

    def restart(self, start: Array, frame: int) -> Array:
        """A start that does not depend on other frames."""
        return start

    @abstractmethod
    def load_line(self, coordinates: Array, contact: Array) -> Array:
        """Medial-lateral position of the axial load in every frame, mm."""

    @abstractmethod
    def loads(self, load_line: Array) -> tuple[Load, ...]:
        """Loads over the frames."""

    @abstractmethod
    def spring_force(self, coordinates: Array) -> Array:
        """Medial-lateral spring force in every frame, N."""


class _SharedLoad(_FrameProblem):
    """The axial load is shared between the sides as the settings state, or acts at their line."""

    def __init__(
        self,
        pairs: Sequence[ContactPair],
        layers: Sequence[Layer],
        activity: Activity,
        weight: float,
        settings: SimulationSettings,
    ) -> None:
        self.pairs, self.model = pairs, contact_model(pairs, layers)
        self.load, self.posterior = weight * activity.load, activity.translation[:, 0]
        self.line = settings.fixed_load_line_mm if settings.load_line == "fixed" else None
        self.settings, self.held = settings, settings.medial_lateral == "held"
        self.free = ("y", "theta_1") if self.held else ("y", "z", "theta_1")
        self.orders = {1: 3, 3: 3} if self.held else {1: 3, 2: 1, 3: 3}
        self.rest = float(np.mean(activity.translation[:, 2]))
        # In forward dynamics the spring has the stiffness of the mean load.
        stiffness = settings.medial_lateral_spring_per_mm * float(np.mean(self.load))
        self.springs = (Spring("z", stiffness, rest=self.rest),) if stiffness else ()

    def solve(self, start: Array, frame: int) -> Equilibrium:
        loading = Loading(
            force=float(self.load[frame]),
            medial_share=self.settings.medial_share,
            load_line=self.line,
            spring=self.settings.medial_lateral_spring_per_mm,
            spring_rest=self.rest,
            held=self.held,
        )
        return solve_equilibrium(
            self.model, self.pairs, start, loading, self.settings.tolerance, frame
        )

    def restart(self, start: Array, frame: int) -> Array:
        return approach(self.pairs, start, frame)

    def load_line(self, coordinates: Array, contact: Array) -> Array:
        if self.line is not None:
            return np.full(self.load.size, self.line)
        # The load balances the moment of contact.
        return coordinates[:, 2] - contact[:, 3] / self.load

    def loads(self, load_line: Array) -> tuple[Load, ...]:
        return (axial_load(self.load, load_line, self.posterior),)

    def spring_force(self, coordinates: Array) -> Array:
        stiffness = self.settings.medial_lateral_spring_per_mm * self.load
        return -stiffness * (coordinates[:, 2] - self.rest)


class _GivenLoads(_FrameProblem):
    """Loads and springs of an activity with a load line, as in a knee simulator."""

    def __init__(
        self,
        pairs: Sequence[ContactPair],
        layers: Sequence[Layer],
        activity: Activity,
        weight: float,
        settings: SimulationSettings,
    ) -> None:
        self.contact, self.tolerance = (pairs, layers), settings.tolerance
        self.given, self.line = activity_loads(activity, weight), activity.load_line
        self.free, self.springs = activity.free, activity.springs
        self.orders = {COORDINATES.index(name): 2 for name in activity.free}

    def solve(self, start: Array, frame: int) -> StaticEquilibrium:
        return solve_static(
            *self.contact,
            (start[:3], start[3:]),
            self.free,
            loads=[load.at(frame) for load in self.given],
            springs=self.springs,
            tolerance=self.tolerance,
            frame=frame,
        )

    def load_line(self, coordinates: Array, contact: Array) -> Array:
        return np.full(len(coordinates), self.line)

    def loads(self, load_line: Array) -> tuple[Load, ...]:
        return self.given

    def spring_force(self, coordinates: Array) -> Array:
        return medial_lateral_force(self.springs, coordinates)
