"""Polygons are cut into triangles that have their area, also where a corner points inward."""

from __future__ import annotations

import time

import numpy as np
import pytest

from kneewear.io.polygons import triangles_of
from kneewear.io.shapes import load_shape
from kneewear.mechanics.rotations import body_three_123

DART = [(0.0, 0.0), (30.0, 0.0), (10.0, 10.0), (0.0, 30.0)]
COMB = [(0, 0), (40, 0), (40, 30), (30, 30), (30, 10)]
COMB += [(20, 10), (20, 30), (10, 30), (10, 10), (0, 10)]
BLUNT = [(0, 0), (20, 0), (40, 0), (40, 20), (0, 20)]


def area_of(corners):
    x, z = np.array(corners, dtype=float).T
    return 0.5 * abs(float((x * np.roll(z, -1) - np.roll(x, -1) * z).sum()))


@pytest.mark.parametrize("corners", [DART, COMB, BLUNT])
@pytest.mark.parametrize("start", range(4))
@pytest.mark.parametrize("sense", [1, -1])
def test_triangles_have_the_area_of_the_polygon(corners, start, sense):
    order = np.roll(np.array(corners, dtype=float), start, axis=0)[::sense]
    turn = body_three_123(np.array([0.4, -0.3, 1.1]))
    points = np.column_stack([order, np.zeros(len(order))]) @ turn.T
    cut = np.array(triangles_of(range(len(points)), points)).reshape(-1, 3)
    assert len(cut) == len(points) - 2
    a, b, c = points[cut].transpose(1, 0, 2)
    across = 0.5 * np.cross(b - a, c - a)
    assert np.linalg.norm(across, axis=1).sum() == pytest.approx(area_of(corners), rel=1e-9)
    # All of them turn as the polygon does.
    assert (across @ turn[:, 2] * sense >= -1e-9).all()


def test_an_inward_corner_of_an_obj_file_is_no_overlap(tmp_path):
    lines = [f"v {x} {y} 0" for x, y in np.roll(DART, 1, axis=0)]
    (tmp_path / "a.obj").write_text("\n".join([*lines, "f 1 2 3 4"]) + "\n")
    mesh = load_shape(tmp_path / "a.obj")
    assert np.linalg.norm(mesh.face_normals, axis=1).sum() == pytest.approx(area_of(DART), rel=1e-9)


def test_a_polygon_of_thousands_of_inward_corners_is_cut_in_seconds():
    count = 4000
    teeth = [(n / 100, 1.0 + 5.0 * (n % 2)) for n in range(count)]
    corners = np.array([*teeth, (count / 100, 0.0), (0.0, 0.0)])
    points = np.column_stack([corners, np.zeros(len(corners))])
    start = time.process_time()
    cut = np.array(triangles_of(range(len(points)), points)).reshape(-1, 3)
    # About half a second; cubic in the corners it took minutes.
    assert time.process_time() - start < 20.0
    a, b, c = points[cut].transpose(1, 0, 2)
    areas = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    assert areas.sum() == pytest.approx(area_of(corners), rel=1e-9)


def test_a_polygon_that_crosses_itself_is_cut_about_its_first_corner():
    points = np.array([(0, 0, 0), (10, 0, 0), (0, 10, 0), (10, 11, 0)], dtype=float)
    assert len(triangles_of(range(4), points)) == 6
