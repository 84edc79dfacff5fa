"""Meshes are converted to knee axes and refused when they are not what they should be."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.base.sides import SIDES
from kneewear.errors import InputDataError
from kneewear.geometry.mesh_checks import _height_ratio, bad_edges, check_femoral, check_insert
from kneewear.geometry.meshes import (
    TriangleMesh,
    condyle_axis,
    sheet_coverage,
    to_knee_axes,
)
from kneewear.geometry.plausibility import judge_bearing, judge_edges, plateau_bearing
from kneewear.io.shapes import load_shape
from tests.geometry.example_implant import example_implant, joined, meshed, stl_bytes
from tests.refusals import refusal, refused_at

KNEE = {"x": "posterior", "y": "superior", "z": "medial"}
UPSIDE_DOWN = {"x": "anterior", "y": "inferior", "z": "medial"}


@pytest.fixture(scope="module")
def insert() -> TriangleMesh:
    return joined([meshed(example_implant().insert[side], 25, 31) for side in SIDES])


@pytest.fixture(scope="module")
def femoral() -> TriangleMesh:
    return joined([meshed(example_implant().femoral[side], 45, 25) for side in SIDES])


def turned_over(mesh: TriangleMesh) -> TriangleMesh:
    return TriangleMesh(mesh.vertices, mesh.faces[:, ::-1])


def test_normals_of_the_example_point_outward(insert, femoral):
    assert (insert.face_normals[:, 1] > 0).all()
    outward = femoral.vertices[femoral.faces].mean(axis=1)[:, :2]
    assert ((outward * femoral.face_normals[:, :2]).sum(axis=1) > 0).all()


def test_metres_and_half_turn_come_back_as_knee_axes(insert):
    stored = TriangleMesh(insert.vertices * [-1e-3, 1e-3, -1e-3], insert.faces)
    axes = {"x": "anterior", "y": "superior", "z": "lateral"}
    back = to_knee_axes(stored, "m", axes, "right")
    np.testing.assert_allclose(back.vertices, insert.vertices, atol=1e-12)
    assert (back.faces == insert.faces).all()


def test_left_knee_is_mirrored_with_outward_normals(insert):
    # On a left knee +x (y cross z) is anterior.
    left = to_knee_axes(insert, "mm", {**KNEE, "x": "anterior"}, "left")
    np.testing.assert_allclose(left.vertices, insert.vertices * [-1, 1, 1])
    np.testing.assert_allclose(left.vertex_normals, insert.vertex_normals * [-1, 1, 1], atol=1e-12)
    check_insert(left)


@pytest.mark.parametrize(
    ("axes", "knee"),
    [
        (KNEE, "left"),
        ({**KNEE, "z": "lateral"}, "right"),
        ({**KNEE, "z": "anterior"}, "right"),
    ],
)
def test_impossible_axes_are_refused(insert, axes, knee):
    with pytest.raises(InputDataError):
        to_knee_axes(insert, "mm", axes, knee)


@pytest.mark.parametrize("unit_factor", [1000.0, 0.001])
def test_wrong_unit_is_refused(insert, femoral, unit_factor):
    for mesh, check in ((insert, check_insert), (femoral, check_femoral)):
        scaled = TriangleMesh(mesh.vertices * unit_factor, mesh.faces)
        refusal(check, scaled)


def test_components_that_are_not_what_they_should_be_are_refused(insert, femoral):
    """Exchanged, inside out, upside down or empty."""
    over = [to_knee_axes(mesh, "mm", UPSIDE_DOWN, "right") for mesh in (insert, femoral)]
    for mesh in (femoral, turned_over(insert), over[0]):
        assert refused_at(check_insert, mesh) == "insert mesh"
    for mesh in (insert, turned_over(femoral), over[1]):
        assert refused_at(check_femoral, mesh) == "femoral mesh"
    empty = TriangleMesh(np.zeros((0, 3)), np.zeros((0, 3), dtype=int))
    assert refused_at(check_insert, empty) == "insert mesh"


@pytest.mark.parametrize(("height", "is_femoral"), [(0.48, True), (0.43, False)])
def test_a_femoral_component_with_a_short_flange_is_one(femoral, height, is_femoral):
    low = TriangleMesh(
        femoral.vertices * [1.0, height / _height_ratio(femoral), 1.0], femoral.faces
    )
    if is_femoral:
        check_femoral(low)
    else:
        assert refused_at(check_femoral, low) == "femoral mesh"


def faulty(insert: TriangleMesh, fault: str, triangle: int) -> TriangleMesh:
    """Insert with a third triangle at an edge, or one triangle turned round."""
    faces = insert.faces.copy()
    if fault == "turned":
        faces[triangle] = faces[triangle, ::-1]
        return TriangleMesh(insert.vertices, faces)
    a, b, _ = insert.faces[triangle]
    tip = insert.vertices[a] + [0.0, 0.5, 0.0]
    fin = [[b, a, len(insert.vertices)]]
    return TriangleMesh(np.vstack([insert.vertices, tip]), np.vstack([faces, fin]))


@pytest.mark.parametrize(("fault", "count"), [("fin", 1), ("turned", 3)])
def test_bad_edges_are_refused_on_the_bearing_only(insert, fault, count):
    middle = insert.vertices[insert.faces].mean(axis=1)
    inner, outer = (
        int(np.linalg.norm(middle[:, [0, 2]] - [x, 23.0], axis=1).argmin()) for x in (0.0, 16.0)
    )
    for triangle in (inner, outer):
        mesh = faulty(insert, fault, triangle)
        check_insert(mesh)
        assert len(bad_edges(mesh)) == count
        found = judge_edges(mesh, "file")
        assert found.check == "geometry.bad_edges_elsewhere"
        bearing = plateau_bearing(mesh, (-8.0, 8.0), (15.0, 30.0), "file", "medial")
        if triangle == inner:
            assert refusal(judge_bearing, bearing).check == "geometry.bad_edges"
        else:
            judge_bearing(bearing)


def test_a_mesh_without_consistent_orientation_is_refused(insert):
    faces = insert.faces.copy()
    faces[::3] = faces[::3, ::-1]
    assert refused_at(check_insert, TriangleMesh(insert.vertices, faces)) == "insert mesh"


def test_condyle_axis_is_the_axis_of_revolution(femoral):
    x, y = condyle_axis(femoral, (12.0, 34.0))
    # Rounded rims have smaller radii about the same axis, which leaves the centre in place.
    assert abs(x) < 0.05
    assert abs(y) < 1.0


def test_coverage_is_where_the_sheet_is():
    square = TriangleMesh(
        np.array([[0.0, 5, 0], [0, 5, 10], [10, 5, 10], [10, 5, 0]]),
        np.array([[0, 1, 2], [0, 2, 3]]),
    )
    coverage = sheet_coverage(square, (-5.0, 15.0), (-5.0, 15.0))
    assert coverage.area == pytest.approx(100.0)
    x, z = np.meshgrid(np.linspace(-4.75, 14.75, 40), np.linspace(-4.75, 14.75, 40))
    inside = (x >= 0) & (x <= 10) & (z >= 0) & (z <= 10)
    np.testing.assert_array_equal(coverage.contains(x, z), inside)


class TestFiles:
    def test_round_trip_merges_vertices(self, insert, tmp_path):
        path = tmp_path / "insert.stl"
        path.write_bytes(stl_bytes(insert))
        mesh = load_shape(path)
        assert len(mesh.vertices) == len(insert.vertices)
        assert len(mesh.faces) == len(insert.faces)
        # STL holds single precision: half a unit in the last place of 64 mm is 4e-6 mm.
        assert np.abs(mesh.extent - insert.extent).max() < 1e-5

    @pytest.mark.parametrize("length", [60, 90, 5000])
    def test_cut_off_file(self, insert, tmp_path, length):
        path = tmp_path / "cut.stl"
        path.write_bytes(stl_bytes(insert)[:length])
        refusal(load_shape, path)
