"""Compiled search for the pose at which each side carries its share of the load."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.base.compilation import compiled
from kneewear.contact._kernels import evaluate_pairs
from kneewear.mechanics._kernels import BODY_THREE_ORDER, BODY_THREE_SIGN, orient
from kneewear.mechanics.coordinates import CHARACTERISTIC_LENGTH

# How a search ended: balanced, a side without load, out of iterations, or closed on a pose where
# forces jump, because an element at a border or of steep slope takes part on one side of it only;
# by more than an element can make, the balance may be within what an edge of a surface bears.
BALANCED = 0
UNLOADED = 1
UNSOLVED = 2
AT_A_JUMP = 3
AT_AN_EDGE = 4

# Steps this small, mm, so many of them in a row, and a residual no larger than an element can make.
CLOSED = 1e-5
REPEATS = 8
JUMP = 1e-3
# Iterations after which steps that reverse are halved, so that a search about a jump closes on it.
PATIENCE = 60
# Largest part of the load by which a line of elements at an edge may jump.
EDGE = 0.1

# Target overlap when an unloaded side is lowered, mm.
FIRST_TOUCH = 0.02
# Largest medial-lateral step, mm, and the smallest restoring stiffness assumed, per mm and load.
LARGEST_SHIFT = 0.3
WEAKEST_RESTORING = 1e-3


class Loading(NamedTuple):
    """Actions on the femoral component in addition to contact, in the insert's frame."""

    force: float  # load along -y, N, positive
    medial_share: float  # part of it that the medial side carries, if `shared`
    shared: bool  # whether the load line follows from that share
    load_line: float  # otherwise: medial-lateral position of the load, mm
    spring: float  # stiffness of a medial-lateral spring, N/mm
    spring_rest: float  # where it is slack, mm
    held: bool  # keeps the medial-lateral position; the force that takes is left in the reactions
    side_force: float = 0.0  # of a load that is not along -y: its part along +z, N
    height: float = 0.0  # where the load acts, if not `shared`: height, mm


@compiled
def unbalance(
    results: NDArray, pose: NDArray, loading: Loading, residual: NDArray, rates: NDArray
) -> None:
    """Residual forces, N, and their derivative over (y, z, varus); the last is medial-lateral."""
    total = np.zeros(6)
    stiffness = np.zeros((6, 3))
    for n in range(results.shape[0]):
        for i in range(6):
            total[i] += results[n].wrench[i]
            for k in range(3):
                stiffness[i, k] += results[n].stiffness[i, 1 + k]
    if loading.shared:
        residual[0] = results[0].wrench[1] - loading.medial_share * loading.force
        residual[1] = total[1] - results[0].wrench[1] - (1.0 - loading.medial_share) * loading.force
        for k in range(3):
            rates[0, k] = results[0].stiffness[1, 1 + k]
            rates[1, k] = stiffness[1, k] - rates[0, k]
    else:
        residual[0] = total[1] - loading.force
        moment = (loading.load_line - pose[2]) * loading.force
        moment += (loading.height - pose[1]) * loading.side_force
        residual[1] = (total[3] + moment) / CHARACTERISTIC_LENGTH
        for k in range(3):
            rates[0, k] = stiffness[1, k]
            rates[1, k] = stiffness[3, k] / CHARACTERISTIC_LENGTH
        rates[1, 0] -= loading.side_force / CHARACTERISTIC_LENGTH
        rates[1, 1] -= loading.force / CHARACTERISTIC_LENGTH
    if loading.held:
        residual[2] = 0.0
        rates[2, 0], rates[2, 1], rates[2, 2] = 0.0, -loading.force, 0.0
    else:
        residual[2] = total[2] + loading.side_force
        residual[2] -= loading.spring * (pose[2] - loading.spring_rest)
        for k in range(3):
            rates[2, k] = stiffness[2, k]
        rates[2, 1] -= loading.spring


@compiled
def keep_in_bracket(z: float, shift: float, force: float, bracket: NDArray) -> float:
    """Bisect when a medial-lateral step leaves the interval known to hold the balance."""
    bracket[0 if force > 0.0 else 1] = z
    # An interval this narrow has closed on the noise of the forces, not on a balance.
    if bracket[1] - bracket[0] < 1e-7:
        bracket[0], bracket[1] = (z, np.inf) if force > 0.0 else (-np.inf, z)
    if np.isfinite(bracket[1] - bracket[0]) and not bracket[0] < z + shift < bracket[1]:
        return 0.5 * (bracket[0] + bracket[1]) - z
    return shift


@compiled
def step_sides(
    results: NDArray,
    pose: NDArray,
    loading: Loading,
    residual: NDArray,
    rates: NDArray,
    bracket: NDArray,
    last: NDArray,
    part: NDArray,
    closing: bool,
) -> None:
    """Newton step in (y, z, varus), safeguarded side by side; narrows the medial-lateral bracket.

    Heights of the sides are h = y - varus x lever, with the lever of each side's force. Unknowns
    are these two heights, from the first two residuals; the third moves z. When `closing`, the
    `part` of a step (heights and z) that is made is halved where the `last` one is reversed.
    """
    one = -results[0].wrench[3] / results[0].wrench[1]
    other = -results[1].wrench[3] / results[1].wrench[1]
    # y and varus of heights: columns of the inverse of ((1, -one), (1, -other)).
    apart = one - other
    to_y = (-other / apart, one / apart)
    to_turn = (-1.0 / apart, 1.0 / apart)
    h00 = rates[0, 0] * to_y[0] + rates[0, 2] * to_turn[0]
    h01 = rates[0, 0] * to_y[1] + rates[0, 2] * to_turn[1]
    h10 = rates[1, 0] * to_y[0] + rates[1, 2] * to_turn[0]
    h11 = rates[1, 0] * to_y[1] + rates[1, 2] * to_turn[1]
    h20 = rates[2, 0] * to_y[0] + rates[2, 2] * to_turn[0]
    h21 = rates[2, 0] * to_y[1] + rates[2, 2] * to_turn[1]
    area = h00 * h11 - h01 * h10
    if area == 0.0:
        area = 1e-300
    back0 = (h11 * residual[0] - h01 * residual[1]) / area
    back1 = (h00 * residual[1] - h10 * residual[0]) / area
    couple0 = (h11 * rates[0, 1] - h01 * rates[1, 1]) / area
    couple1 = (h00 * rates[1, 1] - h10 * rates[0, 1]) / area
    force = residual[2] - h20 * back0 - h21 * back1
    restoring = rates[2, 1] - h20 * couple0 - h21 * couple1
    weakest = WEAKEST_RESTORING * loading.force
    if restoring > -weakest:
        restoring = -max(weakest, abs(restoring))
    shift = min(max(-force / restoring, -LARGEST_SHIFT), LARGEST_SHIFT)
    if max(abs(residual[0]), abs(residual[1])) < 1e-3 * loading.force:
        shift = keep_in_bracket(pose[2], shift, force, bracket)
    rise0, rise1 = -(back0 + couple0 * shift), -(back1 + couple1 * shift)
    # No side may lose contact, nor sink by more than its penetration.
    deep0, deep1 = results[0].max_penetration, results[1].max_penetration
    rise0 = min(max(rise0, -max(deep0, FIRST_TOUCH)), 0.6 * deep0)
    rise1 = min(max(rise1, -max(deep1, FIRST_TOUCH)), 0.6 * deep1)
    if closing:
        steps = (rise0, rise1, shift)
        for k in range(3):
            part[k] = 0.5 * part[k] if steps[k] * last[k] < 0.0 else min(1.2 * part[k], 1.0)
            last[k] = steps[k]
        rise0, rise1, shift = part[0] * rise0, part[1] * rise1, part[2] * shift
    pose[1] += to_y[0] * rise0 + to_y[1] * rise1
    pose[2] += shift
    pose[3] += to_turn[0] * rise0 + to_turn[1] * rise1


@compiled
def balance_sides(
    model: Any,
    results: NDArray,
    pose: NDArray,
    loading: Loading,
    bracket: NDArray,
    tolerance: float,
    iterations: int,
) -> tuple[int, int, float]:
    """Move a pose (6) until both sides balance the load.

    Returns how it ended, the iterations used and the largest residual relative to the load. The
    first two pairs are the medial and lateral side; further ones only add to the total.
    """
    rotation, axes, velocity = np.empty((3, 3)), np.empty((3, 3)), np.zeros(6)
    residual, rates, before = np.empty(3), np.empty((3, 3)), np.empty(6)
    last, part = np.zeros(3), np.ones(3)
    worst, small = np.inf, 0
    # A plain False is a type of its own, for which all of contact would be compiled once more.
    moving = bool(0)
    for iteration in range(1, iterations + 1):
        orient(pose[3:], BODY_THREE_ORDER, BODY_THREE_SIGN, rotation, axes)
        evaluate_pairs(model, rotation, pose[:3], velocity, moving, results)
        unbalance(results, pose, loading, residual, rates)
        worst = max(abs(residual[0]), abs(residual[1]), abs(residual[2])) / loading.force
        if worst < tolerance:
            return BALANCED, iteration, worst
        for side in range(2):
            if results[side].wrench[1] < 1e-6 * loading.force:
                return UNLOADED, iteration, worst
        if small >= REPEATS and worst < JUMP:
            return AT_A_JUMP, iteration, worst
        if small >= REPEATS and iteration > PATIENCE and worst < EDGE:
            return AT_AN_EDGE, iteration, worst
        before[:] = pose
        closing = iteration > PATIENCE
        step_sides(results, pose, loading, residual, rates, bracket, last, part, closing)
        moved = max(abs(pose[1] - before[1]), abs(pose[2] - before[2]))
        moved = max(moved, CHARACTERISTIC_LENGTH * abs(pose[3] - before[3]))
        small = small + 1 if moved < CLOSED else 0
    return AT_AN_EDGE if iterations > PATIENCE and worst < EDGE else UNSOLVED, iterations, worst
