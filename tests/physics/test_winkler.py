"""Rigid sphere and cylinder on a flat layer: analytical solutions, quadrature and model agree."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from kneewear.evidence.verification import winkler
from tests.physics.bodies import MODULUS, UPRIGHT, contact_of, cylinder, flat_implant, sphere

RADIUS = 30.0
DEPTH = 0.2
THICKNESS = 8.0
HALF = 6.0  # half width of the square plate, mm
MEASURES = ("minimum_distance", "minimum_distance_along_normal", "ray")
# Where inside a cell the indenter stands, as fractions: averages out the grid's aliasing.
OFFSETS = (np.arange(8) + 0.5) / 8 - 0.5


LAYER = winkler.LinearLayer(MODULUS, THICKNESS)


def sphere_mean(radius, depth, law, measure="minimum_distance_along_normal"):
    """Mean pressure over a sphere's contact, MPa."""
    along = "ray" if measure == "ray" else "minimum_distance_along_normal"
    area = math.pi * winkler.contact_radius(radius, depth) ** 2
    return winkler.sphere_force(radius, depth, law, along) / area


def cylinder_mean(radius, depth, law, measure="minimum_distance_along_normal"):
    """Mean pressure over a cylinder's contact, MPa."""
    along = "ray" if measure == "ray" else "minimum_distance_along_normal"
    width = 2.0 * winkler.contact_radius(radius, depth)
    return winkler.linear_cylinder_force(radius, depth, law, along) / width


def push(rho, radius, depth, measure):
    """Penetration times the share of the pressure that acts along the plane's normal, mm."""
    centre = radius - depth
    slant = math.hypot(rho, centre)
    if measure == "ray":
        return math.sqrt(radius**2 - rho**2) - centre
    return (radius - slant) * (centre / slant if measure == "minimum_distance" else 1.0)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(("radius", "depth"), [(30.0, 0.2), (5.0, 0.01), (20.0, 12.0)])
def test_closed_forms_are_the_integrals_of_the_pressure(radius, depth, measure):
    edge = winkler.contact_radius(radius, depth)
    assert winkler.contact_radius(radius, depth) == pytest.approx(
        math.sqrt(radius**2 - (radius - depth) ** 2), rel=1e-10
    )
    sphere_integral = quad(
        lambda r: 2 * math.pi * r * push(r, radius, depth, measure), 0, edge, epsrel=1e-12
    )[0]
    strip = quad(lambda x: push(x, radius, depth, measure), -edge, edge, epsrel=1e-12)[0]
    # Quadrature is asked for 1e-12; the cylinder's form loses (radius / depth)^1.5 = 1e4 roundings.
    assert winkler.sphere_force(radius, depth, LAYER, measure) == pytest.approx(
        MODULUS / THICKNESS * sphere_integral, rel=1e-9
    )
    assert winkler.linear_cylinder_force(radius, depth, LAYER, measure) == pytest.approx(
        MODULUS / THICKNESS * strip, rel=1e-9
    )


@pytest.mark.parametrize("measure", MEASURES)
def test_shallow_contact_is_that_of_the_paraboloid(measure):
    # The terms left out are of the order depth / radius = 1e-5.
    work, peak = (30.0, 3e-4, LAYER), LAYER.pressure(3e-4)
    paraboloid = math.pi * MODULUS / THICKNESS * 30.0 * 3e-4**2
    assert winkler.sphere_force(*work, measure) == pytest.approx(paraboloid, rel=2e-5)
    assert peak / sphere_mean(*work, measure) == pytest.approx(2.0, rel=2e-5)
    assert peak / cylinder_mean(*work, measure) == pytest.approx(1.5, rel=2e-5)


def errors(condyle, cells, expected):
    """Relative errors of force, contact area, peak and mean, root mean square over offsets."""
    contact, layer = contact_of(flat_implant(condyle, HALF, HALF, thickness=THICKNESS), *cells)
    found = []
    for along in OFFSETS * 2 * HALF / cells[0]:
        for across in OFFSETS * 2 * HALF / cells[1]:
            result = contact.evaluate(
                UPRIGHT, np.array([along, THICKNESS + RADIUS - DEPTH, across]), layer
            )
            found.append(
                [result.wrench[1], result.contact_area, result.max_pressure, result.avg_pressure]
            )
    return np.sqrt(np.mean((np.array(found) / expected - 1.0) ** 2, axis=0))


EDGE = winkler.contact_radius(RADIUS, DEPTH)
PEAK = LAYER.pressure(DEPTH)
WORK = (RADIUS, DEPTH, LAYER)
SPHERE = np.array(
    [
        winkler.sphere_force(*WORK),
        math.pi * EDGE**2,
        PEAK,
        sphere_mean(*WORK),
    ]
)
CYLINDER = np.array(
    [
        winkler.linear_cylinder_force(*WORK) * 2 * HALF,
        2 * EDGE * 2 * HALF,
        PEAK,
        cylinder_mean(*WORK),
    ]
)


@pytest.mark.compiled
def test_sphere_meets_the_closed_form_at_the_expected_order():
    coarse, fine = (errors(sphere(RADIUS), (n, n), SPHERE) for n in (12, 96))
    order = np.log(coarse / fine) / math.log(8)
    # A sum over a lattice that is placed at random errs, root mean square, by the size of the
    # function's transform at the lattice's own wave number: k^-5/2 where pressure falls to zero
    # linearly on a smooth edge (force, hence the mean). The peak is missed by the distance to the
    # nearest centre squared. 0.3 is the scatter of such a fit. The area errs by what its quadratic
    # functions miss: by the third order, of which little is left here.
    assert order[[0, 2, 3]] == pytest.approx([2.5, 2.0, 2.5], abs=0.3)
    assert order[1] > 2.5
    # 0.125 mm cells, 2400 under load: what the orders leave, with a margin of two.
    assert (fine < [1e-4, 1e-5, 5e-4, 1e-4]).all()


@pytest.mark.compiled
def test_cylinder_meets_the_closed_form_at_the_expected_order():
    condyle = cylinder(RADIUS, 2 * HALF)
    coarse, fine = (errors(condyle, (n, 3), CYLINDER) for n in (12, 96))
    order = np.log(coarse / fine) / math.log(8)
    # As for the sphere, with one dimension less: k^-2 for force and mean, where the error also
    # swings with the fraction of a cell that fits the width, hence the wider margin.
    assert order[[0, 2, 3]] == pytest.approx([2.0, 2.0, 2.0], abs=0.4)
    assert order[1] > 2.5
    assert (fine[[0, 1, 3]] < [2e-4, 1e-5, 2e-4]).all()


@pytest.mark.compiled
def test_peak_is_twice_the_mean_under_a_sphere():
    result = []
    contact, layer = contact_of(
        flat_implant(sphere(RADIUS), HALF, HALF, thickness=THICKNESS), 96, 96
    )
    for along in OFFSETS * 2 * HALF / 96:
        pose = np.array([along, THICKNESS + RADIUS - DEPTH, 0.3 * along])
        pressure = contact.evaluate(UPRIGHT, pose, layer).penetration
        result.append(pressure.max() / pressure[pressure > 0].mean())
    # 2 (1 + D / 3R) for the sphere; the mean's own error on this grid is 1e-3.
    assert np.mean(result) == pytest.approx(2.0, rel=5e-3)
