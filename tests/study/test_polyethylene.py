"""Grades of polyethylene as levels of a variable."""

from __future__ import annotations

import pytest

from tests.study.studies import coarse_study, computed, shipped


def test_grades_wear_by_the_ratios_of_pins():
    shipped_study = shipped("polyethylene.yaml")
    study = coarse_study(shipped_study["variables"], wear=shipped_study["wear"])
    volume = computed(study).set_index("polyethylene")["both_wear_volume"]
    assert len(volume) == 3
    # Review of pins: 7.03, 5.39 and 0.67 mm3 per million cycles.
    assert volume["not_irradiated"] / volume["conventional"] == pytest.approx(7.03 / 5.39, rel=0.01)
    assert volume["highly_cross_linked"] / volume["conventional"] == pytest.approx(
        0.67 / 5.39, rel=0.01
    )
