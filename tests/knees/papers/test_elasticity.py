"""Mass, stiffness and viscosity of tetrahedra and prisms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kneewear.knees.papers.fe_knee.elasticity import (
    KelvinVoigt,
    assembled,
    element_von_mises,
    stresses,
)
from tests.knees.papers.volumes import block

BONE = KelvinVoigt(17000.0, 0.3, 2e-9)
CARTILAGE = KelvinVoigt(10.0, 0.4, 1e-9, viscosity=10.0)


@pytest.fixture(scope="module")
def mesh():
    straight = block((10.0, 8.0, 6.0), (3, 2, 2), layer=1.5)
    moved = np.random.default_rng(1).uniform(-0.3, 0.3, straight.nodes.shape)
    return replace(straight, nodes=straight.nodes + moved)


@pytest.fixture(scope="module")
def matrices(mesh):
    return assembled(mesh, BONE, CARTILAGE)


def rigid(mesh):
    """Three translations and three infinitesimal rotations."""
    axes = np.eye(3)
    return [np.broadcast_to(axis, mesh.nodes.shape) for axis in axes] + [
        np.cross(axis, mesh.nodes) for axis in axes
    ]


def test_rigid_motion_needs_no_force(mesh, matrices):
    for field in rigid(mesh):
        for matrix in (matrices.stiffness, matrices.viscosity):
            force = matrix @ field.ravel()
            assert np.abs(force).max() < 1e-12 * abs(matrix).max() * np.abs(field).max()


@pytest.mark.parametrize("material", [BONE, KelvinVoigt(10.0, 0.4, 1e-9)])
def test_linear_displacement_has_no_force_inside_and_its_exact_stress(mesh, material):
    gradient = np.array([[1.0, 0.2, -0.3], [0.4, -0.5, 0.1], [0.0, 0.6, 0.7]]) * 1e-3
    field = mesh.nodes @ gradient.T
    matrix = assembled(mesh, material, material).stiffness
    force = (matrix @ field.ravel()).reshape(-1, 3)
    outer = np.unique(np.concatenate([mesh.patches["bottom"], mesh.patches["top"]]))
    side = np.any((mesh.nodes < 0.4) | (mesh.nodes > [9.6, 9.0, 5.6]), axis=1)
    inner = np.setdiff1d(np.flatnonzero(~side), outer)
    assert inner.size
    assert np.abs(force[inner]).max() < 1e-12 * np.abs(force).max()
    first, shear = material.elastic_moduli
    strain = 0.5 * (gradient + gradient.T)
    exact = first * np.trace(strain) * np.eye(3) + 2.0 * shear * strain
    for stress in stresses(mesh, material, material, field):
        assert np.allclose(stress, exact, atol=1e-12 * np.abs(exact).max())


def test_energy_of_uniform_strain_is_density_times_volume():
    mesh = block((10.0, 8.0, 6.0), (2, 2, 2), layer=1.5)
    field = mesh.nodes * [1e-3, 0.0, 0.0]
    matrix = assembled(mesh, BONE, BONE).stiffness
    first, shear = BONE.elastic_moduli
    energy = 0.5 * field.ravel() @ (matrix @ field.ravel())
    assert energy == pytest.approx(0.5 * (first + 2.0 * shear) * 1e-6 * 570.0, rel=1e-12)


def test_viscous_power_of_shear_and_dilatation():
    # Power per volume is 2 mu |dev e|^2 + mu tr(e)^2.
    mesh = block((10.0, 8.0, 6.0), (2, 2, 2), layer=1.5)
    matrix = assembled(mesh, BONE, CARTILAGE).viscosity
    volume = 10.0 * 6.0 * 1.5
    shearing = np.column_stack([mesh.nodes[:, 1], np.zeros((len(mesh.nodes), 2))]).ravel()
    swelling = mesh.nodes.ravel()
    assert shearing @ (matrix @ shearing) == pytest.approx(10.0 * volume, rel=1e-12)
    assert swelling @ (matrix @ swelling) == pytest.approx(10.0 * 9.0 * volume, rel=1e-12)


def test_lumped_mass_has_the_mass_and_centre_of_the_bodies():
    straight = block((10.0, 8.0, 6.0), (3, 2, 2), layer=1.5)
    mass = assembled(straight, BONE, CARTILAGE).mass
    bone, cartilage = 480.0 * 2e-9, 90.0 * 1e-9
    assert mass.sum() == pytest.approx(bone + cartilage, rel=1e-12)
    height = mass @ straight.nodes[:, 1] / mass.sum()
    assert height == pytest.approx((bone * 4.0 + cartilage * 8.75) / (bone + cartilage))


def test_stiffness_is_symmetric(matrices):
    for matrix in (matrices.stiffness, matrices.viscosity):
        assert abs(matrix - matrix.T).max() < 1e-13 * abs(matrix).max()


def test_von_mises_stress_of_tension_and_pressure():
    assert element_von_mises(np.diag([3.0, 0.0, 0.0])) == pytest.approx(3.0)
    assert element_von_mises(-2.0 * np.eye(3)) == pytest.approx(0.0, abs=1e-15)


def test_materials_are_checked():
    with pytest.raises(ValueError):
        KelvinVoigt(10.0, 0.5, 1e-9)
    with pytest.raises(ValueError, match="viscosity"):
        KelvinVoigt(10.0, 0.3, 1e-9, -1.0)
    with pytest.raises(ValueError):
        assembled(block(layer=1.0), BONE, None)
