"""Elastic-plastic material: uniaxial curve, and a sphere that yields."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.contact.material import (
    Elastic,
    Hardening,
    PlasticState,
    maximum_shear,
    return_stress,
    von_mises,
)
from kneewear.evidence.fe_comparison.contact import NoContactError
from tests.contact.blocks import layer_under_sphere, paraboloid

ELASTIC = Elastic(463.0, 0.46)
CURVE = Hardening((0.0, 0.05, 0.2), (12.0, 16.0, 22.0))


def virgin(count):
    return PlasticState(np.zeros((count, 6)), np.zeros(count))


def test_uniaxial_stress_follows_the_points_of_the_curve():
    plastic = np.array([0.01, 0.05, 0.12, 0.2, 0.4])
    stress = np.interp(plastic, CURVE.strain, CURVE.stress)
    elastic = stress / ELASTIC.youngs_modulus
    side = -ELASTIC.poisson_ratio * elastic - 0.5 * plastic
    strain = np.zeros((plastic.size, 6))
    strain[:, 1], strain[:, 0], strain[:, 2] = elastic + plastic, side, side
    found, state = return_stress(ELASTIC, CURVE, strain, virgin(plastic.size))
    wanted = np.zeros_like(found)
    wanted[:, 1] = stress
    assert found == pytest.approx(wanted, abs=1e-10)
    assert state.equivalent == pytest.approx(plastic, rel=1e-12)


def test_stress_below_yield_is_elastic_and_stress_measures_are_those_of_uniaxial_stress():
    strain = np.full((1, 6), 1e-3)
    found, state = return_stress(ELASTIC, CURVE, strain, virgin(1))
    assert not state.equivalent.any()
    assert found == pytest.approx(strain @ ELASTIC.tensor)
    uniaxial = np.array([0.0, -7.0, 0.0, 0.0, 0.0, 0.0])
    assert von_mises(uniaxial) == pytest.approx(7.0)
    assert maximum_shear(uniaxial) == pytest.approx(3.5)


@pytest.mark.slow
def test_yielding_sphere_balances_and_has_less_pressure_over_a_larger_area():
    surface = layer_under_sphere(ELASTIC, 6.0, 3.0, 1.5, reach=3.0)
    body = paraboloid(30.0, 6.0, 30.0)
    elastic = surface.press(body, 500.0)
    plastic = surface.press_plastic(body, Hardening((0.0, 0.2), (10.0, 14.0)), 500.0, steps=2)
    assert plastic.plastic_strain.max() > 1e-3
    assert plastic.pressure.max() < elastic.pressure.max()
    assert -plastic.force[1] == pytest.approx(500.0, rel=1e-9)
    assert np.abs(plastic.force + plastic.reaction).max() < 1e-6 * 500.0
    # Stress is on the yield surface where it yielded.
    limit = np.interp(plastic.plastic_strain, [0.0, 0.2], [10.0, 14.0])
    mises = von_mises(plastic.stress)
    assert (mises < limit * (1.0 + 1e-9)).all()
    # Without yield the two agree.
    same = surface.press_plastic(body, Hardening((0.0,), (1e3,)), 500.0, steps=1)
    assert same.pressure == pytest.approx(elastic.pressure, abs=1e-7)


@pytest.mark.slow
def test_unloading_is_elastic_and_a_pose_carries_its_load():
    surface = layer_under_sphere(ELASTIC, 6.0, 3.0, 1.5, reach=3.0)
    body, curve = paraboloid(30.0, 6.0, 30.0), Hardening((0.0, 0.2), (10.0, 14.0))
    loads = (250.0, 500.0, 200.0, 500.0)
    first, loaded, less, again = surface.press_sequence([(body, load) for load in loads], curve)
    np.testing.assert_array_equal(less.plastic_strain, loaded.plastic_strain)
    np.testing.assert_allclose(again.pressure, loaded.pressure, atol=1e-4)
    assert again.height == pytest.approx(loaded.height, abs=1e-6)
    # What stays of the strain holds the body lower than at the same load on the way up.
    assert less.height < first.height
    steps = [paraboloid(30.0, 6.0 + one.height, 30.0) for one in (first, loaded)]
    (_, posed) = surface.press_sequence([(step, None) for step in steps], curve)
    assert -posed.force[1] == pytest.approx(500.0, rel=1e-5)


def test_loaded_body_apart_from_the_surface_is_refused():
    surface = layer_under_sphere(ELASTIC, 6.0, 3.0, 1.0, reach=3.0)
    apart, touching = (paraboloid(30.0, 6.0 + gap, 30.0) for gap in (0.01, 0.0))
    with pytest.raises(NoContactError):
        surface.press(apart, 100.0)
    with pytest.raises(NoContactError):
        surface.press_plastic(apart, CURVE, 100.0)
    # A pose without contact has no force; a body that touches is moved to its load.
    assert not surface.press(apart).pressure.any()
    assert -surface.press(touching, 100.0).force[1] == pytest.approx(100.0, rel=1e-9)


def test_surface_that_passes_through_its_base_is_no_equilibrium():
    # Linear elasticity carries any load: this one sinks the surface by ten times its thickness.
    surface = layer_under_sphere(Elastic(0.02, 0.3), 2.0, 3.0, 1.0, reach=3.0)
    with pytest.raises(RuntimeError):
        surface.press(paraboloid(30.0, 2.0, 30.0), 100.0)


@pytest.mark.slow
def test_perfectly_plastic_layer_balances_under_much_yield():
    surface = layer_under_sphere(ELASTIC, 6.0, 3.0, 1.5, reach=3.0)
    found = surface.press_plastic(paraboloid(30.0, 6.0, 30.0), Hardening((0.0,), (8.0,)), 300.0)
    assert found.plastic_strain.max() > 0.01
    assert np.abs(found.force + found.reaction).max() < 1e-6 * 300.0
    assert von_mises(found.stress).max() < 8.0 * (1.0 + 1e-9)
