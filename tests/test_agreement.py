"""Usual slips of numbers, and statements of one quantity that must agree."""

from __future__ import annotations

import pytest

from kneewear.base.agreement import Agreement, Statement, disagreements
from kneewear.base.ranges import Range, slips

FORCE = Range("N", 1, 500, 5000, 1e5, "")


@pytest.mark.parametrize(
    ("unit", "value", "slip", "meant"),
    [
        ("N", 265.0, "in kgf", 2598.8),
        ("N", 160.0, "in lbf", 711.7),
        ("N", 3.5, "in body weights of 75 kg", 2575.1),
        ("mm", 0.6, "in cm", 6.0),
        ("mm", 0.24, "in inch", 6.096),
        ("mm", 50.0, "the diameter of a radius", 25.0),
        ("deg", 0.5236, "in rad", 30.0),
        ("MPa", 0.463, "in GPa", 463.0),
        ("1", 0.3, "of the other side", 0.7),
        ("1", 0.05, "the inverse", 20.0),
        ("kg", 165.0, "in lb", 74.84),
        ("nothing known", 2.0, "with the other sign", -2.0),
    ],
)
def test_slip_of_a_unit_gives_the_value_that_is_meant(unit, value, slip, meant):
    (own,) = [each for each in slips(unit) if each.name == slip]
    assert own.corrected(value) == pytest.approx(meant, rel=1e-3)


def test_finding_lists_the_slips_that_fit_the_usual_range_and_no_others():
    remedy = FORCE.judge("check", 265.0, "key x").remedy
    assert "2599 N" in remedy
    assert "1179 N" in remedy
    assert "kN" not in remedy  # 265,000 N
    assert FORCE.judge("check", 2600.0, "key x") is None


def pair(first, second):
    return Agreement(
        "load.medial_share",
        "N",
        lambda subject: [(Statement(first, "key a"), Statement(second, "key b"))],
        "Correct one.",
    )


def test_statements_that_agree_give_nothing_and_others_one_finding_with_both():
    # The range of the check is 0.5 to 0.9.
    assert list(disagreements([pair(70.0, 100.0), pair(8.0, 10.0)], None)) == []
    (finding,) = disagreements([pair(7.0, 100.0), pair(60.0, 100.0)], None)
    assert (finding.check, finding.severity, finding.where) == (
        "load.medial_share",
        "warn",
        "key a",
    )
    assert "7 N" in finding.found
    assert "100 N" in finding.expected
    assert "key b" in finding.expected
    assert "kgf" in finding.remedy


def test_a_statement_of_zero_disagrees_with_any_other():
    assert len(list(disagreements([pair(1.0, 0.0)], None))) == 1
    assert len(list(disagreements([pair(0.0, 1.0)], None))) == 1
