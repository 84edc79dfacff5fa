"""Frictionless equilibrium of the femoral component on the insert at one frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.contact import ContactPair, Layer, Resultant
from kneewear.errors import ConvergenceError
from kneewear.mechanics import body_three_123
from kneewear.simulation.balance import LEVER

Array = NDArray[np.float64]

MAX_ITERATIONS = 200
# Overlap aimed at when an unloaded side is brought down, mm.
FIRST_TOUCH = 0.02
# Largest medial-lateral step, mm, and the weakest restoring stiffness believed, per mm of load.
LARGEST_SHIFT = 0.3
WEAKEST_RESTORING = 1e-3


@dataclass(frozen=True)
class Loading:
    """What acts on the femoral component besides contact.

    Parameters
    ----------
    force : float
        Load along the insert's -y, N.
    medial_share : float
        Part of the load the medial side shall carry when the load line is solved.
    load_line : float or None
        Medial-lateral position of the load in the insert's frame, mm; None to solve it.
    spring : float
        Stiffness of a medial-lateral spring as a fraction of the load per mm.
    spring_rest : float
        Position at which that spring is slack, mm.
    held : bool
        True to hold the medial-lateral position where it is instead of solving it; the force that
        takes is left in the reactions.

    Raises
    ------
    ValueError
        If the load is not positive.
    """

    force: float
    medial_share: float
    load_line: float | None
    spring: float
    spring_rest: float
    held: bool = False

    def __post_init__(self) -> None:
        if not self.force > 0.0:
            raise ValueError(f"the load must push down on the insert, not be {self.force:g} N")


@dataclass(frozen=True)
class Equilibrium:
    """Pose at which contact balances the load.

    Parameters
    ----------
    translation, rotation : array, shape (3,)
        Pose: mm, and body-three 1-2-3 angles in rad.
    contacts : tuple of Resultant
        Contact of each side, on the femoral component about its origin.
    load_line : float
        Medial-lateral position of the load, mm.
    spring_force : float
        Medial-lateral spring force on the femoral component, N.
    residual : float
        Largest force residual relative to the load.
    iterations : int
        Contact evaluations used.
    """

    translation: Array
    rotation: Array
    contacts: tuple[Resultant, ...]
    load_line: float
    spring_force: float
    residual: float
    iterations: int


def solve_equilibrium(
    contacts: Sequence[ContactPair],
    layers: Sequence[Layer],
    translation: Array,
    rotation: Array,
    loading: Loading,
    tolerance: float,
    frame: int,
) -> Equilibrium:
    """Find superior-inferior, medial-lateral and varus-valgus position under the load.

    Parameters
    ----------
    contacts : sequence of ContactPair
        Medial and lateral side.
    layers : sequence of Layer
        Elastic layer of each side.
    translation, rotation : array, shape (3,)
        Start pose; its x, second and third angle are prescribed, the others are solved.
    loading : Loading
        Load and how it is placed.
    tolerance : float
        Largest residual, as a fraction of the load.
    frame : int
        Frame, for messages.

    Returns
    -------
    Equilibrium

    Raises
    ------
    ConvergenceError
        If no equilibrium is reached.

    Notes
    -----
    With a solved load line the unknowns are the heights of the two sides and the medial-lateral
    position: each side carries its share of the load, and no net medial-lateral force is left; the
    place of the load then follows from the moment about x. Newton's method is used with the exact
    stiffness. Each side's step is kept within its own penetration, so that no side loses contact;
    an unloaded side is first brought down to touch. Where the bearing does not restore the
    medial-lateral position, the step follows the force instead, so that only stable equilibria are
    found.
    """
    pose = _Pose(np.array(translation, dtype=float), np.array(rotation, dtype=float))
    bracket = [-np.inf, np.inf]
    worst = np.inf
    try:
        for iteration in range(1, MAX_ITERATIONS + 1):
            matrix = pose.matrix()
            sides = tuple(
                contact.evaluate(matrix, pose.translation, layer)
                for contact, layer in zip(contacts, layers, strict=True)
            )
            residual, jacobian = _balance(sides, pose, loading)
            worst = float(np.max(np.abs(residual))) / loading.force
            if worst < tolerance:
                return _result(pose, sides, loading, worst, iteration)
            unloaded = [s.wrench[1] < 1e-6 * loading.force for s in sides]
            if any(unloaded):
                bracket = [-np.inf, np.inf]
                _bring_down(contacts, unloaded, pose, matrix)
            else:
                pose.step(*_newton_step(sides, residual, jacobian, pose, loading, bracket))
    except ValueError as error:
        raise _unsolved(f" ({error})", frame, worst) from error
    raise _unsolved("", frame, worst)


def _unsolved(reason: str, frame: int, residual: float) -> ConvergenceError:
    return ConvergenceError(
        f"Equilibrium of the femoral component{reason}",
        frame,
        residual,
        "of the load",
        "Check that load and motion belong to this implant; a weak medial-lateral spring "
        "(simulation.medial_lateral_spring_per_mm) settles a bearing without restoring force.",
    )


def approach(
    contacts: Sequence[ContactPair], translation: Array, rotation: Array, frame: int
) -> tuple[Array, Array]:
    """Bring the femoral component down from above until both sides just touch.

    Parameters
    ----------
    contacts : sequence of ContactPair
        Medial and lateral side.
    translation, rotation : array, shape (3,)
        Pose; its height does not matter, apart or overlapping.
    frame : int
        Frame, for messages.

    Returns
    -------
    translation, rotation : array, shape (3,)
        Pose with both sides overlapping by a few hundredths of a millimetre.

    Raises
    ------
    ConvergenceError
        If a condyle does not come to lie over its plateau.
    """
    pose = _Pose(np.array(translation, dtype=float), np.array(rotation, dtype=float))
    matrix = pose.matrix()
    lowest = min(
        float((contact.indenter.control_points @ matrix.T)[..., 1].min()) for contact in contacts
    )
    pose.translation[1] = max(float(c.centre[:, 1].max()) for c in contacts) - lowest + 1.0
    off = np.inf
    try:
        for _ in range(MAX_ITERATIONS):
            off = max(_bring_down(contacts, [True, True], pose, pose.matrix()))
            if off < FIRST_TOUCH:
                return pose.translation, pose.rotation
    except ValueError as error:
        raise _unplaced(f" ({error})", frame, off) from error
    raise _unplaced("", frame, off)


def _unplaced(reason: str, frame: int, gap: float) -> ConvergenceError:
    return ConvergenceError(
        f"Bringing the femoral component down onto the insert{reason}",
        frame,
        gap,
        "mm of gap",
        "Check the motion's signs and units and the frames of both components.",
    )


class _Pose:
    """A pose that Newton steps move in place."""

    def __init__(self, translation: Array, rotation: Array) -> None:
        self.translation = translation
        self.rotation = rotation

    def matrix(self) -> Array:
        return body_three_123(self.rotation)

    def step(self, dy: float, dz: float, turn: float) -> None:
        self.translation[1] += dy
        self.translation[2] += dz
        self.rotation[0] += turn


# Rows and columns of the six-component wrench and twist that are free.
FREE = [1, 2, 3]


def _balance(sides: Sequence[Resultant], pose: _Pose, loading: Loading) -> tuple[Array, Array]:
    """Residual forces and their derivative over (y, z, varus); the last row is medial-lateral."""
    medial, lateral = sides
    total = medial.wrench + lateral.wrench
    stiffness = (medial.stiffness + lateral.stiffness)[:, FREE]
    z = pose.translation[2]
    sideways = total[2] - loading.spring * loading.force * (z - loading.spring_rest)
    sideways_rate = stiffness[2] - np.array([0.0, loading.spring * loading.force, 0.0])
    if loading.load_line is None:
        first = medial.wrench[1] - loading.medial_share * loading.force
        second = lateral.wrench[1] - (1.0 - loading.medial_share) * loading.force
        rates = medial.stiffness[1][FREE], lateral.stiffness[1][FREE]
    else:
        first = total[1] - loading.force
        second = (total[3] + (loading.load_line - z) * loading.force) / LEVER
        rates = stiffness[1], (stiffness[3] - np.array([0.0, loading.force, 0.0])) / LEVER
    if loading.held:
        sideways, sideways_rate = 0.0, np.array([0.0, -loading.force, 0.0])
    return np.array([first, second, sideways]), np.vstack([*rates, sideways_rate])


def _newton_step(
    sides: Sequence[Resultant],
    residual: Array,
    jacobian: Array,
    pose: _Pose,
    loading: Loading,
    bracket: list[float],
) -> tuple[float, float, float]:
    """Step in (y, z, varus), safeguarded side by side; narrows the medial-lateral bracket."""
    # Heights of the sides: dh = dy - turn * lever; the lever is that of each side's force.
    levers = [s.wrench[3] / -s.wrench[1] for s in sides]
    to_free = np.linalg.inv(np.array([[1.0, -levers[0]], [1.0, -levers[1]]]))
    by_height = jacobian[:, [0, 2]] @ to_free
    heights, coupling = by_height[:2], jacobian[:2, 1]
    back = np.linalg.solve(heights, np.column_stack([residual[:2], coupling]))
    force = residual[2] - by_height[2] @ back[:, 0]
    restoring = jacobian[2, 1] - by_height[2] @ back[:, 1]
    weakest = WEAKEST_RESTORING * loading.force
    if restoring > -weakest:
        restoring = -max(weakest, abs(restoring))
    shift = float(np.clip(-force / restoring, -LARGEST_SHIFT, LARGEST_SHIFT))
    if np.max(np.abs(residual[:2])) < 1e-3 * loading.force:
        shift = _keep_in_bracket(float(pose.translation[2]), shift, force, bracket)
    step = -(back[:, 0] + back[:, 1] * shift)
    for number, side in enumerate(sides):
        deepest = float(side.penetration.max())
        step[number] = np.clip(step[number], -max(deepest, FIRST_TOUCH), 0.6 * deepest)
    dy, turn = to_free @ step
    return float(dy), shift, float(turn)


def _keep_in_bracket(z: float, shift: float, force: float, bracket: list[float]) -> float:
    """Bisect when a medial-lateral step leaves the interval known to hold the balance."""
    bracket[0 if force > 0 else 1] = z
    # An interval this narrow has closed on the noise of the forces, not on a balance.
    if bracket[1] - bracket[0] < 1e-7:
        bracket[:] = (z, np.inf) if force > 0 else (-np.inf, z)
    if np.isfinite(bracket).all() and not bracket[0] < z + shift < bracket[1]:
        return 0.5 * (bracket[0] + bracket[1]) - z
    return shift


def _bring_down(
    contacts: Sequence[ContactPair], which: Sequence[bool], pose: _Pose, matrix: Array
) -> list[float]:
    """Move the chosen sides to touch, the other's height kept; returns how far each was off."""
    levers, drops = [], []
    for contact, moves in zip(contacts, which, strict=True):
        gap, place = contact.gap(matrix, pose.translation)
        levers.append(float(place[2] - pose.translation[2]))
        drops.append(gap + FIRST_TOUCH if moves else 0.0)
    # Far from contact a full correction of the tilt could turn the component over.
    tilt = (drops[0] - drops[1]) / (levers[0] - levers[1])
    turn = float(np.clip(tilt, -0.03, 0.03))
    dy = -min(d - turn * lever for d, lever in zip(drops, levers, strict=True))
    pose.step(dy if all(which) else turn * levers[which.index(False)], 0.0, turn)
    return [abs(d) for d in drops]


def _result(
    pose: _Pose, sides: tuple[Resultant, ...], loading: Loading, residual: float, iterations: int
) -> Equilibrium:
    z = float(pose.translation[2])
    line = loading.load_line
    if line is None:
        line = z - float(sum(s.wrench[3] for s in sides)) / loading.force
    return Equilibrium(
        translation=pose.translation.copy(),
        rotation=pose.rotation.copy(),
        contacts=sides,
        load_line=line,
        spring_force=-loading.spring * loading.force * (z - loading.spring_rest),
        residual=residual,
        iterations=iterations,
    )
