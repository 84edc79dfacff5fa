"""Stress below the surface of a layer: half-space, confined compression, base and balance."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.fe.layer_stress import largest_von_mises, layer_stress
from kneewear.fe.material import von_mises

EDGE, RADIUS, PEAK = 0.05, 1.0, 30.0


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
    depths = np.arange(0.40, 0.58, 0.04)
    largest, depth = largest_von_mises(pressure, (EDGE, EDGE), depths, 20.0, 0.3)
    # 0.62 p0 at 0.48 a (Johnson 1985, section 3.4).
    assert largest[middle, middle] == pytest.approx(0.62 * PEAK, rel=0.01)
    assert depth[middle, middle] == pytest.approx(0.48, abs=0.03)
    assert np.unravel_index(largest.argmax(), largest.shape) == (middle, middle)


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
