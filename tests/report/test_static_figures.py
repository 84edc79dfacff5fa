"""Figures of static contact."""

from __future__ import annotations

import pytest

from kneewear.models.press.static_figures import (
    draw_static_figures,
    draw_static_sections,
    drawn_cases,
)


def test_one_pose_a_flexion_is_shown_at_the_largest_load(static_study):
    cases = static_study.cases.set_index("case")
    shown = cases.loc[drawn_cases(static_study.cases), ["material", "flexion_deg", "load_n"]]
    assert shown.to_numpy().tolist() == [["linear", 0.0, 3000.0], ["linear", 90.0, 3000.0]]


def test_cam_is_drawn_where_it_is(static_study):
    chosen = drawn_cases(static_study.cases)
    axes = draw_static_sections(static_study.contact, chosen, static_study.implant).axes[1]
    cam = next(line for line in axes.lines if line.get_linewidth() == 2.2).get_xydata()
    # Its foremost point has reached the post, whose back is at -6 mm.
    assert cam[:, 0].min() == pytest.approx(-6.0, abs=0.3)


def test_largest_pressure_is_the_last_colour(static_study):
    shown = static_study.contact.sel(case=drawn_cases(static_study.cases))
    bar = draw_static_figures(*static_study)["static_pressure"].axes[-1]
    assert bar.get_ylim()[1] == pytest.approx(float(shown["max_pressure"].max()))
