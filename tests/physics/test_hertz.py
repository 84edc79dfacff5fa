"""Hertz's contact: by the deflection its pressure makes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import dblquad, quad

from kneewear.contact import hertz

MODULUS = 587.3


def deflection(contact, x, y):
    """Deflection of the half-space by the pressure, mm, by rays round the point (Boussinesq).

    In polar coordinates about the point the singular kernel 1 / s is cancelled by the area s ds.
    Along a chord that reaches from one rim to the other the pressure is a half-ellipse, whose
    integral over the piece beyond the point is taken numerically.
    """
    a, b = contact.semi_axes

    def along(angle):
        cos, sin = math.cos(angle), math.sin(angle)
        # Where the ray leaves the ellipse.
        p = (cos / a) ** 2 + (sin / b) ** 2
        q = x * cos / a**2 + y * sin / b**2
        r = (x / a) ** 2 + (y / b) ** 2 - 1.0
        end = (-q + math.sqrt(q * q - p * r)) / p
        return quad(lambda s: contact.pressure(x + s * cos, y + s * sin), 0.0, end, epsrel=1e-10)[0]

    # The trapezium rule is exponentially accurate round a full turn.
    angles = 2 * math.pi * np.arange(256) / 256
    return np.mean([along(angle) for angle in angles]) * 2.0 / MODULUS


@pytest.mark.parametrize("radii", [(30.0, 30.0), (60.0, 30.0), (300.0, 20.0)])
def test_pressure_makes_the_deflection_of_its_profiles(radii):
    contact = hertz.ellipse_contact(radii, 800.0, MODULUS)
    a, b = contact.semi_axes
    for u, v in ((0.0, 0.0), (0.5, 0.0), (0.0, 0.7), (0.4, 0.6)):
        x, y = u * a, v * b
        expected = contact.depth - x**2 / (2 * radii[0]) - y**2 / (2 * radii[1])
        # The inner quadrature meets a square root at the rim: 1e-7.
        assert deflection(contact, x, y) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("radii", [(30.0, 30.0), (300.0, 20.0)])
def test_pressure_carries_the_force(radii):
    contact = hertz.ellipse_contact(radii, 800.0, MODULUS)
    a, b = contact.semi_axes
    rim = lambda x: b * math.sqrt(max(1.0 - (x / a) ** 2, 0.0))  # noqa: E731
    carried = dblquad(lambda y, x: contact.pressure(x, y), -a, a, lambda x: -rim(x), rim)[0]
    assert carried == pytest.approx(800.0, rel=1e-6)
    assert 800.0 / (math.pi * a * b) == pytest.approx(2.0 / 3.0 * contact.peak_pressure, rel=1e-12)


def test_a_circle_is_the_sphere():
    sphere = hertz.sphere_contact(30.0, 0.2, MODULUS)
    ellipse = hertz.ellipse_contact((30.0, 30.0), sphere.force, MODULUS)
    assert ellipse.depth == pytest.approx(sphere.depth, rel=1e-12)
    assert ellipse.semi_axes == pytest.approx(sphere.semi_axes, rel=1e-12)
    assert ellipse.peak_pressure == pytest.approx(sphere.peak_pressure, rel=1e-12)
    near = hertz.ellipse_contact((30.0003, 30.0), sphere.force, MODULUS)
    assert near.depth == pytest.approx(sphere.depth, rel=1e-5)
