"""Meshes of tetrahedra and prisms: volumes, boundaries, and nested refinement."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kneewear.knees.papers.fe_knee.volume_mesh import (
    VolumeMesh,
    boundary_triangles,
    cartilage_surface,
    element_volumes,
    hierarchy,
    refined,
)
from tests.knees.papers.volumes import block


def volume(mesh):
    return sum(part.sum() for part in element_volumes(mesh))


def enclosed(nodes, triangles):
    return np.linalg.det(nodes[triangles]).sum() / 6.0


def distorted(seed):
    mesh = block((10.0, 8.0, 6.0), (3, 2, 2), layer=1.5)
    moved = mesh.nodes + np.random.default_rng(seed).uniform(-0.3, 0.3, mesh.nodes.shape)
    return replace(mesh, nodes=moved)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000))
def test_refinement_keeps_volume_and_multiplies_elements_by_eight(seed):
    mesh = distorted(seed)
    finer, prolongation = refined(mesh)
    assert volume(finer) == pytest.approx(volume(mesh), rel=1e-13)
    assert len(finer.tetrahedra) == 8 * len(mesh.tetrahedra)
    assert len(finer.prisms) == 8 * len(mesh.prisms)
    assert all(np.all(part > 0.0) for part in element_volumes(finer))
    assert np.allclose(prolongation.sum(axis=1), 1.0, atol=1e-15)


@pytest.mark.parametrize("refinements", [0, 1, 2])
def test_boundary_is_watertight_and_encloses_the_volume(refinements):
    mesh = hierarchy(block((10.0, 8.0, 6.0), (2, 2, 1), layer=1.5), refinements).finest
    triangles = boundary_triangles(mesh)
    edges = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    pairs = {tuple(edge) for edge in edges.tolist()}
    assert len(pairs) == len(edges)
    assert pairs == {(b, a) for a, b in pairs}
    assert enclosed(mesh.nodes, triangles) == pytest.approx(volume(mesh), rel=1e-12)
    assert volume(mesh) == pytest.approx(10.0 * 9.5 * 6.0, rel=1e-12)


def test_patches_and_cartilage_surface_are_carried_along():
    mesh = hierarchy(block((10.0, 8.0, 6.0), (2, 2, 1), layer=1.5), 2).finest
    surface = cartilage_surface(mesh)
    assert {frozenset(t) for t in surface.tolist()} == {
        frozenset(t) for t in mesh.patches["top"].tolist()
    }
    for name, height, sign in (("bottom", 0.0, -1.0), ("top", 9.5, 1.0)):
        at = mesh.nodes[mesh.patches[name]]
        area = 0.5 * np.cross(at[:, 1] - at[:, 0], at[:, 2] - at[:, 0])
        assert np.allclose(at[..., 1], height)
        assert area.sum(axis=0) == pytest.approx([0.0, sign * 60.0, 0.0], abs=1e-12)
        assert np.all(sign * area[:, 1] > 0.0)


def test_prolongation_is_exact_for_linear_fields_and_keeps_coarse_nodes():
    mesh = distorted(3)
    finer, prolongation = refined(mesh)
    assert np.array_equal(finer.nodes[: len(mesh.nodes)], mesh.nodes)
    field = mesh.nodes @ [[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]] + [4.0, 5.0]
    exact = finer.nodes @ [[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]] + [4.0, 5.0]
    assert np.allclose(prolongation @ field, exact, atol=1e-12)


def test_adapted_nodes_are_those_of_the_next_level():
    def stretched(mesh):
        return replace(mesh, nodes=mesh.nodes * [1.0, 1.1, 1.0])

    levels = hierarchy(block(), 2, stretched)
    assert volume(levels.finest) == pytest.approx(1.1**2 * volume(levels.meshes[0]))


def test_two_refinements_give_the_published_numbers_of_elements():
    # Sander et al. (2012), section 5: elements of femur, tibia, fibula and two cartilage layers.
    coarse, fine = [3787, 2550, 1253, 171, 129], [242368, 163200, 80192, 10944, 8256]
    levels = hierarchy(block(layer=1.5), 2)
    ratio = levels.finest.n_elements / levels.meshes[0].n_elements
    assert [ratio * count for count in coarse] == fine
    assert sum(fine) == 504960


def test_elements_turned_inside_out_are_reported():
    mesh = block()
    turned = mesh.tetrahedra.copy()
    turned[4] = turned[4][[1, 0, 2, 3]]
    with pytest.raises(ValueError, match=r"\b1 .*\b4\b"):
        VolumeMesh(mesh.nodes, turned)
