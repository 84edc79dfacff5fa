"""A small dynamic knee from end to end."""

from __future__ import annotations

import pandas as pd
import pytest

from kneewear.io.result_files import file_hash
from tests.workflow.conftest import Checkout

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

SMALL = {
    "study": "small",
    "fe_knee": {
        "bones": {"element_mm": 18.0, "refinements": 0, "joint_gap_mm": 0.1},
        "steps": 20,
        "frames": 4,
        "solver": {"method": "direct"},
    },
}


@pytest.fixture(scope="module")
def checkout(finished, tmp_path_factory):
    """Checkout in which the small knee has been run."""
    folder = tmp_path_factory.mktemp("fe_knee")
    copy = Checkout(folder, "config/papers/fe_knee.yaml", origin=finished.folder)
    copy.snakemake(overrides=SMALL)
    return copy


def test_tables_figures_and_page_are_there(checkout):
    results = checkout.folder / "results/small"
    assert len(pd.read_csv(results / "tables/knee_history.csv")) == 21
    literature = pd.read_csv(results / "tables/literature.csv").set_index("quantity")
    assert literature.loc["largest penetration in the weak sense", "verdict"] == "reproduced"
    assert {path.stem for path in (results / "figures").glob("*.svg")} == {
        "knee_frames",
        "knee_mesh",
        "knee_energy",
        "knee_contact",
        "knee_solvers",
        "view",
    }
    assert "viewer-data" in (results / "report/index.html").read_text()
    assert (results / "report/summary.pdf").read_bytes().startswith(b"%PDF")
    assert not (results / "fe_knee/progress.npz").exists()


def test_figures_run_no_step_again(checkout):
    with checkout.edited(
        "kneewear/knees/papers/fe_knee/figures.py", "TOP_PERCENTILE = 99.5", "TOP_PERCENTILE = 99.0"
    ):
        planned = checkout.planned(SMALL)
    assert "plot_figures" in planned
    assert "evaluate_cases" not in planned


def test_other_steps_use_the_same_meshes(checkout):
    meshes = checkout.folder / "results/small/fe_knee/meshes.npz"
    before, frames = file_hash(meshes), file_hash(meshes.with_name("frames.nc"))
    longer = {**SMALL, "fe_knee": {**SMALL["fe_knee"], "steps": 21}}
    assert checkout.planned(longer)["evaluate_cases"] == 2
    checkout.snakemake(overrides=longer)
    assert file_hash(meshes) == before
    assert file_hash(meshes.with_name("frames.nc")) != frames
