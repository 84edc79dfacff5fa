"""Targets are reported as met, missed or open from what was measured."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import targets
from benchmarks.regressions import compare_releases
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
        "coupled_layer": {
            "cases": 25.0,
            "beyond_foundation_s": 30.0,
            "frame_and_side_ms": 12.0,
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
    "reference_ms": 10.0,
    "design_studies_ms": {"a loop": 100.0},
    "stages_ms": {"cycle": 30.0, "closest points by scipy.optimize.minimize": 900.0},
    "evaluations": [{"search": "bounds", "distance": "table", "evaluation_us": 20.0}],
    "dynamics": pd.DataFrame([{"stage": "forward", "median_s": 0.2, "target_s": 0.1}]),
    "dry_run": {"dry_run_over_import": 2.5},
    "multibody": [],
    "muscle_strings": {"last_step_start_ms": 80.0},
}


def test_stages_are_compared_with_the_previous_release():
    ratios = {"cycle": 3.0, "forward": 10.0, "a loop": 10.0, "gone": 1.0} | {
        "150 muscle strings, a time step": 4.0
    }
    previous = pd.DataFrame({"stage": ratios.keys(), "ratio": ratios.values(), "version": "1.0"})
    table = compare_releases(RELEASE, previous).set_index("stage")
    assert table["slower"].to_dict() == {
        "cycle": "no",
        "forward": "yes",
        "a loop": "no",
        "150 muscle strings, a time step": "yes",
        "gone": "not measured",
        "evaluation of 2 x 900 elements, table, bounds": "not measured",
    }
    assert table.loc["forward", "change"] == pytest.approx(2.0)


@pytest.mark.parametrize(
    "name", sorted(path.stem for path in Path(targets.__file__).parent.glob("*.py"))
)
def test_modules_of_benchmarks_can_be_imported(name):
    importlib.import_module(f"benchmarks.{name}")
