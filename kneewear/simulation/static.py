"""Static equilibrium of the moving body for any choice of free coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.errors import ConvergenceError
from kneewear.mechanics import (
    COORDINATES,
    Load,
    Spring,
    body_three_123,
    coordinate_numbers,
    generalized_forces,
    spring_force,
)
from kneewear.mechanics.coordinates import cross_matrix

Array = NDArray[np.float64]

MAX_ITERATIONS = 400
# Lever that makes an angle a length, mm: half a usual condyle spacing. It weighs steps and
# residuals; the pose found does not depend on it.
LEVER = 23.0
WEIGHT = np.array([1.0, 1.0, 1.0, LEVER, LEVER, LEVER])
# Largest step at first and at all, mm; a start that overlaps too deeply is lifted by the latter.
FIRST_STEP, LARGEST_STEP = 0.3, 1.0
# A direction that restores less than this part of the largest stiffness follows the force.
WEAKEST = 1e-9


class Pair(Protocol):
    """What a contact pair offers: the resultant on the moving body at a pose."""

    def evaluate(self, rotation: Array, translation: Array, layer: Any) -> Any:
        """Contact at a pose: `wrench` (6,) and `stiffness` (6, 6), as `Resultant` has them."""


@dataclass(frozen=True)
class StaticEquilibrium:
    """Pose at which contact, loads and springs balance.

    Parameters
    ----------
    translation, rotation : array, shape (3,)
        Pose: mm, and body-three 1-2-3 angles in rad.
    contacts : tuple
        Resultant of each pair, on the moving body about its origin.
    reaction : array, shape (6,)
        What holds the coordinates that are not free, N and N mm along each; the residual along
        free ones.
    stiffness : array, shape (6, 6)
        Derivative of the forces along the coordinates over these, N, mm and rad.
    residual : float
        Largest unbalanced force along a free coordinate relative to what acts, moments divided by
        a lever of 23 mm.
    iterations : int
        Evaluations of the contact.
    """

    translation: Array
    rotation: Array
    contacts: tuple[Any, ...]
    reaction: Array
    stiffness: Array
    residual: float
    iterations: int


@dataclass(frozen=True)
class _Forces:
    """Forces along the six coordinates at one pose."""

    contacts: tuple[Any, ...]
    force: Array
    derivative: Array
    scale: float
    touching: bool


def solve_static(
    pairs: Sequence[Pair],
    layers: Sequence[Any],
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

    Parameters
    ----------
    pairs : sequence of ContactPair
        Any number of contact pairs between the fixed and the moving body.
    layers : sequence of Layer
        Elastic layer of each pair.
    pose : tuple of array, shape (3,)
        Start: translation, mm, and body-three 1-2-3 angles, rad. It may lie far off, apart or
        overlapping; coordinates that are not free stay as they are.
    free : sequence of str
        Free coordinates, of `COORDINATES`.
    loads : sequence of Load
        Loads on the moving body.
    springs : sequence of Spring
        Springs along coordinates.
    tolerance : float
        Largest residual, as in `StaticEquilibrium`.
    frame : int
        Frame, for messages.
    case : str
        Case, for messages.

    Returns
    -------
    StaticEquilibrium

    Raises
    ------
    ConvergenceError
        If no stable equilibrium is reached; it names case, frame and residual.
    ValueError
        If no coordinate is free or a name is unknown.

    Notes
    -----
    Newton's method with the contact's own stiffness in a trust region. A step counts as good when
    forces before and after it do work on it, so that, as for a body sinking into place in a viscous
    fluid, only stable equilibria are found; forces need no potential. Apart from the fixed body the
    moving one is carried along the loads' force without turning until they touch. Where nothing
    restores a free coordinate there is no unique answer: a weak spring makes one.
    """
    chosen = coordinate_numbers(free)
    if chosen.size == 0:
        raise ValueError("solve_static needs at least one free coordinate")
    model = _Model(tuple(pairs), tuple(layers), tuple(loads), tuple(springs), chosen)
    place = np.concatenate([np.asarray(part, dtype=float) for part in pose])
    what = f"Static equilibrium{f' of case {case}' if case else ''}"
    try:
        found = _descend(model, _lifted(model, place), tolerance)
    except ValueError as error:
        raise _unsolved(f"{what} ({error})", frame, np.nan) from error
    if not found.residual < tolerance:
        raise _unsolved(what, frame, found.residual)
    return found


def _unsolved(what: str, frame: int, residual: float) -> ConvergenceError:
    return ConvergenceError(
        what,
        frame,
        residual,
        "of the load",
        "Check that loads, start pose and free coordinates belong together; a weak spring settles "
        "a coordinate that nothing restores.",
    )


@dataclass(frozen=True)
class _Model:
    """What acts on the moving body, and where it may move."""

    pairs: tuple[Pair, ...]
    layers: tuple[Any, ...]
    loads: tuple[Load, ...]
    springs: tuple[Spring, ...]
    free: NDArray[np.int64]

    def forces(self, place: Array) -> _Forces:
        translation, rotation = place[:3], body_three_123(place[3:])
        contacts = tuple(
            pair.evaluate(rotation, translation, layer)
            for pair, layer in zip(self.pairs, self.layers, strict=True)
        )
        wrench, rate, scale = np.zeros(6), np.zeros((6, 6)), 0.0
        for contact in contacts:
            wrench += contact.wrench
            rate += contact.stiffness
            scale = max(scale, _size(contact.wrench))
        # A contact's stiffness is symmetric, in turns that commute; the moment itself turns along.
        rate[3:, 3:] -= 0.5 * cross_matrix(wrench[3:])
        for load in self.loads:
            applied, change = load.wrench(translation, rotation)
            wrench += applied
            rate += change
            scale = max(scale, _size(applied))
        force, derivative = generalized_forces(wrench, rate, place[3:])
        for spring in self.springs:
            number = COORDINATES.index(spring.coordinate)
            pull, slope = spring_force(spring, place[number])
            force[number] += pull
            derivative[number, number] += slope
            scale = max(scale, abs(pull) / WEIGHT[number])
        touching = any(contact.wrench[:3].any() for contact in contacts)
        return _Forces(contacts, force, derivative, scale, touching)

    def residual(self, forces: _Forces) -> float:
        worst = float(np.max(np.abs(forces.force / WEIGHT)[self.free]))
        return worst / forces.scale if forces.scale > 0.0 else worst


def _size(wrench: Array) -> float:
    """Force, or moment over the lever, whichever is larger, N."""
    return max(float(np.linalg.norm(wrench[:3])), float(np.linalg.norm(wrench[3:])) / LEVER)


def _lifted(model: _Model, place: Array) -> Array:
    """The start, moved against the loads until no element lies too deep to be looked up."""
    pull = sum(load.wrench(place[:3], body_three_123(place[3:]))[0] for load in model.loads)
    way = np.zeros(6)
    for number in set(model.free) & {0, 1, 2}:
        way[number] = -np.broadcast_to(pull, 6)[number]
    if not way.any():
        return place
    way /= np.linalg.norm(way)
    for step in range(MAX_ITERATIONS):
        lifted = place + step * LARGEST_STEP * way
        try:
            model.forces(lifted)
        except ValueError:
            continue
        return lifted
    return place


def _descend(model: _Model, place: Array, tolerance: float) -> StaticEquilibrium:
    """Trust-region steps downhill until forces balance."""
    now = model.forces(place)
    residual = model.residual(now)
    radius = FIRST_STEP
    evaluations = 1
    while evaluations < MAX_ITERATIONS:
        if residual < tolerance or radius < 1e-13:
            break
        step = _step(model, now, radius)
        after = _tried(model, place + step)
        evaluations += 1
        if after is None:
            radius *= 0.25
            continue
        then = model.residual(after)
        done, hoped = _work(model, now, after, step)
        convex = hoped > 0.0 and then < 0.5 * residual
        if done > 0.1 * hoped or (convex and residual < 1e-3):
            if done > 0.7 * hoped:
                radius = min(max(radius, 2.0 * _length(step)), LARGEST_STEP)
            place, now, residual = place + step, after, then
        else:
            radius = 0.3 * _length(step)
    return StaticEquilibrium(
        translation=place[:3].copy(),
        rotation=place[3:].copy(),
        contacts=now.contacts,
        reaction=-now.force,
        stiffness=now.derivative,
        residual=residual,
        iterations=evaluations,
    )


def _tried(model: _Model, place: Array) -> _Forces | None:
    try:
        return model.forces(place)
    except ValueError:
        return None


def _work(model: _Model, now: _Forces, after: _Forces, step: Array) -> tuple[float, float]:
    """Twice the work of the forces on a step, by the trapezoidal rule and by the linear model."""
    part = step[model.free]
    before = now.force[model.free] @ part
    bend = part @ now.derivative[np.ix_(model.free, model.free)] @ part
    return float(before + after.force[model.free] @ part), float(2.0 * before + bend)


def _length(step: Array) -> float:
    return float(np.linalg.norm(step * WEIGHT))


def _step(model: _Model, now: _Forces, radius: float) -> Array:
    """Newton step, damped until it is downhill and no longer than the radius, mm."""
    step = np.zeros(6)
    free = model.free
    force = (now.force / WEIGHT)[free]
    if not now.touching and (free < 3).any() and force[free < 3].any():
        # Falling: the way to the fixed body shall not turn the moving one.
        force = np.where(free < 3, force, 0.0)
    stiffness = -(now.derivative / np.outer(WEIGHT, WEIGHT))[np.ix_(free, free)]
    even, odd = 0.5 * (stiffness + stiffness.T), 0.5 * (stiffness - stiffness.T)
    values = np.linalg.eigvalsh(even)
    least = WEAKEST * max(abs(values[0]), abs(values[-1]), float(np.abs(force).max()))
    lift = max(0.0, least - values[0])
    for _ in range(100):
        scaled = np.linalg.solve(even + odd + lift * np.eye(free.size), force)
        length = float(np.linalg.norm(scaled))
        if length <= radius * (1.0 + 1e-6):
            break
        # Secular equation: the length falls no slower than 1 / (lift + least stiffness).
        lift += max(lift + values[0], least) * (length / radius - 1.0)
    step[free] = scaled / WEIGHT[free]
    return step
