"""Maps for ParaView, opened again by VTK's own reader."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

from kneewear.base.cases import Case
from kneewear.base.schemas import DAMAGE
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.grid import build_grid
from kneewear.motion.history import case_coordinates, failure_attribute
from kneewear.report.vtk import save_damage_vtk, save_geometry_vtk
from tests.geometry.test_layers import knee_of_spheres
from tests.physics.bodies import gait_study

ROWS = 5
COLUMNS = 4


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
    position = np.meshgrid(
        2.0 * np.arange(ROWS + 1) - 1.0, 3.0 * np.arange(COLUMNS + 1) - 1.5, indexing="ij"
    )
    plan = np.stack(position, axis=-1)
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
    return DAMAGE.dataset(
        {
            "life": lives,
            "activity": ("gait",),
            "shares": np.ones((len(lives), 1)),
            **case_coordinates((Case("6mm_50kg", 6.0, 50.0), Case("8mm_50kg", 8.0, 50.0))),
            "side": ("medial", "lateral"),
            "wear_depth": wear,
            "creep_depth": creep,
            "damage_depth": wear + creep,
            "max_pressure": pressure,
            "avg_pressure": np.ones(shape[:3]),
            "cross_shear": np.full(shape, 0.1),
        },
        **failure_attribute(()),
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
    np.testing.assert_array_equal(stored, maps.damage_depth.values[0, 1][grid.valid])
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


def arrays(data):
    """Names and values of the arrays of cells or points."""
    names = [data.GetArrayName(number) for number in range(data.GetNumberOfArrays())]
    return {name: vtk_to_numpy(data.GetArray(name)) for name in names}


def normals(mesh):
    """Normals of the quadrilaterals by the order of their corners."""
    corners = vtk_to_numpy(mesh.GetPoints().GetData())
    quads = vtk_to_numpy(mesh.GetPolys().GetConnectivityArray()).reshape(-1, 4)
    return np.cross(*(corners[quads[:, i]] - corners[quads[:, i - 2]] for i in (2, 3)))


@pytest.mark.compiled
def test_geometry_is_written_with_nets_and_elements(tmp_path):
    study = gait_study()
    paths = save_geometry_vtk(study.implant, study.grid, tmp_path / "vtk")
    assert [path.name for path in paths] == [
        "insert.vtp",
        "insert_net.vtp",
        "femoral.vtp",
        "femoral_net.vtp",
        "grid.vtp",
    ]
    cells = arrays(read(paths[4]).GetCellData())
    on = study.grid.valid
    np.testing.assert_array_equal(cells["thickness_mm"], study.grid.thickness[on])
    np.testing.assert_array_equal(cells["area_mm2"], study.grid.area[on])
    np.testing.assert_array_equal(
        study.grid.thickness[cells["side"], cells["row"], cells["column"]], cells["thickness_mm"]
    )
    net = read(paths[1])
    patches = list(study.implant.insert.values())
    assert net.GetNumberOfPoints() == sum(patch.weights.size for patch in patches)
    n_u, n_v = patches[0].weights.shape
    assert net.GetNumberOfLines() == 2 * ((n_u - 1) * n_v + n_u * (n_v - 1))
    for path in (paths[0], paths[2]):
        mesh = read(path)
        points = arrays(mesh.GetPointData())
        assert set(points) == {
            "normal",
            "smaller_curvature_per_mm",
            "larger_curvature_per_mm",
            "side",
        }
        quads = vtk_to_numpy(mesh.GetPolys().GetConnectivityArray()).reshape(-1, 4)
        # Faces turn the way the surface's normals point.
        assert ((normals(mesh) * points["normal"][quads[:, 0]]).sum(axis=1) > 0).all()
    assert (normals(read(paths[0]))[:, 1] > 0).all()


@pytest.mark.compiled
def test_vectors_of_a_left_knee_are_mirrored_with_its_points(tmp_path):
    study = gait_study()
    left = replace(study.implant, left=True)
    written = [
        save_geometry_vtk(implant, study.grid, tmp_path / name)
        for name, implant in (("right", study.implant), ("left", left))
    ]
    for right, mirrored in zip(*written, strict=True):
        for part in ("GetPointData", "GetCellData"):
            ours, theirs = (arrays(getattr(read(path), part)()) for path in (right, mirrored))
            for name, values in ours.items():
                if values.ndim == 2:
                    mirror = np.array([-1.0, 1.0, 1.0])
                    np.testing.assert_allclose(theirs[name], values * mirror, atol=1e-6)


@pytest.mark.compiled
def test_natural_knee_is_written_with_bones_and_layers(tmp_path):
    knee = knee_of_spheres()
    paths = save_geometry_vtk(knee, build_grid(knee, 8, 6), tmp_path)
    assert {"insert_bone.vtp", "femoral_bone_net.vtp"} <= {path.name for path in paths}
    points = arrays(read(tmp_path / "femoral.vtp").GetPointData())
    np.testing.assert_allclose(points["thickness_mm"], 2.5, atol=1e-9)
