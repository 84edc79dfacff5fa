"""Rigid indenters on a flat elastic foundation: analytical solutions.

A foundation responds to a penetration d(x, z) of each of its points with a pressure K d / h,
independent of its neighbours. The resulting force depends on how penetration is measured and along
which line pressure acts; the three usual choices differ by a term of the order of depth / radius.

Notes
-----
Distances of a point of the plane at horizontal distance rho from the indenter's lowest point, with
R the radius, D the depth and c = R - D the height of the centre:

- minimum distance: d = R - s, where s^2 = rho^2 + c^2; the line of action is tilted by cos = c / s;
- ray along the plane's normal: d = sqrt(R^2 - rho^2) - c.

Both vanish on the circle rho^2 = a^2 = R^2 - c^2 = 2 R D - D^2. All solutions are valid for a depth
below the radius, a flat layer of even thickness wider than the contact, and small strain D / h.

References
----------
Johnson, K. L. (1985), Contact Mechanics, section 4.3, doi:10.1017/CBO9781139171731: the paraboloid
and the foundation itself. The terms beyond the paraboloid are integrated here; `tests/physics`
checks them by quadrature.
"""

from __future__ import annotations

import math
from typing import Literal

Measure = Literal["minimum_distance", "minimum_distance_along_normal", "ray"]


def contact_radius(radius: float, depth: float) -> float:
    """Radius of a sphere's contact, or half width of a cylinder's, mm: a = sqrt(2 R D - D^2).

    The same for all three measures of penetration. ValueError unless the depth D, mm, is between
    zero and the radius R, mm.
    """
    if not 0.0 <= depth < radius:
        raise ValueError(f"the depth {depth:g} mm must be between zero and the radius {radius:g}")
    return math.sqrt(depth * (2.0 * radius - depth))


def peak_pressure(depth: float, modulus: float, thickness: float) -> float:
    """Pressure K D / h, MPa, under the lowest point at a depth D, mm; the same for all measures."""
    return modulus * depth / thickness


def sphere_force(
    radius: float,
    depth: float,
    modulus: float,
    thickness: float,
    measure: Measure = "minimum_distance",
) -> float:
    """Force, N, along the plane's normal that presses a rigid sphere into a flat foundation.

    Parameters
    ----------
    radius, depth : float
        Radius of the sphere and depth of its lowest point, mm.
    modulus, thickness : float
        Foundation modulus K, MPa, and layer thickness h, mm.
    measure : {"minimum_distance", "minimum_distance_along_normal", "ray"}
        Minimum distance with pressure along its own line (the sphere's normal), minimum distance
        with pressure along the plane's normal, or distance and pressure along the plane's normal.

    Notes
    -----
    With q = pi K / h: q (R D^2 - D^3), q (R D^2 - 2 D^3 / 3) and q (R D^2 - D^3 / 3). The
    paraboloid of the same curvature gives q R D^2.
    """
    contact_radius(radius, depth)
    cubic = {"minimum_distance": 1.0, "minimum_distance_along_normal": 2.0 / 3.0, "ray": 1.0 / 3.0}
    return math.pi * modulus / thickness * (radius * depth**2 - cubic[measure] * depth**3)


def sphere_mean_pressure(
    radius: float, depth: float, modulus: float, thickness: float, measure: Measure
) -> float:
    """Mean pressure, MPa, over a sphere's contact; arguments as in `sphere_force`.

    K / h (R D^2 - k D^3) / (2 R D - D^2), with k of 2/3 for both minimum-distance measures and 1/3
    for the ray. Peak / mean tends to 2, the value of the paraboloid, for small depth / radius.
    """
    if measure == "minimum_distance":
        measure = "minimum_distance_along_normal"
    total = sphere_force(radius, depth, modulus, thickness, measure)
    return total / (math.pi * contact_radius(radius, depth) ** 2)


def cylinder_force(
    radius: float,
    depth: float,
    modulus: float,
    thickness: float,
    measure: Measure = "minimum_distance",
    edge: float = math.inf,
) -> float:
    """Force per length, N/mm, that presses a rigid cylinder into a flat foundation.

    Parameters
    ----------
    radius, depth, modulus, thickness, measure
        As in `sphere_force`; the cylinder's axis is parallel to the plane.
    edge : float
        Projected distance from the axis to an edge of the foundation parallel to it, mm; negative
        if the axis is beyond the edge.

    Notes
    -----
    The penetration is integrated from the edge (or from the end of the contact before it) to the
    far end. Over a whole contact this makes, with c = R - D and a as in `contact_radius`, K / h
    times 2 c (R asinh(a/c) - a), R a - c^2 asinh(a/c) and R^2 asin(a/R) - a c. All tend to
    (4/3) a D, that of the parabola. The terms cancel for shallow contact: the relative rounding
    error is about 1e-16 (R / D)^1.5.
    """
    half_width = contact_radius(radius, depth)
    cut = max(-half_width, min(edge, half_width))
    sections = (_section(reach, radius, radius - depth, measure) for reach in (half_width, cut))
    return modulus / thickness * sum(sections)


def _section(reach: float, radius: float, centre: float, measure: Measure) -> float:
    """Odd integral of the penetration along the plane's normal from the axis to a reach, mm2."""
    slant = math.hypot(reach, centre)
    if measure == "minimum_distance":
        return centre * (radius * math.asinh(reach / centre) - reach)
    if measure == "minimum_distance_along_normal":
        return radius * reach - 0.5 * (reach * slant + centre**2 * math.asinh(reach / centre))
    height = math.sqrt(radius**2 - reach**2)
    return 0.5 * (reach * height + radius**2 * math.asin(reach / radius)) - centre * reach


def cylinder_mean_pressure(
    radius: float, depth: float, modulus: float, thickness: float, measure: Measure
) -> float:
    """Mean pressure, MPa, over a cylinder's contact; arguments as in `cylinder_force`.

    Peak / mean tends to 3/2, the value of the parabola, for small depth / radius.
    """
    if measure == "minimum_distance":
        measure = "minimum_distance_along_normal"
    total = cylinder_force(radius, depth, modulus, thickness, measure)
    return total / (2.0 * contact_radius(radius, depth))


def paraboloid_force(radius: float, depth: float, modulus: float, thickness: float) -> float:
    """Force pi K R D^2 / h, N, on the paraboloid that approximates a sphere.

    Its peak is twice its mean pressure. Too large for the sphere by D / R, 2 D / (3 R) or D / (3
    R), depending on the measure of penetration.
    """
    return math.pi * modulus / thickness * radius * depth**2
