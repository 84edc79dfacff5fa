"""Static equilibrium of the moving body for any free coordinates, and settling by damping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.contact.foundation import Layer
from kneewear.contact.pair import ContactPair
from kneewear.contact.resultant import Resultant
from kneewear.errors import ConvergenceError
from kneewear.mechanics.coordinates import coordinate_numbers
from kneewear.mechanics.loads import Load, Spring
from kneewear.mechanics.rigid_body import RigidBody
from kneewear.simulation.balance import REMEDY, WEIGHT, Balance, Forces
from kneewear.simulation.equilibrium import Equilibrium

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

MAX_ITERATIONS = 400
# First and largest step, mm.
FIRST_STEP, LARGEST_STEP = 0.3, 1.0
# A start that overlaps by more than this is lifted clear first, mm.
DEEPEST = 2.0
# If no step longer than CLOSED, mm, is good, forces jump, because an element at a border or of
# steep slope leaves contact; with a residual up to JUMP of the load the pose counts as found.
CLOSED, JUMP = 1e-10, 1e-3
# A direction that restores less than this fraction of the largest stiffness follows the force.
WEAKEST = 1e-9
# Of `settle`: steps, and Newton's iterations of each.
MAX_STEPS = 1000
MAX_NEWTON = 8
# Motion of the first step and the largest of any, mm.
FIRST_MOTION, LARGEST_MOTION = 0.1, 1.0
# Newton's iterations stop at this fraction of the step because the path need not be accurate.
LOOSE = 0.02


@dataclass(frozen=True)
class StaticEquilibrium(Equilibrium):
    """Equilibrium along any free coordinates, with the forces along all six.

    `reaction` (6,) holds the coordinates that are not free, N and N mm, and is the residual along
    free ones; `stiffness` (6, 6) is the derivative of the forces over the coordinates, N, mm and
    rad.
    """

    reaction: Array
    stiffness: Array


def solve_static(
    pairs: Sequence[ContactPair],
    layers: Sequence[Layer],
    pose: tuple[ArrayLike, ArrayLike],
    free: Sequence[str],
    *,
    loads: Sequence[Load] = (),
    springs: Sequence[Spring] = (),
    tolerance: float = 1e-8,
    frame: int = 0,
    case: str = "",
) -> StaticEquilibrium:
    """Find the pose at which contact, loads and springs balance along the free coordinates.

    `pose` is the start (translation, mm, and body-three 1-2-3 angles, rad), apart or overlapping;
    coordinates not in `free` (of `COORDINATES`) keep its values. `tolerance` is the largest
    residual; `frame` and `case` are named in messages. ConvergenceError if no stable equilibrium is
    reached; ValueError if no coordinate is free or a name is unknown.

    Newton's method with the contact's own stiffness in a trust region. A step is accepted when the
    forces before and after it do work on it, so that, as for a body that sinks in a viscous fluid,
    only stable equilibria are found; forces need no potential. Apart from the fixed body the moving
    one follows the loads' force without rotation until they touch. A pose at which the force jumps
    (see `JUMP`) counts as found. Where nothing restores a free coordinate, add a weak spring.
    """
    chosen = coordinate_numbers(free)
    if chosen.size == 0:
        raise ValueError("solve_static needs at least one free coordinate")
    balance = Balance(tuple(pairs), tuple(layers), tuple(loads), tuple(springs))
    start = np.concatenate([np.asarray(part, dtype=float) for part in pose])
    found = _descend(balance, chosen, balance.lifted(start, chosen, DEEPEST), tolerance)
    if not _is_balanced(found, tolerance):
        # The start may be on the wrong side.
        found = _descend(balance, chosen, balance.clear(start, chosen), tolerance)
    if not _is_balanced(found, tolerance):
        what = f"Static equilibrium{f' of case {case}' if case else ''}"
        raise ConvergenceError(what, frame, found.residual, "of the load", REMEDY)
    return found


def _is_balanced(found: StaticEquilibrium, tolerance: float) -> bool:
    """Whether forces balance, or the search closed on a pose at which they jump."""
    at_a_jump = found.iterations < MAX_ITERATIONS and found.residual < JUMP
    return found.residual < tolerance or at_a_jump


def _descend(balance: Balance, free: Numbers, pose: Array, tolerance: float) -> StaticEquilibrium:
    """Trust-region steps downhill until forces balance."""
    now = balance.forces(pose)
    residual = now.residual(free)
    radius = FIRST_STEP
    evaluations = 1
    while evaluations < MAX_ITERATIONS and residual >= tolerance and radius > CLOSED:
        step = _step(now, free, radius)
        after = balance.forces(pose + step)
        evaluations += 1
        next_residual = after.residual(free)
        # Twice the work on the step, by the trapezoidal rule and by the linear model.
        work = float(now.force @ step + after.force @ step)
        predicted = float(2.0 * (now.force @ step) + step @ now.derivative @ step)
        length = float(np.linalg.norm(step * WEIGHT))
        near = predicted > 0.0 and residual < 1e-3 and next_residual < 0.5 * residual
        if work > 0.1 * predicted or near:
            if work > 0.7 * predicted:
                radius = min(max(radius, 2.0 * length), LARGEST_STEP)
            pose, now, residual = pose + step, after, next_residual
        else:
            radius = 0.3 * length
    return StaticEquilibrium(
        translation=pose[:3].copy(),
        rotation=pose[3:].copy(),
        contacts=balance.contacts(pose),
        reaction=-now.force,
        stiffness=now.derivative,
        residual=residual,
        iterations=evaluations,
    )


def _step(now: Forces, free: Numbers, radius: float) -> Array:
    """Newton step, damped until it is downhill and no longer than the radius, mm."""
    step = np.zeros(6)
    force = (now.force / WEIGHT)[free]
    if now.depth == 0.0 and force[free < 3].any():
        # While the surfaces are apart the body translates without rotation.
        force = np.where(free < 3, force, 0.0)
    stiffness = -(now.derivative / np.outer(WEIGHT, WEIGHT))[np.ix_(free, free)]
    values = np.linalg.eigvalsh(0.5 * (stiffness + stiffness.T))
    least = WEAKEST * max(abs(values[0]), abs(values[-1]), float(np.abs(force).max()))
    shift = max(0.0, least - values[0])
    for _ in range(100):
        scaled = np.linalg.solve(stiffness + shift * np.eye(free.size), force)
        length = float(np.linalg.norm(scaled))
        if length <= radius * (1.0 + 1e-6):
            break
        # Secular equation: the length falls no slower than 1 / (shift + least stiffness).
        shift += max(shift + values[0], least) * (length / radius - 1.0)
    step[free] = scaled / WEIGHT[free]
    return step


@dataclass(frozen=True)
class RestState:
    """Pose in which the moving body comes to rest.

    `acceleration` is the largest remaining one along a free coordinate, mm/s2 or rad/s2; `time` the
    simulated time, s; `rotation` holds body-three 1-2-3 angles, rad.
    """

    translation: Array
    rotation: Array
    contacts: tuple[Resultant, ...]
    acceleration: float
    time: float
    steps: int


class _State(NamedTuple):
    """Coordinates, rates and accelerations."""

    pose: Array
    rates: Array
    acceleration: Array


def settle(
    pairs: Sequence[ContactPair],
    layers: Sequence[Layer],
    pose: tuple[ArrayLike, ArrayLike],
    free: Sequence[str],
    body: RigidBody,
    *,
    loads: Sequence[Load] = (),
    springs: Sequence[Spring] = (),
    tolerance: float = 1e-5,
    case: str = "",
) -> RestState:
    """Let the moving body fall from rest and come to rest under its loads.

    Arguments as of `solve_static`; the final pose does not depend on the inertia of the body.
    `tolerance` is the largest acceleration, mm/s2 and rad/s2, and rate, mm/s and rad/s, at rest.
    ConvergenceError, with the acceleration, if the body does not come to rest.

    Implicit Euler, M (v1 - v0) / h + b = Q(q0 + h v1), with a step that doubles as long as Newton's
    method converges and no coordinate moves by more than a millimetre. The method itself dissipates
    the energy: the path is inaccurate, the end is not (Bei 2003, section 2.2.4).
    """
    chosen = coordinate_numbers(free)
    balance = Balance(tuple(pairs), tuple(layers), tuple(loads), tuple(springs))
    start = np.concatenate([np.asarray(part, dtype=float) for part in pose])
    # From an overlap the body would be thrown up by metres.
    state = _state(balance, body, chosen, balance.lifted(start, chosen, 0.0), np.zeros(6))
    largest = float(np.max(np.abs(state.acceleration * WEIGHT)))
    step = float(np.sqrt(2.0 * FIRST_MOTION / largest)) if largest > 0.0 else 1.0
    time = 0.0
    for count in range(1, MAX_STEPS + 1):
        remaining = float(np.max(np.abs(state.acceleration)))
        if max(remaining, float(np.max(np.abs(state.rates)))) < tolerance:
            contacts = balance.contacts(state.pose)
            return RestState(state.pose[:3], state.pose[3:], contacts, remaining, time, count)
        after = _advance(balance, body, chosen, state, step)
        if after is None:
            step *= 0.25
            continue
        state, time, step = after, time + step, 2.0 * step
    what = f"Settling{f' of case {case}' if case else ''}"
    raise ConvergenceError(what, 0, remaining, "mm/s2", REMEDY)


def _state(balance: Balance, body: RigidBody, free: Numbers, pose: Array, rates: Array) -> _State:
    mass, bias = body.equations(pose, rates)
    force = balance.forces(pose).force - bias
    acceleration = np.zeros(6)
    acceleration[free] = np.linalg.solve(mass[np.ix_(free, free)], force[free])
    return _State(pose, rates, acceleration)


def _advance(
    balance: Balance, body: RigidBody, free: Numbers, state: _State, step: float
) -> _State | None:
    """One step of implicit Euler; None when it moves too far or Newton's method fails."""
    motion = np.zeros(6)
    part = np.ix_(free, free)
    for _ in range(MAX_NEWTON):
        pose, rates = state.pose + motion, motion / step
        forces = balance.forces(pose)
        mass, bias = body.equations(pose, rates)
        unbalanced = forces.force - bias - mass @ (rates - state.rates) / step
        change = np.linalg.solve((mass / step**2 - forces.derivative)[part], unbalanced[free])
        motion[free] += change
        size = float(np.max(np.abs(motion * WEIGHT)))
        if not size < LARGEST_MOTION:
            return None
        if np.max(np.abs(change * WEIGHT[free])) <= LOOSE * size + 1e-13:
            return _state(balance, body, free, state.pose + motion, motion / step)
    return None
