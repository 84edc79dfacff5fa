"""Inverse and stored energy of pressure laws, from the numbers that kernels take."""

from __future__ import annotations

import numpy as np

from kneewear.contact._force_kernels import LARGE_STRAIN, LARGEST_STRAIN

# Gauss points of a stored energy: exact for powers up to 39, to rounding for exponentials.
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(20)


def penetration(law, pressure, thickness):
    """Penetration, mm, that causes a pressure from zero to the cap, MPa."""
    law, pressure = law.arrays, np.asarray(pressure, dtype=float)
    softened = law.weight * law.scale * (pressure / law.scale) ** law.exponent
    strain = (pressure + softened) / law.modulus
    if law.code & LARGE_STRAIN:
        beyond = strain + np.log1p(-LARGEST_STRAIN)
        tangent = LARGEST_STRAIN + (1.0 - LARGEST_STRAIN) * beyond
        strain = np.where(beyond <= 0.0, -np.expm1(-strain), tangent)
    return np.asarray(thickness, dtype=float) * strain


def energy(law, depth, thickness):
    """Elastic energy stored per area, N/mm: p d minus the integral of the penetration over p.

    Needs no root: exact for laws of small strain and whole exponents, to rounding for the others as
    long as the strain is below nine tenths. At the cap it counts the work of the cap.
    """
    depth = np.maximum(np.asarray(depth, dtype=float), 0.0)
    thickness = np.asarray(thickness, dtype=float)
    top = law.pressure(depth, thickness)
    fractions = 0.5 * (POINTS + 1.0)
    under = penetration(law, top[..., None] * fractions, thickness[..., None])
    return top * depth - 0.5 * top * (under @ WEIGHTS)
