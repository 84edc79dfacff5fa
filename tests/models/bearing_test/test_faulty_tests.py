"""Faulty settings of tests of bearings, and their places."""

from __future__ import annotations

import pytest

from kneewear.study.settings import read_study
from tests.refusals import refusal
from tests.study.studies import CHECKOUT

PIN = "wear_test.tests.pin_circular"


def changed(**test):
    """Settings of the measured tests with a change of one."""
    return read_study(
        CHECKOUT / "config/evidence/measured_wear.yaml",
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


def test_test_that_is_not_there_is_stated_with_those_that_are():
    found = refusal(
        read_study,
        CHECKOUT / "config/evidence/measured_wear.yaml",
        {"wear_test": {"test": "pin_circulr"}},
        defaults=CHECKOUT / "config/defaults.yaml",
    )
    assert found.where.endswith("key wear_test.test")
    assert "pin_circular" in found.expected


def test_motion_and_bearing_must_fit():
    ball = {"shape": "ball_in_socket", "clearance_mm": 0.1}
    assert refusal(changed, bearing=ball).where.endswith(f"key {PIN}.motion.path")
