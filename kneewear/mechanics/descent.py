"""Stable equilibrium by Newton's method in a trust region, for any system of forces."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

MAX_ITERATIONS = 400
# First and largest step, mm.
FIRST_STEP = 0.3
LARGEST_STEP = 1.0
# If no step longer than CLOSED, mm, is good, forces jump, because an element at a border or of
# steep slope leaves contact; with a residual up to JUMP of the load the pose counts as found.
CLOSED = 1e-10
JUMP = 1e-3
# A direction that restores less than this fraction of the largest stiffness follows the force.
WEAKEST = 1e-9


class CoordinateForces(Protocol):
    """Forces along n coordinates at one pose."""

    @property
    def force(self) -> Array:
        """Forces, N and N mm, shape (n,)."""

    @property
    def derivative(self) -> Array:
        """Their derivative over the coordinates, shape (n, n)."""

    @property
    def apart(self) -> bool:
        """True if bodies are apart and first translate along the forces, without rotation."""

    def residual(self, free: Numbers) -> float:
        """Largest force along free coordinates relative to what acts."""


Found = TypeVar("Found", bound=CoordinateForces)


class Descent(NamedTuple, Generic[Found]):
    """End of a search: coordinates (n,), forces there, residual and number of evaluations."""

    coordinates: Array
    forces: Found
    residual: float
    evaluations: int

    def is_balanced(self, tolerance: float) -> bool:
        """True if forces balance, or the search closed on a pose at which they jump."""
        at_a_jump = self.evaluations < MAX_ITERATIONS and self.residual < JUMP
        return self.residual < tolerance or at_a_jump


def descend(
    forces: Callable[[Array], Found],
    start: Array,
    free: Numbers,
    weight: Array,
    tolerance: float,
) -> Descent[Found]:
    """Trust-region steps from `start` along the free coordinates until forces balance.

    `weight` (n,) times a coordinate is a length, mm; `tolerance` the largest residual. A step is
    accepted when the forces before and after it do work on it, so that, as for a body that sinks in
    a viscous fluid, only stable equilibria are found; forces need no potential.
    """
    pose = start
    now = forces(pose)
    residual = now.residual(free)
    radius = FIRST_STEP
    evaluations = 1
    while evaluations < MAX_ITERATIONS and residual >= tolerance and radius > CLOSED:
        step = _step(now, free, radius, weight)
        after = forces(pose + step)
        evaluations += 1
        next_residual = after.residual(free)
        # Twice the work on the step, by the trapezoidal rule and by the linear model.
        work = float(now.force @ step + after.force @ step)
        predicted = float(2.0 * (now.force @ step) + step @ now.derivative @ step)
        length = float(np.linalg.norm(step * weight))
        near = predicted > 0.0 and residual < 1e-3 and next_residual < 0.5 * residual
        if work > 0.1 * predicted or near:
            if work > 0.7 * predicted:
                radius = min(max(radius, 2.0 * length), LARGEST_STEP)
            pose, now, residual = pose + step, after, next_residual
        else:
            radius = 0.3 * length
    return Descent(pose, now, residual, evaluations)


def _step(now: CoordinateForces, free: Numbers, radius: float, weight: Array) -> Array:
    """Newton step, damped until it is downhill and no longer than the radius, mm."""
    step = np.zeros(weight.size)
    force = (now.force / weight)[free]
    if now.apart and force[free < 3].any():
        force = np.where(free < 3, force, 0.0)
    stiffness = -(now.derivative / np.outer(weight, weight))[np.ix_(free, free)]
    values = np.linalg.eigvalsh(0.5 * (stiffness + stiffness.T))
    least = WEAKEST * max(abs(values[0]), abs(values[-1]), float(np.abs(force).max()))
    shift = max(0.0, least - values[0])
    identity = np.eye(free.size)
    for _ in range(100):
        scaled = np.linalg.solve(stiffness + shift * identity, force)
        length = math.sqrt(scaled @ scaled)
        if length <= radius * (1.0 + 1e-6):
            break
        # Secular equation: the length falls no slower than 1 / (shift + least stiffness).
        shift += max(shift + values[0], least) * (length / radius - 1.0)
    step[free] = scaled / weight[free]
    return step
