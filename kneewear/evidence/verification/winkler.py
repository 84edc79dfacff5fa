"""Rigid indenters on an elastic foundation (Winkler): analytical solutions.

A foundation, such as a thin bonded layer, responds to a penetration d(x, z) of each of its points
with a pressure p(d), independent of its neighbours. The resulting force depends on how penetration
is measured and along which line pressure acts; the three usual choices (`Measure`) differ by a term
of the order of depth / radius:

- "minimum_distance": pressure acts along the minimum distance, the indenter's normal;
- "minimum_distance_along_normal": it acts along the foundation's normal;
- "ray": penetration is measured, and pressure acts, along the foundation's normal.

Notes
-----
With R the radius, D the depth, c = R - D the height of the centre and rho the horizontal distance
from the indenter's lowest point: minimum distance d = R - s, s^2 = rho^2 + c^2, tilted by
cos = c / s; ray d = sqrt(R^2 - rho^2) - c. Both vanish at rho^2 = a^2 = 2 R D - D^2. All solutions
hold for a depth below the radius and a layer of even thickness wider than the contact. They follow
from the moments of a law: the integrals of p, p d and p d^2 over d.

References
----------
Johnson, K. L. (1985), Contact Mechanics, section 4.3, doi:10.1017/CBO9781139171731: the foundation.
Bei (2003), Eq. 2-1 to 2-4: the laws. The integrals were made here; `tests/physics` checks them by
quadrature.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

from scipy.integrate import quad
from scipy.optimize import brentq

Measure = Literal["minimum_distance", "minimum_distance_along_normal", "ray"]


class LayerLaw(Protocol):
    """A layer whose pressure depends on the penetration alone."""

    def pressure(self, depth: float) -> float:
        """Pressure at a penetration, MPa."""

    def moment(self, depth: float, power: int) -> float:
        """Integral of pressure times penetration^power from zero to a depth, MPa mm^(power+1)."""


@dataclass(frozen=True)
class LinearLayer:
    """p = K d / h with the confined modulus K, MPa, and the thickness h, mm."""

    modulus: float
    thickness: float

    def pressure(self, depth: float) -> float:
        """Pressure at a penetration, MPa."""
        return self.modulus * depth / self.thickness

    def moment(self, depth: float, power: int) -> float:
        """K D^(k+2) / (h (k + 2))."""
        return self.modulus / self.thickness * depth ** (power + 2) / (power + 2)


@dataclass(frozen=True)
class LargeStrainLayer:
    """p = -K ln(1 - d / h) with the confined modulus K, MPa, and the thickness h, mm."""

    modulus: float
    thickness: float

    def pressure(self, depth: float) -> float:
        """Pressure at a penetration below the thickness, MPa."""
        return -self.modulus * math.log1p(-depth / self.thickness)

    def moment(self, depth: float, power: int) -> float:
        """K h^n / n [(1 - x^n) ln(1 - x) + x + x^2 / 2 + ... + x^n / n], x = D / h, n = k + 1.

        The terms cancel to a relative rounding error of about 1e-16 / x^n.
        """
        x, n = depth / self.thickness, power + 1
        total = (1.0 - x**n) * math.log1p(-x) + sum(x**i / i for i in range(1, n + 1))
        return self.modulus * self.thickness**n / n * total


@dataclass(frozen=True)
class SofteningLayer:
    """d / h = (strain0 / (2 c)) (q + w q^n) with q = p / p0, of the three-parameter material.

    With its exponent n, reference strain and reference pressure p0, MPa; the constraint
    c = (1 - nu) / ((1 + nu) (1 - 2 nu)); the thickness h, mm; and the weight w, which is n for the
    form of the dissertation and one for the integrated form.
    """

    exponent: float
    reference_strain: float
    reference_pressure: float
    constraint: float
    thickness: float
    weight: float

    @property
    def scale(self) -> float:
        """Penetration h strain0 / (2 c), mm."""
        return 0.5 * self.thickness * self.reference_strain / self.constraint

    def pressure(self, depth: float) -> float:
        """Pressure at a penetration, MPa."""
        right = depth / self.scale
        if right == 0.0:
            return 0.0
        root = brentq(
            lambda q: q + self.weight * q**self.exponent - right,
            0.0,
            right,
            xtol=1e-300,
            rtol=1e-15,
        )
        return float(self.reference_pressure * root)

    def moment(self, depth: float, power: int) -> float:
        """By parts, (p D^m - integral of d^m over p) / m with m = power + 1; d^m is a binomial."""
        q, m = self.pressure(depth) / self.reference_pressure, power + 1
        total = 0.0
        for j in range(m + 1):
            degree = (m - j) + self.exponent * j + 1.0
            total += math.comb(m, j) * self.weight**j * q**degree / degree
        return self.reference_pressure * (q * depth**m - self.scale**m * total) / m


def contact_radius(radius: float, depth: float) -> float:
    """Radius a = sqrt(2 R D - D^2) of a sphere's contact, or half width of a cylinder's, mm.

    ValueError unless the depth D, mm, is between zero and the radius R, mm.
    """
    if not 0.0 <= depth < radius:
        raise ValueError(f"the depth {depth:g} mm must be between zero and the radius {radius:g}")
    return math.sqrt(depth * (2.0 * radius - depth))


def sphere_force(
    radius: float, depth: float, law: LayerLaw, measure: Measure = "minimum_distance"
) -> float:
    """Force, N, along the plane's normal that presses a rigid sphere into a flat layer.

    With the radius R and the depth D of its lowest point, mm, and the moments w and m of power 0
    and 1: 2 pi (R - D) w, 2 pi (R w - m) and 2 pi ((R - D) w + m) by the three measures. For a
    linear layer these are pi K / h times R D^2 - D^3, R D^2 - 2 D^3 / 3 and R D^2 - D^3 / 3; the
    paraboloid of the same curvature gives R D^2.
    """
    contact_radius(radius, depth)
    energy, first = law.moment(depth, 0), law.moment(depth, 1)
    if measure == "minimum_distance":
        return 2.0 * math.pi * (radius - depth) * energy
    if measure == "minimum_distance_along_normal":
        return 2.0 * math.pi * (radius * energy - first)
    return 2.0 * math.pi * ((radius - depth) * energy + first)


def cylinder_force(
    radius: float, depth: float, law: LayerLaw, measure: Measure = "minimum_distance"
) -> float:
    """Force per length, N/mm, that presses a rigid cylinder parallel to a flat layer into it.

    By quadrature over the half width, to 1e-11: only the linear law has an analytical solution.
    """
    centre = radius - depth

    def push(x: float) -> float:
        slant = math.hypot(x, centre)
        if measure == "ray":
            return law.pressure(max(math.sqrt(radius**2 - x**2) - centre, 0.0))
        cosine = centre / slant if measure == "minimum_distance" else 1.0
        return law.pressure(max(radius - slant, 0.0)) * cosine

    return 2.0 * float(quad(push, 0.0, contact_radius(radius, depth), epsrel=1e-11)[0])


def linear_cylinder_force(
    radius: float,
    depth: float,
    law: LinearLayer,
    measure: Measure = "minimum_distance",
    edge: float = math.inf,
) -> float:
    """Force per length, N/mm, on a cylinder over a linear layer that may end at an edge.

    `edge` is the projected distance from the axis to an edge parallel to it, mm; negative if the
    axis is beyond the edge. A whole contact makes, with c = R - D, K / h times
    2 c (R asinh(a/c) - a), R a - c^2 asinh(a/c) and R^2 asin(a/R) - a c by the three measures; all
    tend to (4/3) a D, that of the parabola. The terms cancel for shallow contact: the relative
    rounding error is about 1e-16 (R / D)^1.5.
    """
    half_width = contact_radius(radius, depth)
    cut = max(-half_width, min(edge, half_width))
    sections = (_section(reach, radius, radius - depth, measure) for reach in (half_width, cut))
    return law.modulus / law.thickness * sum(sections)


def _section(reach: float, radius: float, centre: float, measure: Measure) -> float:
    """Odd integral of the penetration along the plane's normal from the axis to a reach, mm2."""
    slant = math.hypot(reach, centre)
    if measure == "minimum_distance":
        return centre * (radius * math.asinh(reach / centre) - reach)
    if measure == "minimum_distance_along_normal":
        return radius * reach - 0.5 * (reach * slant + centre**2 * math.asinh(reach / centre))
    height = math.sqrt(radius**2 - reach**2)
    return 0.5 * (reach * height + radius**2 * math.asin(reach / radius)) - centre * reach


def ball_in_cup_force(radius: float, cup_radius: float, depth: float, law: LayerLaw) -> float:
    """Axial force, N, that presses a rigid ball into a conformal spherical cup lined with a layer.

    Radii R of the ball and S of the cup's surface, mm; penetration D at the bottom of the cup, mm:
    the centres are D + S - R apart. ValueError unless 0 <= D < R < S.

    Notes
    -----
    By minimum distance. A point of the cup at distance s from the ball's centre, which is e from
    the cup's, has the penetration R - s; s ds = S e sin(phi) d(phi) turns the integral over the cup
    into (pi S / e^2) times ((S^2 - e^2 - R^2) w + 2 R m - n) with the moments w, m, n of power 0 to
    2. The whole contact must be inside the cup: it ends at the polar angle phi with
    cos(phi) = (S^2 + e^2 - R^2) / (2 S e).
    """
    if not 0.0 <= depth < radius < cup_radius:
        raise ValueError(
            f"needs 0 <= depth < radius < cup radius, not {depth:g}, {radius:g}, {cup_radius:g}"
        )
    off = depth + cup_radius - radius
    energy, first, second = (law.moment(depth, power) for power in range(3))
    span = (cup_radius - off) * (cup_radius + off) - radius**2
    return math.pi * cup_radius / off**2 * (span * energy + 2.0 * radius * first - second)


def tilted_flat_force(
    tilt: float, width: float, reach: tuple[float, float], law: LayerLaw, measure: Measure
) -> float:
    """Force, N, along the normal of a block that a rigid plane meets at an angle `tilt`, rad.

    The block has a width, mm, along the line in which both planes meet; contact is from one
    distance from that line to another, `reach`, mm, along the block. Penetration grows by sin(tilt)
    (minimum distance) or tan(tilt) (ray), so the force is width / slope times the difference of the
    energies at both ends, times cos(tilt) when pressure acts along the minimum distance.
    """
    slope = math.tan(tilt) if measure == "ray" else math.sin(tilt)
    cosine = math.cos(tilt) if measure == "minimum_distance" else 1.0
    near, far = (law.moment(slope * end, 0) for end in reach)
    return cosine * width / slope * (far - near)
