"""Long exact triangles of CAD are subdivided; the surface stays the same."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.errors import InputDataError
from kneewear.geometry.mesh_checks import bad_edges, check_insert, refuse_mixed_bodies
from kneewear.geometry.meshes import TriangleMesh, joined, woven
from kneewear.geometry.recognition import orient_implant
from kneewear.geometry.refinement import LONGEST_EDGE, subdivided
from tests.geometry.example_implant import example_meshes
from tests.geometry.solids import closed, closed_femoral, closed_insert


def box(size: tuple[float, float, float], low: tuple[float, float, float]) -> TriangleMesh:
    """Box of twelve triangles."""
    x, y, z = ([at, at + length] for at, length in zip(low, size, strict=True))
    upper, lower = (
        np.stack(np.broadcast_arrays(np.array(x)[:, None], level, np.array(z)), axis=-1)
        for level in (y[1], y[0])
    )
    return closed(upper.astype(float), lower.astype(float))


def cylinder(radius: float, length: float, step_deg: float) -> TriangleMesh:
    """Half of a cylinder along z: strips with vertices at both ends only."""
    angle = np.radians(np.arange(-90.0, 90.0 + step_deg, step_deg))[:, None]
    x, y = radius * np.sin(angle), -radius * np.cos(angle)
    return woven(np.stack(np.broadcast_arrays(x, y, np.array([0.0, length])), axis=-1))


def cone(step_deg: float) -> TriangleMesh:
    """Cone of one row of triangles about its tip."""
    angle = np.radians(np.arange(0.0, 360.0, step_deg))
    rim = np.column_stack([10.0 * np.cos(angle), 0.0 * angle, 10.0 * np.sin(angle)])
    after = np.roll(np.arange(len(rim)), -1)
    faces = np.column_stack([np.arange(len(rim)), after, np.full(len(rim), len(rim))])
    return TriangleMesh(np.vstack([rim, [0.0, 30.0, 0.0]]), faces)


def longest_edge(mesh: TriangleMesh) -> float:
    ends = mesh.vertices[mesh.edges]
    return float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).max())


def area(mesh: TriangleMesh) -> float:
    return float(np.linalg.norm(mesh.face_normals, axis=1).sum())


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_planes_receive_vertices_inside(scale):
    mesh = box((46.0, 10.0, 74.0), (3.0, 5.0, 7.0))
    mesh = TriangleMesh(scale * mesh.vertices, mesh.faces)
    fine = subdivided(mesh)
    assert longest_edge(fine) <= 1.01 * LONGEST_EDGE * 74.0 * scale
    np.testing.assert_allclose(area(fine), area(mesh), rtol=1e-12)
    np.testing.assert_allclose(fine.face_normals.sum(axis=0), 0.0, atol=1e-9 * area(mesh))
    assert not fine.border_vertices.size and not len(bad_edges(fine))


@pytest.mark.parametrize("step", [1.0, 2.0, 3.0])
def test_new_vertices_of_a_cylinder_are_on_it(step):
    """None is in the middle of a chord, up to 9 um inside the surface."""
    mesh = cylinder(25.0, 66.0, step)
    fine = subdivided(mesh)
    assert len(fine.vertices) > 20 * len(mesh.vertices)
    np.testing.assert_allclose(np.hypot(*fine.vertices[:, :2].T), 25.0, rtol=1e-9)
    np.testing.assert_allclose(area(fine), area(mesh), rtol=1e-12)
    assert longest_edge(fine) < np.hypot(0.0255 * 66.0, np.radians(step) * 25.0)


def test_new_vertices_of_a_cone_are_on_it():
    fine = subdivided(cone(4.0), 2.0)
    assert len(fine.vertices) > 500
    x, y, z = fine.vertices.T
    np.testing.assert_allclose(np.hypot(x, z), 10.0 * (1.0 - y / 30.0), atol=1e-9)


def test_meshes_of_curved_surfaces_stay_as_they_are():
    for mesh in (*example_meshes().values(), closed_femoral(n=30)):
        curved = subdivided(mesh).vertices
        np.testing.assert_array_equal(curved[: len(mesh.vertices)], mesh.vertices)
    around, along = np.radians(np.mgrid[0:100:10, 30:120:10])
    sphere = np.stack([np.sin(along) * np.cos(around), np.sin(along) * np.sin(around)], axis=-1)
    mesh = woven(25.0 * np.concatenate([sphere, np.cos(along)[..., None]], axis=-1))
    assert subdivided(mesh, 1.0) is mesh


@pytest.mark.parametrize("n", [40, 60])
def test_dishes_of_coarse_meshes_receive_no_vertices_on_chords(n):
    # Diagonals are longer than 2.5 % of the extent.
    insert = closed_insert(n=n)
    added = subdivided(insert).vertices[len(insert.vertices) :]
    x, y, z = np.abs(added.T)
    assert not ((x < 15.0) & (y > 7.9) & (z > 4.0) & (z < 36.0)).any()


@pytest.mark.parametrize("height", [10.0, 28.0, 50.0])
def test_an_insert_is_recognised_with_a_post_of_any_height(height):
    post = box((12.0, height, 14.0), (-8.0, 4.0, -7.0))
    whole = subdivided(joined([closed_insert(n=40), post]))
    check_insert(whole)
    for one in orient_implant(whole, closed_femoral(n=40)):
        np.testing.assert_array_equal(one.matrix, np.eye(3))


@pytest.mark.parametrize("pegs", [[(0.0, 0.0, 30.0)], [(-8.0, -20.0, 12.0), (-8.0, 16.0, 12.0)]])
def test_an_insert_is_recognised_with_pegs_below(pegs):
    below = [box((6.0, length, 6.0), (x, -length, z)) for x, z, length in pegs]
    whole = subdivided(joined([closed_insert(n=40), *below]))
    check_insert(whole)
    for one in orient_implant(whole, closed_femoral(n=40)):
        np.testing.assert_array_equal(one.matrix, np.eye(3))


def test_components_of_two_kinds_in_one_file_are_refused():
    insert, femoral = closed_insert(n=40), closed_femoral(n=40)
    apart = TriangleMesh(femoral.vertices + [0.0, 45.0, 0.0], femoral.faces)
    for part in (insert, femoral):
        refuse_mixed_bodies(part, "file")
    with pytest.raises(InputDataError) as raised:
        refuse_mixed_bodies(joined([insert, apart]), "file")
    assert raised.value.finding.check == "geometry.bodies"
