"""The figure of laxity with soft tissue."""

from __future__ import annotations

import pandas as pd

from kneewear.knees.figures import draw_tibial_laxity


def test_curves_are_of_the_tests_that_the_knee_bears():
    rows = [
        {
            "test": test,
            "flexion_deg": flexion,
            "borne": 0.6 if lost else 1.0,
            "coordinate": coordinate,
            "unit": unit,
            "change": 0.1 * flexion * sense,
        }
        for test, sense in (("anterior_drawer", 1.0), ("posterior_drawer", -1.0))
        for flexion in (0.0, 30.0, 90.0)
        for coordinate, unit in (("anterior", "mm"), ("internal_rotation", "deg"))
        for lost in [test == "anterior_drawer" and flexion == 90.0]
    ]
    panels = draw_tibial_laxity(pd.DataFrame(rows)).axes
    assert len(panels) == 2
    for axes in panels:
        drawn = {line.get_label(): line.get_xydata().tolist() for line in axes.lines}
        assert list(drawn.values()) == [
            [[0.0, 0.0], [30.0, 3.0]],
            [[0.0, 0.0], [30.0, -3.0], [90.0, -9.0]],
        ]
