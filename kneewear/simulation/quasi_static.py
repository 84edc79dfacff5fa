"""Equilibrium frame by frame over one cycle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.contact.foundation import Layer
from kneewear.contact.pair import ContactPair
from kneewear.errors import ConvergenceError
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.loads import Load, Spring, spring_forces
from kneewear.settings.simulation import SimulationSettings
from kneewear.simulation._equilibrium_kernels import Loading
from kneewear.simulation.balance import contact_model
from kneewear.simulation.cycle import (
    Contacts,
    CycleBoundaryConditions,
    CycleSolution,
    activity_loads,
    axial_load,
)
from kneewear.simulation.equilibrium import Equilibrium, approach, solve_equilibrium
from kneewear.simulation.static import solve_static

Array = NDArray[np.float64]

# Prescribed clinical angles are those of the activity within this, rad, after so many solutions.
_TURN, _MOST_TURNS = 1e-8, 20
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
    """Equilibrium at every frame of a cycle of a body weight, N.

    Returns poses and loads, whose boundary conditions are those of a forward simulation that starts
    from these equilibria, and the contact of each pair at every frame. ConvergenceError, with the
    frame, if a frame has no equilibrium.

    An activity with a load line is solved along the coordinates that it does not prescribe. For
    others, flexion, internal-external rotation and anterior-posterior translation are prescribed;
    the rest follow from frictionless equilibrium (Bei 2003, section 4.2.1, without inertia). The
    cycle is entered at the frame of largest load, where the equilibrium is best determined. Each
    frame starts from an extrapolation of those before it and, where that fails, independently.
    """
    load = weight * activity.load
    if activity.load_line is None:
        solver = _shared_load_solver(pairs, layers, activity, load, settings)
    else:
        solver = _given_load_solver(pairs, layers, activity, weight, settings.tolerance)
    frames = _solve_frames(activity, solver, on_frame_done)
    coordinates = np.array([[*frame.translation, *frame.rotation] for frame in frames])
    contact = np.array([sum(pair.wrench for pair in frame.contacts) for frame in frames])
    loads: tuple[Load, ...]
    springs: tuple[Spring, ...]
    if activity.load_line is None:
        load_line = coordinates[:, 2] - contact[:, 3] / load
        shared, _, given_line = _sharing(activity, settings)
        load_line = load_line if shared else given_line
        # In forward dynamics a spring in proportion to the load has the stiffness of the mean load.
        stiffness, rest = settings.medial_lateral_spring_per_mm, np.mean(activity.translation[:, 2])
        spring_force = -stiffness * load * (coordinates[:, 2] - rest)
        loads = (axial_load(load, load_line, activity.translation[:, 0]),)
        spring = Spring("z", stiffness * float(np.mean(load)), rest=float(rest))
        springs = (spring,) if stiffness else ()
    else:
        load_line = np.full(load.size, activity.load_line)
        spring_force = medial_lateral_force(activity.springs, coordinates)
        loads, springs = activity_loads(activity, weight), activity.springs
    solution = CycleSolution(
        conditions=CycleBoundaryConditions(
            motion=coordinates,
            duration=activity.duration,
            free=[COORDINATES[number] for number in sorted(solver.orders)],
            loads=loads,
            springs=springs,
        ),
        coordinates=coordinates,
        load=load,
        load_line=load_line,
        spring_force=spring_force,
        contact=contact,
        inertia=np.zeros((load.size, 6)),
        residual=np.array([frame.residual for frame in frames]),
        evaluations=sum(frame.iterations for frame in frames),
    )
    return solution, tuple(frame.contacts for frame in frames)


def medial_lateral_force(springs: Sequence[Spring], coordinates: Array) -> Array:
    """Force of medial-lateral springs on the moving body in every frame, N."""
    chosen = [spring for spring in springs if spring.coordinate == "z"]
    return np.array([spring_forces(chosen, pose)[0][2] for pose in coordinates])


class _FrameSolver(NamedTuple):
    """Equilibrium of a frame from a start, and how starts are chosen."""

    solve: Callable[[Array, int], Equilibrium]
    # A start that does not depend on other frames.
    restart: Callable[[Array, int], Array]
    # Of each free coordinate: the number of frames it is extrapolated from.
    orders: Mapping[int, int]


def _solve_frames(
    activity: Activity, solver: _FrameSolver, on_frame_done: Callable[[], None]
) -> list[Equilibrium]:
    """Equilibria of all frames, solved from the frame of largest load on."""
    count, first = activity.load.size, int(np.argmax(activity.load))
    found: dict[int, Equilibrium] = {}
    before: list[Array] = []
    for frame in (*range(first, count), *range(first)):
        start = activity.coordinates[frame]
        if before:
            with suppress(ConvergenceError):
                extrapolated = _extrapolated(start, before, solver.orders)
                found[frame] = _solve_frame(activity, solver, extrapolated, frame)
        if frame not in found:
            restart = solver.restart(start, frame)
            found[frame] = _solve_frame(activity, solver, restart, frame)
        pose = np.concatenate([found[frame].translation, found[frame].rotation])
        before = [pose, *before[:2]]
        on_frame_done()
    return [found[frame] for frame in range(count)]


def _solve_frame(activity: Activity, solver: _FrameSolver, start: Array, frame: int) -> Equilibrium:
    """Equilibrium whose prescribed angles are those of the activity at the angles it solves."""
    used = 0
    for _ in range(_MOST_TURNS):
        start = np.concatenate([start[:3], activity.rotation_at(frame, start[3:])])
        found = solver.solve(start, frame)
        used += found.iterations
        miss = float(np.abs(activity.rotation_at(frame, found.rotation) - found.rotation).max())
        if miss <= _TURN:
            return replace(found, iterations=used)
        start = np.concatenate([found.translation, found.rotation])
    raise ConvergenceError(
        "Prescribed angles at the solved varus", frame, miss, "rad", "Check the motion's angles."
    )


def _extrapolated(start: Array, before: Sequence[Array], orders: Mapping[int, int]) -> Array:
    """The start with its free coordinates extrapolated from the frames before, latest first."""
    start = start.copy()
    for number, order in orders.items():
        known = np.array(before[:order])
        start[number] = (np.array(_EXTRAPOLATION[len(known)]) @ known)[number]
    return start


def _sharing(activity: Activity, settings: SimulationSettings) -> tuple[bool, Array, Array]:
    """Whether the load line is solved, the medial share if so, and the load line, mm, if not.

    What was measured with the load goes before the settings.
    """
    share = np.full(activity.load.size, settings.medial_share)
    line = np.full(activity.load.size, settings.fixed_load_line_mm)
    if activity.medial_share is not None:
        return True, activity.medial_share, line
    if activity.varus_moment is not None:
        return False, share, activity.varus_moment / activity.load
    return settings.load_line != "fixed", share, line


def _shared_load_solver(
    pairs: Sequence[ContactPair],
    layers: Sequence[Layer],
    activity: Activity,
    load: Array,
    settings: SimulationSettings,
) -> _FrameSolver:
    """Axial load shared between the sides, or at its load line, as `_sharing` says."""
    model, held = contact_model(pairs, layers), settings.medial_lateral == "held"
    shared, medial_share, load_line = _sharing(activity, settings)
    rest = float(np.mean(activity.translation[:, 2]))

    def solve(start: Array, frame: int) -> Equilibrium:
        force = float(load[frame])
        loading = Loading(
            force=force,
            medial_share=float(medial_share[frame]),
            shared=shared,
            load_line=float(load_line[frame]),
            spring=settings.medial_lateral_spring_per_mm * force,
            spring_rest=rest,
            held=held,
        )
        return solve_equilibrium(model, pairs, start, loading, settings.tolerance, frame)

    orders = {1: 3, 3: 3} if held else {1: 3, 2: 1, 3: 3}
    return _FrameSolver(solve, partial(approach, pairs), orders)


def _given_load_solver(
    pairs: Sequence[ContactPair],
    layers: Sequence[Layer],
    activity: Activity,
    weight: float,
    tolerance: float,
) -> _FrameSolver:
    """Loads and springs of an activity with a load line, as in a knee simulator."""
    loads = activity_loads(activity, weight)

    def solve(start: Array, frame: int) -> Equilibrium:
        return solve_static(
            pairs,
            layers,
            (start[:3], start[3:]),
            activity.free,
            loads=[load.at(frame) for load in loads],
            springs=activity.springs,
            tolerance=tolerance,
            frame=frame,
        )

    orders = {COORDINATES.index(name): 2 for name in activity.free}
    return _FrameSolver(solve, lambda start, _frame: start, orders)
