"""The bearing is cut out of solids: what is seen from above, or from outside the condyles."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from kneewear.errors import InputDataError
from kneewear.geometry.extraction import extract_condyles, extract_plateaus
from kneewear.geometry.mesh_checks import check_femoral, check_insert
from kneewear.geometry.meshes import TriangleMesh, to_knee_axes
from kneewear.io.shapes import load_shape
from tests.geometry.solids import RIGHT, closed_femoral, closed_insert
from tests.refusals import refused_at

DATA = Path(os.environ.get("KNEEWEAR_DATA") or Path(__file__).parents[2] / "../shared/data")


def test_insert_keeps_its_top_and_nothing_else():
    solid = closed_insert()
    check_insert(solid)
    sheet = extract_plateaus(solid).sheet
    assert (sheet.face_normals[:, 1] > 0).all()
    assert sheet.vertices[:, 1].min() > 7.9
    upward = solid.face_normals[:, 1] > 0.5 * np.linalg.norm(solid.face_normals, axis=1)
    assert len(sheet.faces) == upward.sum()
    assert len(sheet.border_vertices) > 0


def test_a_ledge_under_the_bearing_is_left_out():
    solid = closed_insert()
    ledge = closed_insert(n=20)
    below = TriangleMesh(ledge.vertices * [0.5, 0.2, 0.5] + [0, 1.0, 0], ledge.faces)
    both = TriangleMesh(
        np.concatenate([solid.vertices, below.vertices]),
        np.concatenate([solid.faces, below.faces + len(solid.vertices)]),
    )
    assert extract_plateaus(both).sheet.vertices[:, 1].min() > 7.9


def test_condyles_keep_their_outside_and_nothing_else():
    solid = closed_femoral()
    check_femoral(solid)
    sheet = extract_condyles(solid).sheet
    radius = np.hypot(sheet.vertices[:, 0], sheet.vertices[:, 1])
    assert radius.min() > 28.0
    middle = sheet.vertices[sheet.faces].mean(axis=1)
    assert ((middle[:, :2] * sheet.face_normals[:, :2]).sum(axis=1) > 0).all()
    outside = np.hypot(solid.vertices[:, 0], solid.vertices[:, 1]) > 28.0
    assert len(sheet.vertices) > 0.97 * outside.sum()


def test_a_solid_without_a_bearing_is_refused():
    with pytest.raises(InputDataError):
        wall = TriangleMesh(np.eye(3) * [1, 0, 1], np.array([[0, 1, 2]]))
        extract_plateaus(wall)
    assert refused_at(extract_condyles, closed_femoral(n=4)) == "femoral mesh"


@pytest.mark.parametrize(
    ("part", "extract", "check"),
    [("insert", extract_plateaus, check_insert), ("femoral", extract_condyles, check_femoral)],
)
def test_real_solids_give_their_contact_sheets(part, extract, check):
    paths = [DATA / f"gc_dm/{part}_{kind}.stl" for kind in ("solid", "contact")]
    if not all(path.is_file() for path in paths):
        pytest.skip(f"no real implant data in {DATA} (set KNEEWEAR_DATA)")
    solid, contact = (to_knee_axes(load_shape(path), "m", RIGHT, "right") for path in paths)
    check(solid)
    sheet = extract(solid).sheet
    # All of the makers' contact sheet but its steep edges is found, and little beside it.
    cosine = contact.vertex_normals[:, 1] if part == "insert" else -contact.vertex_normals[:, 1]
    bearing = contact.vertices[cosine > 0.7]
    # Triangles of the decimated solid are up to 4 mm wide.
    apart = cKDTree(np.concatenate([sheet.vertices, sheet.vertices[sheet.faces].mean(axis=1)]))
    assert np.percentile(apart.query(bearing)[0], 99) < 2.0
    area = np.linalg.norm(sheet.face_normals, axis=1)
    middle = sheet.vertices[sheet.faces].mean(axis=1)
    beside = cKDTree(contact.vertices).query(middle)[0] > 2.0
    assert area[beside].sum() < 0.12 * area.sum()
