"""Differences of materials, and the published one they stand beside."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.evidence.published.materials import compare_materials


def static_table(peaks):
    """Tidy table of made-up pressures by material and load; the lateral side has 2 MPa more."""
    return pd.DataFrame(
        [
            {
                "material": material,
                "flexion_deg": 0.0,
                "posterior_mm": 0.0,
                "load_n": load,
                "side": side,
                "quantity": quantity,
                "value": value + more,
                "unit": "MPa",
            }
            for material, values in peaks.items()
            for load, value in values.items()
            for side, more in (("medial", 0.0), ("lateral", 2.0), ("post", 500.0))
            for quantity in ("max_pressure", "avg_pressure")
        ]
    )


KEYS = ["flexion_deg", "posterior_mm"]
TABLE = static_table({"hard": {750.0: 10.0, 1500.0: 20.0}, "soft": {750.0: 11.0, 1500.0: 15.0}})


def test_differences_are_those_of_both_sides_mean():
    found = compare_materials(TABLE, "material", KEYS, published=False)
    whole = found[found["load_n"].isna()].set_index("quantity").loc["max_pressure"]
    assert (whole["material"], whole["reference"], whole["cases"]) == ("soft", "hard", 2)
    assert whole["mean_mpa"] == pytest.approx(np.mean([1.0, -5.0]))
    assert whole["sd_mpa"] == pytest.approx(np.std([1.0, -5.0], ddof=1))
    assert whole["rms_mpa"] == pytest.approx(np.sqrt(13.0))
    assert whole["cases_below"] == 1
    loads = found[(found["quantity"] == "max_pressure") & found["load_n"].notna()]
    assert dict(zip(loads["load_n"], loads["mean_mpa"], strict=True)) == {750.0: 1.0, 1500.0: -5.0}


def test_published_difference_is_that_of_the_mean_errors():
    found = compare_materials(TABLE, "material", KEYS, published=True)
    whole = found[found["load_n"].isna()].set_index("quantity")
    # Bei (2003), Table 3-1: -6.7 and -2.2, or -2.5 and 2.0 MPa; 0.56 and 0.31 MPa.
    assert whole["published_mean_mpa"].to_dict() == pytest.approx(
        {"max_pressure": -4.5, "avg_pressure": 0.25}
    )
    # Deviations of 1.2 and 3.6, 1.4 and 2.7, 0.49 and 1.1 MPa.
    assert whole["published_sd_least_mpa"].to_dict() == pytest.approx(
        {"max_pressure": 2.4, "avg_pressure": 0.61}
    )
    assert whole["published_sd_greatest_mpa"].to_dict() == pytest.approx(
        {"max_pressure": 4.1, "avg_pressure": 1.59}
    )
    assert whole["measured_least_mpa"]["max_pressure"] == pytest.approx(-2.0)
    assert whole["measured_greatest_mpa"]["max_pressure"] == pytest.approx(2.2)
