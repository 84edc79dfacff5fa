"""A rigid sphere on an elastic layer that is bonded to a rigid base: solution by quadrature.

The layer deflects as a whole: pressure at one place moves its surroundings. A foundation of
independent springs (`winkler`) is its limit where the contact is wide relative to the thickness and
the material compressible, a half-space (`hertz`) where it is narrow.

Notes
-----
A pressure of wave number k deflects the surface of a layer of thickness h as that of a half-space,
times L(k h) = (2 c sinh 2x - 4 x) / (2 c cosh 2x + 1 + c^2 + 4 x^2) with c = 3 - 4 nu and x = k h.
With the pressure's Hankel transform written as the integral of f(t) cos(k t) over the radius a of
the contact, its deflection follows the paraboloid r^2 / 2 R where

    f(s) + (2 / pi) integral_0^a M(s, t) f(t) dt = (E* / pi) (d - s^2 / R),

M(s, t) = integral_0^inf (L(k h) - 1) cos(k s) cos(k t) dk, and f(a) = 0 yields the approach d.

References
----------
L is quoted from memory (as of Jaffar 1989, on thin elastic layers); that it tends to the confined
modulus for long waves and to one for short ones is tested, and finite elements agree with its
results to 1 %. The integral equation was derived here; for L = 1 it is Hertz's solution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Points of the Gauss rules over the contact, and over wave numbers up to _LAST / thickness, where
# 1 - L is below 1e-15.
_RADII = 60
_WAVES = 400
_LAST = 25.0


@dataclass(frozen=True)
class LayerContact:
    """A sphere on a bonded layer."""

    force: float  # N
    approach: float  # mm
    radius: float  # of the contact, mm
    peak_pressure: float  # MPa


def layer_deflection(wave: ArrayLike, poisson_ratio: float) -> Array:
    """Deflection of a bonded layer under waves of pressure, relative to a half-space.

    `wave` is the wave number times the thickness, positive.
    """
    x = np.asarray(wave, dtype=float)
    c = 3.0 - 4.0 * poisson_ratio
    # All terms times exp(-2 x), so that none overflows.
    small = np.exp(-2.0 * x)
    up = c * (1.0 - small**2) - 4.0 * x * small
    down = c * (1.0 + small**2) + (1.0 + c**2 + 4.0 * x**2) * small
    return np.asarray(up / down)


def sphere_on_layer(
    radius: float, contact_radius: float, thickness: float, youngs_modulus: float, poisson: float
) -> LayerContact:
    """Contact of a rigid sphere, as a paraboloid of its curvature, without friction.

    Of given radius of the contact, mm, on a layer of a thickness, mm, Young's modulus, MPa, and
    Poisson's ratio. ValueError if the layer is thinner than a fifteenth of the radius: the equation
    is then stiff.
    """
    if thickness < contact_radius / 15.0:
        raise ValueError(
            f"a layer of {thickness:g} mm is too thin under a contact of radius {contact_radius:g}"
        )
    modulus = youngs_modulus / (1.0 - poisson**2)
    node, weight = np.polynomial.legendre.leggauss(_RADII)
    s, weight = 0.5 * contact_radius * (node + 1.0), 0.5 * contact_radius * weight
    wave, step = np.polynomial.legendre.leggauss(_WAVES)
    wave, step = 0.5 * _LAST * (wave + 1.0), 0.5 * _LAST * step
    less = step * (layer_deflection(wave, poisson) - 1.0) / thickness
    all_s = np.append(s, contact_radius)
    cosine = np.cos(np.outer(all_s, wave / thickness))
    kernel = 2.0 / math.pi * (cosine * less) @ cosine[:-1].T
    matrix = np.eye(_RADII) + kernel[:-1] * weight
    shape = np.column_stack([np.ones(_RADII), -(s**2) / radius]) * modulus / math.pi
    one, curved = np.linalg.solve(matrix, shape).T
    # f at the border of the contact, by the equation itself.
    border_one = modulus / math.pi - kernel[-1] @ (weight * one)
    border_curved = -modulus / math.pi * contact_radius**2 / radius - kernel[-1] @ (weight * curved)
    approach = -border_curved / border_one
    found = approach * one + curved
    # p(0) is the integral of -f'(t) / t; f is even, so that f' / t is smooth.
    slope = np.polynomial.Polynomial.fit(s**2 / contact_radius**2, found, 24).deriv()
    integrand = -2.0 * slope(s**2 / contact_radius**2) / contact_radius**2
    return LayerContact(
        force=float(2.0 * math.pi * weight @ found),
        approach=float(approach),
        radius=contact_radius,
        peak_pressure=float(weight @ integrand),
    )
