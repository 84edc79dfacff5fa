"""A small cohort from end to end, and what stops it before its first job."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.workflow.conftest import CHECKOUT, Checkout

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

SMALL = {
    "study": "small",
    "grid": {"rows": 24, "columns": 18},
    "table": {"u_points": 31, "v_points": 21},
    "simulation": {"frames": 10},
    "cases_per_job": 5,
    "cohort": {"subjects": "few.csv"},
}


@pytest.fixture(scope="module")
def checkout(finished, tmp_path_factory):
    """Checkout with a cohort of six subjects, one of them with an impossible mass."""
    folder = tmp_path_factory.mktemp("cohort")
    copy = Checkout(folder, "config/cohort_example.yaml", origin=finished.folder)
    lines = (CHECKOUT / "config/cohort/synthetic.csv").read_text().splitlines()[1:8]
    columns = lines[0].split(",")
    last = dict(zip(columns, lines[-1].split(","), strict=True)) | {"body_mass_kg": "2"}
    (folder / "few.csv").write_text("\n".join([*lines[:-1], ",".join(last.values())]) + "\n")
    copy.snakemake(overrides=SMALL)
    return copy


def test_every_subject_has_every_design(checkout):
    tables = checkout.folder / "results/small/tables"
    cohort = pd.read_csv(tables / "cohort.csv")
    assert cohort.groupby("design")["subject"].nunique().tolist() == [6, 6]
    assert cohort["failure"].notna().sum() == 2
    percentiles = pd.read_csv(tables / "percentiles.csv")
    assert percentiles["subjects"].unique().tolist() == [5]
    assert (percentiles["p5"] <= percentiles["p95"]).all()
    page = (checkout.folder / "results/small/report/index.html").read_text()
    assert "1 of 6 subjects" in page or "of 6 subjects, with at least one design" in page
    assert "no result" in page


def test_another_percentile_computes_no_subject_again(checkout):
    cohort = SMALL["cohort"] | {"percentiles": [10, 50, 90]}
    assert "evaluate_subjects" not in checkout.planned({**SMALL, "cohort": cohort})


def test_a_changed_row_computes_its_cohort_again(checkout):
    with checkout.edited("few.csv", "synthetic_001", "other"):
        assert checkout.planned(SMALL)["evaluate_subjects"] == 3


def test_a_missing_file_stops_the_study_before_its_first_job(checkout):
    (checkout.folder / "one.csv").write_text("subject\na\n")
    said = checkout.snakemake(overrides={**SMALL, "cohort": {"subjects": "none.csv"}}, fails=True)
    assert "none.csv: found no such file" in said
    assert "Traceback" not in said
