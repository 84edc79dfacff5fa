"""Validity of the rows of studies of many designs, samples or cases."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kneewear.report.case_facts import validity

REPORT = {"pressure_limit_mpa": 35.0, "avg_pressure_limit_mpa": 14.0}


def test_mean_and_peak_of_any_side_are_judged_and_failures_are_not():
    frame = pd.DataFrame(
        {
            "medial_max_pressure": [20.0, 36.0, 20.0, np.nan, 35.0],
            "lateral_avg_pressure": [10.0, 10.0, 14.1, np.nan, 14.0],
            "border_pressure": [99.0] * 5,
        }
    )
    assert validity(frame, REPORT).tolist() == ["within", "outside", "outside", "", "within"]
