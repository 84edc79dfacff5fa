"""Files are read back to the same bits, and damaged or foreign files are refused."""

from __future__ import annotations

import time
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from kneewear.activity.activity import Activity
from kneewear.base.cases import Case
from kneewear.base.schemas import CONTACT, DAMAGE
from kneewear.base.sides import SIDES
from kneewear.errors import Finding
from kneewear.geometry.coverage import Coverage
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.implant import Implant, InsertLayer
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import COLUMNS, SurfaceTable
from kneewear.geometry.thickness import MeshUnderside, PlaneUnderside
from kneewear.io.documents import load_json, load_table, save_json, save_table
from kneewear.io.result_files import atomic_path
from kneewear.mechanics.springs import Spring
from kneewear.motion.history import case_coordinates, failure_attribute
from kneewear.study import netcdf
from tests.refusals import refused_at

RNG = np.random.default_rng(1)
TWO_CASES = (Case("a", 6.0, 50.0), Case("b", 8.0, 75.0, {"wear.blocks": 3.5}))


def assert_same(one, other):
    for field in fields(one):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype, field.name
            np.testing.assert_array_equal(left, right, err_msg=field.name)
        else:
            assert left == right, field.name


def make_grid():
    shape = (2, 4, 3)
    return ElementGrid(
        centre=RNG.normal(size=(*shape, 3)),
        normal=RNG.normal(size=(*shape, 3)),
        tangent_row=RNG.normal(size=(*shape, 3)),
        tangent_column=RNG.normal(size=(*shape, 3)),
        area=RNG.random(shape),
        thickness=RNG.random(shape),
        valid=np.ones(shape, dtype=bool),
        covered=RNG.random(shape),
        corners=RNG.normal(size=(2, 5, 4, 2)),
        nominal_thickness=6.0,
        sides=SIDES,
    )


def make_surface():
    knots = np.array([0.0, 0, 0, 0.5, 1, 1, 1])
    return Surface(RNG.normal(size=(4, 4, 3)), RNG.random((4, 4)) + 1, knots, knots, 2, 2)


def make_history(cases=TWO_CASES, frames=5):
    n = (len(cases), frames)
    element = (*n, 2, 4, 3)
    pressure = RNG.random(element).astype(np.float32)
    pressure[pressure < 0.8] = 0
    centre = RNG.normal(size=(*n, 2, 3))
    centre[0, 0, 1] = np.nan
    return CONTACT.dataset(
        {
            **case_coordinates(cases),
            "side": SIDES,
            "percent": np.arange(frames) * 20.0,
            "time": np.arange(frames) * 0.2,
            "pressure": pressure,
            "slip": RNG.random((*element, 2)).astype(np.float32),
            "translation": RNG.normal(size=(*n, 3)),
            "rotation": RNG.normal(size=(*n, 3)),
            "load": RNG.random(n),
            "load_line": RNG.random(n),
            "force": RNG.normal(size=(*n, 2, 3)),
            "torque": RNG.normal(size=(*n, 2, 3)),
            "reaction_force": RNG.normal(size=(*n, 3)),
            "reaction_moment": RNG.normal(size=(*n, 3)),
            "inertia_force": RNG.normal(size=(*n, 3)),
            "inertia_moment": RNG.normal(size=(*n, 3)),
            "spring_force": RNG.random(n),
            "max_pressure": RNG.random((*n, 2)),
            "avg_pressure": RNG.random((*n, 2)),
            "contact_area": RNG.random((*n, 2)),
            "max_penetration": RNG.random((*n, 2)),
            "active_elements": RNG.integers(0, 9, (*n, 2)),
            "centre_of_pressure": centre,
            "residual": RNG.random(n),
        },
        leading=("case", "frame"),
        activity="gait",
        analysis="quasi_static",
        **failure_attribute(()),
    )


def make_damage(cases=TWO_CASES[:1]):
    shape = (2, len(cases), 2, 4, 3)
    return DAMAGE.dataset(
        {
            "life": ("gait", "mixed"),
            "activity": ("gait", "stairs"),
            "shares": np.array([[1.0, 0.0], [0.85, 0.15]]),
            **case_coordinates(cases),
            "side": SIDES,
            "wear_depth": RNG.random(shape),
            "creep_depth": RNG.random(shape),
            "damage_depth": RNG.random(shape),
            "max_pressure": RNG.random(shape),
            "avg_pressure": RNG.random(shape[:3]),
            "cross_shear": RNG.random(shape),
        },
        **failure_attribute(()),
    )


def test_grid_round_trip(tmp_path):
    grid = make_grid()
    netcdf.save(grid, tmp_path / "new" / "grid.nc")
    assert_same(grid, netcdf.load(ElementGrid, tmp_path / "new" / "grid.nc"))


def make_knee(left=False):
    def make_samples():
        u, v = np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 1, 4), indexing="ij")
        return SurfaceTable(COLUMNS, np.dstack([u, v, RNG.normal(size=(5, 4, 12))]))

    patches = {side: make_surface() for side in SIDES}
    return KneeModel(
        implant=Implant("one", patches, patches, 0.0, 6.0, left=left),
        grid=make_grid(),
        samples={side: make_samples() for side in SIDES},
    )


@pytest.mark.parametrize("coarse", [True, False])
def test_knee_round_trip(tmp_path, coarse):
    knee = make_knee()
    knee = replace(knee, coarse_grid=make_grid() if coarse else None)
    netcdf.save(knee, tmp_path / "new" / "knee.nc")
    again = netcdf.load(KneeModel, tmp_path / "new" / "knee.nc")
    assert_same(again.grid, knee.grid)
    assert list(again.samples) == list(SIDES)
    for side in SIDES:
        assert_same(again.samples[side], knee.samples[side])
        assert_same(again.implant.femoral[side], knee.implant.femoral[side])
    assert again.distance_tables == {}
    assert (again.coarse_grid is not None) == coarse


@pytest.mark.parametrize("with_coverage", [True, False])
def test_implant_round_trip(tmp_path, with_coverage):
    coverage = {side: Coverage(RNG.random((7, 2, 2))) for side in SIDES}
    implant = Implant(
        name="Ä implant",
        femoral={side: make_surface() for side in SIDES},
        insert={side: make_surface() for side in SIDES},
        underside=-1.5,
        nominal_thickness=6.0,
        left=True,
        coverage=coverage if with_coverage else None,
    )
    netcdf.save(implant, tmp_path / "surfaces.nc")
    again = netcdf.load(Implant, tmp_path / "surfaces.nc")
    assert (again.name, again.underside, again.left) == ("Ä implant", -1.5, True)
    for body in ("femoral", "insert"):
        for side in SIDES:
            assert_same(getattr(implant, body)[side], getattr(again, body)[side])
    if with_coverage:
        assert_same(coverage["lateral"], again.coverage["lateral"])
    else:
        assert again.coverage is None
    assert not again.natural


def test_natural_knee_round_trip(tmp_path):
    patches = {side: make_surface() for side in SIDES}
    knee = Implant(
        "knee",
        patches,
        patches,
        np.nan,
        6.0,
        femoral_layer=InsertLayer(patches, (1.0, 20.0)),
        insert_layer=InsertLayer(patches, (2.0, 10.0)),
    )
    netcdf.save(knee, tmp_path / "surfaces.nc")
    again = netcdf.load(Implant, tmp_path / "surfaces.nc")
    assert again.natural
    assert np.isnan(again.underside)
    assert (again.femoral_layer.limits, again.insert_layer.limits) == ((1.0, 20.0), (2.0, 10.0))
    for layer in (again.femoral_layer, again.insert_layer):
        for side in SIDES:
            assert_same(layer.bone[side], patches[side])


def test_undersides_round_trip(tmp_path):
    patches = {side: make_surface() for side in SIDES}
    mesh = TriangleMesh(RNG.normal(size=(5, 3)), np.array([[0, 1, 2], [1, 2, 4]]))
    for underside in (PlaneUnderside(1.0, 0.1, -0.2), MeshUnderside(mesh)):
        netcdf.save(Implant("solid", patches, patches, underside, 6.0), tmp_path / "surfaces.nc")
        again = netcdf.load(Implant, tmp_path / "surfaces.nc").underside
        assert type(again) is type(underside)
        if isinstance(underside, MeshUnderside):
            np.testing.assert_array_equal(again.mesh.vertices, mesh.vertices)
            np.testing.assert_array_equal(again.mesh.faces, mesh.faces)
        else:
            assert again == underside


@pytest.mark.parametrize(("left", "knee"), [(True, "left"), (False, "right")])
def test_a_file_states_which_knee_and_frame_it_holds(tmp_path, left, knee):
    netcdf.save(make_knee(left), tmp_path / "knee.nc")
    with xr.open_datatree(tmp_path / "knee.nc", engine="h5netcdf") as tree:
        assert tree.attrs["knee"] == knee
        assert tree.attrs["frame"].startswith("right-knee insert frame: x posterior")
    assert netcdf.load(KneeModel, tmp_path / "knee.nc").implant.left is left


SIMULATOR = {
    "prescribed": ("theta_3",),
    "load_line": 5.0,
    "wrench": RNG.normal(size=(4, 6)),
    "springs": (Spring("x", 20.0, rest=1.0, gap=2.5), Spring("theta_2", 17e3, damping=0.1)),
    "deviation": RNG.random(6),
    "deviation_harmonics": 2,
    "warnings": (Finding("motion.spike", "warn", "gait.csv", "9", "3", "Check this sample."),),
}


@pytest.mark.parametrize("further", [{}, SIMULATOR])
@pytest.mark.parametrize("notes", [(), ("resampled", "closed over 5 %")])
def test_activity_round_trip(tmp_path, notes, further):
    activity = Activity(
        name="gait",
        percent=np.arange(4) * 25.0,
        duration=1.22,
        translation=RNG.normal(size=(4, 3)),
        rotation=RNG.normal(size=(4, 3)),
        load=RNG.random(4),
        notes=notes,
        **further,
    )
    netcdf.save(activity, tmp_path / "gait.nc")
    assert_same(activity, netcdf.load(Activity, tmp_path / "gait.nc"))


def test_history_round_trip(tmp_path):
    history = make_history()
    netcdf.save(history, tmp_path / "b000.nc")
    assert history.identical(netcdf.load(CONTACT, tmp_path / "b000.nc"))


def test_histories_join_along_the_cases_without_their_elements(tmp_path):
    first, second = make_history(), make_history((Case("c", 10.0, 60.0),))
    netcdf.save(first, tmp_path / "b000.nc")
    netcdf.save(second, tmp_path / "b001.nc")
    paths = [tmp_path / "b000.nc", tmp_path / "b001.nc"]
    both = netcdf.load(CONTACT, paths, leave_out=("pressure", "slip"))
    assert both["case"].values.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(both["load"], np.concatenate([first["load"], second["load"]]))
    assert "pressure" not in both


def test_damage_round_trip(tmp_path):
    maps, more = make_damage(), make_damage((Case("b", 8.0, 50.0),))
    netcdf.save(maps, tmp_path / "b000.nc")
    netcdf.save(more, tmp_path / "b001.nc")
    assert maps.identical(netcdf.load(DAMAGE, tmp_path / "b000.nc"))
    both = netcdf.load(DAMAGE, [tmp_path / "b000.nc", tmp_path / "b001.nc"])
    np.testing.assert_array_equal(both.wear_depth[:, 1], more.wear_depth[:, 0])


def test_every_variable_carries_meaning_and_unit(tmp_path):
    netcdf.save(make_history(), tmp_path / "history.nc")
    netcdf.save(make_damage(), tmp_path / "damage.nc")
    netcdf.save(make_knee(), tmp_path / "knee.nc")
    for name in ("history", "damage", "knee"):
        with xr.open_datatree(tmp_path / f"{name}.nc", engine="h5netcdf") as tree:
            variables = [one for node in tree.subtree for one in node.variables.values()]
            assert variables
            for variable in variables:
                assert variable.attrs["long_name"]
                assert variable.attrs["units"]


def test_file_of_another_kind_is_refused(tmp_path):
    netcdf.save(make_grid(), tmp_path / "grid.nc")
    assert refused_at(netcdf.load, DAMAGE, tmp_path / "grid.nc") == "grid.nc"


def test_file_of_another_program_is_refused(tmp_path):
    (tmp_path / "grid.nc").write_text("not NetCDF")
    assert refused_at(netcdf.load, ElementGrid, tmp_path / "grid.nc") == "grid.nc"


def test_missing_file_is_named(tmp_path):
    assert refused_at(netcdf.load, ElementGrid, tmp_path / "grid.nc") == "grid.nc"


def test_equal_histories_are_equal_files_at_any_hour(tmp_path):
    history = make_history()
    netcdf.save(history, tmp_path / "a.nc")
    time.sleep(1.0)  # a time stamp within the file would count seconds
    netcdf.save(history, tmp_path / "b.nc")
    assert (tmp_path / "a.nc").read_bytes() == (tmp_path / "b.nc").read_bytes()


def test_value_that_is_not_finite_is_refused(tmp_path):
    grid = make_grid()
    netcdf.save(grid, tmp_path / "grid.nc")
    dataset = xr.load_dataset(tmp_path / "grid.nc", engine="h5netcdf")
    dataset["area"][0, 1, 1] = np.nan
    dataset.to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    assert refused_at(netcdf.load, ElementGrid, tmp_path / "other.nc") == "other.nc, variable area"
    area = grid.area.copy()
    area[0, 1, 1] = np.nan
    grid = replace(grid, area=area)
    with pytest.raises(ValueError):
        netcdf.save(grid, tmp_path / "grid.nc")


def test_missing_variable_and_other_dimensions_are_refused(tmp_path):
    netcdf.save(make_grid(), tmp_path / "grid.nc")
    dataset = xr.load_dataset(tmp_path / "grid.nc", engine="h5netcdf")
    dataset.drop_vars("area").to_netcdf(tmp_path / "less.nc", engine="h5netcdf")
    assert refused_at(netcdf.load, ElementGrid, tmp_path / "less.nc") == "less.nc, variable area"
    dataset.transpose("row", ...).to_netcdf(tmp_path / "turned.nc", engine="h5netcdf")
    assert (
        refused_at(netcdf.load, ElementGrid, tmp_path / "turned.nc") == "turned.nc, variable centre"
    )


def test_nothing_is_left_of_a_failed_write(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic_path(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_equal_tables_are_equal_files(tmp_path):
    table = pd.DataFrame({"case": ["a", "b"], "depth_mm": [0.1 + 0.2, 1e-17]})
    save_table(table, tmp_path / "a.csv")
    again = load_table(tmp_path / "a.csv", ["case"])
    pd.testing.assert_frame_equal(again, table, check_exact=True)
    save_table(again, tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_missing_column_is_named(tmp_path):
    save_table(pd.DataFrame({"a": [1]}), tmp_path / "a.csv")
    assert refused_at(load_table, tmp_path / "a.csv", ["b"]) == "a.csv, header"


def test_json_round_trip(tmp_path):
    save_json({"seed": 1, "name": "Ä"}, tmp_path / "a.json")
    assert load_json(tmp_path / "a.json") == {"seed": 1, "name": "Ä"}
    (tmp_path / "b.json").write_text("{")
    assert refused_at(load_json, tmp_path / "b.json") == "b.json"
