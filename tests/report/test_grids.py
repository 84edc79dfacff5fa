"""The figure of adaptive against fixed grids shows the errors of its table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.report.captions import figure_texts
from kneewear.report.verification import draw_grid_comparison


def test_every_grid_has_its_line_in_every_panel():
    rng = np.random.default_rng(0)
    grids = [("fixed", 300), ("fixed", 7500), ("adaptive", 300)]
    names = ["force_error", "peak_error", "mean_error", "area_error"]
    table = pd.DataFrame(
        [
            {"depth_mm": depth, "kind": kind, "elements": elements} | dict.fromkeys(names, error)
            for depth in (1e-3, 1e-1)
            for kind, elements in grids
            for error in rng.random(1)
        ]
    )
    figure = draw_grid_comparison(table)
    for axes, name in zip(figure.axes, names, strict=True):
        lines = [line for line in axes.lines if not line.get_label().startswith("_")]
        assert len(lines) == len(grids)
        for line, (kind, elements) in zip(lines, grids, strict=True):
            own = table[(table["kind"] == kind) & (table["elements"] == elements)]
            assert kind in line.get_label()
            assert line.get_xdata() == pytest.approx(1e3 * own["depth_mm"].to_numpy())
            assert line.get_ydata() == pytest.approx(1e2 * own[name].to_numpy())
    assert "grid_comparison" in figure_texts()
