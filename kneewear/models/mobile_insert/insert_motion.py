"""A mobile insert: friction of both faces decides how it rotates and glides on its tray."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.contact import _kernels
from kneewear.contact.foundation import ElasticLayer
from kneewear.contact.pair import ContactModel, ContactPair
from kneewear.errors import ConvergenceError
from kneewear.mechanics.coordinates import CHARACTERISTIC_LENGTH
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from kneewear.models.mobile_insert._sliding_kernels import dissipate
from kneewear.models.mobile_insert.backside import Backside, friction_stress, moment_about
from kneewear.models.mobile_insert.settings import Glide, MobileInsert
from kneewear.motion.alignment import build_alignment, neutral_alignment
from kneewear.motion.component import contact_model
from kneewear.motion.cycle import CycleBoundaryConditions, CycleSolution, axial_forces
from kneewear.motion.dwell_pose import above_the_middle
from kneewear.motion.frame_equilibrium import Equilibrium
from kneewear.motion.quasi_static import solve_placed_frame, solve_quasi_static
from kneewear.motion.settings import SimulationSettings

Array = NDArray[np.float64]

# Coordinates of the insert on its tray, in the order of its path.
GLIDES = get_args(Glide)
# Sliding in a frame, mm, at which friction is seven tenths of its full value; places are found for
# the first of these and followed to the last.
TRANSITIONS = (1.0, 0.1, 1e-2, 1e-3, 1e-4)
# A place is found to this, mm (rotations turn a lever by it), in so many rounds; after the first of
# them they may be longer than expected, up to this ratio.
POSITION_TOLERANCE = 1e-5
MAX_ROUNDS = 100
FIRST_ROUNDS = 16
LONG = 8.0
# The minimum of the energy of a round is found to this, mm.
PLACED = 0.1 * POSITION_TOLERANCE
# Rounds may close on a place where forces jump as elements enter contact: steps to both sides, mm.
JUMP = 0.02
# The longest step and the largest displacement, mm.
MAX_STEP = 0.5
MAX_DISPLACEMENT = 40.0
# Least stiffness of the contact that is expected, N/mm; after so many rounds it is measured anew,
# by differences of a displacement, mm.
MIN_STIFFNESS_FRACTION = 0.1
MEASURED = 8
DIFFERENCE = 1e-2
# Stiffness of a stop, N/mm.
STOP = 1e5
# A cycle is repeated until the insert ends it where it began, mm, or so many times.
CYCLE_TOLERANCE = 1e-3
MAX_CYCLES = 8
SCALE = np.array([1.0, 1.0, CHARACTERISTIC_LENGTH])


class _State(NamedTuple):
    """The insert somewhere on its tray in a frame, with the contact of both faces.

    `path` (3,) is its posterior and medial displacement, mm, and its rotation, rad, `pose` (6,) the
    pose of the femoral component on the insert, mm and rad, `pressure` the pressures of the lower
    face, MPa, and `pushed` (3,) the posterior and medial force of the contact pressure of the
    bearing on the insert along the axes of the tray, N, and its moment about the pivot, N mm. Where
    the insert `tips`, the pressure is uniform.
    """

    path: Array
    pose: Array
    equilibrium: Equilibrium
    pressure: Array
    pushed: Array
    tips: ConvergenceError | None


class _Sliding(NamedTuple):
    """Friction of n elements of a face.

    `most` (n,) is the largest friction, N, `way` (n, 3) the sliding along the posterior and medial
    axis of the tray and upwards, mm, `arm` (n, 2) the distance from the pivot along the first two,
    mm, and `sense` (n,) whether a step of the insert adds to the sliding (1) or takes from it (-1).
    """

    most: Array
    way: Array
    arm: Array
    sense: Array


@dataclass(frozen=True)
class InsertMotion:
    """Motion of the insert on its tray over a cycle, and contact of the bearing.

    Parameters
    ----------
    path : array, shape (frame, 3)
        Posterior and medial displacement of the insert on the tray, mm, and its rotation, rad,
        positive as tibial external rotation.
    solution : CycleSolution
        Motion of the femoral component on the insert.
    frames : tuple of Equilibrium
        Contact of the bearing.
    driving, resistance : array, shape (frame,)
        Moment of the femoral component on the insert about the pivot, and the largest that friction
        of the backside resists a rotation with, N mm.
    closure : array, shape (3,)
        Largest change of the path over the last cycle, mm and rad.
    """

    path: Array
    solution: CycleSolution
    frames: tuple[Equilibrium, ...]
    driving: Array
    resistance: Array
    closure: Array


@dataclass(frozen=True)
class InsertOnTray:
    """An insert that moves on its tray along some coordinates, under an activity and a body weight.

    Notes
    -----
    Inertia is neglected: along each free coordinate contact pressure and friction of the bearing
    balance the friction of the backside at every frame. An element of a face with the pressure p
    and the area A that slides by v since the frame before bears the friction

        mu p A v / sqrt(v^2 + v0^2),

    Coulomb's law with a regularisation below v0 = 0.1 um, where the element sticks. Resultants of
    both faces decrease with the displacement of the insert: friction opposes it, and conforming
    surfaces return it to the femoral component, so that the place of a frame is unique where they
    do. It depends on the frame before; a cycle is repeated until it closes. Friction does
    not act on the equilibrium of the femoral component. Coordinates that are not free are held by a
    guide without friction, a stop is a spring of 1e5 N/mm.

    Where the upper face is held, the insert follows the femoral component along what is free, up
    to the stop: from the middle below the condyles, without a rotation between them. The moment
    between them is the one that the lower face carries. Where the lower face is held, the insert
    stays in its first place, and the lower face carries the moment of the femoral component.
    """

    pairs: Sequence[ContactPair]
    layers: Sequence[ElasticLayer]
    activity: Activity
    weight: float
    settings: SimulationSettings
    mobile_insert: MobileInsert
    lower: Backside

    @cached_property
    def _starts(self) -> Array | None:
        """Poses (frame, 6) that searches start from: those on a fixed insert, if it only turns."""
        if self.mobile_insert.free != ("rotation",):
            return None
        motion, _ = solve_quasi_static(
            self.pairs, self.layers, self.activity, self.weight, self.settings
        )
        return motion.coordinates

    @cached_property
    def _model(self) -> ContactModel:
        """Contact of the bearing, which all searches share."""
        return contact_model(self.pairs, self.layers)

    @cached_property
    def _free(self) -> Array:
        """Numbers of the free coordinates of the path."""
        return np.array([GLIDES.index(name) for name in self.mobile_insert.free])

    def solve(self) -> InsertMotion:
        """Motion of the insert over a cycle; ConvergenceError if a frame has no equilibrium."""
        count = self.activity.percent.size
        friction = self.mobile_insert.lower_friction
        if self.mobile_insert.held == "lower":
            return self._solve_held(np.tile(self._first(), (count, 1)))
        if self.mobile_insert.held == "upper":
            return self._solve_held(self._followed())
        before = self._at(0, self._first(), self.activity.coordinates[0])
        stiffness = np.diag(-np.ones(3))
        last = np.full((count, 3), np.inf)
        for _ in range(MAX_CYCLES):
            states: list[_State] = []
            driving = []
            for number in range(count):
                after, stiffness = self._next(number, before, stiffness)
                driving.append(self._driving(after, before))
                before = after
                states.append(after)
            path = np.array([one.path for one in states])
            closure = np.abs(path - last).max(axis=0)
            if (closure * SCALE).max() < CYCLE_TOLERANCE:
                break
            last = path
        return InsertMotion(
            path,
            self._solution(states),
            tuple(one.equilibrium for one in states),
            np.array(driving),
            np.array([self.lower.friction_moment(one.pressure, friction) for one in states]),
            closure,
        )

    def _first(self) -> Array:
        """Path (3,) of an insert that lies with its middle below the condyles where it glides."""
        pose = self.activity.coordinates[0]
        flexion, _, rotation = clinical_angles(body_three_123(pose[3:]))
        beside = pose - above_the_middle(self.pairs, float(flexion), float(rotation))
        return np.where(np.isin(np.arange(3), self._free), [beside[0], beside[2], 0.0], 0.0)

    def _followed(self) -> Array:
        """Path (frame, 3) of an insert that follows the femoral component along what is free."""
        given, pivot = self.activity.coordinates, self.lower.pivot[[0, 2]]
        path = np.zeros((len(given), 3))
        if "rotation" in self.mobile_insert.free:
            path[:, 2] = given[:, 4]
        # From the pivot to the femoral origin, along the axes of the insert and of the tray.
        own = given[0, [0, 2]] - self._first()[:2] - pivot
        arm = given[:, [0, 2]] - pivot
        cosine, sine = np.cos(path[:, 2]), np.sin(path[:, 2])
        glides = {"anterior_posterior", "medial_lateral"} & set(self.mobile_insert.free)
        if len(glides) == 2:
            arm = np.array([_turned(own[None], angle)[0] for angle in path[:, 2]])
        elif "anterior_posterior" in glides:
            arm[:, 0] = (own[0] + sine * arm[:, 1]) / cosine
        elif glides:
            arm[:, 1] = (own[1] - sine * arm[:, 0]) / cosine
        path[:, :2] = given[:, [0, 2]] - pivot - arm
        stop = self.mobile_insert.anterior_posterior_stop_mm
        if stop is not None:
            path[:, 0] = np.clip(path[:, 0], -stop, stop)
        return path

    @cached_property
    def _carried(self) -> Array:
        """Glides (frame, 3) since the frame before of an insert that follows the component.

        Searches start there: most of a glide is with the component, most of a rotation is not.
        """
        followed = self._followed()
        return (followed - np.roll(followed, 1, axis=0)) * [1.0, 1.0, 0.0]

    def _solve_held(self, path: Array) -> InsertMotion:
        """Motion of an insert with a given path (frame, 3), of which one face does not slide."""
        found: list[_State] = []
        near = self.activity.coordinates[0]
        for number, place in enumerate(path):
            state = self._at(number, place, near if self._starts is None else self._starts[number])
            if state.tips is not None:
                raise state.tips
            found.append(state)
            near = state.pose
        pairs = [(state, found[number - 1]) for number, state in enumerate(found)]
        if self.mobile_insert.held == "lower":
            driving = np.array([self._driving(*pair) for pair in pairs])
            resistance = np.abs(driving)
        else:
            driving = np.array([self._moment(self._lower(*pair)) for pair in pairs])
            friction = self.mobile_insert.lower_friction
            resistance = np.array(
                [self.lower.friction_moment(state.pressure, friction) for state in found]
            )
        equilibria = tuple(state.equilibrium for state in found)
        return InsertMotion(
            path, self._solution(found), equilibria, driving, resistance, np.zeros(3)
        )

    def _next(self, number: int, before: _State, stiffness: Array) -> tuple[_State, Array]:
        """Where the insert is in a frame that follows another one, and the contact's stiffness.

        Between rounds the contact pressure is linear in the place of the insert and friction has
        the pressures of the round; what the femoral component follows is left to the next round.
        The stiffness, the scaled rate (3, 3) of the force of the contact pressure, N/mm, follows
        from the rounds by Powell's symmetric update, and from differences where that does not do.
        """
        near = before.pose if self._starts is None else self._starts[number]
        state = self._at(number, before.path + self._carried[number], near)
        part, limit, last = 1.0, MAX_STEP, np.zeros(3)
        for done in range(MAX_ROUNDS):
            if done and done % MEASURED == 0:
                stiffness = self._stiffness(number, state)
            step = self._step(state, before, stiffness)
            length = float(np.abs(step).max())
            # Rounds that return are shortened, those that go on for long become longer.
            part *= 0.5 if step @ last < 0.0 else 1.5
            part = min(part, 1.0 if done < FIRST_ROUNDS else LONG)
            # So are their limits: a condyle that nearly fills its dish presses on one flank of it
            # or on the other, with forces that hardly depend on the distance.
            limit = min(MAX_STEP, (0.5 if step @ last < 0.0 else 1.5) * limit)
            last = min(part, limit / max(length, POSITION_TOLERANCE)) * step
            near = state.pose if self._starts is None else near
            found = self._at(number, state.path + last / SCALE, near)
            stiffness = _updated(stiffness, last, (found.pushed - state.pushed) / SCALE)
            state = found
            at_a_jump = float(np.abs(last).max()) <= POSITION_TOLERANCE and length <= JUMP
            if length <= POSITION_TOLERANCE or at_a_jump:
                if state.tips is not None:
                    raise state.tips
                return state, stiffness
            if (np.abs(state.path) * SCALE).max() > MAX_DISPLACEMENT:
                break
        raise ConvergenceError(
            "Place of the insert on its tray",
            number,
            length,
            "mm",
            "Raise backside.movement.lower_friction, make the bearing more conforming, or hold a "
            "coordinate.",
        )

    def _step(self, state: _State, before: _State, stiffness: Array) -> Array:
        """Scaled displacement (3,) to the minimum of the energy of a round, mm.

        It is convex: the work of the contact pressure, and most friction times sliding of both
        faces. Newton's method follows it through the transitions of friction.
        """
        free, scale = self._free, SCALE[self._free]
        faces = self._upper(state, before), self._lower(state, before)
        most, way, arm, sense = (np.concatenate(one) for one in zip(*faces, strict=True))
        pushed, linear = (state.pushed / SCALE)[free], stiffness[np.ix_(free, free)]
        stop = self.mobile_insert.anterior_posterior_stop_mm
        first = (free == 0).astype(float)
        rates, rates_of_rates, moved = np.empty(3), np.empty((3, 3)), np.zeros(3)

        def energy(step: Array, transition: float) -> tuple[float, Array, Array]:
            moved[free] = step / scale
            value: float = dissipate(
                most, way, arm, sense, moved, transition, rates, rates_of_rates
            )
            value -= float(step @ (pushed + 0.5 * linear @ step))
            slope = rates[free] / scale - pushed - linear @ step
            curve = rates_of_rates[np.ix_(free, free)] / scale[:, None] / scale - linear
            if stop is not None:
                at = state.path[0] + float(step @ first)
                over = at - np.clip(at, -stop, stop)
                value += 0.5 * STOP * over**2
                slope = slope + STOP * over * first
                curve += (STOP if over else 0.0) * np.outer(first, first)
            return value, slope, curve

        step = np.zeros(len(free))
        for transition in TRANSITIONS:
            value, slope, curve = energy(step, transition)
            for _ in range(MAX_ROUNDS):
                change = -np.linalg.solve(curve, slope)
                tried = energy(step + change, transition)
                while np.abs(change).max() > PLACED and tried[0] > value + 1e-4 * float(
                    slope @ change
                ):
                    change *= 0.5
                    tried = energy(step + change, transition)
                if np.abs(change).max() <= PLACED:
                    break
                step = step + change
                value, slope, curve = tried
        whole = np.zeros(3)
        whole[free] = step
        return whole

    def _lower(self, state: _State, before: _State) -> _Sliding:
        """Sliding of the backside since a frame before."""
        most = friction_stress(state.pressure, self.mobile_insert.lower_friction) * self.lower.area
        arm = (self.lower.centre - self.lower.pivot)[:, [0, 2]]
        now, last = (_turned(arm, one.path[2]) for one in (state, before))
        way = state.path[:2] - before.path[:2] + now - last
        loaded = most > 0.0
        flat = np.column_stack([way, np.zeros(len(way))])
        return _Sliding(most[loaded], flat[loaded], now[loaded], np.ones(loaded.sum()))

    def _at(self, number: int, path: Array, near: Array) -> _State:
        """The insert at a place in a frame; searches start at the pose `near`."""
        placed = build_alignment(self.settings.alignment) or neutral_alignment()
        found = solve_placed_frame(
            self.pairs,
            self.layers,
            self.activity,
            self.weight,
            self.settings,
            number,
            placed.with_insert_moved(path, self.lower.pivot),
            near,
            self._model,
        )
        pose = np.concatenate([found.translation, found.rotation])
        wrenches = [contact.wrench for contact in found.contacts]
        # What the femoral component does to the insert.
        on_insert = -moment_about(self.lower.pivot, wrenches, found.translation)
        tips = None
        try:
            pressure = self.lower.pressure(on_insert, number)
        except ConvergenceError as error:
            # On its way to equilibrium only: a conforming bearing returns from its edge.
            pressure, tips = np.full(len(self.lower.area), -on_insert[1]), error
            pressure = np.maximum(pressure, 0.0) / self.lower.area.sum()
        pushed = np.append(_turned(on_insert[None, [0, 2]], path[2])[0], on_insert[4])
        return _State(path, pose, found, pressure, pushed, tips)

    def _stiffness(self, number: int, state: _State) -> Array:
        """Stiffness at a place, by differences."""
        rate = np.zeros((3, 3))
        for coordinate in self._free:
            step = np.zeros(3)
            step[coordinate] = DIFFERENCE / SCALE[coordinate]
            pushed = self._at(number, state.path + step, state.pose).pushed
            rate[:, coordinate] = (pushed - state.pushed) / SCALE / DIFFERENCE
        return _negative(0.5 * (rate + rate.T))

    def _upper(self, state: _State, before: _State) -> _Sliding:
        """Sliding of the bearing since a frame before."""
        pose, last = state.pose, before.pose
        turns = body_three_123(pose[3:]), body_three_123(last[3:])
        parts = []
        for pair, contact in zip(self.pairs, state.equilibrium.contacts, strict=True):
            local = contact.element
            half = np.empty((local.size, 2))
            rows, columns = pair.tangent_row[local], pair.tangent_column[local]
            centre = pair.centre[local]
            now, then = (turns[0], pose[:3]), (turns[1], last[:3])
            _kernels.slide(centre, rows, columns, *now, *then, *now, half)
            way = 2.0 * (half[:, :1] * rows + half[:, 1:] * columns)
            most = friction_stress(contact.pressure, self.mobile_insert.upper_friction)
            plan, arm = (
                _turned(part[:, [0, 2]], state.path[2]) for part in (way, centre - self.lower.pivot)
            )
            flat = np.column_stack([plan, way[:, 1]])
            sense = np.full(local.size, -1.0)
            parts.append(_Sliding(most * pair.area[local], flat, arm, sense))
        return _Sliding(*(np.concatenate(one) for one in zip(*parts, strict=True)))

    def _driving(self, state: _State, before: _State) -> float:
        """Moment of the femoral component on the insert about the pivot, with friction, N mm."""
        return float(state.pushed[2]) - self._moment(self._upper(state, before))

    @staticmethod
    def _moment(sliding: _Sliding) -> float:
        """Moment about the pivot that the friction of a face resists its sliding with, N mm."""
        slope = np.empty(3)
        dissipate(*sliding, np.zeros(3), TRANSITIONS[-1], slope, np.empty((3, 3)))
        return float(slope[2])

    def _solution(self, found: Sequence[_State]) -> CycleSolution:
        """Motion of the femoral component on the insert, and its loads."""
        coordinates = np.array([one.pose for one in found])
        contact = np.array([sum(part.wrench for part in one.equilibrium.contacts) for one in found])
        load = self.weight * self.activity.load
        line = coordinates[:, 2] - contact[:, 3] / load
        free = ["y", "z", "theta_1"]
        loads = (axial_forces(load, line, coordinates[:, 0]),)
        return CycleSolution(
            CycleBoundaryConditions(coordinates, self.activity.duration, free, loads),
            coordinates,
            load,
            line,
            np.zeros(load.size),
            contact,
            np.zeros((load.size, 6)),
            np.array([one.equilibrium.residual for one in found]),
            sum(one.equilibrium.iterations for one in found),
        )


def _turned(plan: Array, angle: float) -> Array:
    """Vectors (n, 2), posterior and medial, of the insert along the axes of the tray."""
    cosine, sine = np.cos(angle), np.sin(angle)
    return plan @ np.array([[cosine, -sine], [sine, cosine]])


def _updated(stiffness: Array, step: Array, change: Array) -> Array:
    """Symmetric stiffness (3, 3), not positive, that gives the change of force of a last step."""
    square = float(step @ step)
    if square < POSITION_TOLERANCE**2:
        return stiffness
    miss = change - stiffness @ step
    both = np.outer(miss, step)
    found = stiffness + (both + both.T) / square
    found -= float(miss @ step) / square**2 * np.outer(step, step)
    return _negative(found)


def _negative(stiffness: Array) -> Array:
    """The nearest symmetric stiffness under which the contact returns the insert."""
    values, vectors = np.linalg.eigh(stiffness)
    returning: Array = (vectors * np.minimum(values, -MIN_STIFFNESS_FRACTION)) @ vectors.T
    return returning


def compile_sliding() -> None:
    """Compile the kernel of friction on the tray."""
    plane, one = np.zeros((1, 2)), np.ones(1)
    dissipate(one, np.zeros((1, 3)), plane, one, np.zeros(3), 1.0, np.empty(3), np.empty((3, 3)))
