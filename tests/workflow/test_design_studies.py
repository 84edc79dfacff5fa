"""Small studies of designs from end to end."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.workflow.conftest import CHECKOUT, Checkout

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

SMALL = {
    "characterisation": {
        "study": "designs",
        "designs": {"large": None},
        "grid": {"rows": 24, "columns": 18},
        "characterisation": {"flexion_deg": [0, 60], "medial_offset_mm": [0]},
    },
    "laxity": {
        "study": "designs",
        "grid": {"rows": 24, "columns": 18},
        "laxity": {"flexion_deg": [0], "steps": 4},
    },
}
# Tables, and the rows of the summary: 2 designs of 3 quantities, and of 5 tests and 2 frictions.
TABLES = {
    "characterisation": ("contact", "worst_cases", 6),
    "laxity": ("loops", "laxity", 20),
}


@pytest.fixture(scope="module", params=SMALL)
def study(request, finished, tmp_path_factory):
    """Name of a study and the checkout in which it has been run."""
    copy = Checkout(
        tmp_path_factory.mktemp(request.param),
        f"config/{request.param}.yaml",
        origin=finished.folder,
    )
    copy.snakemake(overrides=SMALL[request.param])
    return request.param, copy


def test_tables_figures_and_page_are_there(study):
    name, checkout = study
    results = checkout.folder / "results/designs"
    every, summary, rows = TABLES[name]
    assert len(pd.read_csv(results / f"tables/{every}.csv")) > rows
    assert len(pd.read_csv(results / f"tables/{summary}.csv")) == rows
    assert list((results / "figures").glob("*.svg"))
    page = (results / "report/index.html").read_text()
    assert "Not computed" not in page
    assert (results / "report/summary.pdf").read_bytes().startswith(b"%PDF")


def test_another_page_limit_runs_only_the_page_again(study):
    name, checkout = study
    said = checkout.snakemake(
        "-n", overrides={**SMALL[name], "report": {"pressure_limit_mpa": 30.0}}
    )
    assert "write_report" in said
    assert "build_design" not in said
    assert "drive_loops" not in said
    assert "characterise_contact" not in said


def test_shipped_designs_of_the_real_implant_are_its_settings():
    from kneewear.settings.study import merge_settings, read_settings

    fluoroscopy = read_settings(CHECKOUT / "config/dm_fluoroscopy.yaml")["implant"]
    for name in ("characterisation_dm", "laxity_dm"):
        design = read_settings(CHECKOUT / f"config/{name}.yaml")["designs"]["dm"]
        assert merge_settings({}, design) == merge_settings({}, fluoroscopy)
