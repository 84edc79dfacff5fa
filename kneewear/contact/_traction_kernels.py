"""Compiled traction of one element: damped pressure and friction, and how they follow velocity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import compiled


class TractionLaw(NamedTuple):
    """Constants of `Friction` and `Damping`, as kernels want them."""

    static: float
    dynamic: float
    transition: float  # mm/s, positive
    damping: float  # s/mm


@compiled
def friction_coefficient(
    speed: NDArray, static: float, dynamic: float, transition: float
) -> NDArray:
    """Friction over pressure; a number or an array of speeds."""
    ratio = speed / transition
    return (
        dynamic * np.tanh(4.0 * ratio) + (static - dynamic) * ratio / (0.25 * ratio**2 + 0.75) ** 2
    )


@compiled
def friction_slope(speed: NDArray, static: float, dynamic: float, transition: float) -> NDArray:
    """Derivative of `friction_coefficient` over the speed."""
    ratio = speed / transition
    quarter = 0.25 * ratio**2 + 0.75
    falling = (static - dynamic) * (quarter - ratio**2) / quarter**3
    return (4.0 * dynamic * (1.0 - np.tanh(4.0 * ratio) ** 2) + falling) / transition


@compiled
def damping_factor(rate: NDArray, coefficient: float) -> NDArray:
    """Damped over elastic pressure; a number or an array of penetration rates."""
    return np.maximum(1.0 + coefficient * rate, 0.0)


@compiled
def tractions(
    law: TractionLaw,
    normal: NDArray,
    velocity: NDArray,
    traction: NDArray,
    slope: NDArray,
) -> None:
    """Traction on the moving body per elastic pressure, and its derivative over the velocity.

    `normal` is the moving surface's outward unit normal N, which points into the layer; `velocity`
    that of the moving body's point at the element. With penetration rate v . N and slip velocity
    v - (v . N) N, fills `traction` (3) with -f (N + mu e), f the damping factor and e the direction
    of slip, and `slope` (3 x 3). Multiply both by the elastic pressure.
    """
    rate = normal[0] * velocity[0] + normal[1] * velocity[1] + normal[2] * velocity[2]
    factor = damping_factor(rate, law.damping)
    steepness = law.damping if factor > 0.0 else 0.0
    square = 0.0
    for a in range(3):
        square += (velocity[a] - rate * normal[a]) ** 2
    speed = np.sqrt(square)
    along = friction_slope(speed, law.static, law.dynamic, law.transition)
    # Where slip vanishes it has no direction, and friction answers alike in all of them.
    across, inverse = along, 0.0
    if speed > 1e-9 * law.transition:
        inverse = 1.0 / speed
        across = inverse * friction_coefficient(speed, law.static, law.dynamic, law.transition)
    for a in range(3):
        slip_a = velocity[a] - rate * normal[a]
        push = normal[a] + across * slip_a
        traction[a] = -factor * push
        for b in range(3):
            slip_b = velocity[b] - rate * normal[b]
            tangential = (1.0 if a == b else 0.0) - normal[a] * normal[b]
            turn = across * tangential + (along - across) * slip_a * slip_b * inverse**2
            slope[a, b] = -steepness * push * normal[b] - factor * turn


@compiled
def traction_slopes(law: TractionLaw, normal: NDArray, velocity: NDArray, slope: NDArray) -> None:
    """Derivative (3 x 3) of the traction of `tractions` over the unit normal."""
    rate = normal[0] * velocity[0] + normal[1] * velocity[1] + normal[2] * velocity[2]
    factor = damping_factor(rate, law.damping)
    steepness = law.damping if factor > 0.0 else 0.0
    square = 0.0
    for a in range(3):
        square += (velocity[a] - rate * normal[a]) ** 2
    speed = np.sqrt(square)
    along = friction_slope(speed, law.static, law.dynamic, law.transition)
    across, inverse = along, 0.0
    if speed > 1e-9 * law.transition:
        inverse = 1.0 / speed
        across = inverse * friction_coefficient(speed, law.static, law.dynamic, law.transition)
    for a in range(3):
        slip_a = velocity[a] - rate * normal[a]
        push = normal[a] + across * slip_a
        for b in range(3):
            slip_b = velocity[b] - rate * normal[b]
            same = 1.0 if a == b else 0.0
            turn = same - across * (normal[a] * velocity[b] + rate * same)
            turn -= (along - across) * slip_a * slip_b * inverse**2 * rate
            slope[a, b] = -steepness * push * velocity[b] - factor * turn
