"""Correlation with contact pressure, and validity flags."""

from __future__ import annotations

import numpy as np

from kneewear.analysis.regression import correlate_pressure
from kneewear.analysis.regression_tables import flag_validity


def test_quantities_proportional_to_pressure_have_r2_of_one(plane):
    table = correlate_pressure(plane())
    np.testing.assert_allclose(table["r2"], 1.0)
    np.testing.assert_allclose(table["slope_per_mpa"], 1.0)
    # Twelve of seven quantities x two predictors: none on itself; two sides.
    assert len(table) == 24


def test_r2_of_the_published_values(published):
    table = correlate_pressure(published).query("predictor == 'max_pressure'")
    r2 = table.pivot(index="quantity", columns="side", values="r2")
    # Section 4.4 prints 0.732 and 0.084 (from unrounded values) as the smallest of both sides.
    np.testing.assert_allclose(r2.loc["damage_volume"].min(), 0.732, atol=0.005)
    np.testing.assert_allclose(r2.loc["damage_area"].min(), 0.084, atol=0.001)
    assert (
        r2.loc[["wear_depth_at_deepest_damage", "creep_depth_at_deepest_damage", "damage_depth"]]
        .min()
        .min()
        > 0.975
    )


def test_published_cases_beyond_validity(published):
    flags = flag_validity(published, 35.0, 14.0)
    assert len(flags) == 50
    row = flags.query("side == 'medial' and thickness_mm == 6 and body_mass_kg == 150").iloc[0]
    assert row["max_pressure_above_limit"]
    assert row["avg_pressure_above_limit"]
    assert (
        not flags.query("thickness_mm == 14 and body_mass_kg == 50")[
            ["max_pressure_above_limit", "avg_pressure_above_limit"]
        ]
        .to_numpy()
        .any()
    )
