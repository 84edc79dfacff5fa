"""Maps for ParaView, opened again by VTK's own reader."""

from __future__ import annotations

import numpy as np
import pytest
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

from kneewear.geometry.grid import ElementGrid
from kneewear.io.vtk import save_damage_vtk
from kneewear.simulation.history import Case
from kneewear.wear.maps import DamageMaps

ROWS, COLUMNS = 5, 4


@pytest.fixture
def grid():
    centre = np.zeros((2, ROWS, COLUMNS, 3))
    centre[..., 0] = 2.0 * np.arange(ROWS)[:, None]
    centre[..., 2] = 3.0 * np.arange(COLUMNS)
    centre[..., 1] = 0.1 * centre[..., 0]
    centre[1, ..., 2] -= 30.0
    valid = np.ones(centre.shape[:-1], dtype=bool)
    valid[0, 0, 0] = False
    centre[0, 0, 0] = np.nan
    blank = np.zeros(centre.shape)
    place = np.meshgrid(
        2.0 * np.arange(ROWS + 1) - 1.0, 3.0 * np.arange(COLUMNS + 1) - 1.5, indexing="ij"
    )
    plan = np.stack(place, axis=-1)
    return ElementGrid(
        centre=centre,
        normal=blank,
        tangent_row=blank,
        tangent_column=blank,
        area=np.full(valid.shape, 6.0),
        thickness=np.full(valid.shape, 7.0),
        valid=valid,
        covered=valid.astype(float),
        corners=np.stack([plan, plan - [0.0, 30.0]]),
        nominal_thickness=6.0,
        sides=("medial", "lateral"),
    )


def make_maps(lives):
    """Random maps of two cases."""
    shape = (len(lives), 2, 2, ROWS, COLUMNS)
    wear, creep, pressure = np.random.default_rng(0).random((3, *shape))
    return DamageMaps(
        lives=lives,
        activities=("gait",),
        shares=np.ones((len(lives), 1)),
        cases=(Case("6mm_50kg", 6.0, 50.0), Case("8mm_50kg", 8.0, 50.0)),
        sides=("medial", "lateral"),
        wear_depth=wear,
        creep_depth=creep,
        damage_depth=wear + creep,
        max_pressure=pressure,
        peak_mean_pressure=np.ones(shape[:3]),
    )


def read(path):
    """Mesh in a file."""
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def test_reader_finds_every_valid_element_with_its_values(tmp_path, grid):
    maps = make_maps(("gait",))
    paths = save_damage_vtk(maps, grid, tmp_path)
    assert [path.name for path in paths] == ["6mm_50kg.vtp", "8mm_50kg.vtp"]
    mesh = read(paths[1])
    assert mesh.GetNumberOfPolys() == grid.valid.sum() == 39
    stored = vtk_to_numpy(mesh.GetCellData().GetArray("damage_depth_mm"))
    np.testing.assert_array_equal(stored, maps.damage_depth[0, 1][grid.valid])
    sides = vtk_to_numpy(mesh.GetCellData().GetArray("side"))
    assert (sides == 0).sum() == 19


def test_cells_surround_their_element_centres_and_face_up(tmp_path, grid):
    mesh = read(save_damage_vtk(make_maps(("gait",)), grid, tmp_path)[0])
    corners = vtk_to_numpy(mesh.GetPoints().GetData())
    quads = vtk_to_numpy(mesh.GetPolys().GetConnectivityArray()).reshape(-1, 4)
    middle = corners[quads].mean(axis=1)[:, [0, 2]]
    np.testing.assert_allclose(middle, grid.centre[grid.valid][:, [0, 2]], atol=1e-12)
    first, second = (corners[quads[:, i]] - corners[quads[:, 0]] for i in (1, 3))
    assert (np.cross(first, second)[:, 1] > 0.0).all()


def test_left_knee_is_mirrored_and_still_faces_up(tmp_path, grid):
    maps = make_maps(("gait",))
    right = read(save_damage_vtk(maps, grid, tmp_path / "right")[0])
    left = read(save_damage_vtk(maps, grid, tmp_path / "left", left=True)[0])
    ours, theirs = (vtk_to_numpy(mesh.GetPoints().GetData()) for mesh in (right, left))
    np.testing.assert_array_equal(theirs, ours * [-1.0, 1.0, 1.0])
    quads = vtk_to_numpy(left.GetPolys().GetConnectivityArray()).reshape(-1, 4)
    first, second = (theirs[quads[:, i]] - theirs[quads[:, 0]] for i in (1, 3))
    assert (np.cross(first, second)[:, 1] > 0.0).all()


def test_several_lives_stand_in_the_name(tmp_path, grid):
    paths = save_damage_vtk(make_maps(("walk", "mixed")), grid, tmp_path)
    assert "6mm_50kg_mixed.vtp" in [path.name for path in paths]
