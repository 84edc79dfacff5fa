"""Refined bones that follow their surface, with even columns of cartilage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kneewear.geometry.meshes import TriangleMesh
from kneewear.knees.papers.fe_knee.bone_meshes import (
    add_cartilage,
    block_tetrahedra,
    corner_volumes,
    simplified_femur,
    tetrahedron_volumes,
)
from kneewear.knees.papers.fe_knee.boundary import boundary_distances, surface_follower
from kneewear.knees.papers.fe_knee.volume_mesh import VolumeMesh, boundary_triangles, hierarchy

SIZE = (50.0, 45.0, 72.0)
RADII = (30.0, 20.0)
SPACING = 44.0
LAYER = 1.5
FACET = 3.0  # mm


def surface_of(nodes, tetrahedra):
    return TriangleMesh(nodes, boundary_triangles(VolumeMesh(nodes, tetrahedra)))


def femur(element=12.0):
    """Coarse femur with cartilage below its condyles."""
    nodes, tetrahedra = simplified_femur(SIZE, element, RADII, SPACING)
    boundary = boundary_triangles(VolumeMesh(nodes, tetrahedra))
    centre = nodes[boundary].mean(axis=1)
    below = (centre[:, 1] < 8.0) & (np.abs(np.abs(centre[:, 2]) - 20.0) < 9.0)
    below &= np.abs(centre[:, 0]) < 12.0
    return add_cartilage(nodes, tetrahedra, boundary[below], LAYER)


@pytest.fixture(scope="module")
def fine():
    """Surface of the femur with small elements."""
    return surface_of(*simplified_femur(SIZE, FACET, RADII, SPACING))


@pytest.mark.slow
def test_refined_condyles_are_on_their_paraboloids(fine):
    levels = hierarchy(femur(), 2, surface_follower(fine, LAYER, 3.0)).finest
    assert boundary_distances(levels, fine).mean() < 1e-9
    assert boundary_distances(hierarchy(femur(), 2).finest, fine).mean() > 0.1
    # Facets are within their sagittas along both axes of it.
    lowest = np.setdiff1d(levels.prisms[:, :3], levels.prisms[:, 3:])
    nodes = levels.nodes[lowest]
    across = np.abs(nodes[:, 2]) - 0.5 * SPACING
    exact = 0.5 * (nodes[:, 0] ** 2 / RADII[0] + across**2 / RADII[1])
    assert np.abs(nodes[:, 1] - exact).max() < FACET**2 / 8.0 * (1.0 / RADII[0] + 1.0 / RADII[1])


def test_columns_are_even_and_as_long_as_the_cartilage_is_thick(fine):
    mesh = hierarchy(femur(), 2, surface_follower(fine, LAYER, 3.0)).finest
    edges = mesh.nodes[mesh.prisms[:, 3:]] - mesh.nodes[mesh.prisms[:, :3]]
    np.testing.assert_allclose(np.linalg.norm(edges, axis=-1), LAYER / 4.0, rtol=1e-9)
    assert corner_volumes(mesh.nodes, mesh.prisms).min() > 0.0


def test_elements_keep_their_volume_where_the_surface_is_far():
    nodes, tetrahedra = block_tetrahedra(*[np.linspace(0.0, 10.0, 3)] * 3)
    mesh = VolumeMesh(nodes, tetrahedra)
    # A surface that would turn the block inside out.
    shifted = replace(mesh, nodes=nodes * [1.0, 0.2, 1.0])
    follow = surface_follower(surface_of(shifted.nodes, tetrahedra), LAYER, 100.0)
    moved = follow(mesh)
    kept = tetrahedron_volumes(moved.nodes, tetrahedra) / tetrahedron_volumes(nodes, tetrahedra)
    assert kept.min() >= 0.3
    assert np.abs(moved.nodes - nodes).max() > 0.1


def test_nodes_of_a_held_patch_and_those_out_of_reach_stay(fine):
    mesh = femur()
    top = boundary_triangles(mesh)
    top = top[(mesh.nodes[top][..., 1] == SIZE[1]).all(axis=1)]
    held = replace(mesh, patches={"base": top})
    raised = TriangleMesh(fine.vertices + [0.0, 1.0, 0.0], fine.faces)
    moved = surface_follower(raised, LAYER, 3.0, "base")(held)
    np.testing.assert_array_equal(moved.nodes[np.unique(top)], mesh.nodes[np.unique(top)])
    still = surface_follower(raised, LAYER, 1e-3)(mesh)
    bone = np.setdiff1d(np.arange(len(mesh.nodes)), mesh.prisms)
    moves = np.abs(still.nodes - mesh.nodes).max(axis=1)[bone]
    assert moves.max() == pytest.approx(0.0, abs=1e-3)
