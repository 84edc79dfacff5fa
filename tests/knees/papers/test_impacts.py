"""Point contacts: common normals, impact laws, and motions with impacts."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.contact.hertz import contact_modulus
from kneewear.knees.contact.impact_laws import FACTORS, hertz_stiffness, hysteresis_factor
from kneewear.knees.contact.point import ImpactLaw, PointContact, SphereOnPlane
from kneewear.knees.impacts import integrate_impacts
from kneewear.knees.papers.point_contact.profiles import Profiles, polar_profile
from kneewear.mechanics.bodies import BodyForces, BodyPoses
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rigid_body import RigidBody
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion.actions import Contact
from kneewear.motion.system import Body, System
from tests.knees.papers.restitution import (
    convex_indentation,
    delivered_restitution,
    largest_indentation,
)

MASS = 2e-3
STIFFNESS = 100.0
SPEED = 300.0
FLOOR = SphereOnPlane((0.0, 0.0, 0.0), 20.0, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))


def circle(centre, radius, spline="cubic", points=60):
    """Polar profile of a circle that holds the origin."""
    angle = np.linspace(-np.pi, np.pi, points)
    unit = np.stack([np.cos(angle), np.sin(angle)], -1)
    along = unit @ np.asarray(centre)
    return polar_profile(
        angle, along + np.sqrt(along**2 - np.dot(centre, centre) + radius**2), spline
    )


@pytest.mark.parametrize("spline", ["cubic", "akima", "shape_preserving"])
def test_common_normal_of_circles_is_the_line_of_their_centres(spline):
    profiles = Profiles(
        circle((3.0, -2.0), 26.4, spline), circle((1.0, 4.0), 36.02, spline), np.array([1.0, -2.0])
    )
    turn = body_three_123([0.0, 0.0, 0.4])
    place = np.array([35.0, 48.0, 0.0])
    touch = profiles.touch(turn, place)
    centre = place + turn @ [1.0, 4.0, 0.0]
    apart = np.linalg.norm(centre - [3.0, -2.0, 0.0])
    exact = 26.4 + 36.02 - apart
    # Interpolation of 60 points: fourth order, second where the radius is largest (monotone).
    tolerance = {"cubic": 1e-4, "akima": 2e-3, "shape_preserving": 2e-2}[spline]
    assert touch.depth == pytest.approx(exact, abs=tolerance)
    np.testing.assert_allclose(
        touch.normal, (centre - [3.0, -2.0, 0.0]) / apart, atol=20 * tolerance
    )
    assert max(exact, 0.0) == convex_indentation(apart, 26.4, 36.02)


def test_profiles_pass_through_their_points():
    angle = np.radians([-40.0, -10.0, 5.0, 60.0, 100.0])
    radius = np.array([20.0, 24.0, 26.0, 21.0, 22.0])
    for spline in ("cubic", "akima", "shape_preserving"):
        profile = polar_profile(angle, radius, spline)
        np.testing.assert_allclose(profile.coefficients[3], radius[:-1], atol=1e-12)
    flat = polar_profile(angle, [20.0, 24.0, 24.0, 21.0, 20.0], "shape_preserving")
    assert np.abs(flat.coefficients[:3, 1]).max() < 1e-12  # no oscillation between equal points
    with pytest.raises(ValueError, match="cubic, akima"):
        polar_profile(angle, radius, "quintic")


def test_sphere_on_a_tilted_plane():
    shapes = SphereOnPlane((1.0, 2.0, 21.0), 20.0, (0.0, 0.0, 5.0), (0.0, 0.0, 1.0))
    turn = body_three_123([0.3, -0.2, 0.9])
    place = np.array([0.0, 1.0, -4.5])
    normal = turn @ [0, 0, 1.0]
    distance = (np.array([1.0, 2.0, 21.0]) - place) @ normal - 5.0
    touch = shapes.touch(turn, place)
    assert touch.depth == pytest.approx(20.0 - distance, abs=1e-12)
    np.testing.assert_allclose(touch.normal, -normal, atol=1e-12)


def test_stiffness_is_that_of_the_source():
    cartilage = contact_modulus(24.0, 0.38, 24.0, 0.38)
    assert hertz_stiffness(30.4, cartilage) * 1000**1.5 == pytest.approx(3260513, abs=0.5)
    assert hertz_stiffness(21.0, cartilage) * 1000**1.5 == pytest.approx(2709935, abs=0.5)


def test_second_layer_adds_to_the_first_at_its_thickness():
    law = ImpactLaw(10.0, layer=0.415, base=500.0)
    healthy = ImpactLaw(10.0)
    assert law.force(0.4, 0.0, 1.0) == healthy.force(0.4, 0.0, 1.0)
    assert law.force(0.415 + 1e-9, 0.0, 1.0) == pytest.approx(law.force(0.415, 0.0, 1.0), rel=1e-6)
    assert law.force(0.8, 0.0, 1.0) == pytest.approx(10 * 0.415**1.5 + 500 * 0.385**1.5)
    for depth in (0.2, 0.41, 0.42, 0.9):
        h = 1e-6
        ahead, behind = (law.energy(depth + sign * h) for sign in (1, -1))
        assert (ahead - behind) / (2 * h) == pytest.approx(law.force(depth, 0.0, 1.0), rel=1e-5)
        slope = (law.force(depth + h, 0, 1) - law.force(depth - h, 0, 1)) / (2 * h)
        assert law.slopes(depth, 0.0, 1.0)[0] == pytest.approx(slope, rel=1e-5)
    with pytest.raises(ValueError):
        ImpactLaw(10.0, 0.5, 0.4, 500.0)


def test_derivatives_are_those_of_the_force():
    contact = PointContact(FLOOR, ImpactLaw(STIFFNESS, 0.7), initial_rate=200.0)
    action = Contact("femur", "tibia", contact, has_rate=True)
    system = System("femur", (Body("tibia", inertia=None),), {"contact": action})
    start = np.array([0.5, 0.2, -19.0, 0.0, 0.0, 0.0])
    rates = np.array([3.0, 1.0, 40.0, 0.0, 0.0, 0.0])
    found = system.forces(start, rates)
    h = 1e-6
    for axis in range(3):
        step = h * np.eye(6)[axis]
        numeric = (
            system.forces(start + step, rates).force - system.forces(start - step, rates).force
        ) / (2 * h)
        np.testing.assert_allclose(found.derivative[:3, axis], numeric[:3], atol=1e-3)
        numeric = (
            system.forces(start, rates + step).force - system.forces(start, rates - step).force
        ) / (2 * h)
        np.testing.assert_allclose(found.resistance[:3, axis], numeric[:3], atol=1e-3)


def test_forces_on_both_bodies_balance():
    contact = Contact("femur", "tibia", PointContact(FLOOR, ImpactLaw(STIFFNESS)), True)
    total = BodyForces.zero(2)
    poses = BodyPoses.at_rest(
        [np.eye(3), body_three_123([0.2, 0.1, 0.3])], [[0, 0, 0], [1.0, 2.0, -18.0]]
    )
    contact.on(("femur", "tibia")).add(poses, total)
    wrench = total.wrench.reshape(2, 2, 3)
    assert np.linalg.norm(wrench[1, 0]) > 1.0
    np.testing.assert_allclose(wrench[:, 0].sum(axis=0), 0.0, atol=1e-12)
    moment = wrench[:, 1] + np.cross(poses.translation, wrench[:, 0])
    np.testing.assert_allclose(moment.sum(axis=0), 0.0, atol=1e-9)


def drop(law, **options):
    """A flat body of 2 kg that is pushed for 50 ms and then hits a ball freely."""
    plate = Body("plate", inertia=RigidBody(MASS, np.eye(3), np.zeros(3)))
    factor = hysteresis_factor(law, 0.616)
    contact = PointContact(FLOOR, ImpactLaw(STIFFNESS, factor))
    push = Load(lambda time: (0.0, 0.0, MASS * SPEED / 0.05 * (time < 0.05)), body="plate")
    system = System(
        "ball", (plate,), {"contact": Contact("ball", "plate", contact, True), "push": push}
    )
    times = np.linspace(0.0, 0.12, 241)
    return integrate_impacts(
        system, times, [0, 0, -35.0, 0, 0, 0], ("plate.z",), relative_tolerance=1e-8, **options
    )


def test_output_is_closer_while_bodies_touch_and_only_then():
    plain, closer = drop("flores"), drop("flores", contact_step=1e-5)
    (impact,) = closer.contacts
    time = closer.motion.time
    within = (time > impact.begin) & (time < impact.end)
    assert np.diff(time[within]).max() <= 1e-5 * (1.0 + 1e-6)
    # All output times of before are there, and outside of the contact no other.
    assert np.isin(plain.motion.time, time).all()
    np.testing.assert_array_equal(
        time[~within],
        plain.motion.time[(plain.motion.time <= impact.begin) | (plain.motion.time >= impact.end)],
    )
    # The motion is the same, its deepest point nearer to the exact one.
    exact = largest_indentation(
        MASS, impact.initial_rate, STIFFNESS, hysteresis_factor("flores", 0.616)
    )
    deepest = [
        max(part["contact"].depth for part in found.motion.parts) for found in (plain, closer)
    ]
    assert abs(deepest[1] - exact) < 1e-3 * exact <= abs(deepest[0] - exact) + 1e-3 * exact
    assert closer.motion.rates[-1, 2] == pytest.approx(plain.motion.rates[-1, 2], rel=1e-6)


@pytest.mark.parametrize("law", list(FACTORS))
def test_each_impact_delivers_the_restitution_of_the_phase_plane(law):
    found = drop(law)
    (impact,) = found.contacts
    factor = hysteresis_factor(law, 0.616)
    assert impact.initial_rate == pytest.approx(SPEED, rel=1e-3)
    parted = -found.motion.rates[-1, 2] / impact.initial_rate
    assert parted == pytest.approx(delivered_restitution(factor), rel=1e-4)
    assert found.motion.energy_error < 1e-3
    # The deepest of the output times.
    deepest = max(part["contact"].depth for part in found.motion.parts)
    exact = largest_indentation(MASS, impact.initial_rate, STIFFNESS, factor)
    assert deepest == pytest.approx(exact, rel=5e-3)
