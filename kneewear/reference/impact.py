"""Free impact of two bodies with F = K d^n (1 + c rate / initial rate): exact in the phase plane.

With v the rate of indentation, v0 its start value and m the reduced mass, m v dv/dd = -F parts
into v dv / (1 + c v / v0) = -(K / m) d^n dd. Integrated from v = v0 to 0 it gives the largest
indentation; back to d = 0 it gives the speed of parting. Neither mass, stiffness, exponent nor
speed is left in the restitution.
"""

from __future__ import annotations

import math

from scipy.special import gamma, lambertw


def delivered_restitution(factor: float) -> float:
    """Speed after over speed before the impact, for the damping factor c >= 0.

    Notes
    -----
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

    Parameters
    ----------
    mass : float
        Reduced mass, tonnes.
    speed : float
        Speed of approach, mm/s.
    stiffness : float
        K, N/mm^n.
    factor, exponent : float
        c and n.

    Notes
    -----
    D^(n+1) = (n + 1) (m v0^2 / K) (1/c - ln(1 + c) / c^2); the last bracket is 1/2 without damping.
    """
    bracket = (factor - math.log1p(factor)) / factor**2 if factor else 0.5
    return ((exponent + 1.0) * mass * speed**2 / stiffness * bracket) ** (1.0 / (exponent + 1.0))


def loop_area(mass: float, speed: float, factor: float) -> float:
    """Energy lost in one impact, N mm: the area m v0^2 (1 - e^2) / 2 of the force's loop over d."""
    return 0.5 * mass * speed**2 * (1.0 - delivered_restitution(factor) ** 2)


def elastic_duration(indentation: float, speed: float, exponent: float = 1.5) -> float:
    """Time in contact, s, of an impact without loss, from the largest indentation D, mm.

    2 D / v0 times the integral of (1 - x^(n+1))^(-1/2) from 0 to 1; 2.943 D / v0 for n = 3/2
    (Johnson 1985, Contact Mechanics, section 11.4).
    """
    power = 1.0 / (exponent + 1.0)
    quarter = math.sqrt(math.pi) * gamma(1.0 + power) / gamma(0.5 + power)
    return float(2.0 * quarter * indentation / speed)
