"""Mortar coupling with a dual basis."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.knees.papers.fe_knee.mortar import dual_basis, mortar, nodal_normals

# Products of linear functions over a triangle of unit area.
PRODUCTS = (np.ones((3, 3)) + np.eye(3)) / 12.0


def sheet(size, divisions, height, up, shift=(0.0, 0.0), wave=0.0, bent=0.0):
    """Nodes and triangles of a rectangle at a height, with the normal +y or -y."""
    grid = np.stack(
        np.meshgrid(*[np.linspace(0.0, 1.0, k + 1) for k in divisions], indexing="ij"), axis=-1
    )
    flat = grid.reshape(-1, 2) * size + shift
    flat[:, 0] += wave * np.sin(flat[:, 1])
    nodes = np.column_stack([flat[:, 0], height + bent * flat[:, 0] ** 2, flat[:, 1]])
    number = np.arange(len(nodes)).reshape(np.add(divisions, 1))
    a, b = number[:-1, :-1].ravel(), number[1:, :-1].ravel()
    c, d = number[1:, 1:].ravel(), number[:-1, 1:].ravel()
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return nodes, triangles[:, ::-1] if up else triangles


def pair(first, second):
    """Nodes of both sheets, and the triangles of each."""
    return np.concatenate([first[0], second[0]]), first[1], second[1] + len(first[0])


UPPER = sheet((4.0, 3.0), (5, 4), 2.0, up=False, shift=(1.0, 1.0), wave=0.1)
LOWER = sheet((6.0, 5.0), (4, 3), 1.7, up=True)


def test_dual_basis_is_biorthogonal():
    dual = dual_basis(PRODUCTS[None])[0]
    assert np.allclose(dual @ PRODUCTS, np.eye(3) / 3.0, atol=1e-15)
    assert np.allclose(dual.sum(axis=0), 1.0)
    # The known dual functions of a triangle: 3 at their corner and -1 at the others.
    assert np.allclose(dual, 4.0 * np.eye(3) - 1.0)


def test_dual_basis_is_biorthogonal_on_a_part_of_a_triangle():
    samples = np.random.default_rng(0).dirichlet(np.ones(3), 400)
    part = samples[samples[:, 0] > 0.3]
    products = part.T @ part / len(part)
    dual = dual_basis(products[None])[0]
    assert np.allclose(dual @ products, np.diag(products.sum(axis=1)), atol=1e-14)
    assert np.allclose(dual.sum(axis=0), 1.0)


def test_weights_of_covered_nodes_reproduce_linear_fields():
    nodes, upper, lower = pair(UPPER, LOWER)
    found = mortar(nodes, upper, lower, 1.0)
    assert np.array_equal(found.nodes, np.unique(upper))
    assert np.allclose(found.mean.sum(axis=1), 1.0, atol=1e-13)
    for c in (0, 2):
        assert np.allclose(found.mean @ nodes[:, c], nodes[found.nodes, c], atol=1e-12)
    assert found.gaps == pytest.approx(0.3, abs=1e-12)
    assert found.areas.sum() == pytest.approx(12.0, abs=1e-12)
    assert np.allclose(found.normals, [0.0, -1.0, 0.0], atol=1e-15)


def test_uniform_pressure_is_transmitted_exactly():
    # Nodal forces on the mortar side are integrals of its shape functions over the contact.
    nodes, upper, lower = pair(
        sheet((4.0, 3.0), (5, 4), 2.0, up=False), sheet((4.0, 3.0), (3, 7), 1.7, up=True)
    )
    found = mortar(nodes, upper, lower, 1.0)
    forces = found.mean.T @ found.areas
    at = nodes[lower]
    size = 0.5 * np.linalg.norm(np.cross(at[:, 1] - at[:, 0], at[:, 2] - at[:, 0]), axis=1)
    exact = np.bincount(lower.ravel(), np.repeat(size / 3.0, 3), minlength=len(nodes))
    assert np.allclose(forces, exact, atol=1e-12)


def test_forces_are_in_equilibrium_on_partly_covered_and_curved_surfaces():
    curved = sheet((4.0, 3.0), (6, 5), 2.0, up=False, shift=(3.5, 1.3), bent=0.01)
    nodes, upper, lower = pair(curved, LOWER)
    found = mortar(nodes, upper, lower, 1.5)
    assert np.allclose(found.mean.sum(axis=1), 1.0, atol=1e-12)
    assert 0.0 < found.areas.sum() < 12.0
    assert np.allclose(np.linalg.norm(found.normals, axis=1), 1.0)


def test_gap_is_invariant_under_rigid_motion():
    curved = sheet((4.0, 3.0), (6, 5), 2.0, up=False, shift=(1.0, 1.0), bent=0.02)
    nodes, upper, lower = pair(curved, LOWER)
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    before = mortar(nodes, upper, lower, 2.0)
    after = mortar(nodes @ turn.T + [5.0, -3.0, 2.0], upper, lower, 2.0)
    assert np.allclose(after.gaps, before.gaps, atol=1e-12)
    assert np.allclose(after.normals, before.normals @ turn.T, atol=1e-12)


def test_gap_of_a_sphere_above_a_plane_converges():
    def error(n):
        nodes, triangles = sheet((2.0, 2.0), (n, n), 0.0, up=False, shift=(-1.0, -1.0))
        nodes[:, 1] = 10.2 - np.sqrt(100.0 - nodes[:, 0] ** 2 - nodes[:, 2] ** 2)
        plane = sheet((4.0, 4.0), (3, 3), 0.0, up=True, shift=(-2.0, -2.0))
        found = mortar(*pair((nodes, triangles), plane), 1.0)
        at = nodes[found.nodes]
        # Along the normal of the node: the height over the vertical part of the normal.
        exact = at[:, 1] / np.sqrt(1.0 - (at[:, 0] ** 2 + at[:, 2] ** 2) / 100.0)
        return np.abs(found.gaps - exact)[np.all(np.abs(at[:, ::2]) < 0.7, axis=1)].max()

    # The weighted gap differs from the distance by the curvature of the sphere over one element.
    assert error(8) < 1e-5 * 0.2
    assert error(16) < 0.5 * error(8)


def test_surfaces_out_of_reach_are_reported():
    nodes, upper, lower = pair(UPPER, LOWER)
    with pytest.raises(ValueError, match=r"0\.1 mm"):
        mortar(nodes, upper, lower, 0.1)
    with pytest.raises(ValueError, match=r"opposite"):
        mortar(nodes, upper, lower[:, ::-1], 1.0)


def test_nodal_normals_are_unit_means():
    nodes, triangles = sheet((4.0, 3.0), (6, 5), 2.0, up=True, bent=0.1)
    normals = nodal_normals(nodes, triangles)
    exact = np.column_stack([-0.2 * nodes[:, 0], np.ones(len(nodes)), np.zeros(len(nodes))])
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    inside = np.all((nodes[:, ::2] > 0.1) & (nodes[:, ::2] < [3.9, 2.9]), axis=1)
    assert np.allclose(normals[inside], exact[inside], atol=0.02)
