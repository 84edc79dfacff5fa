"""Stress below the surface of a layer: half-space, confined compression, base and balance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipeinc, ellipkinc

from kneewear.contact.layer_stress import largest_von_mises, layer_stress
from kneewear.contact.material import von_mises

EDGE = 0.05
RADIUS = 1.0
PEAK = 30.0


def hertz_map(half=30):
    """Hertz's pressure on a circle, in the middle of a map."""
    place = EDGE * np.arange(-half, half + 1)
    inside = 1.0 - (place[:, None] ** 2 + place**2) / RADIUS**2
    return PEAK * np.sqrt(np.maximum(inside, 0.0)), half


@pytest.mark.parametrize("poisson", [0.3, 0.46])
def test_thick_layer_below_a_sphere_is_a_half_space(poisson):
    pressure, middle = hertz_map()
    for depth in (0.48, 1.0):
        # On the axis (Johnson 1985, Eq. 3.45).
        up = -PEAK / (1.0 + depth**2)
        flat = PEAK * (
            -(1.0 + poisson) * (1.0 - depth * np.arctan(1.0 / depth)) + 0.5 / (1.0 + depth**2)
        )
        stress = layer_stress(pressure, (EDGE, EDGE), depth, 20.0, poisson)[middle, middle]
        assert stress[:3] == pytest.approx([flat, up, flat], abs=0.01 * PEAK)
        assert stress[3:] == pytest.approx(0.0, abs=1e-9)
        assert von_mises(stress) == pytest.approx(abs(up - flat), abs=0.01 * PEAK)


def test_largest_stress_below_a_sphere_is_at_half_the_radius_of_contact():
    pressure, middle = hertz_map()
    depths = np.array([0.40, 0.48, 0.56])
    largest, depth = largest_von_mises(pressure, (EDGE, EDGE), depths, 20.0, 0.3)
    # 0.62 p0 at 0.48 a (Johnson 1985, section 3.4).
    assert largest[middle, middle] == pytest.approx(0.62 * PEAK, rel=0.01)
    assert depth[middle, middle] == pytest.approx(0.48, abs=0.03)
    assert np.unravel_index(largest.argmax(), largest.shape) == (middle, middle)


@pytest.mark.slow
def test_largest_stress_below_an_ellipse_of_contact_is_that_of_hertz():
    # Smaller semi-axis 1; 0.522 (strip) to 0.549 (circle) of the peak pressure at this ratio.
    long, poisson, edge = 4.0, 0.46, (0.05, 0.1)
    x, z = (step * np.arange(-count, count + 1) for step, count in zip(edge, (25, 45), strict=True))
    inside = 1.0 - x[:, None] ** 2 - (z / long) ** 2
    pressure = PEAK * np.sqrt(np.maximum(inside, 0.0))
    depths = np.arange(0.55, 1.0, 0.1)
    found, depth = largest_von_mises(pressure, edge, depths, 20.0, poisson)
    expected = von_mises(axis_stress(depths, long, poisson))
    assert found[25, 45] == pytest.approx(PEAK * expected.max(), rel=0.01)
    assert depth[25, 45] == pytest.approx(depths[expected.argmax()], abs=0.051)
    assert 0.52 < expected.max() < 0.55
    # The formula of a sphere on its axis holds for a circle.
    assert von_mises(axis_stress(np.array([0.48]), 1.0001, 0.3)) == pytest.approx(0.62, rel=0.01)


def axis_stress(depth, long, poisson):
    """Stresses over the peak pressure on the axis of an ellipse of semi-axes `long` and 1.

    In the order of `layer_stress` (Thomas and Hoersch 1930, in Johnson 1985).
    """
    part = 1.0 - long**-2
    scaled, ratio = depth / long, np.sqrt((1.0 + depth**2) / (long**2 + depth**2))
    angle = np.arctan2(long, depth)
    first, second = ellipkinc(angle, part), ellipeinc(angle, part)
    inner = scaled * (long**2 * second - first)
    outer = scaled * (first - second)
    factor = 2.0 / (part * long)
    along = -0.5 * (1.0 - ratio) + outer + poisson * (1.0 - long**2 * ratio + inner)
    across = 0.5 + 0.5 / ratio - ratio * long**2 + inner + poisson * (ratio - 1.0 + outer)
    up = -0.5 * (1.0 - ratio**2) / ratio
    zero = np.zeros_like(depth)
    return factor * np.stack([across, up, along, zero, zero, zero], axis=-1)


def test_surface_carries_the_pressure_and_nothing_else():
    pressure, _ = hertz_map()
    stress = layer_stress(pressure, (EDGE, EDGE), 0.0, 3.0, 0.46)
    assert stress[..., 1] == pytest.approx(-pressure, abs=1e-9 * PEAK)
    assert stress[..., 3:5] == pytest.approx(0.0, abs=1e-9 * PEAK)


def test_base_does_not_strain_along_itself():
    pressure, _ = hertz_map()
    for poisson in (0.2, 0.46):
        stress = layer_stress(pressure, (EDGE, EDGE), 1.5, 1.5, poisson)
        ratio = poisson / (1.0 - poisson)
        # No displacement of the base: strains along it vanish, so that stresses there are equal.
        assert stress[..., 0] == pytest.approx(ratio * stress[..., 1], abs=1e-9 * PEAK)
        assert stress[..., 2] == pytest.approx(ratio * stress[..., 1], abs=1e-9 * PEAK)
        assert stress[..., 5] == pytest.approx(0.0, abs=1e-9 * PEAK)


@pytest.mark.slow
def test_every_level_carries_the_load_and_rows_and_columns_are_alike():
    pressure, middle = hertz_map(110)
    pressure[middle:, middle + 8 :] = 0.0
    load = pressure.sum()
    for depth in (0.3, 1.0):
        stress = layer_stress(pressure, (EDGE, EDGE), depth, 1.0, 0.46)
        assert -stress[..., 1].sum() == pytest.approx(load, rel=0.01)
        turned = layer_stress(pressure.T, (EDGE, EDGE), depth, 1.0, 0.46)
        swapped = turned.transpose(1, 0, 2)[..., [2, 1, 0, 4, 3, 5]]
        assert stress == pytest.approx(swapped, abs=1e-9 * PEAK)
