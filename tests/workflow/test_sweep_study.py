"""A small sweep from end to end, and as a plan in a file."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.workflow.conftest import Checkout

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

SMALL = {
    "study": "small",
    "grid": {"rows": 24, "columns": 18},
    "table": {"u_points": 31, "v_points": 21},
    "simulation": {"frames": 10},
    "cases_per_job": 4,
    "sweep": {
        "samples": 8,
        "factors": dict.fromkeys(
            ("tibial_rotation", "tibial_slope", "tibial_posterior", "medial_share")
        ),
    },
}
UNBOUNDED = {"low": None, "high": None}


@pytest.fixture(scope="module")
def checkout(finished, tmp_path_factory):
    """Checkout in which the small sweep has been run."""
    folder = tmp_path_factory.mktemp("sweep")
    copy = Checkout(folder, "config/sweep.yaml", origin=finished.folder)
    copy.snakemake(overrides=SMALL)
    return copy


def test_page_names_effects_of_all_factors(checkout):
    results = checkout.folder / "results/small"
    sweep = pd.read_csv(results / "tables/sweep.csv")
    assert len(sweep) == 8
    assert sweep["failure"].isna().all()
    effects = pd.read_csv(results / "tables/effects.csv")
    mass = effects[(effects["factor"] == "body_mass") & (effects["quantity"] == "wear_volume")]
    # More load wears more.
    assert (mass["effect"] > 0).all()
    page = (results / "report/index.html").read_text()
    assert "Body mass" in page or "body mass" in page
    assert {path.stem for path in (results / "figures").glob("*.svg")} == {
        "tornado",
        "factor_curves",
        "cross_validation",
    }
    assert (results / "report/summary.pdf").read_bytes().startswith(b"%PDF")


def test_the_plan_as_a_file_gives_the_same_results(checkout):
    plan = checkout.folder / "results/small/tables/plan.csv"
    copy = checkout.folder / "plan.csv"
    copy.write_bytes(plan.read_bytes())
    factors = dict.fromkeys(pd.read_csv(copy).columns[1:], UNBOUNDED)
    given = {"plan": "file", "samples": None, "file": "plan.csv"}
    sweep = given | {"factors": SMALL["sweep"]["factors"] | factors}
    checkout.snakemake(overrides={**SMALL, "study": "given", "sweep": sweep})
    results = checkout.folder / "results"
    one, other = ((results / name / "tables/sweep.csv").read_bytes() for name in ("small", "given"))
    assert one == other


def test_a_batch_whose_design_cannot_be_built_goes_on(checkout):
    rows = "case,femoral_coronal_radius,coronal_ratio,body_mass\ngood,284,1.2,75\nbad,3,1.2,75\n"
    (checkout.folder / "plan.csv").write_text(rows)
    names = ("femoral_coronal_radius", "coronal_ratio", "body_mass")
    factors = SMALL["sweep"]["factors"] | dict.fromkeys(names, UNBOUNDED)
    given = {"plan": "file", "samples": None, "file": "plan.csv", "factors": factors}
    checkout.snakemake(overrides={**SMALL, "study": "bad", "sweep": given})
    results = checkout.folder / "results/bad"
    sweep = pd.read_csv(results / "tables/sweep.csv").set_index("case")
    assert pd.isna(sweep["failure"]["good"])
    assert "radius" in sweep["failure"]["bad"]
    assert "1 of 2 cases" in (results / "report/index.html").read_text()
