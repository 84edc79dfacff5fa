"""The quick study from end to end."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode

import numpy as np
import pandas as pd
import pytest
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

import kneewear
from kneewear.base.schemas import CONTACT, DAMAGE
from kneewear.study import netcdf
from tests.datasets import plain
from tests.test_api import run_example

from .conftest import Checkout

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

FRAME_ARRAYS = ("pressure", "slip", "translation", "rotation", "force", "torque", "load_line")


def test_every_promised_file_is_there(results):
    promised = [
        "geometry/knee.nc",
        "geometry/fit_quality.csv",
        "activity/gait.nc",
        "simulation/gait/b000.nc",
        "wear/b000.nc",
        "tables/cases.csv",
        "tables/regression.csv",
        "tables/correlation.csv",
        "tables/validity.csv",
        "tables/failures.csv",
        "wear/vtk/6mm_50kg.vtp",
        "figures/results/damage_maps.svg",
        "figures/results/wear_maps.png",
        "provenance.json",
        "report/index.html",
        "report/appendix.html",
    ]
    missing = [name for name in promised if not (results / name).is_file()]
    assert not missing


def test_python_opens_the_finished_study(finished, monkeypatch):
    monkeypatch.chdir(finished.folder)
    run_example(kneewear.open_results)
    results = kneewear.open_results("results/quick")
    assert results.damage.sizes["case"] == 4
    assert results.contact("gait").pressure.attrs["units"] == "MPa"
    assert results.activity("gait")["load"].sizes["frame"] == 25


def test_provenance_names_versions_settings_and_times(results):
    record = json.loads((results / "provenance.json").read_text())
    assert record["settings"]["study"] == "quick"
    assert record["versions"]["numpy"] == np.__version__
    assert record["wall_time_s"]["simulate_contact"] > 0
    assert record["processor_s"].keys() == record["wall_time_s"].keys()
    assert min(record["processor_s"].values()) > 0


def test_no_temporary_file_is_left(results):
    hidden = {path.name for path in results.rglob(".*")}
    assert hidden <= {".snakemake_timestamp", ".digests"}


def test_cases_per_job_changes_no_bit(finished, tmp_path):
    copy = Checkout(tmp_path / "copy", origin=finished.folder)
    wanted = [f"results/quick/tables/{name}.csv" for name in ("cases", "regression")]
    undisturbed = outcome(finished, 2)
    copy.snakemake(*wanted, overrides={"cases_per_job": 4})
    arrays, tables = outcome(copy, 4)
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, undisturbed[0][name], err_msg=name)
    assert tables == undisturbed[1]


def outcome(checkout, size):
    """Arrays of all batches of a size, and what the tables made of them hold."""
    results = checkout.folder / "results" / "quick"
    batches = [f"b{number:03d}.nc" for number in range(4 // size)]
    history = plain(
        netcdf.load(CONTACT, [results / "simulation" / "gait" / name for name in batches])
    )
    damage = plain(netcdf.load(DAMAGE, [results / "wear" / name for name in batches]))
    arrays = {name: getattr(history, name) for name in FRAME_ARRAYS}
    arrays |= {"wear": damage.wear_depth, "creep": damage.creep_depth}
    tables = ("cases.csv", "regression.csv")
    return arrays, {name: (results / "tables" / name).read_bytes() for name in tables}


def test_a_case_that_fails_is_listed_and_the_others_finish(finished):
    # So soft a layer does not bear the heavy; its batch is left without a case.
    overrides = {
        "study": "failing",
        "variables": {"thickness_mm": [6], "body_mass_kg": [50, 400]},
        "cases_per_job": 1,
        "simulation": {"pressure_law": {"material": "polyethylene_37c"}},
    }
    wanted = ("tables/cases.csv", "tables/failures.csv", "wear/vtk")
    text = finished.snakemake(*(f"results/failing/{name}" for name in wanted), overrides=overrides)
    assert "Case 6mm_400kg, activity gait" in text
    results = finished.folder / "results" / "failing"
    cases, failures = (
        pd.read_csv(results / "tables" / name) for name in ("cases.csv", "failures.csv")
    )
    assert set(cases["case"]) == {"6mm_50kg"}
    assert set(failures["case"]) == {"6mm_400kg"}
    assert [path.name for path in (results / "wear" / "vtk").glob("*.vtp")] == ["6mm_50kg.vtp"]


def test_view_and_vtk_files_reach_the_maxima_of_the_netcdf_files(results):
    view = json.loads((results / "figures" / "contact" / "view.json").read_text())
    damage = plain(netcdf.load(DAMAGE, sorted((results / "wear").glob("b*.nc"))))
    top = {name: one["top"] for name, one in view["scales"].items()}
    for index, case in enumerate(damage.cases):
        own = [scene for scene in view["scenes"] if scene["of"]["case"] == case.name]
        assert {scene["of"]["quantity"] for scene in own} == set(top)
        largest = damage.damage_depth[0, index].max(axis=(-1, -2))
        (depth,) = (scene for scene in own if scene["of"]["quantity"] == "damage_depth")
        shown = np.frombuffer(gzip.decompress(b64decode(depth["colours"])), np.uint8).max()
        step = top["damage_depth"] / 255.0
        assert shown * step == pytest.approx(largest.max(), abs=step)
        reader = vtkXMLPolyDataReader()
        reader.SetFileName(str(results / "wear" / "vtk" / f"{case.name}.vtp"))
        reader.Update()
        stored = reader.GetOutput().GetCellData().GetArray("damage_depth_mm").GetRange()
        assert stored[1] == pytest.approx(largest.max(), rel=1e-5)
