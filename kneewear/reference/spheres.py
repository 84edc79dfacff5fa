"""Indentation of rigid sphere pairs from the positions of their centres.

References
----------
Machado thesis, Eqs 5.25 to 5.31. Its Eq. 5.28 prints the condition of separation as d > Ri where
d > Ri + Rj is meant.
"""

from __future__ import annotations


def convex_indentation(distance: float, radius: float, other: float) -> float:
    """Overlap max(Ri + Rj - d, 0) of two balls, mm, from the distance d of their centres, mm."""
    return max(radius + other - distance, 0.0)


def conformal_indentation(distance: float, radius: float, cup_radius: float) -> float:
    """Overlap max(d - (Rj - Ri), 0) of a ball and its cup, mm, from their centre distance d, mm."""
    return max(distance - (cup_radius - radius), 0.0)


def plane_indentation(height: float, radius: float) -> float:
    """Overlap max(R - height, 0) of a ball with its centre at a height over a plane, mm."""
    return max(radius - height, 0.0)
