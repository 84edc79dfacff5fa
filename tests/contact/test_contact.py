"""Contact of rigid bodies with elastic solids, against Hertz and the bonded layer."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kneewear.contact import hertz
from kneewear.contact.foundation import confined_modulus
from kneewear.contact.material import Elastic
from kneewear.contact.solid import graded_lines
from kneewear.evidence.fe_comparison.contact import BorderReachedError, ElasticSurface
from tests.contact.blocks import block, layer_under_sphere, paraboloid
from tests.contact.bonded_layer import layer_deflection, sphere_on_layer

# Solutions of linear theory leave out that nodes move sideways under the sphere: of a thin, nearly
# incompressible layer that is 4 % of the force at a radius of 30 mm.
RADIUS = 3000.0
UHMWPE = Elastic(463.0, 0.46)


def test_layer_is_a_half_space_to_short_waves_and_confined_to_long_ones():
    assert layer_deflection(40.0, 0.46) == pytest.approx(1.0, abs=1e-12)
    wave = 1e-4
    # Half-space: 2 (1 - nu^2) / (E k); confined: h / K.
    long = layer_deflection(wave, 0.46) * 2.0 * (1.0 - 0.46**2) / wave
    assert long == pytest.approx(1.0 / confined_modulus(1.0, 0.46), rel=1e-3)


def test_sphere_on_a_thick_layer_is_hertz_and_on_a_thin_one_the_foundation():
    modulus = 463.0 / (1.0 - 0.3**2)
    found = sphere_on_layer(RADIUS, 3.0, 1e5, 463.0, 0.3)
    half_space = hertz.sphere_contact(RADIUS, found.approach, modulus)
    # The layer's influence is of the order radius / thickness.
    assert found.force == pytest.approx(half_space.force, rel=1e-4)
    assert found.peak_pressure == pytest.approx(half_space.peak_pressure, rel=1e-4)
    errors = []
    for thickness in (0.6, 0.3):
        thin = sphere_on_layer(RADIUS, 3.0, thickness, 463.0, 0.3)
        stiffness = math.pi * confined_modulus(463.0, 0.3) / thickness
        errors.append(stiffness * RADIUS * thin.approach**2 / thin.force - 1.0)
    # What is left decreases with the thickness.
    assert 0.0 < errors[1] < 0.6 * errors[0] < 0.06
    with pytest.raises(ValueError):
        sphere_on_layer(RADIUS, 3.0, 0.05, 463.0, 0.3)


@pytest.mark.slow
def test_coarse_elements_meet_the_bonded_layer_and_balance():
    exact = sphere_on_layer(RADIUS, 3.0, 6.0, 463.0, 0.46)
    surface = layer_under_sphere(UHMWPE, 6.0, 3.0, 2.5, reach=6.0)
    found = surface.press(paraboloid(RADIUS, 6.0 - exact.approach, RADIUS))
    assert -found.force[1] == pytest.approx(exact.force, rel=0.03)
    assert np.abs(found.force + found.reaction).max() < 1e-6 * exact.force
    # No penetration, no tension, and pressure only where the gap is closed.
    assert found.pressure.min() >= 0.0
    moved = (surface.solid.nodes + found.displacement)[:, :, -1][surface.touchable]
    gap, _ = paraboloid(RADIUS, 6.0 - exact.approach, RADIUS)(moved)
    assert gap.min() > -1e-8
    assert np.abs(gap[found.pressure[surface.touchable] > 0.0]).max() < 1e-8
    # Under a load, the pose of that load.
    loaded = surface.press(paraboloid(RADIUS, 6.0, RADIUS), -found.force[1])
    assert loaded.height == pytest.approx(-exact.approach, rel=1e-6)
    assert loaded.pressure == pytest.approx(found.pressure, abs=1e-5 * exact.peak_pressure)


def test_flat_punch_over_the_whole_layer_has_uniform_pressure():
    # The contact's patch test: without Poisson's ratio the layer is a bar.
    solid = block([0, 1, 3, 4], [0, 2, 3], [0, 1, 2])
    everywhere = np.ones(solid.nodes.shape[:2], dtype=bool)
    surface = ElasticSurface(solid, Elastic(100.0, 0.0), everywhere)

    def plane(points):
        return 1.99 - points[:, 1], np.broadcast_to([0.0, -1.0, 0.0], points.shape)

    found = surface.press(plane)
    assert found.pressure == pytest.approx(np.full(everywhere.shape, 0.5), rel=1e-9)


def test_contact_beyond_the_touchable_nodes_and_no_contact_are_refused():
    solid = block(np.arange(9.0), np.arange(9.0), [0, 2, 4])
    few = np.zeros(solid.nodes.shape[:2], dtype=bool)
    few[6:11, 6:11] = True
    surface = ElasticSurface(solid, UHMWPE, few)
    flat = np.array([4.0, 0.0, 4.0])

    def body(points):
        return paraboloid(500.0, 3.9, 500.0)(points - flat)

    with pytest.raises(BorderReachedError) as found:
        surface.press(body)
    assert found.value.borders.all()

    def near_one_end(points):
        return paraboloid(2.0, 3.9, 2.0)(points - [4.8, 0.0, 4.0])

    with pytest.raises(BorderReachedError) as found:
        surface.press(near_one_end)
    assert found.value.borders.tolist() == [[False, False], [True, False]]

    def beside(points):
        found, normal = body(points)
        return np.full_like(found, 1e3), np.abs(normal)

    with pytest.raises(RuntimeError):
        surface.press(beside, 10.0)


@pytest.mark.slow
@pytest.mark.parametrize(("thickness", "poisson_ratio"), [(3.0, 0.46), (8.0, 0.49)])
def test_sphere_on_a_bonded_layer(thickness, poisson_ratio):
    exact = sphere_on_layer(RADIUS, 4.0, thickness, 463.0, poisson_ratio)
    surface = layer_under_sphere(Elastic(463.0, poisson_ratio), thickness, 4.0, 5.0)
    found = surface.press(paraboloid(RADIUS, thickness - exact.approach, RADIUS))
    assert -found.force[1] == pytest.approx(exact.force, rel=0.01)
    assert found.pressure.max() == pytest.approx(exact.peak_pressure, rel=0.01)
    assert np.abs(found.force + found.reaction).max() < 1e-6 * exact.force


@pytest.mark.slow
def test_sphere_on_a_half_space():
    # A cube of 13 contact radii; the remaining depth is a correction of the reference, below 5 %.
    thickness = 40.0
    exact = hertz.sphere_contact(RADIUS, 3e-3, 463.0 / (1.0 - 0.46**2))
    radius = exact.semi_axes[0]
    layer = sphere_on_layer(RADIUS, radius, thickness, 463.0, 0.46)
    surface = layer_under_sphere(UHMWPE, thickness, radius, 4.0, reach=40.0)
    found = surface.press(paraboloid(RADIUS, thickness, RADIUS), exact.force)
    assert found.pressure.max() == pytest.approx(exact.peak_pressure, rel=0.01)
    assert -found.height == pytest.approx(
        exact.depth * layer.approach * RADIUS / radius**2, rel=0.01
    )


@pytest.mark.slow
def test_cylinder_on_a_half_space():
    # Without Poisson's ratio no strain arises along the cylinder: one element is enough.
    load, radius, width, modulus = 1.0, 1000.0, 0.5, 463.0
    half = math.sqrt(4.0 * load * radius / (math.pi * modulus))
    depth = 30.0 * half
    errors = []
    for count in (3.0, 6.0, 12.0):
        size = half / count
        x = graded_lines(-depth, depth, (-1.4 * half, 1.4 * half), size)
        y = graded_lines(0.0, depth, (depth - size, depth), 0.75 * size)
        solid = block(x, [0.0, width], y)
        across = solid.nodes[:, :, -1, 0]
        surface = ElasticSurface(solid, Elastic(modulus, 0.0), np.abs(across) < 1.35 * half)
        found = surface.press(paraboloid(radius, depth), load * width)
        # Half of the half width is the radius of gyration of Hertz's pressure.
        force = found.pressure * found.area
        wide = 2.0 * math.sqrt((force * across**2).sum() / force.sum())
        peak = found.pressure.max() / (2.0 * load / (math.pi * half))
        errors.append((abs(wide / half - 1.0), abs(peak - 1.0)))
    assert np.max(errors) < 0.01
    assert np.max(errors[2]) < 0.002


@pytest.mark.slow
def test_error_of_the_force_decreases_faster_than_the_size_of_elements():
    # Its sign changes with the place of the contact's border between nodes.
    exact = sphere_on_layer(RADIUS, 3.0, 4.0, 463.0, 0.46)
    errors = []
    for count in (1.5, 3.0, 5.0):
        surface = layer_under_sphere(UHMWPE, 4.0, 3.0, count)
        found = surface.press(paraboloid(RADIUS, 4.0 - exact.approach, RADIUS))
        errors.append(abs(-found.force[1] / exact.force - 1.0))
    assert errors[1] < 0.5 * errors[0]
    assert errors[2] < 0.6 * errors[1]


@pytest.mark.parametrize(
    ("width", "stated"),
    [(0.25, (48, -3, -27, 37)), (1.0, (119, 59, 26, -20)), (5.0, (32, 24, 27, -21))],
)
def test_errors_of_the_foundation_are_those_that_the_documentation_states(width, stated):
    layer = sphere_on_layer(RADIUS, width, 1.0, 463.0, 0.46)
    stiffness = math.pi * confined_modulus(463.0, 0.46) * RADIUS
    depth = math.sqrt(layer.force / stiffness)
    area, true_area = 2.0 * math.pi * RADIUS * depth, math.pi * width**2
    found = (
        stiffness * layer.approach**2 / layer.force,
        confined_modulus(463.0, 0.46) * depth / layer.peak_pressure,
        true_area / area,
        area / true_area,
    )
    assert [round(100.0 * (one - 1.0)) for one in found] == list(stated)
