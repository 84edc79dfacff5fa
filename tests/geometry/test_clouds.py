"""Point clouds become sheets with the right side out."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.geometry.mesh_checks import check_femoral, check_insert
from kneewear.geometry.meshes import femoral_from_points, insert_from_points
from tests.geometry.example_implant import TO_FILE, example_meshes
from tests.refusals import refused_at


@pytest.fixture(scope="module")
def points():
    return {name: mesh.vertices * TO_FILE for name, mesh in example_meshes().items()}


def test_insert_sheet_faces_up_and_passes_the_checks(points):
    mesh = insert_from_points(points["insert"])
    assert (mesh.face_normals[:, 1] > 0).all()
    check_insert(mesh)


def test_femoral_sheet_faces_out_and_passes_the_checks(points):
    mesh = femoral_from_points(points["femoral"])
    outward = mesh.vertices[mesh.faces].mean(axis=1)[:, :2]
    assert ((outward * mesh.face_normals[:, :2]).sum(axis=1) > 0).all()
    check_femoral(mesh)


def test_area_is_that_of_the_surface_without_the_gap_between_the_sides(points):
    mesh = insert_from_points(points["insert"])
    area = np.linalg.norm(mesh.face_normals, axis=1).sum()
    given = np.linalg.norm(example_meshes()["insert"].face_normals, axis=1).sum()
    assert area == pytest.approx(given, rel=0.01)


def test_an_upside_down_cloud_is_found_out(points):
    assert (
        refused_at(check_insert, insert_from_points(points["insert"] * [1, -1, -1]))
        == "insert mesh"
    )
    assert (
        refused_at(check_femoral, femoral_from_points(points["femoral"] * [1, -1, -1]))
        == "femoral mesh"
    )


def test_few_points_and_points_on_a_line_are_refused(points):
    assert refused_at(insert_from_points, points["insert"][:20]) == "insert points"
    assert refused_at(insert_from_points, np.linspace([0, 0, 0], [1, 2, 3], 200)) == "insert points"
