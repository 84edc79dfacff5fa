"""Units of measured compressions and pressures are compared with what they can be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kneewear.base.agreement import disagreements
from kneewear.evidence.measurements.commands import PAIRS, judge_compression

STRESS = np.array([2.0, 5.0, 10.0, 15.0])
STRAIN = STRESS / 463.0


@pytest.mark.parametrize(
    ("stress", "values", "response", "expected"),
    [
        (STRESS, STRAIN, "strain", []),
        (STRESS, np.full(4, 463.0), "modulus", []),
        (STRESS / 9.80665, STRAIN, "strain", ["measured.modulus"]),  # kgf/mm2
        (STRESS, 100.0 * STRAIN, "strain", ["measured.modulus"]),  # percent
        (STRESS, np.full(4, 0.463), "modulus", ["measured.modulus"]),  # GPa
    ],
)
def test_compression_is_judged_by_its_modulus(stress, values, response, expected):
    findings = judge_compression(stress, values, response, Path("x.csv"))
    assert [finding.check for finding in findings] == expected


@pytest.mark.parametrize(
    ("factor", "expected"), [(1.0, 0), (0.6, 0), (10.197, 1), (0.1, 1), (145.0, 1)]
)
def test_measured_pressures_are_of_the_size_of_computed_ones(factor, expected):
    paired = pd.DataFrame(
        {
            "quantity": ["peak", "peak", "average"],
            "measured_mpa": [factor * 20.0, factor * 25.0, 8.0],
            "computed_mpa": [22.0, 24.0, 9.0],
        }
    )
    findings = list(disagreements(PAIRS, (paired, Path("x.csv"))))
    assert [finding.check for finding in findings] == expected * ["measured.pressure"]
