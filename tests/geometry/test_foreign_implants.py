"""Implants this software was not written for: each works with a stated deviation, or says why not.

Variants of the example implant always; of the real one (`gc_dm`) where its data are available.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from kneewear.base.sides import SIDES
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import build_implant, check_thickness
from kneewear.geometry.meshes import TriangleMesh, joined
from kneewear.geometry.parametric import build_parametric_implant
from kneewear.geometry.settings import ImplantSettings
from kneewear.io.shapes import load_shape
from kneewear.study.settings import merge_settings, read_settings, validate_study
from kneewear.study.shipped import find_study
from tests.geometry import example_implant as example
from tests.geometry.solids import closed_femoral, closed_insert
from tests.refusals import refused_at
from tests.transformations.implants import cone

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data")
BASE = read_settings(ROOT / "config/defaults.yaml")
# Anatomical directions of the axes of files, by columns of the matrix to x posterior, y, z medial.
AXES = {
    "z_up": (
        {"x": "posterior", "y": "lateral", "z": "superior"},
        [[1, 0, 0], [0, 0, 1], [0, -1, 0]],
    ),
    "x_lateral_z_up": (
        {"x": "lateral", "y": "anterior", "z": "superior"},
        [[0, -1, 0], [0, 0, 1], [-1, 0, 0]],
    ),
    "x_anterior": ({"x": "anterior", "y": "superior", "z": "lateral"}, np.diag([-1, 1, -1])),
}
KNEE = {"x": "posterior", "y": "superior", "z": "medial"}


def settings(study: str, **changes) -> ImplantSettings:
    """Implant of a study with changed keys of `meshes`, and `knee`."""
    implant = {"knee": changes.pop("knee", "right"), "meshes": changes}
    merged = merge_settings(BASE, read_settings(find_study(study)))
    return validate_study(merge_settings(merged, {"implant": implant})).implant


def example_parts(**shape) -> dict[str, TriangleMesh]:
    """Example implant in knee axes, with changed sizes."""
    from kneewear.geometry.settings import ParametricImplantSettings

    implant = build_parametric_implant(
        ParametricImplantSettings(**{**example.SHAPE, **shape}), "variant", 6.0
    )
    return {
        part: example.joined([example.meshed(getattr(implant, part)[s], *size) for s in SIDES])
        for part, size in (("insert", (37, 41)), ("femoral", (65, 37)))
    }


def build(parts, chosen):
    implant, record = build_implant(chosen, parts["insert"], parts["femoral"])
    return implant, record.fit_quality


def stated(quality, limit) -> None:
    """All four deviations are there and small."""
    assert len(quality) == 4
    for fit in quality:
        assert 0.0 < fit.max_mm <= limit
        assert fit.n_points > 100


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "unit"), [("z_up", "mm"), ("x_lateral_z_up", "m"), ("x_anterior", "mm")]
)
def test_other_axes_and_units_give_the_same_surfaces(name, unit):
    axes, matrix = AXES[name]
    factor = {"mm": 1.0, "m": 1e-3}[unit]
    parts = example_parts()
    stored = {
        part: TriangleMesh(factor * mesh.vertices @ np.array(matrix, dtype=float), mesh.faces)
        for part, mesh in parts.items()
    }
    chosen = settings("example_meshes", axes=axes, unit=unit)
    implant, quality = build(stored, chosen)
    stated(quality, 0.02)
    reference, _ = build(parts, settings("example_meshes", axes=KNEE))
    for side in SIDES:
        assert implant.insert[side].control_points == pytest.approx(
            reference.insert[side].control_points, abs=1e-6
        )


@pytest.mark.slow
def test_a_left_knee_becomes_the_same_right_one():
    parts = {
        part: TriangleMesh(mesh.vertices * [-1, 1, 1], mesh.faces[:, ::-1])
        for part, mesh in example_parts().items()
    }
    axes = {"x": "anterior", "y": "superior", "z": "medial"}
    implant, quality = build(parts, settings("example_meshes", axes=axes, knee="left"))
    stated(quality, 0.02)
    assert implant.left
    for side, sign in (("medial", 1), ("lateral", -1)):
        assert (sign * implant.insert[side].control_points[..., 2] > 0).all()


@pytest.mark.parametrize("radius", [31.0])
def test_ultracongruent_inserts_are_fitted(radius):
    parts = example_parts(
        plateau_sagittal_radius_mm=radius,
        plateau_coronal_radius_mm={"medial": 205.0, "lateral": 205.0},
        plateau_half_length_mm=20.0,
    )
    region = {"x": [-19.0, 19.0]}
    chosen = settings(
        "example_meshes",
        axes=KNEE,
        insert_region_mm={side: region for side in SIDES},
    )
    implant, quality = build(parts, chosen)
    stated(quality, 0.02)
    assert build_grid(implant, 30, 20).valid.mean() > 0.9


@pytest.mark.slow
def test_point_clouds_give_the_surfaces_of_the_mesh(tmp_path):
    parts = example.example_meshes()
    clouds = {}
    for part, ending in (("insert", "csv"), ("femoral", "xyz")):
        path = tmp_path / f"{part}.{ending}"
        separator = {"csv": ",", "xyz": " "}[ending]
        head = "x,y,z\n" if ending == "csv" else ""
        rows = (separator.join(f"{value:.9g}" for value in point) for point in parts[part].vertices)
        path.write_text(head + "\n".join(rows) + "\n")
        clouds[part] = load_shape(path)
        assert len(clouds[part].faces) == 0
    implant, quality = build(clouds, settings("example_meshes"))
    stated(quality, 0.02)
    truth = example.example_implant()
    for side in SIDES:
        (u0, u1), (v0, v1) = implant.insert[side].domain
        u, v = np.linspace(u0, u1, 30)[4:-4, None], np.linspace(v0, v1, 30)[4:-4]
        points = implant.insert[side].evaluate(u, v).reshape(-1, 3)
        *_, distance, _, projected = truth.insert[side].closest_points(points)
        assert np.abs(distance[projected]).max() < 0.01


def solid_settings(**changes) -> ImplantSettings:
    """Made-up solids: wide regions of smooth shapes."""
    return settings(
        "example_meshes",
        axes=KNEE,
        insert_region_mm={
            "medial": {"x": [-20.0, 15.0], "z": [14.0, 36.0]},
            "lateral": {"x": [-20.0, 15.0], "z": [-36.0, -14.0]},
        },
        femoral_region_mm={
            "medial": {"z": [14.0, 29.0], "angle_deg": [-10.0, 85.0]},
            "lateral": {"z": [-29.0, -14.0], "angle_deg": [-10.0, 85.0]},
        },
        **{"insert_form": "solid", "femoral_form": "solid", **changes},
    )


@pytest.mark.slow
def test_solids_have_their_bearings_cut_out():
    parts = {"insert": closed_insert(), "femoral": closed_femoral()}
    _, quality = build(parts, solid_settings())
    stated(quality, 0.02)


def test_thickness_is_above_what_is_seen_of_several_bodies():
    """A cone below the insert is a body of its own, whose base lies on the underside."""
    wide = {
        "medial": {"x": [-20.0, 15.0], "z": [1.0, 36.0]},
        "lateral": {"x": [-20.0, 15.0], "z": [-36.0, -1.0]},
    }
    with_cone = joined([closed_insert(), cone(9.0, 22.0)])
    chosen = settings("example_meshes", axes=KNEE, insert_form="solid", insert_region_mm=wide)
    check_thickness(chosen, chosen.nominal_thickness_mm, with_cone)


def test_a_solid_called_a_sheet_is_refused():
    parts = {"insert": closed_insert(), "femoral": closed_femoral()}
    assert (
        refused_at(build, parts, solid_settings(insert_form="sheet")) == "insert.stl, insert_form"
    )
    assert (
        refused_at(build, parts, solid_settings(femoral_form="sheet"))
        == "femoral.stl, femoral_form"
    )


@pytest.fixture(scope="module")
def real():
    paths = {p: DATA / f"gc_dm/{p}_contact.stl" for p in ("insert", "femoral")}
    if not all(path.is_file() for path in paths.values()):
        pytest.skip(f"no real implant data in {DATA} (set KNEEWEAR_DATA)")
    return {part: load_shape(path) for part, path in paths.items()}


def thinned(mesh: TriangleMesh, triangles: int) -> TriangleMesh:
    """Mesh of some of the vertices only, by edge collapse."""
    from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray, vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
    from vtkmodules.vtkFiltersCore import vtkDecimatePro

    points, cells, data, filtered = vtkPoints(), vtkCellArray(), vtkPolyData(), vtkDecimatePro()
    points.SetData(numpy_to_vtk(1e3 * mesh.vertices, deep=1))
    rows = np.column_stack([np.full(len(mesh.faces), 3), mesh.faces]).astype(np.int64)
    cells.ImportLegacyFormat(numpy_to_vtkIdTypeArray(rows.ravel(), deep=1))
    data.SetPoints(points)
    data.SetPolys(cells)
    filtered.SetInputData(data)
    filtered.SetTargetReduction(1.0 - triangles / len(mesh.faces))
    filtered.SetPreserveTopology(True)
    filtered.Update()
    result = filtered.GetOutput()
    faces = vtk_to_numpy(result.GetPolys().GetConnectivityArray()).reshape(-1, 3)
    return TriangleMesh(1e-3 * vtk_to_numpy(result.GetPoints().GetData()).astype(float), faces)


class TestRealImplant:
    def test_two_thousand_triangles(self, real):
        parts = {part: thinned(mesh, 2000) for part, mesh in real.items()}
        assert all(1500 < len(mesh.faces) < 2600 for mesh in parts.values())
        # Edges of 3 mm on edges of 3 mm radius: a tenth of a millimetre is what such a mesh holds.
        chosen = settings("dm_fluoroscopy", tolerance_mm=0.1, mean_tolerance_mm=0.02)
        _, quality = build(parts, chosen)
        stated(quality, 0.1)

    @pytest.mark.slow
    def test_solids(self):
        paths = [DATA / f"gc_dm/{p}_solid.stl" for p in ("insert", "femoral")]
        if not all(path.is_file() for path in paths):
            pytest.skip(f"no real implant data in {DATA} (set KNEEWEAR_DATA)")
        chosen = settings(
            "dm_fluoroscopy",
            insert_form="solid",
            femoral_form="solid",
            knot_spacing_mm={"along": 1.0, "across": 0.5},
            smoothing_length_mm=0.2,
            mean_tolerance_mm=0.002,
        )
        _, record = build_implant(chosen, *map(load_shape, paths))
        stated(record.fit_quality, 0.02)

    @pytest.mark.parametrize("form", ["mirrored", "backwards"])
    def test_the_other_knee_is_refused(self, real, form):
        axes = KNEE
        if form == "backwards":
            axes = {"x": "anterior", "y": "superior", "z": "lateral"}
            parts = real
        else:
            parts = {
                part: TriangleMesh(mesh.vertices * [1, 1, -1], mesh.faces[:, ::-1])
                for part, mesh in real.items()
            }
        assert (
            refused_at(build, parts, settings("dm_fluoroscopy", axes=axes))
            == "insert_contact.stl, knee"
        )
