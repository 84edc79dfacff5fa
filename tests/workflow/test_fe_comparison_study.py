"""A small finite-element comparison from end to end."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from kneewear.activity.activity import Activity
from kneewear.base.schemas import CONTACT
from kneewear.evidence.fe_comparison.comparison import compute_comparison
from kneewear.evidence.fe_comparison.settings import FeComparisonSettings
from kneewear.geometry.knee import KneeModel
from kneewear.study import netcdf
from kneewear.study.settings import validate_study
from tests.datasets import plain
from tests.workflow.conftest import Checkout

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

SMALL = {
    "study": "small",
    "grid": {"rows": 24, "columns": 18},
    "table": {"u_points": 31, "v_points": 21},
    "simulation": {"frames": 10},
    "variables": {"thickness_mm": [8], "body_mass_kg": [60]},
    "fe_comparison": {
        "frames_percent": [10],
        "elements": {"along_mm": 3.0, "across_mm": 4.0, "ends_mm": 2.0, "below_mm": 4.0},
    },
}


@pytest.fixture(scope="module")
def checkout(finished, tmp_path_factory):
    """Checkout in which the small FE comparison has been run."""
    folder = tmp_path_factory.mktemp("fe_twin")
    copy = Checkout(folder, "config/evidence/fe_twin.yaml", origin=finished.folder)
    copy.snakemake(overrides=SMALL)
    return copy


def test_tables_figures_solids_and_page_are_there(checkout):
    results = checkout.folder / "results/small"
    comparison = pd.read_csv(results / "tables/fe_twin.csv")
    assert set(comparison["case"]) == {"8mm_60kg"}
    force = comparison[comparison["quantity"] == "force_at_pose"]
    assert (force["finite_elements"] < force["foundation"]).all()
    assert len(pd.read_csv(results / "tables/fe_solids.csv")) == 2
    assert len(list((results / "fe_comparison/8mm_60kg/vtk").glob("*.vts"))) == 2
    assert {path.stem for path in (results / "figures").glob("*.svg")} == {
        "twin_pressure",
        "twin_errors",
        "twin_stress",
    }
    assert 'data-table="twin_errors"' in (results / "report/index.html").read_text()
    assert (results / "report/summary.pdf").read_bytes().startswith(b"%PDF")


def test_poses_and_loads_are_those_of_the_finished_study(results):
    """The cycle is computed again, which takes seconds, and gives what the study has on file."""
    study = validate_study(json.loads((results / "provenance.json").read_text())["settings"])
    knee = netcdf.load(KneeModel, results / "geometry/knee.nc")
    gait = netcdf.load(Activity, results / "activity/gait.nc")
    history = plain(netcdf.load(CONTACT, results / "simulation/gait/b001.nc"))
    number, frame = 1, 4
    sizes = {"along_mm": 4.0, "across_mm": 5.0, "ends_mm": 3.0, "below_mm": 5.0, "coarsening": 1.2}
    comparison = FeComparisonSettings(
        activity="gait", frames_percent=[16], cases="all", elements=sizes, plasticity=None
    )
    case = history.cases[number]
    found = compute_comparison(knee, gait, case, (frame,), comparison, study.simulation)
    on_file = [*history.translation[number, frame], *history.rotation[number, frame]]
    assert found.poses[history.percent[frame]].tolist() == on_file
    force = found.results[found.results["quantity"] == "force_at_pose"].set_index("side")
    wanted = -history.force[number, frame, :, 1]
    assert force["foundation"].to_numpy() == pytest.approx(wanted, rel=1e-12)
