"""Frictionless equilibrium of the femoral component on the insert at one frame."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.contact._force_kernels import RESULT
from kneewear.contact.ends import PatchEnds
from kneewear.contact.pair import ContactModel, ContactPair
from kneewear.contact.resultant import Resultant
from kneewear.errors import ConvergenceError
from kneewear.mechanics._kernels import BODY_THREE_ORDER, BODY_THREE_SIGN, orient
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion._equilibrium_kernels import (
    AT_A_JUMP,
    AT_AN_EDGE,
    BALANCED,
    FIRST_TOUCH,
    UNLOADED,
    Loading,
    balance_sides,
)

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)

MAX_ITERATIONS = 200
# Part of a correction of the tilt that is made after a third of the iterations.
_DAMPED = 0.3
# Gap or overlap beyond the wanted one, mm, from which equilibria are found all the same.
_NEARLY = 0.1


@dataclass(frozen=True)
class Equilibrium:
    """Pose at which contact balances the load.

    `translation`, mm, and `rotation`, body-three 1-2-3 angles in rad; `contacts` of each side on
    the femoral component about its origin; `residual`, the largest unbalanced force along a free
    coordinate relative to the load, moments divided by a lever of 23 mm; `iterations`, contact
    evaluations.
    """

    translation: Array
    rotation: Array
    contacts: tuple[Resultant, ...]
    residual: float
    iterations: int

    @property
    def pose(self) -> Array:
        """Coordinates (6,), mm and rad."""
        return np.concatenate([self.translation, self.rotation])


def solve_equilibrium(
    model: ContactModel,
    pairs: Sequence[ContactPair],
    start: Array,
    loading: Loading,
    tolerance: float,
    frame: int,
) -> Equilibrium:
    """Find superior-inferior, medial-lateral and varus-valgus position under the load.

    The first two pairs are the medial and lateral side. Of the start pose (6,), mm and rad, x and
    the second and third angle are prescribed. `tolerance` is the largest residual as a fraction of
    the load. ConvergenceError if no equilibrium is reached, ValueError if the load does not push.

    With a solved load line the unknowns are the heights of the two sides and the medial-lateral
    position: each side carries its share of the load, and the position of the load follows from the
    moment about x. Each side's Newton step is limited by its own penetration, so that no side loses
    contact; an unloaded side is first lowered to touch. Where the bearing does not restore the
    medial-lateral position, the step follows the force instead, so that only stable equilibria are
    found. Where an element at a border or of steep slope leaves contact with a finite penetration,
    forces jump; a balance within a jump of less than a thousandth of the load counts as found. So
    does one within the force that elements bear where a surface ends: a sharp edge loads a line of
    elements, of which a line takes part or not.
    """
    if not loading.force > 0.0:
        raise ValueError(f"the load must push down on the insert, not be {loading.force:g} N")
    pose = np.array(start, dtype=float)
    results = np.zeros(len(pairs), dtype=RESULT)
    ended, used, worst = UNLOADED, 0, np.inf
    while ended == UNLOADED and used < MAX_ITERATIONS:
        bracket = np.array([-np.inf, np.inf])
        ended, count, worst = balance_sides(
            model.record,
            results,
            pose,
            loading,
            bracket,
            tolerance,
            MAX_ITERATIONS - used,
        )
        used += count
        if ended == UNLOADED:
            try:
                _bring_down(pairs, results["wrench"][:2, 1] < 1e-6 * loading.force, pose)
            except ValueError as error:
                raise _unsolved(f" ({error})", frame, worst) from error
    if ended not in (BALANCED, AT_A_JUMP, AT_AN_EDGE):
        raise _unsolved("", frame, worst)
    # To the last digit the rotation of the search, whose last result then serves.
    rotation, axes = np.empty((3, 3)), np.empty((3, 3))
    orient(pose[3:], BODY_THREE_ORDER, BODY_THREE_SIGN, rotation, axes)
    contacts = tuple(model.evaluate(rotation, pose[:3]).values())
    if ended == AT_AN_EDGE and worst * loading.force > _borne_at_ends(
        pairs, rotation, pose, contacts
    ):
        raise _unsolved("", frame, worst)
    if ended != BALANCED:
        logger.info("frame %d: forces jump by about %.2g of the load at the pose", frame, worst)
    return Equilibrium(pose[:3], pose[3:], contacts, worst, used)


def _borne_at_ends(
    pairs: Sequence[ContactPair], rotation: Array, pose: Array, contacts: Sequence[Resultant]
) -> float:
    """Force of the elements where one of the surfaces ends, N."""
    borne = 0.0
    for pair, contact in zip(pairs, contacts, strict=True):
        touched = PatchEnds(pair).touched(rotation, pose[:3], contact).any(axis=0)
        borne += float((contact.pressure * contact.area)[touched].sum())
    return borne


def _unsolved(reason: str, frame: int, residual: float) -> ConvergenceError:
    return ConvergenceError(
        f"Equilibrium of the femoral component{reason}",
        frame,
        residual,
        "of the load",
        "Check that load and motion belong to this implant; a bearing that restores no "
        "medial-lateral position needs simulation.medial_lateral: held or a weak spring "
        "(simulation.medial_lateral_spring_per_mm).",
    )


def approach(pairs: Sequence[ContactPair], start: Array, frame: int) -> Array:
    """Bring the femoral component down from above until all plateaus just touch.

    The height of the start (6,), mm and rad, does not matter. Plateaus overlap by a few hundredths
    of a millimetre at the pose returned; a single one keeps the varus of the start.
    ConvergenceError if a condyle is not over its plateau at the end.
    """
    pose = np.array(start, dtype=float)
    up = body_three_123(pose[3:])[1]
    lowest = min(float((pair.control_points @ up).min()) for pair in pairs)
    pose[1] = max(float(pair.centre[:, 1].max()) for pair in pairs) - lowest + 1.0
    best, off = pose.copy(), np.inf
    try:
        for iteration in range(MAX_ITERATIONS):
            # Places of first contact that alternate, as on a flank and a dish, need smaller steps.
            share = 1.0 if iteration < MAX_ITERATIONS // 3 else _DAMPED
            before = pose.copy()
            gap = max(_bring_down(pairs, np.ones(len(pairs), dtype=bool), pose, share))
            if gap < FIRST_TOUCH:
                return pose
            if gap < off:
                best, off = before, gap
    except ValueError as error:
        raise _not_lowered(f" ({error})", frame, off) from error
    # At the border of a surface the gap jumps as an element comes under it.
    if off < _NEARLY:
        return best
    raise _not_lowered("", frame, off)


def _not_lowered(reason: str, frame: int, gap: float) -> ConvergenceError:
    return ConvergenceError(
        f"Bringing the femoral component down onto the insert{reason}",
        frame,
        gap,
        "mm of gap",
        "Check the motion's signs and units and the frames of both components.",
    )


def _bring_down(
    pairs: Sequence[ContactPair], which: NDArray[np.bool_], pose: Array, share: float = 1.0
) -> list[float]:
    """Move the chosen sides to touch at constant height of the other; returns the distances.

    `share` is the part of the tilt that would close both gaps at their present places.
    """
    levers, drops = [], []
    rotation = body_three_123(pose[3:])
    for pair, moves in zip(pairs, which, strict=False):
        gap, nearest = pair.gap(rotation, pose[:3])
        levers.append(float(nearest[2] - pose[2]))
        drops.append(gap + FIRST_TOUCH if moves else 0.0)
    if len(drops) == 1:
        pose[1] -= drops[0]
        return [abs(drops[0])]
    # Far from contact a full correction of the tilt could turn the component over.
    tilt = (drops[0] - drops[1]) / (levers[0] - levers[1])
    turn = share * float(np.clip(tilt, -0.03, 0.03))
    dy = -min(d - turn * lever for d, lever in zip(drops, levers, strict=True))
    pose[1] += dy if which.all() else turn * levers[int(np.argmin(which))]
    pose[3] += turn
    return [abs(d) for d in drops]
