"""Figures and words of a case's motion, of both analyses and of cases that failed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from kneewear.report import outcome, sections
from kneewear.report.dynamics import draw_dynamics, shown_frames
from kneewear.settings.cases import Case
from kneewear.verification.methods import compare_analyses
from tests.physics.bodies import SMALL, gait_study


@cache
def case():
    """Study, its quasi-static history, and one in which all pressures are 2 % higher."""
    study = gait_study(*SMALL)
    still = study.run(Case("one", 8.0, 75.0))
    return study, still, replace(still, analysis="forward", max_pressure=1.02 * still.max_pressure)


def test_every_figure_of_an_activity_is_drawn():
    study, still, moved = case()
    comparison = compare_analyses(still, moved)
    figures = draw_dynamics(study.implant, study.grid, {"gait": moved}, comparison)
    assert list(figures) == ["motion_gait", "forces_gait", "areas_gait", "analyses_gait"]
    motion, forces, areas, analyses = figures.values()
    assert len(motion.axes) == 8
    assert "flexion" in motion.axes[0].get_title()
    # Net superior force on the insert: the load, downwards.
    net = forces.axes[1].lines[-1].get_ydata()
    assert np.asarray(net)[:-1] == pytest.approx(-still.load[0], rel=1e-6)
    shown = [axes for axes in areas.axes if axes.get_title(loc="left").endswith("%")]
    assert len(shown) == 8
    assert len({axes.get_xlim() for axes in shown}) == 1
    # Anterior is at the top and medial on the left, in all of the plans.
    assert all(axes.yaxis_inverted() and axes.xaxis_inverted() for axes in shown)
    difference = analyses.axes[2].lines[0].get_ydata()
    assert np.nanmax(np.asarray(difference)) == pytest.approx(2.0)


def test_a_case_that_failed_leaves_its_figures_out():
    study, still, moved = case()
    none = compare_analyses(still.select([]), moved.select([]))
    histories = {"gait": moved.select([])}
    assert draw_dynamics(study.implant, study.grid, histories, none) == {}


@pytest.mark.parametrize(("count", "frames"), [(8, 100), (8, 8), (8, 5)])
def test_shown_frames_are_spread_evenly(count, frames):
    history = replace(case()[1], percent=np.arange(frames) * 100.0 / frames)
    shown = shown_frames(history, count)
    assert shown[0] == 0
    assert shown.size == min(count, frames)
    assert np.ptp(np.diff(shown)) <= 1


def test_sentences_tell_size_and_reason_of_the_difference():
    _, still, moved = case()
    first, second = sections.analysis_sentences(compare_analyses(still, moved))
    stance = int((still.load > 0.4 * still.load.max()).sum()) * 2
    assert "differ by 2 % (root mean square)" in first
    assert f"more than 1 % in {stance} of {stance} values and by 2 % at most" in first
    assert "acceleration takes up to 0 % of the load" in second


def test_failures_are_named():
    failures = pd.DataFrame(
        {
            "activity": ["gait", "stairs"],
            "case": ["heavy", "heavy"],
            "frame": [3, 4],
            "residual": [0.1, np.nan],
            "reason": ["no balance", "no balance"],
        }
    )
    (sentence,) = outcome.failure_sentences(failures)
    assert "1 case could not be simulated" in sentence
    assert "heavy" in sentence
    assert len(sections.failure_table(failures).rows) == 2
    assert not outcome.failure_sentences(failures[:0])


def test_largest_effect_of_a_variant_is_told():
    table = pd.DataFrame(
        {
            "variant": "distance: exact",
            "case": "one",
            "life": "gait",
            "side": ["medial", "lateral", "medial"],
            "quantity": ["max_pressure", "wear_depth", "max_residual"],
            "unit": ["MPa", "mm", "1"],
            "value": [20.0, 0.5, 1e-9],
            "changed": [20.01, 0.499, 1e-8],
            "relative_difference": [5e-4, -2e-3, 9.0],
        }
    )
    sentence = sections.variant_sentence("distance: exact", table)
    assert sentence == (
        "With distance: exact, no quantity differs by more than 0.2 % (wear depth, lateral)."
    )
    assert len(sections.variant_table("distance: exact", table).rows) == 2
