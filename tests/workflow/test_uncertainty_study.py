"""An uncertainty study by its rules, on what the quick study has already built."""

from __future__ import annotations

import pandas as pd
import pytest

from kneewear.io import netcdf
from kneewear.studies.uncertainty.element_sums import ElementSums

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

OVERRIDES = {
    "kind": "uncertainty",
    "cases_per_job": 2,
    "cases": {"thickness_mm": [10], "body_mass_kg": [75]},
    "simulation": {"analysis": "quasi_static"},
    "uncertainty": {
        "method": "monte_carlo",
        "samples": 3,
        "level_percent": 50,
        "pose_errors": False,
        "constants": {
            "load": {
                "settings": ["cases.body_mass_kg.0"],
                "change": "multiply",
                "distribution": "uniform",
                "spread": 0.2,
                "unit": "1",
                "source": "made up",
            }
        },
    },
}


def test_uncertainty_study_reuses_geometry_and_motion_and_tells_an_interval(finished):
    target = "results/quick/tables/monte_carlo.csv"
    text = finished.snakemake(target, overrides=OVERRIDES)
    assert "rule evaluate_samples" in text
    assert "rule build_geometry" not in text
    assert "rule prepare_activity" not in text
    tables = finished.folder / "results" / "quick"
    found = pd.read_csv(finished.folder / target)
    depth = found[(found["quantity"] == "damage_depth") & (found["side"] == "medial")].iloc[0]
    assert depth["lower"] < depth["median"] < depth["upper"]
    assert (depth["samples"], depth["failed"]) == (3, 0)
    # The case without changes is one of the quick study's own, but for inertia and damping.
    cases = pd.read_csv(tables / "tables" / "cases.csv")
    chosen = (cases["case"] == "10mm_75kg") & (cases["quantity"] == "damage_depth")
    own = cases[chosen & (cases["side"] == "medial")].iloc[0]["value"]
    assert depth["nominal"] == pytest.approx(own, rel=0.05)
    batches = [tables / "samples" / f"b{number:03d}.nc" for number in range(2)]
    assert sum(netcdf.load(ElementSums, path).samples for path in batches) == 3
