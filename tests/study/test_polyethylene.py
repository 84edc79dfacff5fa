"""Grades of polyethylene as levels of a variable."""

from __future__ import annotations

import pytest

from tests.study.studies import coarse_study, computed, shipped


def test_grades_wear_by_their_ratios():
    shipped_study = shipped("polyethylene.yaml")
    study = coarse_study(shipped_study["variables"], wear=shipped_study["wear"])
    volume = computed(study).set_index("polyethylene")["both_wear_volume"]
    # Review of pins: 7.03, 5.39 and 0.67 mm3 per million cycles; hips: 0.15, and 16.5 over 9.4 mm3.
    ratios = {
        "conventional": 1.0,
        "not_irradiated": 7.03 / 5.39,
        "moderately_cross_linked": 0.15,
        "highly_cross_linked": 0.67 / 5.39,
        "vitamin_e": 0.67 / 5.39 * 16.5 / 9.4,
    }
    assert set(volume.index) == set(ratios)
    for grade, ratio in ratios.items():
        assert volume[grade] / volume["conventional"] == pytest.approx(ratio, rel=0.01), grade
