"""A small finite-element twin of the built-in bearing."""

from __future__ import annotations

from pathlib import Path

import pytest

from kneewear import default_settings_file
from kneewear.evidence.fe_comparison.comparison import compute_twin
from kneewear.study.inputs import built_in_activities, exact_knee
from kneewear.study.settings import read_study

CONFIG = Path(__file__).parents[3] / "config/evidence/fe_twin.yaml"
SMALL = {
    "grid": {"rows": 40, "columns": 30},
    "simulation": {"frames": 20, "distance": "exact"},
    "fe_twin": {
        "frames_percent": [15],
        "elements": {
            "along_mm": 2.0, "across_mm": 3.0, "ends_mm": 1.0, "below_mm": 2.0, "coarsening": 1.4,
        },
    },
}  # fmt: skip


def small_twin_study(*changes):
    """The shipped study on few elements, with changes."""
    return read_study(CONFIG, SMALL, *changes, defaults=default_settings_file())


def twin_of(study, number=2, knee=None):
    """Twin of one case of a study, by default the centre, on its own or another knee."""
    case, activity = study.twin_cases()[number], study.fe_twin.activity
    return compute_twin(
        knee or exact_knee(study),
        built_in_activities(study)[activity],
        case,
        study.twin_frames(),
        study.fe_twin,
        study.simulation,
    )


@pytest.fixture(scope="session")
def twin():
    """Twin of the centre case on few elements."""
    return twin_of(small_twin_study())
