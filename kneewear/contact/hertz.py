"""Frictionless contact of an elastic half-space after Hertz.

All hold for contacts small against the radii and the bodies, of smooth surfaces and small strain.
The modulus is that of the pair, 1 / E* = (1 - nu1^2) / E1 + (1 - nu2^2) / E2.

References
----------
Johnson, K. L. (1985), Contact Mechanics, doi:10.1017/CBO9781139171731, chapter 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.optimize import brentq
from scipy.special import ellipk, elliprd


@dataclass(frozen=True)
class HertzContact:
    """A Hertz contact: force, N, approach of distant points, mm, and largest pressure, MPa.

    `semi_axes` are those of the contact ellipse, mm, longer one first (along the smaller
    curvature). The mean pressure is two thirds of the largest.
    """

    force: float
    depth: float
    semi_axes: tuple[float, float]
    peak_pressure: float

    def pressure(self, along: float, across: float) -> float:
        """Pressure, MPa, at a point along the longer and the shorter axis, mm; zero outside."""
        inside = 1.0 - (along / self.semi_axes[0]) ** 2 - (across / self.semi_axes[1]) ** 2
        return self.peak_pressure * math.sqrt(max(inside, 0.0))


def contact_modulus(
    youngs_modulus: float,
    poisson_ratio: float,
    other_modulus: float = math.inf,
    other_ratio: float = 0.0,
) -> float:
    """Modulus E* of a pair of bodies, the second of which is rigid by default, MPa.

    1 / E* = (1 - nu1^2) / E1 + (1 - nu2^2) / E2 (Johnson, K. L. 1985, Contact Mechanics, section
    4.2, doi:10.1017/CBO9781139171731).
    """
    compliance = (1.0 - poisson_ratio**2) / youngs_modulus
    return 1.0 / (compliance + (1.0 - other_ratio**2) / other_modulus)


def sphere_contact(radius: float, depth: float, modulus: float) -> HertzContact:
    """Hertz contact of a sphere of radius R, mm, and a half-space at an approach, mm.

    `radius` may be that of a pair, 1 / R = 1 / R1 + 1 / R2, `modulus` is E* of the pair, MPa.
    a = sqrt(R depth), F = (4/3) E* sqrt(R) depth^1.5, p0 = 2 E* a / (pi R) (Johnson 1985, Eq. 4.22
    to 4.24).
    """
    half = math.sqrt(radius * depth)
    force = 4.0 / 3.0 * modulus * half * depth
    return HertzContact(force, depth, (half, half), 2.0 * modulus * half / (math.pi * radius))


def ellipse_contact(radii: tuple[float, float], force: float, modulus: float) -> HertzContact:
    """Hertz contact of general profiles under a force, N.

    `radii` are the principal radii of the relative curvature, mm, larger one first; `modulus` is E*
    of the pair, MPa. ValueError if the radii are not positive or not in order.

    Notes
    -----
    With the parameter m = 1 - (b / a)^2, the complete integral K and D = (K - E) / m (by Carlson's
    R_D, so that a circle is no special case), the ratio of curvatures (K - D) / ((1 - m) D) yields
    m; then a^3 = 3 F R1 D / (pi E*), b from m, and depth = 3 F K / (2 pi E* a) (Johnson 1985,
    Eq. 4.26 to 4.30).
    """
    if not 0.0 < radii[1] <= radii[0]:
        raise ValueError(f"needs positive radii, larger one first, not {radii}")
    ratio = radii[0] / radii[1]
    parameter = (
        0.0
        if ratio == 1.0
        else float(brentq(lambda m: _curvature_ratio(m) - ratio, 0.0, 1.0 - 1e-15, xtol=1e-16))
    )
    along = (3.0 * force * radii[0] * _integral_d(parameter) / (math.pi * modulus)) ** (1.0 / 3.0)
    across = along * math.sqrt(1.0 - parameter)
    depth = 3.0 * force * float(ellipk(parameter)) / (2.0 * math.pi * modulus * along)
    peak = 1.5 * force / (math.pi * along * across)
    return HertzContact(force, depth, (along, across), peak)


def _integral_d(parameter: float) -> float:
    """D = (K - E) / m."""
    return float(elliprd(0.0, 1.0 - parameter, 1.0)) / 3.0


def _curvature_ratio(parameter: float) -> float:
    """Larger over smaller relative curvature of a contact ellipse."""
    remainder = _integral_d(parameter)
    return (float(ellipk(parameter)) - remainder) / ((1.0 - parameter) * remainder)
