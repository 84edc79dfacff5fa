"""A small verification study from end to end."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.workflow.conftest import Checkout

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

SMALL = {
    "study": "verification",
    "grid": {"rows": 20, "columns": 15},
    "coarse_grid": {"rows": 20, "columns": 15},
    "table": {"u_points": 41, "v_points": 21, "distance_error_um": 10.0},
    "simulation": {"frames": 25},
}
ENGINE = "evidence/verification/engine.py"
WEAR = "models/bearing_test/verification.py"
FEWER = [
    ("evidence/verification/engine.py", "offsets: int = 1000", "offsets: int = 20"),
    ("evidence/verification/engine.py", "offsets: int = 24", "offsets: int = 4"),
    (
        "models/bearing_test/verification.py",
        "    _ring,\n    _sphere_that_wears,\n    _cylinder_that_wears,\n",
        "",
    ),
    ("models/bearing_test/verification.py", "    _groove,\n", ""),
]
TABLES = (
    "verification",
    "refinement",
    "active_elements",
    "sphere_models",
    "distance_correction",
    "variants",
    "analyses",
    "accuracy",
    "wear_solutions",
)


@pytest.fixture(scope="module")
def checkout(finished, tmp_path_factory):
    """Checkout in which the study has been run."""
    folder = tmp_path_factory.mktemp("verification")
    copy = Checkout(folder, "config/evidence/verification.yaml", origin=finished.folder)
    # Contacts at fewer places, and few solutions of wear: tests/verification computes all.
    for name, many, few in FEWER:
        path = copy.folder / "kneewear" / name
        text = path.read_text()
        assert many in text
        path.write_text(text.replace(many, few))
    copy.snakemake(overrides=SMALL)
    return copy


def test_every_table_is_there_and_no_wear_study_runs_them(checkout, finished):
    results = checkout.folder / "results" / "verification"
    tables = {name: pd.read_csv(results / "tables" / f"{name}.csv") for name in TABLES}
    assert all(len(table) for table in tables.values())
    table = tables["verification"]
    with_target = table[table["target_percent"].notna()]
    assert (with_target["worst_error_percent"] < with_target["target_percent"]).all()
    assert set(tables["variants"]["variant"]) == {
        "force direction: mid-surface",
        "analysis: quasi-static",
        "distance: exact",
    }
    accuracy = tables["accuracy"]
    bound = accuracy["bound_percent"]
    assert (accuracy["error_percent"].abs() < bound)[bound.notna()].all()
    coarse = accuracy.loc[bound.isna(), "error_percent"]
    assert coarse.abs().max() > bound.max()
    assert not {f"{name}.csv" for name in TABLES} & {
        path.name for path in (finished.folder / "results" / "quick" / "tables").iterdir()
    }


def test_settings_rerun_all_parts_and_those_of_the_page_none(checkout):
    assert checkout.planned(SMALL) == {}
    assert checkout.planned({**SMALL, "wear": {"months": 12}})["evaluate_cases"] == 4
    planned = checkout.planned({**SMALL, "report": {"pressure_limit_mpa": 30.0}})
    assert "evaluate_cases" not in planned
