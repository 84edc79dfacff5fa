"""Wrong inputs that change wear are not silent: a seeded part of `benchmarks.mutations`."""

from __future__ import annotations

import pytest

from benchmarks.mutations import run
from tests.faults.faulty_inputs import CHECKOUT, DATA


@pytest.mark.slow
@pytest.mark.compiled
def test_mutations_change_no_wear_without_a_word(monkeypatch):
    """These had none that is silent; docs/validation.md states the share of 500."""
    if not DATA.is_dir():
        pytest.skip("needs the data folder")
    monkeypatch.chdir(CHECKOUT)
    outcomes = list(run(40, 2, DATA))
    assert len(outcomes) == 40
    assert {"refused", "warned", "harmless"} <= {one.verdict for one in outcomes}
    assert [one for one in outcomes if one.verdict == "silent"] == []
