"""Discretisation error by accuracy."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.activity.sources import build_activity
from kneewear.evidence.verification import accuracy
from kneewear.geometry.knee import assemble_knee
from kneewear.study.settings import read_study
from tests.test_config import FOLDER


def level(rows, columns, frames):
    """Settings of an accuracy."""
    grid = {"rows": rows, "columns": columns}
    return {"grid": grid, "coarse_grid": grid, "simulation": {"frames": frames}}


@pytest.fixture
def table(monkeypatch):
    """Errors of one quasi-static case at two accuracies, coarser than the real ones."""
    monkeypatch.setattr(accuracy, "CONVERGED", level(100, 76, 96))
    levels = {"draft": level(24, 18, 24), "fine": level(50, 38, 48)}
    monkeypatch.setattr(accuracy, "levels_of_accuracy", lambda: levels)
    own = level(100, 76, 96)
    own["simulation"] |= {"analysis": "quasi_static", "distance": "exact"}
    study = read_study(
        FOLDER / "evidence/verification.yaml", own, defaults=FOLDER / "defaults.yaml"
    )
    knee, _ = assemble_knee(study.implant, study.grid, study.table, tabulate_distances=False)
    blocks = study.simulated_activities().items()
    return accuracy.verify_accuracy(
        knee, study, lambda frames: [build_activity(name, block, frames) for name, block in blocks]
    )


def test_errors_fall_with_the_accuracy_and_are_zero_for_the_converged_settings(table):
    largest = table.assign(error=table["error_percent"].abs()).groupby("accuracy")["error"].max()
    assert largest["as configured"] == 0.0
    assert 0.0 < largest["fine"] < 0.5 * largest["draft"]
    draft = table[table["accuracy"] == "draft"]
    np.testing.assert_allclose(
        draft["error_percent"], 1e2 * (draft["value"] - draft["converged"]) / draft["converged"]
    )
    assert set(draft["bound_percent"]) == {3.0}
    assert {"wear_volume", "creep_volume", "damage_area"} <= set(draft["quantity"])
