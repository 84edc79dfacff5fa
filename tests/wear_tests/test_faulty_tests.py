"""Faulty settings of tests of bearings, and their places."""

from __future__ import annotations

import pytest

from kneewear.settings.study import read_study
from tests.refusals import refusal
from tests.study.studies import CHECKOUT

PIN = "wear_test.tests.pin_circular"


def changed(**test):
    """Settings of the measured tests with a change of one."""
    return read_study(
        CHECKOUT / "config/measured_wear.yaml",
        {"wear_test": {"tests": {"pin_circular": test}}},
        defaults=CHECKOUT / "config/defaults.yaml",
    )


@pytest.mark.parametrize(
    ("test", "place"),
    [
        ({"bearing": {"radius_mm": -1}}, "bearing.radius_mm"),
        ({"bearing": {"shape": "cone"}}, "bearing.shape"),
        ({"load": {"low_n": 500}}, "load"),
        ({"motion": {"path": "spiral"}}, "motion.path"),
        ({"motion": {"diameter_mm": 5000.0}}, "motion.diameter_mm"),
        ({"frames": 3}, "frames"),
        ({"element_mm": 0.0}, "element_mm"),
        ({"factor_ratio": 0.0}, "factor_ratio"),
        ({"lubrikant": "serum"}, "lubrikant"),
    ],
)
def test_fault_is_stated_at_its_key(test, place):
    assert refusal(changed, **test).where.endswith(f"key {PIN}.{place}")
