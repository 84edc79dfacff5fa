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
from kneewear.mechanics.descent import descend
from kneewear.mechanics.loads import Load, Spring
from kneewear.mechanics.rigid_body import RigidBody
from kneewear.simulation.balance import REMEDY, WEIGHT, Balance
from kneewear.simulation.equilibrium import Equilibrium

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

# A start that overlaps by more than this is lifted clear first, mm.
DEEPEST = 2.0
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
    previous: tuple[Array, float] | None = None,
    tolerance: float = 1e-8,
    frame: int = 0,
    case: str = "",
) -> StaticEquilibrium:
    """Find the pose at which contact, loads and springs balance along the free coordinates.

    `pose` is the start (translation, mm, and body-three 1-2-3 angles, rad), apart or overlapping;
    coordinates not in `free` (of `COORDINATES`) keep its values. `previous`, as of `Balance`, adds
    friction and damping of the step that ends at the pose. `tolerance` is the largest
    residual; `frame` and `case` are named in messages. ConvergenceError if no stable equilibrium is
    reached; ValueError if no coordinate is free or a name is unknown.

    Newton's method with the contact's own stiffness in a trust region. A step is accepted when the
    forces before and after it do work on it, so that, as for a body that sinks in a viscous fluid,
    only stable equilibria are found; forces need no potential. Apart from the fixed body the moving
    one follows the loads' force without rotation until they touch. A pose at which the force jumps
    (see `kneewear.mechanics.descent`) counts as found. Where nothing restores a free
    coordinate, add a weak spring.
    """
    chosen = coordinate_numbers(free)
    if chosen.size == 0:
        raise ValueError("solve_static needs at least one free coordinate")
    balance = Balance(tuple(pairs), tuple(layers), tuple(loads), tuple(springs), previous)
    start = np.concatenate([np.asarray(part, dtype=float) for part in pose])
    found = descend(
        balance.forces, balance.lifted(start, chosen, DEEPEST), chosen, WEIGHT, tolerance
    )
    if not found.is_balanced(tolerance):
        # The start may be on the wrong side.
        found = descend(balance.forces, balance.clear(start, chosen), chosen, WEIGHT, tolerance)
    if not found.is_balanced(tolerance):
        what = f"Static equilibrium{f' of case {case}' if case else ''}"
        raise ConvergenceError(what, frame, found.residual, "of the load", REMEDY)
    return StaticEquilibrium(
        translation=found.coordinates[:3].copy(),
        rotation=found.coordinates[3:].copy(),
        contacts=balance.contacts(found.coordinates),
        reaction=-found.forces.force,
        stiffness=found.forces.derivative,
        residual=found.residual,
        iterations=found.evaluations,
    )


def hold_pose(balance: Balance, pose: Array) -> StaticEquilibrium:
    """Forces where all six coordinates of a pose (6,) are held, as an equilibrium."""
    forces = balance.forces(pose)
    return StaticEquilibrium(
        translation=pose[:3],
        rotation=pose[3:],
        contacts=balance.contacts(pose),
        residual=0.0,
        iterations=1,
        reaction=-forces.force,
        stiffness=forces.derivative,
    )


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
