"""Hip and ankle: a ball in a cup and a roller in a trough on elements built on curved surfaces."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from kneewear.contact.pair import ContactPair
from kneewear.geometry.element_surfaces import Cylinder, Plane, Sphere
from kneewear.geometry.grid import Bearing, build_elements
from kneewear.geometry.table import tabulate_surface
from kneewear.geometry.thickness import thickness_to
from kneewear.reference.winkler import LinearLayer, ball_in_cup_force
from tests.physics.bodies import MODULUS, UPRIGHT, cylinder, linear_layer, revolved, sphere

# A 28 mm head in a liner with 0.3 mm of radial clearance and 8 mm of wall.
BALL, CUP, WALL, SHIFT = 14.0, 14.3, 8.0, 0.35
LENGTH = 12.0  # of the trough; the roller is longer
DOWN = np.array([0.0, -1.0, 0.0])
# Where the load points, seen from the middle of the bearing: straight, and aslant.
DIRECTIONS = (DOWN, np.array([math.sin(0.3), -math.cos(0.3), 0.0]))


def conformal_edge(ball=BALL, cup=CUP, shift=SHIFT):
    """Half angle of the contact, seen from the centre of the hollow: ball and hollow meet there."""
    return math.acos((cup**2 + shift**2 - ball**2) / (2.0 * cup * shift))


def push(angle):
    """Penetration times its share along the displacement, mm, and the penetration itself."""
    distance = math.sqrt(CUP**2 + SHIFT**2 - 2.0 * CUP * SHIFT * math.cos(angle))
    depth = BALL - distance
    return depth * (CUP * math.cos(angle) - SHIFT) / distance, depth


def cup_force():
    """Force on the ball, N."""
    return ball_in_cup_force(BALL, CUP, BALL - CUP + SHIFT, LinearLayer(MODULUS, WALL))


def trough_force():
    """Force per length on the roller, N/mm, by quadrature."""
    section = quad(lambda angle: push(angle)[0], 0.0, conformal_edge(), epsrel=1e-12)[0]
    return 2.0 * MODULUS / WALL * CUP * section


def in_cup(projection_surface, cells):
    bearing = Bearing(
        "hip",
        sphere(CUP).reversed_normal(),
        thickness_to(-CUP - WALL, CUP_LINES),
        projection_surface,
    )
    return contact_of(bearing, sphere(BALL), cells)


def in_trough(projection_surface, cells):
    trough = cylinder(CUP, 0.5 * LENGTH).reversed_normal()
    bearing = Bearing("ankle", trough, thickness_to(-CUP - WALL, TROUGH_LINES), projection_surface)
    return contact_of(bearing, cylinder(BALL, LENGTH), cells)


def contact_of(bearing, ball, cells):
    """The resultant as a function of the direction in which the ball is displaced."""
    grid = build_elements(bearing, bearing.rectangle(*cells))
    pair = ContactPair(grid, 0, ball, tabulate_surface(ball, 81, 61))
    layer = linear_layer(grid.thickness[0].ravel()[pair.index])
    return lambda towards: pair.evaluate(UPRIGHT, SHIFT * towards, layer)


CUP_LINES = Sphere((0.0, 0.0, 0.0), (0.0, -1.0, 0.0), CUP)
TROUGH_LINES = Cylinder((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0), CUP)


@pytest.mark.compiled
def test_ball_in_a_cup_meets_the_closed_form_at_the_expected_order():
    area = 2.0 * math.pi * CUP**2 * (1.0 - math.cos(conformal_edge()))
    peak = MODULUS / WALL * (BALL - CUP + SHIFT)
    error = {}
    for number in (16, 64):
        pressed = in_cup(CUP_LINES, (number, number))
        found = []
        # Aims of many directions average out where the contact's edge falls among the cells.
        for x, z in np.random.default_rng(1).uniform(-0.35, 0.35, (24, 2)):
            towards = np.array([x, -1.0, z]) / math.hypot(x, 1.0, z)
            result = pressed(towards)
            force = np.linalg.norm(result.wrench[:3] + cup_force() * towards) / cup_force()
            covered = result.contact_area / area - 1.0
            found.append([force, covered, result.pressure.max() / peak - 1.0])
            # All pressures act along lines through the ball's centre, its origin.
            assert np.abs(result.wrench[3:]).max() < 1e-9 * BALL * cup_force()
        error[number] = np.sqrt(np.mean(np.square(found), axis=0))
    # As on the flat layer: k^-2.5 for the force, k^-3 for the area, k^-2 for the peak.
    order = np.log(error[16] / error[64]) / math.log(4)
    assert order == pytest.approx([2.5, 3.0, 2.0], abs=0.4)
    # 810 elements under load.
    assert (error[64] < [5e-4, 1e-3, 2e-3]).all()


@pytest.mark.parametrize("towards", DIRECTIONS, ids=["straight", "aslant"])
def test_roller_in_a_trough_meets_the_quadrature(towards):
    result = in_trough(TROUGH_LINES, (120, 6))(towards)
    exact = trough_force() * LENGTH
    # Midpoint rule in one direction: the two kinks at the contact's edges leave second order.
    assert result.wrench[:3] == pytest.approx(-exact * towards, abs=1e-3 * exact)
    width = 2.0 * CUP * conformal_edge()
    assert result.contact_area == pytest.approx(width * LENGTH, rel=1e-3)


@pytest.mark.compiled
@pytest.mark.parametrize("towards", DIRECTIONS, ids=["straight", "aslant"])
def test_curved_and_planar_elements_feel_the_same_force(towards):
    for within, lines in ((in_cup, CUP_LINES), (in_trough, TROUGH_LINES)):
        curved = within(lines, (60, 60))(towards)
        planar = within(Plane(), (100, 100))(towards)
        size = np.linalg.norm(curved.wrench[:3])
        assert planar.wrench[:3] == pytest.approx(curved.wrench[:3], abs=1e-3 * size)
        assert planar.pressure.max() == pytest.approx(curved.pressure.max(), rel=2e-3)


def test_curved_elements_reach_where_planar_ones_cannot():
    # Half the circumference of a trough, loaded 55 deg from the bottom: the contact reaches up to
    # 86 deg, where a horizontal plane sees the elements edge on.
    half = Cylinder((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0), CUP)
    sideways = _half_trough()
    towards = np.array([math.sin(math.radians(55.0)), -math.cos(math.radians(55.0)), 0.0])
    bearing = Bearing("ankle", sideways, WALL, half)
    roller = _turned(cylinder(BALL, LENGTH), math.radians(55.0))
    result = contact_of(bearing, roller, (160, 6))(towards)
    exact = trough_force() * LENGTH
    assert result.wrench[:3] == pytest.approx(-exact * towards, abs=1e-3 * exact)
    with pytest.raises(ValueError, match="choose another direction"):
        contact_of(Bearing("ankle", sideways, WALL), roller, (160, 6))


def test_dome_of_the_talus_carries_elements_too():
    # The fixed body is the dome; the roller's hollow partner comes down on it by the same shift.
    lines = Cylinder((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0), BALL, hollow=False)
    over = np.diag([-1.0, -1.0, 1.0])
    dome = cylinder(BALL, 0.5 * LENGTH).transformed(over, np.zeros(3))
    bearing = Bearing("ankle", dome, thickness_to(BALL - WALL, lines), lines)
    hollow = cylinder(CUP, LENGTH).transformed(over, np.zeros(3)).reversed_normal()
    result = contact_of(bearing, hollow, (160, 6))(DOWN)

    def share(angle):
        """Depth of a position of the dome in the hollow body, times its share downward."""
        x, y = BALL * math.sin(angle), BALL * math.cos(angle) + SHIFT
        distance = math.hypot(x, y)
        return max(distance - CUP, 0.0) * y / distance

    edge = math.acos((CUP**2 - BALL**2 - SHIFT**2) / (2.0 * BALL * SHIFT))
    section = quad(share, 0.0, edge, epsrel=1e-12)[0]
    exact = 2.0 * MODULUS / WALL * BALL * section * LENGTH
    assert result.wrench[1] == pytest.approx(exact, rel=1e-3)
    assert result.wrench[0] == pytest.approx(0.0, abs=1e-6 * exact)


def _half_trough():
    """Hollow half of a cylinder about z, open upward."""
    profile = np.array([[-0.5 * LENGTH, CUP, 1.0], [0.5 * LENGTH, CUP, 1.0]])
    return revolved(
        profile, [0.0, 0.0, 1.0, 1.0], (-0.499 * math.pi, 0.499 * math.pi), 2
    ).reversed_normal()


def _turned(surface, angle):
    turn = [[math.cos(angle), -math.sin(angle), 0], [math.sin(angle), math.cos(angle), 0],
            [0, 0, 1.0]]  # fmt: skip
    return surface.transformed(turn, np.zeros(3))
