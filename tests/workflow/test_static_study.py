"""A small static study from end to end."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from tests.workflow.conftest import Checkout

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

SMALL = {
    "study": "static",
    "grid": {"rows": 20, "columns": 15},
    "table": {"u_points": 41, "v_points": 21, "distance_error_um": 10.0},
    "static": {
        "flexion_deg": [60, 90],
        "load_n": [750, 3000],
        "active_elements": 40,
        "element_study": {"active_elements": [12, 50], "offsets": 2, "divisions": [20, 40]},
    },
}


@pytest.fixture(scope="module")
def checkout(finished, tmp_path_factory):
    """Checkout in which the study has been run."""
    folder = tmp_path_factory.mktemp("static")
    copy = Checkout(folder, "config/chapter3.yaml", origin=finished.folder)
    copy.snakemake(overrides=SMALL)
    return copy


@pytest.fixture(scope="module")
def results(checkout):
    """Folder of the results."""
    return checkout.folder / "results" / "static"


def test_every_promised_file_is_there(results):
    promised = [
        "geometry/knee.nc",
        "simulation/static.nc",
        "tables/static.csv",
        "tables/material_comparison.csv",
        "tables/element_convergence.csv",
        "tables/grid_sensitivity.csv",
        *(
            f"figures/{name}.{suffix}"
            for name in (
                "static_sections", "static_pressure", "material_comparison",
                "element_convergence", "grid_sensitivity",
            )
            for suffix in ("svg", "png")
        ),
        "provenance.json",
        "report/index.html",
        "report/appendix.html",
    ]  # fmt: skip
    assert not [name for name in promised if not (results / name).is_file()]
    assert not (results / "wear").exists()
    # Static cases need few distances, which are exact.
    assert pd.read_csv(results / "geometry" / "distance_table.csv").empty


def test_table_holds_every_case(results):
    static = pd.read_csv(results / "tables" / "static.csv")
    peaks = static[static["quantity"] == "max_pressure"]
    # 3 materials, 2 angles, 2 loads, 2 sides and the post.
    assert len(peaks) == 36
    touched = peaks[(peaks["side"] == "post") & (peaks["value"] > 0.0)]
    assert set(touched["flexion_deg"]) == {90.0}
    residual = static.loc[static["quantity"] == "residual", "value"]
    assert residual.max() < 1e-8


def test_page_holds_figures_and_provenance(results):
    page = (results / "report" / "index.html").read_text(encoding="utf-8")
    assert page.count("data:image/svg+xml") == 5
    record = json.loads((results / "provenance.json").read_text())
    assert record["settings"]["static"]["load_n"] == [750.0, 3000.0]
    assert record["wall_time_s"]["solve_static"] > 0


def test_side_studies_that_fail_leave_a_complete_page(checkout, tmp_path):
    copy = Checkout(tmp_path, checkout.study, origin=checkout.folder)
    results = copy.folder / "results" / "static"
    before = (results / "tables" / "static.csv").read_bytes()
    study = copy.edited(
        "kneewear/studies/static/element_study.py",
        "    for wanted, offset in product(",
        '    raise ValueError("no contact")\n    for wanted, offset in product(',
    )
    comparison = copy.edited(
        "kneewear/regression/materials.py",
        "    materials = list(dict.fromkeys(",
        "    materials = 1 / 0\n    materials = list(dict.fromkeys(",
    )
    with study, comparison:
        said = copy.snakemake(overrides=SMALL)
        assert "element_convergence.csv, " in said
        assert "grid_sensitivity.csv: not computed, because a side study failed" in said
        assert copy.planned(SMALL) == {}
    assert (results / "tables" / "static.csv").read_bytes() == before
    page = (results / "report" / "index.html").read_text(encoding="utf-8")
    assert page.count("data:image/svg+xml") == 2
    assert "A side study failed: ValueError: no contact." in page
    assert "A side study failed: ZeroDivisionError" in page
    assert "Every case" in page
    assert copy.planned(SMALL)["study_elements"] == 1


def test_second_run_does_nothing(checkout):
    assert checkout.planned(SMALL) == {}


def test_changes_run_what_they_reach(checkout):
    elements = {**SMALL["static"]["element_study"], "offsets": 3}
    planned = checkout.planned({**SMALL, "static": {**SMALL["static"], "element_study": elements}})
    assert "study_elements" in planned
    assert not {"build_geometry", "solve_static"} & set(planned)
    # Other loads, and no study of elements.
    others = {**SMALL["static"], "load_n": [750, 2000], "element_study": None}
    planned = checkout.planned({**SMALL, "static": others})
    assert {"solve_static", "compare_materials", "plot_static"} <= set(planned)
    assert not {"build_geometry", "study_elements"} & set(planned)
