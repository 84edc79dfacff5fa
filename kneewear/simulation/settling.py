"""Settling of the moving body onto the fixed one by numerical damping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.contact.foundation import Layer
from kneewear.contact.pair import ContactPair
from kneewear.contact.resultant import Resultant
from kneewear.errors import ConvergenceError
from kneewear.mechanics.coordinates import coordinate_numbers
from kneewear.mechanics.loads import Load, Spring
from kneewear.mechanics.rigid_body import RigidBody
from kneewear.simulation.balance import REMEDY, WEIGHT, Balance

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

MAX_STEPS = 1000
MAX_ITERATIONS = 8
# Motion of the first step and the most of any, mm.
FIRST_MOTION, LARGEST_MOTION = 0.1, 1.0
# Newton's corrections of a step stop at this part of its motion: the path need not be accurate.
LOOSE = 0.02


@dataclass(frozen=True)
class Settled:
    """End of a settling.

    Parameters
    ----------
    translation, rotation : array, shape (3,)
        Pose: mm, and body-three 1-2-3 angles in rad.
    contacts : tuple of Resultant
        Contact of each pair.
    acceleration : float
        Largest acceleration left along a free coordinate, mm/s2 or rad/s2.
    time : float
        Time the settling stands for, s.
    steps : int
        Steps taken.
    """

    translation: Array
    rotation: Array
    contacts: tuple[Resultant, ...]
    acceleration: float
    time: float
    steps: int


@dataclass(frozen=True)
class _State:
    """Place, rates and accelerations of all coordinates."""

    place: Array
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
) -> Settled:
    """Let the moving body fall and come to rest under its loads.

    Parameters
    ----------
    pairs, layers : sequence
        Contact pairs and the elastic layer of each.
    pose : tuple of array, shape (3,)
        Start, at rest: translation, mm, and body-three 1-2-3 angles, rad; apart or overlapping.
    free : sequence of str
        Free coordinates; the others are held.
    body : RigidBody
        Inertia of the moving body; the pose it comes to rest in does not depend on it.
    loads, springs : sequence
        Loads and springs on it.
    tolerance : float
        Largest acceleration, mm/s2 and rad/s2, and largest rate, mm/s and rad/s, at rest.
    case : str
        Case, for messages.

    Returns
    -------
    Settled

    Raises
    ------
    ConvergenceError
        If the body does not come to rest; the residual is its acceleration.

    Notes
    -----
    Implicit Euler, M (v1 - v0) / h + b = Q(q0 + h v1), with a step that doubles as long as Newton's
    method converges and no coordinate moves by more than a millimetre. The method itself takes the
    energy away: the path is inaccurate on purpose, the end is not (Bei 2003, section 2.2.4).
    """
    chosen = coordinate_numbers(free)
    balance = Balance(tuple(pairs), tuple(layers), tuple(loads), tuple(springs))
    place = np.concatenate([np.asarray(part, dtype=float) for part in pose])
    what = f"Settling{f' of case {case}' if case else ''}"
    # From an overlap it would be thrown up for metres.
    state = _state(balance, body, chosen, balance.lifted(place, chosen, 0.0), np.zeros(6))
    time, step = 0.0, _first_step(state)
    for count in range(1, MAX_STEPS + 1):
        left = float(np.max(np.abs(state.acceleration)))
        if max(left, float(np.max(np.abs(state.rates)))) < tolerance:
            contacts = balance.contacts(state.place)
            return Settled(state.place[:3], state.place[3:], contacts, left, time, count)
        after = _advance(balance, body, chosen, state, step)
        if after is None:
            step *= 0.25
            continue
        state, time, step = after, time + step, 2.0 * step
    raise ConvergenceError(what, 0, left, "mm/s2", REMEDY)


def _first_step(state: _State) -> float:
    """Time in which the first acceleration moves the body by a tenth of a millimetre."""
    largest = float(np.max(np.abs(state.acceleration * WEIGHT)))
    return float(np.sqrt(2.0 * FIRST_MOTION / largest)) if largest > 0.0 else 1.0


def _state(balance: Balance, body: RigidBody, free: Numbers, place: Array, rates: Array) -> _State:
    forces = balance.forces(place)
    mass, bias = body.equations(place, rates)
    acceleration = np.zeros(6)
    acceleration[free] = np.linalg.solve(mass[np.ix_(free, free)], (forces.force - bias)[free])
    return _State(place, rates, acceleration)


def _advance(
    balance: Balance, body: RigidBody, free: Numbers, state: _State, step: float
) -> _State | None:
    """One step of implicit Euler; None when it moves too far or Newton's method fails."""
    motion = np.zeros(6)
    part = np.ix_(free, free)
    for _ in range(MAX_ITERATIONS):
        place, rates = state.place + motion, motion / step
        forces = balance.forces(place)
        mass, bias = body.equations(place, rates)
        left = forces.force - bias - mass @ (rates - state.rates) / step
        change = np.linalg.solve((mass / step**2 - forces.derivative)[part], left[free])
        motion[free] += change
        size = float(np.max(np.abs(motion * WEIGHT)))
        if not size < LARGEST_MOTION:
            return None
        if np.max(np.abs(change * WEIGHT[free])) <= LOOSE * size + 1e-13:
            return _state(balance, body, free, state.place + motion, motion / step)
    return None
