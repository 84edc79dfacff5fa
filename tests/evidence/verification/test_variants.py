"""Effect of a change of method on every result."""

from __future__ import annotations

import pytest

from kneewear import default_study
from kneewear.evidence.verification.methods import change_methods, compare_methods
from kneewear.motion.settings import SimulationSettings
from tests.datasets import with_values
from tests.wear.conftest import grid, history, settings  # noqa: F401 - fixtures


def test_twice_the_slip_wears_twice_as_much(history, grid, settings):  # noqa: F811
    doubled = with_values(history, slip=2.0 * history.slip)
    changed = {"same": {"gait": history}, "slip: doubled": {"gait": doubled}}
    table = compare_methods({"gait": history}, changed, grid, settings())
    by = table.set_index(["variant", "quantity"])["relative_difference"]
    assert not by["same"].dropna().any()
    assert by["slip: doubled"]["wear_volume"].to_numpy() == pytest.approx(1.0)
    assert by["slip: doubled"]["creep_volume"].to_numpy() == pytest.approx(0.0)


def test_each_change_differs_from_the_study_in_one_setting():
    study = default_study().simulation
    changes = change_methods(study)
    assert list(changes) == [
        "force direction: mid-surface",
        "analysis: quasi-static",
        "distance: exact",
    ]
    plain = study.model_dump()
    for changed in changes.values():
        assert sum(plain[key] != value for key, value in changed.model_dump().items()) == 1
    exact = SimulationSettings(**plain | {"distance": "exact"})
    assert "distance: table" not in change_methods(exact)
