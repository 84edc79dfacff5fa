"""Point clouds are read with any separator of their numbers, and refused with the line."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.io.shapes import load_shape
from tests.refusals import refused_at

POINTS = np.array([[0.0, 1.5, -2.0], [3.0, 4.0, 5.0], [6.0, 7.25, 8e-1]])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "x,y,z\n0,1.5,-2\n3,4,5\n6,7.25,0.8\n"),
        ("b.csv", "# scan\nid;z_mm;x_mm;y_mm\n1;-2;0;1.5\n2;5;3;4\n3;0.8;6;7.25\n"),
        ("c.xyz", "0 1.5 -2 0 1 0\n3 4 5 0 1 0\n\n6 7.25 0.8 0 1 0\n"),
        ("d.xyz", "0\t1.5\t-2\n3\t4\t5\n6\t7.25\t8e-1\n6\t7.25\t8e-1\n"),
        ("e.txt", "0, 1.5, -2\n3, 4, 5\n6, 7.25, 0.8\n"),
    ],
)
def test_points_are_read(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    cloud = load_shape(path)
    np.testing.assert_allclose(cloud.vertices, POINTS)
    assert len(cloud.faces) == 0


def test_ply_that_promises_triangles_and_has_none_is_damaged(tmp_path):
    path = tmp_path / "scan.ply"
    path.write_text(
        "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
        "property float z\nelement face 2\nproperty list uchar int vertex_indices\n"
        "end_header\n0 0 0\n"
    )
    assert refused_at(load_shape, path) == "scan.ply"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("x,y,z\n1,2,3\n1,two,3\n", "points.csv, line 3"),
        ("1 2 3\n1 2\n", "points.csv, line 2"),
        ("1 2 nan\n", "points.csv, line 1"),
        ("0,5;1.5;2,5\n0.5;1.5;2,5\n", "points.csv, line 1"),
        ("1 2 3e20\n", "points.csv, line 1"),
        ("x,y,z\n", "points.csv"),
        ("", "points.csv"),
        ("# nothing\n", "points.csv"),
    ],
)
def test_bad_lines_are_named(tmp_path, text, place):
    path = tmp_path / "points.csv"
    path.write_text(text)
    assert refused_at(load_shape, path) == place


def test_unknown_binary_and_missing_files_are_refused(tmp_path):
    (tmp_path / "a.vtk").write_text("")
    assert refused_at(load_shape, tmp_path / "a.vtk") == "a.vtk"
    (tmp_path / "b.xyz").write_bytes(b"\xff\x00\x00\x81")
    assert refused_at(load_shape, tmp_path / "b.xyz") == "b.xyz, line 1"
    assert refused_at(load_shape, tmp_path / "c.xyz") == "c.xyz"
