"""A small static study from end to end."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from kneewear.study.settings import read_settings
from tests.workflow.conftest import CHECKOUT, Checkout

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

CHAPTER3 = read_settings(CHECKOUT / "config/evidence/chapter3.yaml")
ELEMENTS = CHAPTER3["analyses"]["elements"] | {
    "active_elements": [12, 50],
    "offsets": 2,
    "divisions": [20, 40],
}
SMALL = {
    "study": "static",
    "grid": {"rows": 20, "columns": 15},
    "table": {"u_points": 41, "v_points": 21, "distance_error_um": 10.0},
    "press": {"active_elements": 40},
    "variables": CHAPTER3["variables"]
    | {
        "flexion_deg": CHAPTER3["variables"]["flexion_deg"] | {"values": [60, 90]},
        "load_n": CHAPTER3["variables"]["load_n"] | {"values": [750, 3000]},
    },
    "analyses": CHAPTER3["analyses"] | {"elements": ELEMENTS},
}


@pytest.fixture(scope="module")
def checkout(finished, tmp_path_factory):
    """Checkout in which the study has been run."""
    folder = tmp_path_factory.mktemp("static")
    copy = Checkout(folder, "config/evidence/chapter3.yaml", origin=finished.folder)
    copy.snakemake(overrides=SMALL)
    return copy


@pytest.fixture(scope="module")
def results(checkout):
    """Folder of the results."""
    return checkout.folder / "results" / "static"


def test_every_promised_file_is_there(results):
    promised = [
        "geometry/knee.nc",
        "cases/b000.nc",
        "tables/results.csv",
        "tables/contact.csv",
        "tables/material_comparison.csv",
        "tables/element_convergence.csv",
        "tables/grid_sensitivity.csv",
        "tables/settling.csv",
        "tables/settled_pose.csv",
        *(
            f"figures/{name}.svg"
            for name in (
                "static_sections",
                "static_pressure",
                "material_moduli",
                "material_comparison",
                "element_convergence",
                "grid_sensitivity",
                "settling",
            )
        ),
        "figures/static_pressure.png",
        "provenance.json",
        "report/index.html",
        "report/appendix.html",
    ]
    assert not [name for name in promised if not (results / name).is_file()]
    assert not (results / "wear").exists()
    # Static cases need few distances, which are exact.
    assert pd.read_csv(results / "geometry" / "distance_table.csv").empty


def test_table_holds_every_case(results):
    static = pd.read_csv(results / "tables" / "contact.csv")
    peaks = static[static["quantity"] == "max_pressure"]
    # 3 materials, 2 angles, 2 loads, 2 sides and the post.
    assert len(peaks) == 36
    touched = peaks[(peaks["side"] == "post") & (peaks["value"] > 0.0)]
    assert set(touched["flexion_deg"]) == {90.0}
    residual = static.loc[static["quantity"] == "residual", "value"]
    assert residual.max() < 1e-8


def test_a_side_study_that_fails_leaves_a_complete_page(checkout, tmp_path):
    copy = Checkout(tmp_path, checkout.study, origin=checkout.folder)
    results = copy.folder / "results" / "static"
    before = (results / "tables" / "contact.csv").read_bytes()
    study = copy.edited(
        "kneewear/models/press/element_study.py",
        "    for wanted, offset in product(",
        '    raise ValueError("no contact")\n    for wanted, offset in product(',
    )
    with study:
        output = copy.snakemake(overrides=SMALL)
        assert "element_convergence.csv" in output
        assert copy.planned(SMALL) == {}
    assert (results / "tables" / "contact.csv").read_bytes() == before
    page = (results / "report" / "index.html").read_text(encoding="utf-8")
    assert page.count("data:image/svg+xml") == 5
    assert 'data-table="static_cases"' in page
    summary = json.loads((results / "report" / "summary.json").read_text())
    failed = [one["found"] for one in summary["findings"] if one["check"] == "side_study"]
    assert ["ValueError" in text for text in failed] == [True]
    # Both side jobs: they are of one module, whose imports were edited.
    assert copy.planned(SMALL)["evaluate_variants"] == 2


def test_changes_run_what_they_reach(checkout):
    elements = {"analyses": SMALL["analyses"] | {"elements": ELEMENTS | {"offsets": 3}}}
    planned = checkout.planned(SMALL | elements)
    # That of the elements, not that of settling.
    assert planned["evaluate_variants"] == 1
    assert not {"build_geometry", "evaluate_cases"} & set(planned)
    # Other loads, and no study of elements.
    loads = SMALL["variables"]["load_n"] | {"values": [750, 2000]}
    others = {"variables": SMALL["variables"] | {"load_n": loads}, "analyses": {"contact": {}}}
    planned = checkout.planned(SMALL | others)
    assert {"evaluate_cases", "analyse_cases"} <= set(planned)
    assert not {"build_geometry", "evaluate_variants"} & set(planned)
