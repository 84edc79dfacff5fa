"""Indentation of spheres, and free impact with F = K d^n (1 + c rate / initial rate).

Impacts are exact in the phase plane. With v the rate of indentation, v0 its start value and m the
reduced mass, m v dv/dd = -F parts into v dv / (1 + c v / v0) = -(K / m) d^n dd. Integrated from
v = v0 to 0 it gives the largest indentation; back to d = 0 it gives the speed of parting. Neither
mass, stiffness, exponent nor speed is left in the restitution.

References
----------
Machado thesis, Eqs 5.25 to 5.31: indentations. Its Eq. 5.28 prints the condition of separation as
d > Ri where d > Ri + Rj is meant.
"""

from __future__ import annotations

import math

from scipy.special import lambertw


def delivered_restitution(factor: float) -> float:
    """Speed after over speed before the impact, for the damping factor c >= 0.

    The root of 1/c - ln(1 + c) / c^2 = -e/c - ln(1 - c e) / c^2: with Lambert's function,
    e = (1 + W0(-(1 + c) exp(-1 - c))) / c. About 1 - 2 c / 3 for a small factor; rounding grows as
    1e-16 / c^2.
    """
    if factor == 0.0:
        return 1.0
    return (1.0 + float(lambertw(-(1.0 + factor) * math.exp(-1.0 - factor)).real)) / factor


def largest_indentation(
    mass: float, speed: float, stiffness: float, factor: float = 0.0, exponent: float = 1.5
) -> float:
    """Indentation D, mm, at which the bodies come to rest against one another.

    From the reduced mass, t, the speed of approach, mm/s, the stiffness K, N/mm^n, the damping
    factor c and the exponent n: D^(n+1) = (n + 1) (m v0^2 / K) (1/c - ln(1 + c) / c^2); the last
    bracket is 1/2 without damping.
    """
    bracket = (factor - math.log1p(factor)) / factor**2 if factor else 0.5
    return ((exponent + 1.0) * mass * speed**2 / stiffness * bracket) ** (1.0 / (exponent + 1.0))


def convex_indentation(distance: float, radius: float, other: float) -> float:
    """Overlap max(Ri + Rj - d, 0) of two balls, mm, from the distance d of their centres, mm."""
    return max(radius + other - distance, 0.0)
