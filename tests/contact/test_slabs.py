"""Slabs below the surface of a bonded layer: stress by pressure and by plastic strain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kneewear.contact.layer_stress import layer_stress
from kneewear.contact.material import Elastic, von_mises
from kneewear.contact.slabs import SlabWindow

POLYETHYLENE = Elastic(463.0, 0.46)
# Shear components of a tensor count twice in its products.
TWICE = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])


WINDOW = SlabWindow((40, 36), (0.5, 0.7), 8.0, POLYETHYLENE)
ENDING = replace(WINDOW, ends=((5.0, np.inf), (3.0, 6.0)))


@pytest.fixture(params=[WINDOW, ENDING], ids=["wide", "ending"])
def window(request):
    return request.param


def random_strain(window, seed):
    return 1e-3 * np.random.default_rng(seed).standard_normal(window.field_shape)


def work(window, stress, strain):
    """Work of stress and strain per area of a cell."""
    return float(np.einsum("k,m,kmij,kmij->", TWICE, window.heights, stress, strain))


def test_work_of_pressure_on_plastic_sinking_is_that_of_stress_on_plastic_strain(window):
    pressure = np.random.default_rng(1).random(window.shape)
    strain = random_strain(window, 2)
    by_pressure = window.stress(pressure, np.zeros(window.field_shape))
    sinking = float((pressure * window.deflection(strain)).sum())
    assert sinking == pytest.approx(work(window, by_pressure, strain), rel=1e-11)


def test_residual_stress_is_symmetric_and_takes_work(window):
    first, second = random_strain(window, 3), random_strain(window, 4)
    free = np.zeros(window.shape)
    by_first, by_second = window.stress(free, first), window.stress(free, second)
    assert work(window, by_first, second) == pytest.approx(
        work(window, by_second, first), rel=1e-10
    )
    assert work(window, by_first, first) < 0.0


def test_stress_by_pressure_is_the_exact_one_of_the_layer():
    window = WINDOW
    x = (np.arange(40) - 19.5)[:, None] * 0.5
    z = (np.arange(36) - 17.5) * 0.7
    pressure = np.maximum(0.0, 1.0 - (x / 6.0) ** 2 - (z / 8.0) ** 2)
    stress = window.stress(pressure, np.zeros(window.field_shape))
    for slab, (low, high) in enumerate(zip(window.depths[:-1], window.depths[1:], strict=True)):
        gauss, weight = np.polynomial.legendre.leggauss(4)
        depths = low + 0.5 * (high - low) * (1.0 + gauss)
        parts = [layer_stress(pressure, window.cell, depth, 8.0, 0.46) for depth in depths]
        exact = np.einsum("d,dijk->kij", 0.5 * weight, np.stack(parts))
        # Waves shorter than two columns are in the slabs, not in the exact sum.
        assert np.abs(stress[:, slab] - exact).max() < 0.016


def test_stress_left_by_uniform_compression_is_that_of_a_confined_layer():
    # Without margin a uniform field has no waves: sides are kept, the surface is free. Plastic
    # strain of -e upwards and e / 2 sideways leaves a biaxial stress of -E / (1 - nu) e / 2.
    window = SlabWindow((8, 8), (0.5, 0.5), 8.0, POLYETHYLENE, margin=0.0)
    strain = np.zeros(window.field_shape)
    strain[1], strain[0], strain[2] = -0.01, 0.005, 0.005
    stress = window.stress(np.zeros(window.shape), strain)
    biaxial = -463.0 / (1.0 - 0.46) * 0.005
    expected = np.array([biaxial, 0.0, biaxial, 0.0, 0.0, 0.0])[:, None, None, None]
    np.testing.assert_allclose(
        stress, np.broadcast_to(expected, stress.shape), atol=1e-9 * abs(biaxial)
    )
    np.testing.assert_allclose(von_mises(np.moveaxis(stress, 0, -1)), -biaxial, rtol=1e-9)


def test_turned_fields_give_turned_stress():
    window = SlabWindow((30, 30), (0.6, 0.6), 8.0, POLYETHYLENE)
    x = (np.arange(30) - 14.0)[:, None] * 0.6
    z = (np.arange(30) - 15.0) * 0.6
    pressure = np.exp(-((x / 2.4) ** 2) - (z / 1.8) ** 2 - x * z / 9.0)
    own = window.stress(pressure, np.zeros(window.field_shape))
    turned = window.stress(pressure.T, np.zeros(window.field_shape))
    # Exchange of x and z: xx and zz, xy and yz.
    expected = own.transpose(0, 1, 3, 2)[[2, 1, 0, 4, 3, 5]]
    # Waves shorter than two cells are taken along z only: below a hundredth of smooth pressure.
    np.testing.assert_allclose(turned, expected, atol=0.015 * np.abs(own).max())


def test_stress_is_the_sum_of_parts_by_pressure_and_by_strain_of_some_slabs(window):
    pressure, strain = np.random.default_rng(5).random(window.shape), random_strain(window, 6)
    strain[2] = -strain[0] - strain[1]
    strain[:, 3:] = 0.0
    waves = window.waves(strain)
    np.testing.assert_allclose(
        window.deflection_of(waves), window.deflection(strain), rtol=0, atol=1e-12
    )
    residual = window.deviator(np.zeros(window.shape), waves)
    whole = window.deviator(pressure, waves)
    found = residual + window.pressed_deviator(pressure)
    assert np.abs(found - whole).max() < 1e-12 * np.abs(whole).max()
    direct = window.stress(pressure, strain)
    assert np.abs(whole[0] - (direct[0] - direct[2])).max() < 1e-11 * np.abs(direct).max()
