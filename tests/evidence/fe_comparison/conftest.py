"""A small finite-element comparison of the built-in bearing."""

from __future__ import annotations

from pathlib import Path

import pytest

from kneewear import default_settings_file
from kneewear.evidence.fe_comparison.comparison import compute_comparison
from kneewear.study.inputs import built_in_activities, exact_knee
from kneewear.study.settings import read_study

CONFIG = Path(__file__).parents[3] / "config/evidence/fe_twin.yaml"
SMALL = {
    "grid": {"rows": 40, "columns": 30},
    "simulation": {"frames": 20, "distance": "exact"},
    "fe_comparison": {
        "frames_percent": [15],
        "elements": {
            "along_mm": 2.0,
            "across_mm": 3.0,
            "ends_mm": 1.0,
            "below_mm": 2.0,
            "coarsening": 1.4,
        },
    },
}


def small_fe_study(*changes):
    """The shipped study on few elements, with changes."""
    return read_study(CONFIG, SMALL, *changes, defaults=default_settings_file())


def comparison_of(study, number=2, knee=None):
    """FE comparison of one case of a study, by default the centre, on its own or another knee."""
    case, activity = study.compared_cases()[number], study.fe_comparison.activity
    return compute_comparison(
        knee or exact_knee(study),
        built_in_activities(study)[activity],
        case,
        study.compared_frames(),
        study.fe_comparison,
        study.simulation,
    )


@pytest.fixture(scope="session")
def comparison():
    """FE comparison of the centre case on few elements."""
    return comparison_of(small_fe_study())
