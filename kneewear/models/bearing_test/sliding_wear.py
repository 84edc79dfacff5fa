"""Wear of simple bearings by Archard's law, dh = k p ds, and their worn geometry.

Wear factor k in mm3/(N mm), loads in N, lengths in mm. The bodies are a rigid one and one that
wears; where elasticity matters that one is a foundation of stiffness c = K / h, MPa/mm, the
confined modulus over the thickness. All formulas are derived here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def fresh_ring_volume(k: float, load: float, inner: float, outer: float, turns: float) -> float:
    """Volume that a ring loses while its pressure is uniform, mm3.

    k p 2 pi N times the integral of r over the ring: (4 pi / 3) k N F (b^3 - a^3) / (b^2 - a^2).
    """
    lever = 2.0 * (outer**3 - inner**3) / (3.0 * (outer**2 - inner**2))
    return k * load * 2.0 * math.pi * lever * turns


def worn_ring_rate(k: float, load: float, inner: float, outer: float) -> float:
    """Depth for each turn of a ring that is worn in, mm: pressure over 1 / r, depth uniform."""
    return k * load / (outer - inner)


def worn_sphere_radius(radius: float, worn: float, load: float, stiffness: float) -> float:
    """Radius of the contact of a sphere that wears on a rigid flat, mm.

    What overlaps of the fresh sphere, pi a^4 / (4 R), is worn or compressed: V + F / c at all
    times for any distribution of pressure, because the contact only grows.
    """
    return float((4.0 * radius * (worn + load / stiffness) / math.pi) ** 0.25)


def worn_cylinder_half_width(radius: float, worn: float, load: float, stiffness: float) -> float:
    """Half width of the contact of a cylinder that wears on a rigid flat, mm.

    `worn` (mm2) and `load` (N/mm) are those of a unit of length: 2 a^3 / (3 R) = A + F / c.
    """
    return float((1.5 * radius * (worn + load / stiffness)) ** (1.0 / 3.0))


def plate_depth_under_cylinder(
    k: float, line_load: float, strokes: float, half_width: float, stroke: float, x: Array
) -> Array:
    """Depth of a plate under a cylinder that slides over it, mm, at positions from mid-stroke, mm.

    Each stroke passes a parabola of pressure of half width a over the point: k F / L in the middle,
    less within a of the ends. It wears evenly in the middle, so the pressure there stays.
    """
    ends = np.clip(
        (np.asarray(x)[:, None] + 0.5 * stroke * np.array([1.0, -1.0])) / half_width, -1, 1
    )
    passed = 0.75 * (ends - ends**3 / 3.0)
    return k * line_load * strokes * (passed[:, 0] - passed[:, 1])


@dataclass(frozen=True)
class Groove:
    """Section of a groove: half width and depth, mm."""

    half_width: float
    depth: float


def self_similar_groove(k: float, load: float, radius: float, strokes: float) -> Groove:
    """Middle of the groove of a sphere on a plate, much deeper than it is elastically compressed.

    The section follows the sphere, 2 a^3 / (3 R), and has the area k F n after n strokes: a grows
    with the third root of their number.
    """
    half_width = (1.5 * radius * k * load * strokes) ** (1.0 / 3.0)
    return Groove(half_width, half_width**2 / (2.0 * radius))


def elastic_groove(
    k: float, load: float, radius: float, stiffness: float, strokes: float, steps: int = 2000
) -> tuple[Array, Array]:
    """Positions across the middle of the groove of a sphere on an elastic plate and depths, mm.

    With d = D - z^2 / (2 R) - u the overlap under the sphere's lowest line, a pass wears
    k c (4/3) sqrt(2 R) d^(3/2), whose integral over z is k F at all times; D follows from the
    load. Explicit steps over the strokes on 801 points.
    """
    final = self_similar_groove(k, load, radius, strokes).half_width
    fresh = (4.0 * load * radius / (math.pi * stiffness)) ** 0.25
    z = np.linspace(-1.5, 1.5, 801) * (final + fresh)
    shape = stiffness * 4.0 / 3.0 * math.sqrt(2.0 * radius)
    step, depth = strokes / steps, np.zeros_like(z)
    for _ in range(steps):
        surface = z**2 / (2.0 * radius) + depth
        low, high = float(surface.min()), float(surface.max())
        for _ in range(60):
            middle = 0.5 * (low + high)
            line = shape * np.maximum(middle - surface, 0.0) ** 1.5
            low, high = (middle, high) if np.trapezoid(line, z) < load else (low, middle)
        depth = depth + k * step * line
    return z, depth


def socket_volume(
    k: float,
    load: float,
    radius: float,
    angle: float,
    pressure: Callable[[Array], Array] = np.cos,
    cap: float = 0.5 * math.pi,
) -> float:
    """Volume that a socket loses while the ball turns by angles of this sum, rad, mm3.

    The axis of rotation is perpendicular to the load. `pressure` is over the angle from the load,
    in any unit, up to `cap`. Of a hemisphere (4 / pi) k F R times the angle under the cosine, which
    is the pressure of a foundation without clearance, and (pi / 2) k F R under a uniform pressure.

    Notes
    -----
    V = k F R angle I / J, with I the integral of p sqrt(1 - sin^2 f cos^2 b) over the cap and J
    that of p cos f, by Gauss's formula over f and equal steps of b.
    """
    at, weight = np.polynomial.legendre.leggauss(60)
    polar, part = 0.5 * cap * (at + 1.0), 0.5 * cap * weight
    around = np.linspace(0.0, 2.0 * math.pi, 240, endpoint=False) + 0.01
    lever = np.sqrt(1.0 - (np.sin(polar)[:, None] * np.cos(around)) ** 2).mean(axis=1)
    ring = pressure(polar) * np.sin(polar) * part
    return float(k * load * radius * angle * np.sum(ring * lever) / np.sum(ring * np.cos(polar)))
