"""Analytical solutions of layers of any law: by quadrature over the body, and by their limits."""

from __future__ import annotations

import math

import pytest
from scipy.integrate import quad

from kneewear.contact.foundation import (
    MATERIALS,
    LargeStrain,
    SmallStrain,
    ThreeParameter,
    confined_modulus,
)
from kneewear.evidence.verification import winkler
from tests.contact.inverse_laws import energy

MODULUS = confined_modulus(463.0, 0.46)
THICKNESS = 8.0
RADIUS = 30.0
FACTOR = confined_modulus(1.0, 0.46)
MEASURES = ("minimum_distance", "minimum_distance_along_normal", "ray")
COLD = MATERIALS["polyethylene_23c"]


def softening(weight):
    return winkler.SofteningLayer(3.0, 0.0257, 15.8, FACTOR, THICKNESS, weight)


LAWS = {
    "linear": winkler.LinearLayer(MODULUS, THICKNESS),
    "large strain": winkler.LargeStrainLayer(MODULUS, THICKNESS),
    "published": softening(3.0),
    "integrated": softening(1.0),
}
OURS = {
    "linear": SmallStrain(MODULUS),
    "large strain": LargeStrain(MODULUS),
    "published": ThreeParameter(COLD, 0.46, "published"),
    "integrated": ThreeParameter(COLD, 0.46, "integrated"),
}


def push(rho, radius, depth, law, measure):
    """Share of the pressure that acts along the plane's normal, MPa."""
    centre = radius - depth
    slant = math.hypot(rho, centre)
    if measure == "ray":
        return law.pressure(max(math.sqrt(radius**2 - rho**2) - centre, 0.0))
    return law.pressure(max(radius - slant, 0.0)) * (
        centre / slant if measure == "minimum_distance" else 1.0
    )


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("depth", [0.05, 0.4, 3.0])
def test_moments_are_integrals_of_the_pressure(name, depth):
    law = LAWS[name]
    for power in range(3):
        integral = quad(lambda d, k=power: law.pressure(d) * d**k, 0.0, depth, epsrel=1e-12)[0]
        # Quadrature to 1e-12; terms of the large-strain form cancel by (h / D)^3 = 4e6 at 0.05 mm.
        assert law.moment(depth, power) == pytest.approx(integral, rel=5e-9)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("depth", [1e-4, 0.05, 0.4, 3.0])
def test_laws_of_the_engine_are_those_of_the_reference(name, depth):
    # Newton's method against bisection, each to rounding.
    assert OURS[name].pressure(depth, THICKNESS) == pytest.approx(
        LAWS[name].pressure(depth), rel=1e-13
    )
    assert energy(OURS[name], depth, THICKNESS) == pytest.approx(
        LAWS[name].moment(depth, 0), rel=1e-11 if depth > 0.01 else 1e-10
    )


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("depth", [0.2, 2.0])
def test_sphere_is_the_integral_over_the_plane(name, measure, depth):
    law, edge = LAWS[name], winkler.contact_radius(RADIUS, depth)
    integral = quad(
        lambda r: 2 * math.pi * r * push(r, RADIUS, depth, law, measure), 0, edge, epsrel=1e-12
    )[0]
    found = winkler.sphere_force(RADIUS, depth, law, measure)
    assert found == pytest.approx(integral, rel=1e-9)


@pytest.mark.parametrize("measure", MEASURES)
def test_quadrature_of_a_cylinder_is_the_solution_of_the_linear_layer(measure):
    for work in ((30.0, 0.2, LAWS["linear"], measure), (5.0, 2.0, LAWS["linear"], measure)):
        expected = winkler.linear_cylinder_force(*work)
        assert winkler.cylinder_force(*work) == pytest.approx(expected, rel=1e-9)


def test_large_strain_parabola_is_the_shallow_cylinder():
    # What is left out is of the order depth / radius, 1e-5, while depth / thickness is one third.
    radius, depth, thickness = 1000.0, 0.01, 0.03
    found = winkler.cylinder_force(radius, depth, winkler.LargeStrainLayer(MODULUS, thickness))
    half, left = math.sqrt(2 * radius * depth), math.sqrt(2 * radius * (thickness - depth))
    parabola = 4 * MODULUS * (half - left * math.atan2(half, left))
    assert parabola == pytest.approx(found, rel=2e-5)
    linear = winkler.linear_cylinder_force(radius, depth, winkler.LinearLayer(MODULUS, thickness))
    assert parabola > 1.1 * linear


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("edge", [-1.2, 0.0, 0.7, 5.0])
def test_cylinder_over_an_edge_is_the_integral_up_to_it(measure, edge):
    depth, law = 0.2, LAWS["linear"]
    half = winkler.contact_radius(RADIUS, depth)
    integral = quad(
        lambda x: push(abs(x), RADIUS, depth, law, measure), -half, min(edge, half), epsrel=1e-12
    )[0]
    found = winkler.linear_cylinder_force(RADIUS, depth, law, measure, edge)
    assert found == pytest.approx(integral, rel=1e-9)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(("radius", "cup", "depth"), [(30.0, 31.0, 0.3), (14.0, 14.1, 0.05)])
def test_ball_in_a_cup_is_the_integral_over_the_cup(name, radius, cup, depth):
    law, off = LAWS[name], depth + cup - radius
    last = math.acos((cup**2 + off**2 - radius**2) / (2 * cup * off))

    def push_along_axis(angle):
        slant = math.sqrt(cup**2 + off**2 - 2 * cup * off * math.cos(angle))
        along = (cup * math.cos(angle) - off) / slant
        ring = 2 * math.pi * cup**2 * math.sin(angle)
        return law.pressure(max(radius - slant, 0.0)) * along * ring

    integral = quad(push_along_axis, 0.0, last, epsrel=1e-12)[0]
    found = winkler.ball_in_cup_force(radius, cup, depth, law)
    # Large-strain moments of power two lose (h / D)^3 = 4e6 roundings.
    assert found == pytest.approx(integral, rel=1e-8)


@pytest.mark.parametrize("name", LAWS)
def test_a_wide_cup_is_a_plane(name):
    law = LAWS[name]
    plane = winkler.sphere_force(30.0, 0.2, law)
    cups = [winkler.ball_in_cup_force(30.0, cup, 0.2, law) for cup in (3e3, 3e4, 3e5)]
    # Curvatures add: the force exceeds the plane's by R / S to first order.
    for cup, force in zip((3e3, 3e4, 3e5), cups, strict=True):
        assert force / plane - 1.0 == pytest.approx(30.0 / cup, rel=0.05)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("measure", MEASURES)
def test_tilted_flat_is_the_integral_along_the_block(name, measure):
    tilt, width, law = math.radians(2.0), 12.0, LAWS[name]
    slope = math.tan(tilt) if measure == "ray" else math.sin(tilt)
    cosine = math.cos(tilt) if measure == "minimum_distance" else 1.0
    for reach in ((0.0, 9.0), (3.0, 12.0)):
        integral = quad(lambda x: width * cosine * law.pressure(slope * x), *reach, epsrel=1e-12)[0]
        found = winkler.tilted_flat_force(tilt, width, reach, law, measure)
        assert found == pytest.approx(integral, rel=1e-9)


def test_level_flat_is_the_limit_of_a_tilted_one():
    law = LAWS["published"]
    # Reaches so far off that both ends are 0.2 mm deep to 1e-6.
    tilt = 1e-9
    reach = (0.2 / tilt, 0.2 / tilt + 20.0)
    tilted = winkler.tilted_flat_force(tilt, 12.0, reach, law, "minimum_distance")
    assert tilted == pytest.approx(240.0 * law.pressure(0.2), rel=1e-4)
