"""Bars of the levels of a paired variable."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.base.sides import BOTH
from kneewear.report.cohort import DISTRIBUTED, draw_levels
from kneewear.study.wear import column_name
from tests.report.labels import misplaced

GRADES = ["conventional", "vitamin_e", "highly_cross_linked"]


def results_of(cases):
    """Results of so many cases per grade: grade n has n, and further cases twice as much."""
    columns = [column_name(BOTH, name) for name in DISTRIBUTED]
    return pd.DataFrame(
        {"grade": grade} | dict.fromkeys(columns, (number + 1) * 2.0**case)
        for case in range(cases)
        for number, grade in enumerate(GRADES)
    )


@pytest.mark.parametrize(("cases", "median"), [(1, 1.0), (2, 1.5), (3, 2.0)])
def test_bars_are_medians_in_the_order_of_the_levels(cases, median):
    figure = draw_levels(results_of(cases), "grade")
    assert len(figure.axes) == len(DISTRIBUTED)
    for axes in figure.axes:
        assert [bar.get_width() for bar in axes.patches] == [median * n for n in (1, 2, 3)]
        ranges = [line for one in axes.collections for line in one.get_segments()]
        assert len(ranges) == (len(GRADES) if cases > 1 else 0)
        for number, line in enumerate(ranges):
            assert np.array(line)[:, 0].tolist() == [number + 1, (number + 1) * 2.0 ** (cases - 1)]
    assert misplaced(figure) == []
