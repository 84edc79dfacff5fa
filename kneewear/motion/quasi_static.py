"""Equilibrium frame by frame over one cycle."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.base.sides import SIDES
from kneewear.contact.foundation import ElasticLayer
from kneewear.contact.pair import ContactModel, ContactPair
from kneewear.contact.traction import Friction
from kneewear.errors import ConvergenceError
from kneewear.mechanics.coordinates import (
    CHARACTERISTIC_LENGTH,
    COORDINATES,
    EXTRAPOLATION,
    weights,
)
from kneewear.mechanics.loads import Load
from kneewear.mechanics.springs import Spring, spring_forces
from kneewear.motion._equilibrium_kernels import Loading
from kneewear.motion.alignment import Alignment, FollowedMotion, build_alignment
from kneewear.motion.component import contact_model
from kneewear.motion.cycle import (
    Contacts,
    CycleBoundaryConditions,
    CycleSolution,
    activity_loads,
    axial_forces,
)
from kneewear.motion.frame_equilibrium import Equilibrium, approach, solve_equilibrium
from kneewear.motion.settings import SimulationSettings
from kneewear.motion.static import solve_static
from kneewear.motion.yielding import PlasticCycle, Solve, SolveElastic

logger = logging.getLogger(__name__)

Array = NDArray[np.float64]

# Runs a cycle with yield from what solves its elastic equilibria, see `solve_with_yield`.
Yielding = Callable[[SolveElastic, Sequence[int], Solve, Sequence[ContactPair]], PlasticCycle]

# Prescribed clinical angles are those of the activity within this, rad, after so many solutions.
_ANGLE_TOLERANCE = 1e-8
_MAX_ITERATIONS = 20
# Where forces jump by more than this part of the load, a pose is found to 1e-5 mm only: as rad.
_JUMP = 1e-6
_ANGLE_AT_A_JUMP = 1e-6
# Starts beside the first one, mm (angles turn a lever by it), and the springs toward a start that
# are weakened, per mm of the load.
_SHIFTS = (-1.0, 1.0, -3.0, 3.0)
_WEAKENING = (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 0.0)
# Slip velocity at which friction is full, mm/s: knees slide by tens of it, and a held one creeps
# by less. A cycle is repeated until it ends where it began, mm, or so many times.
_TRANSITION = 0.2
_CYCLE_TOLERANCE = 1e-3
_MAX_CYCLES = 8


def solve_quasi_static(
    pairs: Sequence[ContactPair],
    layers: Sequence[ElasticLayer],
    activity: Activity,
    weight: float,
    settings: SimulationSettings,
    on_frame_done: Callable[[], None] = lambda: None,
) -> tuple[CycleSolution, Contacts]:
    """Equilibrium at every frame of a cycle of a body weight, N.

    Returns poses and loads, whose boundary conditions are those of a forward simulation that starts
    from these equilibria, and the contact of each pair at every frame. ConvergenceError, with the
    frame, if a frame has no equilibrium.

    A single plateau carries the whole load of the activity, see `share_of_plateaus`: without a load
    line its height, and its medial-lateral position where this is solved, are in equilibrium, and
    varus is prescribed too.

    An activity with a load line is solved along the coordinates that it does not prescribe. For
    others, flexion, internal-external rotation and anterior-posterior translation are prescribed;
    the rest follow from frictionless equilibrium (Bei 2003, section 4.2.1, without inertia). The
    cycle is entered at the frame of largest load, where the equilibrium is best determined. Each
    frame starts from an extrapolation of those before it and, where that fails, independently.

    With friction of the activity every frame follows the one before at constant rates (implicit
    Euler), and the cycle is repeated from these equilibria until it closes. `contact` is then that
    of the pressure alone.
    """
    motion, solver = _motion_and_solver(
        pairs, layers, activity, weight, settings, build_alignment(settings.alignment)
    )
    solved = _solve_frames(motion, solver, on_frame_done)
    frames = list(map(solved.__getitem__, range(activity.load.size)))
    if activity.friction > 0.0:
        frames = _solve_sliding(frames, pairs, layers, motion, weight, settings)
    return _cycle_of(frames, motion, solver, len(pairs), weight, settings)


def solve_with_yield(
    pairs: Sequence[ContactPair],
    layers: Sequence[ElasticLayer],
    activity: Activity,
    weight: float,
    settings: SimulationSettings,
    yielding: Yielding,
    on_frame_done: Callable[[], None] = lambda: None,
) -> tuple[CycleSolution, Contacts, PlasticCycle]:
    """Solve a cycle on an insert that yields, starting from its elastic cycle.

    Parameters are as of `solve_quasi_static`, and `yielding` runs the cycle once more: it takes
    what solves elastic equilibria, all frames from the one of the largest load on, what solves one
    again, and the pairs whose elements it moves.
    """
    alignment = build_alignment(settings.alignment)
    motion, solver = _motion_and_solver(pairs, layers, activity, weight, settings, alignment)
    dented = [pair.sinkable() for pair in pairs]
    model = contact_model(dented, layers)
    solvers: dict[tuple[float, float], _FrameSolver] = {}

    def solver_of(share: float, tolerance: float) -> _FrameSolver:
        allowed = max(tolerance, settings.tolerance)
        if (share, allowed) not in solvers:
            own = settings.model_copy(update={"tolerance": allowed})
            solvers[share, allowed] = _motion_and_solver(
                dented, layers, activity, share * weight, own, alignment, model
            )[1]
        return solvers[share, allowed]

    def solve_elastic(apart: int, tolerance: float) -> dict[int, Equilibrium]:
        if apart > 1:
            return _solve_frames(motion, solver_of(1.0, tolerance), on_frame_done, apart)
        for pair in pairs:
            pair.reset()
        return _solve_frames(motion, solver, on_frame_done)

    def solve(
        frame: int, start: Array, elastic: Array, share: float, tolerance: float
    ) -> Equilibrium:
        chosen = solver_of(share, tolerance)
        chosen.forget()
        try:
            found = _solve_frame(motion, chosen, start, frame)
        except ConvergenceError:
            found = _continued(motion, chosen, elastic, frame)
        on_frame_done()
        return found

    count, first = activity.load.size, int(np.argmax(activity.load))
    order = [*range(first, count), *range(first)]
    plastic = yielding(solve_elastic, order, solve, dented)
    solution = _cycle_of(plastic.frames, motion, solver, len(pairs), weight, settings)
    return *solution, plastic


def _cycle_of(
    frames: Sequence[Equilibrium],
    motion: FollowedMotion,
    solver: _FrameSolver,
    sides: int,
    weight: float,
    settings: SimulationSettings,
) -> tuple[CycleSolution, Contacts]:
    """Poses, loads and contact of a cycle from its equilibria."""
    activity = motion.activity
    load = weight * activity.load
    coordinates = np.array([[*frame.translation, *frame.rotation] for frame in frames])
    contact = np.array([sum(pair.wrench for pair in frame.contacts) for frame in frames])
    moved = motion.displacement(coordinates)
    loads: tuple[Load, ...]
    springs: tuple[Spring, ...]
    if activity.load_line is None:
        # In forward dynamics a spring in proportion to the load has the stiffness of the mean load.
        stiffness, rest = settings.medial_lateral_spring_per_mm, np.mean(activity.translation[:, 2])
        spring_force = -stiffness * load * (coordinates[:, 2] - moved[:, 2] - rest)
        spring = Spring("z", stiffness * float(np.mean(load)), rest=float(rest))
        springs = (spring,) if stiffness else ()
        shared, _, given_line = _sharing(activity, settings)
        shared = shared or sides == 1
        axial = _axial_load(motion, load, given_line)
        load = -axial.time_history(load.size)[:, 1]
        load_line = coordinates[:, 2] - contact[:, 3] / load
        if motion.alignment is None:
            load_line = load_line if shared else given_line
            loads = (axial_forces(load, load_line, activity.translation[:, 0]),)
        else:
            # The position of an oblique line is that at the height of the femoral origin.
            point = np.column_stack([coordinates[:, :2], load_line])
            loads = (replace(axial, point=point),)
    else:
        spring_force = medial_lateral_force(activity.springs, coordinates - moved)
        loads, springs = activity_loads(activity, weight, motion.alignment), activity.springs
        history = loads[0].time_history(load.size)
        load, load_line = -history[:, 1], history[:, 8]
    springs = motion.springs(springs, moved.mean(axis=0))
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


def solve_placed_frame(
    pairs: Sequence[ContactPair],
    layers: Sequence[ElasticLayer],
    activity: Activity,
    weight: float,
    settings: SimulationSettings,
    frame: int,
    alignment: Alignment,
    near: Array,
    model: ContactModel,
) -> Equilibrium:
    """Equilibrium of one frame of a cycle with components that are placed otherwise in this frame.

    As `solve_quasi_static`; the search starts at the free coordinates of the pose `near` (6,), such
    as the pose of another placement. `model` is the contact of the pairs.
    """
    motion, solver = _motion_and_solver(pairs, layers, activity, weight, settings, alignment, model)
    start = motion.start(frame)
    guess, free = start.copy(), sorted(solver.orders)
    guess[free] = near[free]
    with suppress(ConvergenceError):
        return _solve_frame(motion, solver, guess, frame)
    return _continued(motion, solver, solver.restart(start, frame), frame)


def _motion_and_solver(
    pairs: Sequence[ContactPair],
    layers: Sequence[ElasticLayer],
    activity: Activity,
    weight: float,
    settings: SimulationSettings,
    alignment: Alignment | None,
    model: ContactModel | None = None,
) -> tuple[FollowedMotion, _FrameSolver]:
    """Motion on the insert as components are placed, and what solves its frames."""
    # A held position is prescribed too, and the varus of a single plateau.
    prescribed = list(activity.prescribed)
    if activity.load_line is None:
        prescribed += ["z"] if settings.medial_lateral == "held" else []
        prescribed += ["theta_1"] if len(pairs) == 1 else []
    motion = FollowedMotion(activity, alignment, tuple(prescribed))
    load, model = weight * activity.load, model or contact_model(pairs, layers)
    if activity.load_line is not None:
        return motion, _given_load_solver(pairs, layers, motion, weight, settings.tolerance, model)
    if len(pairs) == 1:
        return motion, _single_plateau_solver(pairs, layers, motion, load, settings, model)
    return motion, _shared_load_solver(pairs, motion, load, settings, model)


def medial_lateral_force(springs: Sequence[Spring], coordinates: Array) -> Array:
    """Force of medial-lateral springs on the moving body in every frame, N."""
    chosen = [spring for spring in springs if spring.coordinate == "z"]
    return np.array([spring_forces(chosen, pose)[0][2] for pose in coordinates])


def _axial_load(motion: FollowedMotion, load: Array, load_line: Array) -> Load:
    """Axial load, N, at its line over the femoral origin, on the components as placed."""
    axial = axial_forces(load, load_line, motion.activity.translation[:, 0])
    return axial if motion.alignment is None else motion.alignment.load(axial)


class _FrameSolver(NamedTuple):
    """Equilibrium of a frame from a start, and how starts are chosen."""

    # The last argument is the stiffness of springs toward the start, per mm, as part of the load.
    solve: Callable[[Array, int, float], Equilibrium]
    # A start that does not depend on other frames.
    restart: Callable[[Array, int], Array]
    # Of each free coordinate: the number of frames it is extrapolated from.
    orders: Mapping[int, int]
    # Free coordinates along which a bearing may be nearly neutral.
    loose: tuple[int, ...]
    # Makes it evaluate contact again after elements have moved.
    forget: Callable[[], None] = lambda: None


def _solve_frames(
    motion: FollowedMotion,
    solver: _FrameSolver,
    on_frame_done: Callable[[], None],
    apart: int = 1,
) -> dict[int, Equilibrium]:
    """Equilibria by frame, solved from the frame of largest load on: all, or some `apart`."""
    load = motion.activity.load
    count, first = load.size, int(np.argmax(load))
    found: dict[int, Equilibrium] = {}
    before: list[Array] = []
    for number in range(first, first + count, apart):
        frame = number % count
        start = motion.start(frame)
        if before:
            with suppress(ConvergenceError):
                extrapolated = _extrapolated(start, before, solver.orders)
                found[frame] = _solve_frame(motion, solver, extrapolated, frame)
        if frame not in found:
            restart = solver.restart(start, frame)
            found[frame] = _continued(motion, solver, restart, frame)
        pose = np.concatenate([found[frame].translation, found[frame].rotation])
        before = [pose, *before[:2]]
        on_frame_done()
    return found


def _solve_sliding(
    frames: Sequence[Equilibrium],
    pairs: Sequence[ContactPair],
    layers: Sequence[ElasticLayer],
    motion: FollowedMotion,
    weight: float,
    settings: SimulationSettings,
) -> list[Equilibrium]:
    """Equilibria of all frames with friction against the motion from the frame before.

    ConvergenceError where a frame has none, or where the cycle does not close.
    """
    activity = motion.activity
    rough = pairs_with_friction(pairs, activity)
    model = contact_model(rough, layers)
    count, first = activity.load.size, int(np.argmax(activity.load))
    found = dict(enumerate(frames))
    pose, gap = found[first].pose, np.inf
    for _ in range(_MAX_CYCLES):
        last = pose
        for frame in (*range(first + 1, count), *range(first + 1)):
            step = (pose, activity.duration / count)
            solver = _given_load_solver(
                rough, layers, motion, weight, settings.tolerance, model, step
            )
            found[frame] = _continued(motion, solver, motion.followed(frame, pose), frame)
            pose = found[frame].pose
        gap = float(np.abs((pose - last) * weights(1)).max())
        if gap < _CYCLE_TOLERANCE:
            return [found[frame] for frame in range(count)]
    what = f"Closing of the cycle with friction after {_MAX_CYCLES} cycles"
    remedy = "Add springs that centre the component, or lower control.friction."
    raise ConvergenceError(what, first, gap, "mm", remedy)


def pairs_with_friction(pairs: Sequence[ContactPair], activity: Activity) -> list[ContactPair]:
    """The pairs under the friction of an activity; as they are without."""
    if activity.friction == 0.0:
        return list(pairs)
    friction = Friction(activity.friction, activity.friction, _TRANSITION)
    return [pair.with_friction(friction) for pair in pairs]


def _continued(
    motion: FollowedMotion, solver: _FrameSolver, start: Array, frame: int
) -> Equilibrium:
    """Equilibrium from a start; where Newton's method finds none, by continuation.

    From the start, and from some beside it along each loose coordinate, springs toward it are
    weakened step by step and left out at last: a bearing that is nearly neutral along a coordinate
    has an equilibrium that the first start misses. ConvergenceError of the first start if none is
    found.
    """
    try:
        return _solve_frame(motion, solver, start, frame)
    except ConvergenceError as error:
        first = error
    starts = [start] if solver.loose else []
    for number in solver.loose:
        for shift in _SHIFTS:
            moved = start.copy()
            moved[number] += shift if number < len(moved) // 2 else shift / CHARACTERISTIC_LENGTH
            starts.append(moved)
    for pose in starts:
        for part in _WEAKENING:
            with suppress(ConvergenceError):
                found = _solve_frame(motion, solver, pose, frame, part)
                pose = np.concatenate([found.translation, found.rotation])  # noqa: PLW2901
                if part == 0.0:
                    logger.info("frame %d: equilibrium found by continuation", frame)
                    return found
    raise first


def _solve_frame(
    motion: FollowedMotion, solver: _FrameSolver, start: Array, frame: int, part: float = 0.0
) -> Equilibrium:
    """Equilibrium whose prescribed coordinates are those of the motion at those it solves."""
    used = 0
    for _ in range(_MAX_ITERATIONS):
        start = motion.followed(frame, start)
        found = solver.solve(start, frame, part)
        used += found.iterations
        pose = np.concatenate([found.translation, found.rotation])
        miss = motion.deviation(frame, start, pose)
        if miss <= _ANGLE_TOLERANCE:
            return replace(found, iterations=used)
        start = pose
    if found.residual > _JUMP and miss <= _ANGLE_AT_A_JUMP:
        return replace(found, iterations=used)
    what = "Prescribed angles at the solved varus"
    if motion.alignment is not None:
        what = "Prescribed motion of aligned components at the solved coordinates"
    raise ConvergenceError(what, frame, miss, "rad", "Check the motion's angles.")


def _extrapolated(start: Array, before: Sequence[Array], orders: Mapping[int, int]) -> Array:
    """The start with its free coordinates extrapolated from the frames before, latest first."""
    start = start.copy()
    for number, order in orders.items():
        known = np.array(before[:order])
        start[number] = (np.array(EXTRAPOLATION[len(known)]) @ known)[number]
    return start


def _sharing(activity: Activity, settings: SimulationSettings) -> tuple[bool, Array, Array]:
    """True if the load line is solved, the medial share if so, and the load line, mm, if not.

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
    motion: FollowedMotion,
    load: Array,
    settings: SimulationSettings,
    model: ContactModel,
) -> _FrameSolver:
    """Axial load shared between the sides, or at its load line, as `_sharing` says."""
    activity, held = motion.activity, settings.medial_lateral == "held"
    shared, medial_share, load_line = _sharing(activity, settings)
    rest = float(np.mean(activity.translation[:, 2]))
    axial = _axial_load(motion, load, load_line).time_history(load.size)
    force, point = axial[:, :3], axial[:, 6:]

    def solve(start: Array, frame: int, part: float) -> Equilibrium:
        loading = Loading(
            force=float(-force[frame, 1]),
            medial_share=float(medial_share[frame]),
            shared=shared,
            load_line=float(point[frame, 2]),
            spring=settings.medial_lateral_spring_per_mm * float(load[frame]),
            spring_rest=rest + float(motion.displacement(start)[2]),
            held=held,
            side_force=float(force[frame, 2]),
            height=float(point[frame, 1]),
        )

        if part > 0.0:
            spring, at = part * float(load[frame]), float(start[2])
            loading = loading._replace(spring=spring, spring_rest=at)
        return solve_equilibrium(model, pairs, start, loading, settings.tolerance, frame)

    orders = {1: 3, 3: 3} if held else {1: 3, 2: 1, 3: 3}
    restart, loose = partial(approach, pairs), () if held else (2,)
    return _FrameSolver(solve, restart, orders, loose, model.forget)


def share_of_plateaus(
    activity: Activity, sides: Sequence[str], settings: SimulationSettings
) -> Activity:
    """The activity with the part of its load and further forces that the given plateaus carry.

    That of both is the whole. A single one carries the measured share of its side, or that of
    `simulation.medial_share`. ValueError where only a moment was measured, which states no share.
    """
    if len(sides) != 1:
        return activity
    if activity.varus_moment is not None:
        raise ValueError(
            f"activity '{activity.name}' has a moment of the load and no share of a side; a single "
            "plateau needs a share"
        )
    _, medial, _ = _sharing(activity, settings)
    share = medial if sides[0] == SIDES[0] else 1.0 - medial
    return replace(
        activity,
        load=share * activity.load,
        wrench=share[:, None] * activity.wrench,
        medial_share=None,
    )


def _single_plateau_solver(
    pairs: Sequence[ContactPair],
    layers: Sequence[ElasticLayer],
    motion: FollowedMotion,
    load: Array,
    settings: SimulationSettings,
    model: ContactModel,
) -> _FrameSolver:
    """Load on one plateau, which varus as the motion prescribes it lets it carry anywhere."""
    activity, held = motion.activity, settings.medial_lateral == "held"
    free = ["y"] if held else ["y", "z"]
    axial, rest = _axial_load(motion, load, np.zeros_like(load)), activity.translation[:, 2].mean()

    def solve(start: Array, frame: int, part: float) -> Equilibrium:
        stiffness, at = settings.medial_lateral_spring_per_mm, rest + motion.displacement(start)[2]
        if part > 0.0:
            stiffness, at = part, start[2]
        spring = Spring("z", stiffness * float(load[frame]), rest=float(at))
        return solve_static(
            pairs,
            layers,
            (start[:3], start[3:]),
            free,
            loads=[axial.at(frame)],
            springs=[spring] if "z" in free and stiffness > 0.0 else [],
            tolerance=settings.tolerance,
            frame=frame,
            model=model,
        )

    orders = {COORDINATES.index(name): order for name, order in zip(free, (3, 1), strict=False)}
    restart, loose = partial(approach, pairs), () if held else (2,)
    return _FrameSolver(solve, restart, orders, loose, model.forget)


def _given_load_solver(
    pairs: Sequence[ContactPair],
    layers: Sequence[ElasticLayer],
    motion: FollowedMotion,
    weight: float,
    tolerance: float,
    model: ContactModel,
    previous: tuple[Array, float] | None = None,
) -> _FrameSolver:
    """Loads and springs of an activity with a load line, as in a knee simulator.

    `previous` is as of `solve_static`.
    """
    activity = motion.activity
    loads = activity_loads(activity, weight, motion.alignment)

    levers = {"x": 1.0, "z": 1.0, "theta_2": CHARACTERISTIC_LENGTH}
    loose = {name: lever for name, lever in levers.items() if name in activity.free}

    def solve(start: Array, frame: int, part: float) -> Equilibrium:
        axial = max(abs(float(np.asarray(load.at(frame).force)[1])) for load in loads)

        springs = list(motion.springs(activity.springs, motion.displacement(start)))
        if part > 0.0:
            springs += [
                Spring(name, part * axial * lever**2, rest=float(start[COORDINATES.index(name)]))
                for name, lever in loose.items()
            ]
        return solve_static(
            pairs,
            layers,
            (start[:3], start[3:]),
            activity.free,
            loads=[load.at(frame) for load in loads],
            springs=springs,
            previous=previous,
            tolerance=tolerance,
            frame=frame,
            model=model,
        )

    orders = {COORDINATES.index(name): 2 for name in activity.free}
    numbers = tuple(COORDINATES.index(name) for name in loose)
    return _FrameSolver(solve, lambda start, _frame: start, orders, numbers, model.forget)
