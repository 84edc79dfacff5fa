"""Equilibrium frame by frame over one cycle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.contact.foundation import Layer
from kneewear.contact.pair import ContactPair
from kneewear.errors import ConvergenceError
from kneewear.mechanics.loads import Load, spring_forces
from kneewear.settings.simulation import SimulationSettings
from kneewear.simulation.balance import contact_model
from kneewear.simulation.controlled import activity_loads, solve_controlled_cycle
from kneewear.simulation.drive import applied_wrench, axial_load
from kneewear.simulation.equilibrium import Equilibrium, Loading, approach, solve_equilibrium
from kneewear.simulation.passage import Contacts, Passage
from kneewear.simulation.static import StaticEquilibrium

Array = NDArray[np.float64]

# What is free where an activity does not say otherwise (Bei 2003, 4.2.1).
SHARED = ("y", "z", "theta_1")


def solve_quasi_static(
    pairs: Sequence[ContactPair],
    layers: Sequence[Layer],
    activity: Activity,
    weight: float,
    settings: SimulationSettings,
    tell: Callable[[], None],
) -> tuple[Passage, Contacts]:
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
    tell : callable
        Called after every frame.

    Returns
    -------
    passage : Passage
        Poses and loads.
    contacts : tuple of tuple of Resultant
        Contact of each pair at every frame.

    Raises
    ------
    ConvergenceError
        If a frame has no equilibrium; the message names it.

    Notes
    -----
    Where the activity does not say otherwise, flexion, internal-external rotation and
    anterior-posterior translation are prescribed; superior-inferior, varus-valgus and
    medial-lateral follow from frictionless equilibrium at each frame (Bei 2003, section 4.2.1,
    without inertia). The cycle is entered at the frame of largest
    load, where the equilibrium is best determined, and followed from there.
    """
    load = weight * activity.load
    if activity.load_line is None:
        frames = _solve_shared(pairs, layers, activity, load, settings, tell)
        load_line = np.array([frame.load_line for frame in frames])
        sideways = np.array([frame.spring_force for frame in frames])
        axial = axial_load(load, load_line, activity.translation[:, 0])
        free = tuple(name for name in SHARED if name != "z" or settings.medial_lateral != "held")
        return _passage(free, (axial,), load, load_line, sideways, frames), _contacts(frames)
    controlled = solve_controlled_cycle(pairs, layers, activity, weight, settings.tolerance)
    load_line = np.full(load.size, activity.load_line)
    springs = [spring for spring in activity.springs if spring.coordinate == "z"]
    places = (np.concatenate([frame.translation, frame.rotation]) for frame in controlled)
    sideways = np.array([spring_forces(springs, place)[0][2] for place in places])
    loads = activity_loads(activity, weight)
    passage = _passage(activity.free, loads, load, load_line, sideways, controlled)
    return passage, _contacts(controlled)


def _solve_shared(
    pairs: Sequence[ContactPair],
    layers: Sequence[Layer],
    activity: Activity,
    load: Array,
    settings: SimulationSettings,
    tell: Callable[[], None],
) -> list[Equilibrium]:
    """Cycle of a knee whose load is placed so that each side gets its share, or at a fixed line."""
    model = contact_model(pairs, layers)
    n_frames = load.size
    first = int(np.argmax(load))
    frames: dict[int, Equilibrium] = {}
    rest = float(np.mean(activity.translation[:, 2]))
    for step in range(n_frames):
        frame = (first + step) % n_frames
        loading = Loading(
            force=float(load[frame]),
            medial_share=settings.medial_share,
            load_line=settings.fixed_load_line_mm if settings.load_line == "fixed" else None,
            spring=settings.medial_lateral_spring_per_mm,
            spring_rest=rest,
            held=settings.medial_lateral == "held",
        )
        solve = partial(
            solve_equilibrium,
            model,
            pairs,
            loading=loading,
            tolerance=settings.tolerance,
            frame=frame,
        )
        frames[frame] = _solve_frame(solve, pairs, activity, frames, frame, loading.held)
        tell()
    return [frames[frame] for frame in range(n_frames)]


def _solve_frame(
    solve: Callable[..., Equilibrium],
    pairs: Sequence[ContactPair],
    activity: Activity,
    frames: Mapping[int, Equilibrium],
    frame: int,
    held: bool,
) -> Equilibrium:
    """Equilibrium of a frame, started from those before it, or from above where that fails."""
    start = activity.coordinates[frame]
    if frames:
        start = _continued(start, frames, frame, activity.load.size, held)
        try:
            return solve(start=start)
        except ConvergenceError:
            # The frame before may be a poor start, as when the origin lies far off the axis.
            pass
    return solve(start=approach(pairs, start, frame))


def _continued(
    start: Array, frames: Mapping[int, Equilibrium], frame: int, count: int, held: bool
) -> Array:
    """Start of a frame: prescribed coordinates of its own, the others as the frames before lead.

    Height and varus go on along a parabola through the last three, medial-lateral along a line.
    """
    start = start.copy()
    known = [frames.get((frame - back) % count) for back in range(1, 1 + min(len(frames), 3))]
    last = [np.concatenate([one.translation, one.rotation]) for one in known if one is not None]
    weights = {1: (1.0,), 2: (2.0, -1.0), 3: (3.0, -3.0, 1.0)}[len(last)]
    ahead = np.array(weights) @ np.array(last)
    start[[1, 3]] = ahead[[1, 3]]
    if not held:
        start[2] = last[0][2]
    return start


def _contacts(frames: Sequence[Equilibrium | StaticEquilibrium]) -> Contacts:
    return tuple(frame.contacts for frame in frames)


def _passage(
    free: tuple[str, ...],
    loads: Sequence[Load],
    load: Array,
    load_line: Array,
    spring_force: Array,
    frames: Sequence[Equilibrium | StaticEquilibrium],
) -> Passage:
    translation = np.array([frame.translation for frame in frames])
    rotation = np.array([frame.rotation for frame in frames])
    return Passage(
        free=free,
        translation=translation,
        rotation=rotation,
        load=load,
        contact=np.array([sum(pair.wrench for pair in frame.contacts) for frame in frames]),
        applied=applied_wrench(loads, translation, rotation),
        inertia=np.zeros((load.size, 6)),
        load_line=load_line,
        spring_force=spring_force,
        residual=np.array([frame.residual for frame in frames]),
        evaluations=sum(frame.iterations for frame in frames),
    )
