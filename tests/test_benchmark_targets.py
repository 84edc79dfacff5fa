"""Targets are reported as met, missed or open from what was measured."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import targets
from benchmarks.releases import UNKNOWN, PreviousRelease, compare_releases, stage_times
from benchmarks.targets import EVALUATIONS, compare

DISTANCES = {
    "exact_warm_started_us": 0.17,
    "distance_table_us": 0.05,
    "distance_table_max_error_um": 0.03,
    "times_faster_exact": 15.0,
}


def measured(programs):
    return {
        "distances": DISTANCES,
        "evaluations": pd.DataFrame(
            [
                {"search": search, "distance": source, "evaluation_us": longest}
                for (search, source), longest in EVALUATIONS.items()
            ]
        ),
        "loop_work": {"minimum_distance_percent": 1e-4},
        "peers": pd.DataFrame(programs),
        "dry_run": {"dry_run_over_import": 2.5},
        "multibody": pd.DataFrame(columns=["stage", "median_s", "target_s"]),
        "outside": {},
        "coupled_layer": {
            "cases": 25.0,
            "beyond_foundation_s": 30.0,
            "frame_and_side_ms": 12.0,
            "yielding_frame_and_side_ms": 18.0,
            "yielding_cases_s": 60.0,
            "yielding_own_cases_s": 10.0,
            "yielding_times_elastic": 3.5,
            "yielding_own_times_elastic": 2.0,
        },
        "muscle_strings": {"strings": 150.0, "last_step_start_ms": 74.0},
        "dynamics": pd.DataFrame(
            [
                {"stage": "one", "median_s": 0.2, "target_s": 0.1},
                {"stage": "untold", "median_s": 0.2, "target_s": np.nan},
            ]
        ),
    }


OURS = [
    {"program": f"kneewear, {name}", "force_error_largest_percent": -0.05, "evaluation_us": 50.0}
    for name in ("distance table", "exact NURBS")
]
OPENSIM = {
    "program": "OpenSim, elastic foundation",
    "force_error_largest_percent": -3.7,
    "evaluation_us": 5000.0,
}


def test_each_target_is_met_or_missed():
    table = compare(measured([*OURS, OPENSIM])).set_index("quantity")
    assert table.loc["exact minimum distance, warm start", "met"] == "yes"
    assert table.loc["distance from the table", "met"] == "no"
    assert table.loc["one", "met"] == "no"
    assert "untold" not in table.index
    layer = table[table.index.str.startswith("coupled layer")]
    assert dict(zip(layer["unit"], layer["met"], strict=True)) == {"s": "yes", "ms": "no"}
    assert table.loc["150 muscle strings from the last time step", "met"] == "yes"
    against = table[table.index.str.contains("OpenSim")]["measured"].tolist()
    assert against == [100.0, 74.0]


RELEASE = {
    "design_studies_ms": {"a loop": 100.0},
    "stages_ms": {"cycle": 30.0, "closest points by scipy.optimize.minimize": 900.0},
    "evaluations": [{"search": "bounds", "distance": "table", "evaluation_us": 20.0}],
    "dynamics": pd.DataFrame([{"stage": "forward", "median_s": 0.2, "target_s": 0.1}]),
    "multibody": [],
    "muscle_strings": {"last_step_start_ms": 80.0},
}


def test_stages_are_compared_with_the_previous_release_of_the_same_run():
    now = stage_times(RELEASE)
    before = {"cycle": 29.0, "forward": 90.0, "a loop": 60.0, "gone": 1.0}
    after = {"cycle": 31.0, "forward": 110.0, "a loop": 80.0, "gone": 1.0}
    table = compare_releases(now, before, after).set_index("stage")
    assert table["slower"].to_dict() == {
        "cycle": "no",
        "forward": "yes",
        "a loop": UNKNOWN,  # before and after differ as much
        "150 muscle strings, a time step": UNKNOWN,
        "gone": UNKNOWN,
        "evaluation of 2 x 900 elements, table, bounds": UNKNOWN,
    }
    assert table.loc["forward", "change"] == pytest.approx(2.0)


def test_a_previous_release_that_cannot_be_run_is_no_statement(tmp_path):
    absent = PreviousRelease(tmp_path / "absent", "0" * 40)
    present = PreviousRelease(tmp_path / "present", "HEAD")
    if present.reason:
        pytest.skip("needs the history of the repository")
    assert absent.measure() == present.measure("raise ValueError('of the old code')") == {}
    assert absent.reason
    assert "of the old code" in present.reason
    found = compare_releases(stage_times(RELEASE), {}, {})
    assert set(found["slower"]) == {UNKNOWN}


@pytest.mark.parametrize(
    "name", sorted(path.stem for path in Path(targets.__file__).parent.glob("*.py"))
)
def test_modules_of_benchmarks_can_be_imported(name):
    importlib.import_module(f"benchmarks.{name}")
