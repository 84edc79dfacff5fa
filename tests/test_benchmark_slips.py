"""Slips of numbers that the benchmark gives."""

from __future__ import annotations

import pytest

from benchmarks.slips import SMALL, changed, given_with, numbers
from kneewear import default_settings_file
from kneewear.base.keys import range_at
from kneewear.base.ranges import slips
from kneewear.study.settings import read_study


def test_given_numbers_are_corrected_to_the_right_ones():
    """Every slip of every unit of the study is undone by its own correction."""
    study = read_study(SMALL, defaults=default_settings_file())
    units = {range_at(type(study), at)[1].unit for at, _ in numbers(study)}
    assert {"mm", "MPa", "kg", "1"} <= units
    for unit in units:
        for slip in slips(unit):
            assert slip.corrected(given_with(slip, 0.7)) == pytest.approx(0.7, rel=1e-12)


def test_one_number_is_changed_and_whole_ones_stay_whole():
    study = read_study(SMALL, defaults=default_settings_file())
    settings = study.model_dump(mode="json")
    doubled = changed(settings, ("simulation", "frames"), 48.0)
    assert repr(doubled["simulation"]["frames"]) == "48"
    doubled["simulation"]["frames"] = settings["simulation"]["frames"]
    assert doubled == settings
    bump = ("activities", "gait", "flexion_deg", "bumps", 0, "height")
    assert changed(settings, bump, 1.5)["activities"]["gait"]["flexion_deg"]["bumps"][0][
        "height"
    ] == pytest.approx(1.5)
