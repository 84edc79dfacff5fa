"""Rigid indenters on a bonded layer of any pressure law: analytical solutions.

All follow from three integrals of a law over its penetration, its moments: of the pressure (the
energy stored per area), of pressure times penetration, and of pressure times penetration squared.

References
----------
Bei (2003), Eq. 2-1 to 2-4: the laws. The integrals were made here; `tests/physics` checks them by
quadrature.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from scipy.integrate import quad
from scipy.optimize import brentq

from kneewear.reference.winkler import Measure, contact_radius


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
        """Integral by parts of the logarithm.

        K h^(k+1) / (k + 1) times (1 - x^(k+1)) ln(1 - x) + x + x^2 / 2 + ... + x^(k+1) / (k + 1)
        with x = D / h; the terms cancel to a relative rounding error of about 1e-16 / x^(k+1).
        """
        x, n = depth / self.thickness, power + 1
        total = (1.0 - x**n) * math.log1p(-x) + sum(x**i / i for i in range(1, n + 1))
        return self.modulus * self.thickness**n / n * total


@dataclass(frozen=True)
class SofteningLayer:
    """d / h = (strain0 / (2 c)) (q + w q^n) with q = p / p0.

    Parameters
    ----------
    exponent, reference_strain, reference_pressure : float
        n, strain0 and p0, MPa, of the three-parameter material.
    constraint : float
        c = (1 - nu) / ((1 + nu) (1 - 2 nu)).
    thickness : float
        h, mm.
    weight : float
        w: n for the form of the dissertation, one for the integrated form.
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
        """Pressure at a penetration, MPa: the root, found by bisection and interpolation."""
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


def sphere_force(
    radius: float, depth: float, law: LayerLaw, measure: Measure = "minimum_distance"
) -> float:
    """Force, N, along the plane's normal that presses a rigid sphere into a flat layer.

    Parameters
    ----------
    radius, depth : float
        Radius R of the sphere and depth D of its lowest point, mm.
    law : LayerLaw
        Layer.
    measure : {"minimum_distance", "minimum_distance_along_normal", "ray"}
        How penetration is measured and along which line pressure acts, as in `winkler`.

    Notes
    -----
    With the moments w and m of power 0 and 1: 2 pi (R - D) w, 2 pi (R w - m) and
    2 pi ((R - D) w + m). For the linear layer they are those of `winkler.sphere_force`.
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

    Arguments as in `sphere_force`. By quadrature over the half width, to 1e-11: only the linear law
    has an analytical solution (`winkler.cylinder_force`).
    """
    centre = radius - depth

    def push(x: float) -> float:
        slant = math.hypot(x, centre)
        if measure == "ray":
            return law.pressure(max(math.sqrt(radius**2 - x**2) - centre, 0.0))
        cosine = centre / slant if measure == "minimum_distance" else 1.0
        return law.pressure(max(radius - slant, 0.0)) * cosine

    return 2.0 * float(quad(push, 0.0, contact_radius(radius, depth), epsrel=1e-11)[0])


def parabola_force_large_strain(
    radius: float, depth: float, modulus: float, thickness: float
) -> float:
    """Force per length, N/mm, on the parabola that approximates a cylinder, at large strain.

    With a^2 = 2 R D and b^2 = 2 R (h - D): 4 K (a - b atan(a / b)). It tends to the linear
    (4/3) K a D / h for D / h to zero and is valid for small D / R.
    """
    half_width = math.sqrt(2.0 * radius * depth)
    left = math.sqrt(2.0 * radius * (thickness - depth))
    return 4.0 * modulus * (half_width - left * math.atan2(half_width, left))


def ball_in_cup_force(radius: float, cup_radius: float, depth: float, law: LayerLaw) -> float:
    """Axial force, N, that presses a rigid ball into a conformal spherical cup lined with a layer.

    Parameters
    ----------
    radius, cup_radius : float
        Radii R of the ball and S of the cup's surface, mm, R < S.
    depth : float
        Penetration D at the bottom of the cup, mm, below R: the centres are D + S - R apart.
    law : LayerLaw
        The lining, of constant thickness along the cup's radius.

    Raises
    ------
    ValueError
        Unless 0 <= D < R < S.

    Notes
    -----
    For minimum distance acting along its own line. A point of the cup at distance s from the ball's
    centre, which is e from the cup's, has the penetration R - s; s ds = S e sin(phi) d(phi) turns
    the integral over the cup into (pi S / e^2) times ((S^2 - e^2 - R^2) w + 2 R m - n) with the
    moments w, m, n of power 0 to 2. The whole contact must be inside the cup: it ends at the polar
    angle phi with cos(phi) = (S^2 + e^2 - R^2) / (2 S e). For S far above R it is the sphere on a
    plane.
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
    """Force, N, along the normal of a block that a rigid plane meets at an angle.

    Parameters
    ----------
    tilt : float
        Angle between plane and block, rad, above zero.
    width : float
        Width of the block along the line in which both planes meet, mm.
    reach : pair of float
        Distances along the block from that line to the start and end of contact, mm; zero and
        positive where the block penetrates the plane.
    law : LayerLaw
        The block.
    measure : {"minimum_distance", "minimum_distance_along_normal", "ray"}
        As in `sphere_force`.

    Notes
    -----
    Penetration grows along the block by sin(tilt) (minimum distance) or tan(tilt) (ray), so that
    the force is width / slope times the difference of the energies at both ends, times cos(tilt)
    when pressure acts along the minimum distance.
    """
    slope = math.tan(tilt) if measure == "ray" else math.sin(tilt)
    cosine = math.cos(tilt) if measure == "minimum_distance" else 1.0
    near, far = (law.moment(slope * end, 0) for end in reach)
    return cosine * width / slope * (far - near)


def flat_punch_force(area: float, depth: float, law: LayerLaw) -> float:
    """Force, N, on a level flat punch of an area, mm2, under uniform pressure."""
    return area * law.pressure(depth)
