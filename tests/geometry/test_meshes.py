"""Meshes are converted to knee axes and refused when they are not what they should be."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from kneewear.errors import InputDataError
from kneewear.geometry.mesh_checks import check_femoral, check_insert
from kneewear.geometry.meshes import (
    TriangleMesh,
    condyle_axis,
    sheet_coverage,
    to_knee_axes,
)
from kneewear.io.shapes import load_shape
from kneewear.sides import SIDES
from tests.geometry.example_implant import SHAPE, example_implant, joined, meshed, stl_bytes

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


def test_right_meshes_pass(insert, femoral):
    check_insert(insert)
    check_femoral(femoral)


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
    ("axes", "knee", "found"),
    [
        (KNEE, "left", "left-handed frame"),
        ({**KNEE, "z": "lateral"}, "right", "left-handed frame"),
        ({**KNEE, "z": "anterior"}, "right", "three different directions"),
    ],
)
def test_impossible_axes_are_refused(insert, axes, knee, found):
    with pytest.raises(InputDataError, match=found):
        to_knee_axes(insert, "mm", axes, knee)


@pytest.mark.parametrize("unit_factor", [1000.0, 0.001])
def test_wrong_unit_is_refused(insert, femoral, unit_factor):
    for mesh, check in ((insert, check_insert), (femoral, check_femoral)):
        scaled = TriangleMesh(mesh.vertices * unit_factor, mesh.faces)
        with pytest.raises(InputDataError, match=r"1000 times too (small|large).*unit"):
            check(scaled)


def test_swapped_components_are_refused(insert, femoral):
    with pytest.raises(InputDataError, match="femoral component is in the insert's place"):
        check_insert(femoral)
    with pytest.raises(InputDataError, match="insert is in the femoral component's place"):
        check_femoral(insert)


def test_inward_normals_are_refused(insert, femoral):
    with pytest.raises(InputDataError, match="normals pointing into the polyethylene"):
        check_insert(turned_over(insert))
    with pytest.raises(InputDataError, match="normals pointing into the metal"):
        check_femoral(turned_over(femoral))


def test_upside_down_is_refused(insert, femoral):
    with pytest.raises(InputDataError, match="insert is upside down"):
        check_insert(to_knee_axes(insert, "mm", UPSIDE_DOWN, "right"))
    with pytest.raises(InputDataError, match="component is upside down"):
        check_femoral(to_knee_axes(femoral, "mm", UPSIDE_DOWN, "right"))


def test_empty_mesh_is_refused():
    with pytest.raises(InputDataError, match="no triangles"):
        check_insert(TriangleMesh(np.zeros((0, 3)), np.zeros((0, 3), dtype=int)))


def test_edge_of_three_triangles_is_refused(insert):
    a, b, _ = insert.faces[0]
    fin = TriangleMesh(
        np.vstack([insert.vertices, [0.0, 12.0, 23.0]]),
        np.vstack([insert.faces, insert.faces[:1], [[b, a, len(insert.vertices)]]]),
    )
    with pytest.raises(InputDataError, match="shared by more than two triangles"):
        check_insert(fin)


def test_inconsistent_orientation_is_refused(insert):
    faces = insert.faces.copy()
    faces[100] = faces[100, ::-1]
    with pytest.raises(InputDataError, match="oriented differently"):
        check_insert(TriangleMesh(insert.vertices, faces))


def test_condyle_axis_is_the_axis_of_revolution(femoral):
    x, y = condyle_axis(femoral, (12.0, 34.0))
    # Rounded rims have smaller radii about the same axis, which leaves the centre in place.
    assert abs(x) < 0.05
    assert abs(y) < 1.0


def test_border_is_the_outline(insert):
    rows, columns = 25, 31
    assert len(insert.border_vertices) == 2 * (2 * rows + 2 * columns - 4)


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


def test_coverage_ends_at_the_window(insert):
    whole = sheet_coverage(insert, (-50.0, 50.0), (0.0, 50.0))
    halves = [sheet_coverage(insert, x, (0.0, 50.0)) for x in ((-50.0, 3.3), (3.3, 50.0))]
    assert sum(half.area for half in halves) == pytest.approx(whole.area, rel=1e-12)
    assert halves[0].edges[..., 0].max() == 3.3


def test_coverage_ignores_the_underside():
    facing_down = TriangleMesh(
        np.array([[0.0, 0, 0], [10, 0, 10], [0, 0, 10]]), np.array([[0, 1, 2]])
    )
    assert not sheet_coverage(facing_down, (0.0, 10.0), (0.0, 10.0)).edges.size


class TestFiles:
    def test_round_trip_merges_vertices(self, insert, tmp_path):
        path = tmp_path / "insert.stl"
        path.write_bytes(stl_bytes(insert))
        mesh = load_shape(path)
        assert len(mesh.vertices) == len(insert.vertices)
        assert len(mesh.faces) == len(insert.faces)
        # STL holds single precision: half a unit in the last place of 64 mm is 4e-6 mm.
        assert np.abs(mesh.extent - insert.extent).max() < 1e-5

    def test_missing_file(self, tmp_path):
        with pytest.raises(InputDataError, match=r"nowhere\.stl: found no such file"):
            load_shape(tmp_path / "nowhere.stl")

    def test_unknown_format(self, tmp_path):
        (tmp_path / "part.vtk").write_text("# vtk DataFile")
        with pytest.raises(InputDataError, match=r"found a file ending in '\.vtk'"):
            load_shape(tmp_path / "part.vtk")

    def test_empty_file(self, tmp_path):
        (tmp_path / "empty.stl").touch()
        with pytest.raises(InputDataError, match="found an empty file"):
            load_shape(tmp_path / "empty.stl")

    @pytest.mark.parametrize("length", [60, 90, 5000])
    def test_cut_off_file(self, insert, tmp_path, length):
        path = tmp_path / "cut.stl"
        path.write_bytes(stl_bytes(insert)[:length])
        with pytest.raises(InputDataError, match="cut off"):
            load_shape(path)

    def test_text_that_is_no_mesh(self, tmp_path):
        path = tmp_path / "text.stl"
        path.write_text("dear reader, this is no mesh at all\n" * 10)
        with pytest.raises(InputDataError, match="damaged"):
            load_shape(path)

    def test_stl_without_triangles(self, tmp_path):
        path = tmp_path / "none.stl"
        path.write_bytes(b"x".ljust(80) + struct.pack("<I", 0))
        with pytest.raises(InputDataError, match="no triangles"):
            load_shape(path)

    def test_not_a_number(self, insert, tmp_path):
        spoilt = insert.vertices.copy()
        spoilt[7, 1] = np.nan
        path = tmp_path / "nan.ply"
        rows = "\n".join(" ".join(map(str, row)) for row in spoilt)
        faces = "\n".join(f"3 {a} {b} {c}" for a, b, c in insert.faces)
        path.write_text(
            f"ply\nformat ascii 1.0\nelement vertex {len(spoilt)}\n"
            "property float x\nproperty float y\nproperty float z\n"
            f"element face {len(insert.faces)}\nproperty list uchar int vertex_indices\n"
            f"end_header\n{rows}\n{faces}\n"
        )
        with pytest.raises(InputDataError, match="not a finite number"):
            load_shape(path)


def test_shape_of_the_example_is_an_implants(insert, femoral):
    assert 20 < femoral.extent.max() < 150
    assert insert.extent[0] == pytest.approx(
        2 * 22.0 * (1 + 0.2 / SHAPE["plateau_sagittal_radius_mm"]), rel=0.1
    )
