"""Studies of cases from end to end: samples, a plan in a file, words as levels, re-running."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.workflow.conftest import CHECKOUT, Checkout

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

COARSE = {
    "grid": {"rows": 24, "columns": 18},
    "table": {"u_points": 31, "v_points": 21},
    "simulation": {"analysis": "quasi_static", "frames": 10},
    "cases_per_job": 4,
}
MASS = {"settings": ["patient.body_mass_kg"], "unit": "kg"}
RADIUS = {"settings": ["implant.parametric.femoral_coronal_radius_mm.*"], "unit": "mm"}
VARIABLES = {"radius": RADIUS | {"low": 250, "high": 310}, "mass": MASS | {"low": 55, "high": 110}}
SMALL = COARSE | {
    "study": "small",
    "variables": VARIABLES,
    "cases": {"plan": "latin_hypercube", "samples": 8},
}


@pytest.fixture(scope="module")
def checkout(finished, tmp_path_factory):
    """Checkout in which eight cases of a Latin hypercube were computed."""
    copy = Checkout(tmp_path_factory.mktemp("cases"), "config/sweep.yaml", origin=finished.folder)
    copy.snakemake(overrides=SMALL)
    return copy


def tables_of(checkout, study):
    """Tables of a study by name."""
    folder = checkout.folder / "results" / study / "tables"
    return {path.stem: pd.read_csv(path) for path in folder.glob("*.csv")}


def test_effects_figures_and_page_follow_from_the_analyses(checkout):
    tables = tables_of(checkout, "small")
    assert len(tables["results"]) == 8
    assert tables["results"]["failure"].isna().all()
    effects = tables["effects"]
    mass = effects[(effects["variable"] == "mass") & (effects["quantity"] == "wear_volume")]
    # More load wears more.
    assert (mass["effect"] > 0).all()
    results = checkout.folder / "results/small"
    figures = {path.stem for path in (results / "figures").glob("*.svg")}
    assert figures == {"tornado", "factor_curves", "cross_validation"}
    assert (results / "report/index.html").stat().st_size > 10_000
    assert (results / "report/summary.pdf").read_bytes().startswith(b"%PDF")


def test_other_analyses_compute_no_case_again(checkout):
    analyses = {"effects": {}, "percentiles": {"percentiles": [10, 90]}}
    planned = checkout.planned({**SMALL, "analyses": analyses})
    assert "evaluate_cases" not in planned
    assert "analyse_cases" in planned


def test_samples_reuse_geometry_and_motion_of_a_finished_study(finished, tmp_path):
    copy = Checkout(tmp_path / "copy", origin=finished.folder)
    target = "results/quick/tables/intervals.csv"
    load = MASS | {"change": "multiply", "uniform": [0.8, 1.2], "unit": "1"}
    overrides = {
        "cases_per_job": 2,
        "simulation": {"analysis": "quasi_static"},
        "variables": {"load": load},
        "cases": {"plan": "monte_carlo", "samples": 3},
        "analyses": {"intervals": {"level_percent": 50}},
        "page": "uncertainty",
    }
    text = copy.snakemake(target, overrides=overrides)
    assert "rule evaluate_cases" in text
    assert "rule build_geometry" not in text
    assert "rule prepare_activity" not in text
    intervals = pd.read_csv(copy.folder / target).set_index(["quantity", "side"])
    depth = intervals.loc["damage_depth", "medial"]
    assert depth["lower"] < depth["median"] < depth["upper"]
    assert (depth["samples"], depth["failed"]) == (3, 0)
    # The case without changes is one of the quick study's, but for inertia and damping.
    cases = pd.read_csv(finished.folder / "results/quick/tables/cases.csv")
    rows = cases[(cases["case"] == "10mm_75kg") & (cases["side"] == "medial")]
    value = rows.set_index("quantity").loc["damage_depth", "value"]
    assert depth["nominal"] == pytest.approx(value, rel=0.05)


def test_subjects_of_a_file_have_every_design(finished, tmp_path):
    copy = Checkout(tmp_path / "copy", "config/cohort_example.yaml", origin=finished.folder)
    lines = (CHECKOUT / "config/cohort/synthetic.csv").read_text().splitlines()[1:8]
    columns = lines[0].split(",")
    last = dict(zip(columns, lines[-1].split(","), strict=True)) | {"body_mass_kg": "2"}
    text = "\n".join([*lines[:-1], ",".join(last.values())]) + "\n"
    (copy.folder / "few.csv").write_text(text)
    labels = ["subject", "side", "age_years", "body_mass_index"]
    plan = {"plan": "table", "file": "few.csv", "labels": labels}
    copy.snakemake(overrides={**COARSE, "study": "small", "cases": plan})
    tables = tables_of(copy, "small")
    results = tables["results"]
    assert results.groupby("design")["subject"].nunique().tolist() == [6, 6]
    assert results["failure"].notna().sum() == 2
    assert tables["percentiles"]["cases"].unique().tolist() == [5]
    assert set(tables["outside"]["reason"]) >= {"no result"}
    assert tables["differences"]["pairs"].unique().tolist() == [5]
