"""Order of two designs by common draws of wear laws."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from kneewear.analysis.wear_order import ALL_LAWS, order_of_designs
from kneewear.wear.draws import WEIGHTED

WITHIN = 0.1


def draws(**works):
    """Table of draws: the works of each law."""
    rows = [
        ("gait", law, number, work)
        for law, values in works.items()
        for number, work in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=["life", "law", "draw", "work"])


def by_law(reference, design, within=WITHIN):
    return order_of_designs(reference, design, within).set_index("law")


def test_equal_designs_wear_less_in_half_of_the_draws():
    order = by_law(draws(one=[3.0], two=[1.0, 2.0]), draws(one=[3.0], two=[1.0, 2.0]))
    np.testing.assert_allclose(order["percent"], 50.0)
    np.testing.assert_allclose(order["ratio"], 1.0)
    assert not order["law_decides"].any()


def test_share_of_draws_is_that_of_a_normal_deviation():
    order = by_law(draws(one=[2.0]), draws(one=[1.8]))
    expected = 100.0 * norm.cdf(-np.log(0.9) / (np.sqrt(2.0) * WITHIN))
    assert order.loc["one", "percent"] == pytest.approx(expected)
    # The interval belongs to the same normal deviation, at 99 points of it.
    half = norm.ppf(0.95) * np.sqrt(2.0) * WITHIN
    assert order.loc["one", "ratio_low"] == pytest.approx(0.9 * np.exp(-half), rel=0.02)
    assert order.loc["one", "ratio_high"] == pytest.approx(0.9 * np.exp(half), rel=0.02)


def test_laws_that_disagree_decide_the_order():
    order = by_law(draws(one=[1.0], two=[1.0, 1.0]), draws(one=[2.0], two=[0.5, 0.5]))
    assert order["law_decides"].all()
    assert order.loc[ALL_LAWS, "percent"] == pytest.approx(50.0, abs=1e-3)


def test_laws_count_equally_however_many_draws_they_have():
    order = by_law(draws(one=[1.0], two=[1.0] * 9), draws(one=[0.1], two=[10.0] * 9))
    assert order.loc[ALL_LAWS, "percent"] == pytest.approx(50.0, abs=1e-3)


def test_laws_weighted_by_measured_wear_are_a_row_of_their_own():
    weighted = {WEIGHTED: [1.0, 1.0, 1.0, 1.0]}, {WEIGHTED: [0.1, 0.1, 0.1, 10.0]}
    order, alone = (
        by_law(draws(one=[1.0], two=[1.0], **own), draws(one=[2.0], two=[0.5], **other))
        for own, other in (weighted, ({}, {}))
    )
    assert order.loc[WEIGHTED, "percent"] == pytest.approx(75.0)
    pd.testing.assert_frame_equal(order.drop(index=WEIGHTED), alone)


def test_draws_are_compared_number_by_number():
    order = by_law(draws(one=[1.0, 10.0]), draws(one=[1.1, 11.0]))
    assert order.loc["one", "ratio"] == pytest.approx(1.1)
    assert order.loc["one", "ratio_high"] < 1.1 * np.exp(2.0 * np.sqrt(2.0) * WITHIN)
