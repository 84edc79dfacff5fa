"""Validity of the rows of studies of many designs, samples or cases."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd

from kneewear.report.case_facts import validity
from kneewear.report.page import render_page
from tests.report import new_kinds

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


def with_limit(settings, limit):
    report = settings["report"] | {"pressure_limit_mpa": limit, "avg_pressure_limit_mpa": 1e3}
    return settings | {"report": report}


def test_a_sweep_counts_and_marks_cases_beyond_a_limit():
    kind, settings, tables, _ = new_kinds.sweep()
    peaks = tables["sweep"]["both_max_pressure"]
    beyond = int((peaks > peaks.median()).sum())
    page = render_page(kind, with_limit(settings, float(peaks.median())), tables, {})
    assert f'<span class="badge">outside validity</span> {beyond} of {peaks.count()} cases' in page
    assert page.count("<td>outside</td>") + page.count('<td class="text">outside</td>') > 0
    inside = render_page(kind, with_limit(settings, 1e3), tables, {})
    assert '<span class="badge within">within validity</span> 0 of' in inside
    assert ">outside</td>" not in inside


def test_designs_of_an_optimisation_beyond_a_limit_are_marked_in_tables_and_view():
    (kind, settings, tables, _), view = new_kinds.searched()
    chosen = tables["chosen_designs"]
    limit = float(chosen["max_pressure"].min()) + 1e-6
    beyond = chosen.loc[chosen["max_pressure"] > limit, "chosen"].tolist()
    assert 0 < len(beyond) < len(chosen)
    page = render_page(kind, with_limit(settings, limit), tables, {}, view=view)
    assert f"{len(beyond)} of {len(chosen)} chosen designs exceed" in page
    assert page.count(">outside</td>") >= len(beyond)
    data = json.loads(re.search(r'id="viewer-data">(.*?)</script>', page, re.DOTALL)[1])
    (marked,) = data["outside"].values()
    lowest = chosen.loc[chosen["max_pressure"].idxmin(), "chosen"]
    assert set(beyond) <= set(marked) and lowest not in marked
