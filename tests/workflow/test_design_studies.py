"""Small studies of designs from end to end."""

from __future__ import annotations

import pandas as pd
import pytest

from kneewear.io.documents import load_json
from kneewear.study.settings import merge_settings, read_settings
from kneewear.study.shipped import find_study
from tests.workflow.conftest import CHECKOUT, Checkout

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

GRID = {"grid": {"rows": 24, "columns": 18}}


def _varied(name, **values):
    """Variables of a shipped study, some with other values; without values left out."""
    shipped = read_settings(find_study(name))["variables"]
    return {
        key: variable | {"values": values[key]} if key in values else variable
        for key, variable in shipped.items()
        if values.get(key, True) is not None
    }


SMALL = {
    "characterisation": GRID
    | {
        "study": "designs",
        "variables": _varied("characterisation", flexion_deg=[0, 60], medial_offset_mm=None),
    },
    "laxity": GRID
    | {
        "study": "designs",
        "press": {"path": {"steps": 4}},
        "variables": _varied("laxity", flexion_deg=[0]),
    },
}
# Tables, and the rows of the last: 3 designs of 3 quantities, and 2 of 5 tests and 2 frictions.
TABLES = {
    "characterisation": ("contact", "worst_cases", 9),
    "laxity": ("loops", "results", 20),
}


@pytest.fixture(scope="module", params=SMALL)
def study(request, finished, tmp_path_factory):
    """Name of a study and the checkout in which it has been run."""
    copy = Checkout(
        tmp_path_factory.mktemp(request.param),
        str(find_study(request.param).resolve().relative_to(CHECKOUT)),
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
    summary = load_json(results / "report/summary.json")
    assert summary["key_results"]
    assert "side_study" not in [one["check"] for one in summary["findings"]]
    assert (results / "report/summary.pdf").read_bytes().startswith(b"%PDF")


def test_shipped_designs_of_the_real_implant_are_its_settings():
    fluoroscopy = read_settings(CHECKOUT / "config/dm_fluoroscopy.yaml")["implant"]
    for name in ("characterisation_dm", "laxity_dm"):
        variables = read_settings(find_study(name))["variables"]
        assert merge_settings({}, variables["design"]["blocks"]["dm"]) == merge_settings(
            {}, fluoroscopy
        )
