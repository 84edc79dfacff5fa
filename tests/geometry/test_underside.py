"""Undersides by the settings: flat, a tilted tray, a solid insert."""

from __future__ import annotations

import math
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.thickness import MeshUnderside
from kneewear.io.shapes import load_shape
from kneewear.study.files import mesh_files
from kneewear.study.settings import merge_settings, read_settings, validate_study
from kneewear.study.shipped import find_study
from tests.geometry.plans import bar
from tests.refusals import refusal, refused_at

ROOT = Path(__file__).parents[2]


def study(name, **meshes):
    changes = merge_settings(read_settings(find_study(name)), {"implant": {"meshes": meshes}})
    return validate_study(merge_settings(read_settings(ROOT / "config" / "defaults.yaml"), changes))


@cache
def flat_grid():
    """Elements of the example on its flat base."""
    return build_grid(built(study("example_meshes")), 10, 8)


def built(settings, root=ROOT):
    files = mesh_files(settings, root)
    return build_implant(settings.implant, **{n: load_shape(p) for n, p in files.items()})[0]


PLANE = {"height_mm": 0.5, "posterior_rise_deg": 3.0, "medial_rise_deg": -1.0}


@pytest.mark.slow
@pytest.mark.compiled
def test_tilted_tray_is_measured_down_to():
    flat = flat_grid()
    tilted = built(study("example_meshes", underside_mm=None, underside_plane=PLANE))
    tilted = build_grid(tilted, 10, 8)
    x, _, z = flat.centre[flat.valid].T
    rise = 0.5 + math.tan(math.radians(3.0)) * x - math.tan(math.radians(1.0)) * z
    exact = flat.thickness[flat.valid] - rise
    assert tilted.thickness[tilted.valid] == pytest.approx(exact, abs=1e-9)


def solid_in_file(tmp_path, height, name="solid.ply"):
    """Underside of a block as a PLY file in the axes of the example's meshes."""
    import trimesh

    block = bar(np.array([[-40.0, height], [40, height], [40, 3], [-40, 3]]), (-60.0, 60.0))
    turned = TriangleMesh(block.vertices * [-1.0, 1.0, -1.0], block.faces)
    trimesh.Trimesh(turned.vertices, turned.faces, process=False).export(tmp_path / name)
    return str(tmp_path / name)


@pytest.mark.slow
@pytest.mark.compiled
def test_solid_insert_is_measured_down_to(tmp_path):
    mesh = solid_in_file(tmp_path, -0.75)
    settings = study("example_meshes", underside_mm=None, underside_mesh=mesh)
    assert mesh_files(settings, ROOT)["underside_mesh"] == mesh
    flat = flat_grid()
    solid = build_grid(built(settings), 10, 8)
    # Single precision in the file.
    exact = flat.thickness[flat.valid] + 0.75
    assert solid.thickness[solid.valid] == pytest.approx(exact, abs=1e-5)


def test_one_underside_is_needed():
    assert (
        refused_at(study, "example_meshes", underside_plane=PLANE) == "settings, key implant.meshes"
    )
    assert refused_at(study, "example_meshes", underside_mm=None) == "settings, key implant.meshes"


@pytest.mark.slow
def test_underside_above_the_bearing_is_refused(tmp_path):
    refusal(built, study("example_meshes", underside_mm=9.0))
    steep = PLANE | {"posterior_rise_deg": 40.0}
    refusal(built, study("example_meshes", underside_mm=None, underside_plane=steep))
    mesh = solid_in_file(tmp_path, 12.0)
    refusal(built, study("example_meshes", underside_mm=None, underside_mesh=mesh))


@pytest.mark.slow
def test_real_solid_agrees_with_the_flat_base_but_for_its_recesses():
    flat = study("dm_fluoroscopy")
    data = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data").resolve()
    if not (data / "gc_dm" / "insert_solid.stl").is_file():
        pytest.skip(f"no real implant data in {data} (set KNEEWEAR_DATA)")
    solid = study("dm_fluoroscopy", underside_mm=None, underside_mesh="gc_dm/insert_solid.stl")
    one, implant = build_grid(built(flat), 50, 38), built(solid)
    other = build_grid(implant, 50, 38)
    assert isinstance(implant.underside, MeshUnderside)
    difference = (one.thickness - other.thickness)[one.valid & other.valid]
    # Its recesses are 4 mm deep; the solid was decimated by those who published it.
    assert np.abs(np.median(difference)) < 1e-6
    assert difference.min() > -0.03
    assert 3.5 < difference.max() < 4.1
    assert 0.85 < (np.abs(difference) < 0.03).mean() < 1.0
