"""Solids read back from their files."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.geometry.closed_solids import enclosed_volume, is_watertight, layer_solid
from kneewear.geometry.meshes import TriangleMesh, merge_vertices
from kneewear.io.cad import cad_is_installed
from kneewear.io.mesh_formats import parse_stl
from kneewear.io.solid_files import MAX_STEP_FACETS, save_solid, surface_elements
from tests.geometry.test_closed_solids import raster


@pytest.fixture
def block():
    points, quads = raster(3, 5)
    return layer_solid(points, quads, points * [1.0, 0.0, 1.0])


def test_stl_holds_the_solid(block, tmp_path):
    path = save_solid(block, "insert", tmp_path)[0]
    vertices, faces = merge_vertices(*parse_stl(path, path.read_bytes()), 1e-6)
    read = TriangleMesh(vertices, faces)
    assert is_watertight(read)
    assert enclosed_volume(read) == pytest.approx(60.0)


def test_surface_elements_share_their_nodes(block):
    lines = surface_elements(block, "insert").splitlines()
    at = lines.index("*ELEMENT, TYPE=S3, ELSET=insert")
    nodes = np.array([line.split(",") for line in lines[2:at]], dtype=float)
    faces = np.array([line.split(",") for line in lines[at + 1 :]], dtype=int)[:, 1:] - 1
    assert np.array_equal(nodes[:, 0], np.arange(1, len(nodes) + 1))
    read = TriangleMesh(nodes[:, 1:], faces)
    assert is_watertight(read)
    assert enclosed_volume(read) == pytest.approx(60.0)


@pytest.mark.skipif(not cad_is_installed(), reason="needs the extra cad")
def test_step_is_a_solid_of_the_same_volume(block, tmp_path):
    from OCP.BRepCheck import BRepCheck_Analyzer
    from OCP.BRepGProp import BRepGProp
    from OCP.GProp import GProp_GProps
    from OCP.STEPControl import STEPControl_Reader
    from OCP.TopAbs import TopAbs_SOLID
    from OCP.TopExp import TopExp_Explorer

    *_, path = save_solid(block, "insert", tmp_path)
    reader = STEPControl_Reader()
    reader.ReadFile(str(path))
    reader.TransferRoots()
    shape = reader.OneShape()
    assert TopExp_Explorer(shape, TopAbs_SOLID).More()
    assert BRepCheck_Analyzer(shape).IsValid()
    properties = GProp_GProps()
    BRepGProp.VolumeProperties_s(shape, properties)
    assert properties.Mass() == pytest.approx(60.0)


def test_large_solids_have_no_step_file(tmp_path):
    points, quads = raster(100, 100)
    solid = layer_solid(points, quads, points * [1.0, 0.0, 1.0])
    assert len(solid.faces) > MAX_STEP_FACETS
    assert [file.suffix for file in save_solid(solid, "insert", tmp_path)] == [".stl", ".inp"]
