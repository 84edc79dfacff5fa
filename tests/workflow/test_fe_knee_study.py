"""A small dynamic knee from end to end."""

from __future__ import annotations

import pandas as pd
import pytest

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
    copy = Checkout(folder, "config/fe_knee.yaml", origin=finished.folder)
    copy.snakemake(overrides=SMALL)
    return copy


def test_tables_figures_and_page_are_there(checkout):
    results = checkout.folder / "results/small"
    assert len(pd.read_csv(results / "tables/knee_history.csv")) == 21
    literature = pd.read_csv(results / "tables/literature.csv").set_index("quantity")
    assert literature.loc["largest penetration in the weak sense", "verdict"] == "holds"
    assert {path.stem for path in (results / "figures").glob("*.svg")} == {
        "knee_frames",
        "knee_energy",
        "knee_contact",
        "knee_solvers",
    }
    assert "viewer-data" in (results / "report/index.html").read_text()
    assert (results / "report/summary.pdf").read_bytes().startswith(b"%PDF")
    assert not (results / "fe_knee/progress.npz").exists()


def test_other_steps_use_the_same_meshes(checkout):
    longer = {**SMALL, "fe_knee": {**SMALL["fe_knee"], "steps": 21}}
    said = checkout.snakemake("-n", overrides=longer)
    assert "solve_fe_knee" in said
    assert "rule mesh_fe_knee" not in said
