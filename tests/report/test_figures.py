"""Figures: which are drawn, and that what they show is where it belongs."""

from __future__ import annotations

import io

import numpy as np
import pytest

from kneewear.report.figures import draw_figures
from kneewear.report.maps import centre_case, draw_damage_maps, typical_cases
from kneewear.simulation.history import Case


def figures_of(study):
    """All figures of a study."""
    return draw_figures(
        study.implant,
        study.grid,
        study.maps,
        study.cycles,
        study.activities,
        study.tables["cases"],
        study.tables["regression"],
        study.tables["comparison"],
    )


def test_full_design_gets_every_figure(whole):
    assert set(figures_of(whole)) == {
        "damage_maps", "damage_surfaces", "published_scatter", "published_errors",
        "implant", "control_nets", "element_grid", "thickness_map",
        "activity_gait", "history_gait", "pressure_gait",
    }  # fmt: skip


def test_single_case_with_two_lives_gets_what_it_can(single):
    assert set(figures_of(single)) == {
        "damage_maps_walk", "damage_maps_rest",
        "implant", "control_nets", "element_grid", "thickness_map",
        "activity_gait", "history_gait", "pressure_gait",
    }  # fmt: skip


def test_every_figure_can_be_written_as_svg(whole):
    for name, figure in figures_of(whole).items():
        file = io.BytesIO()
        figure.savefig(file, format="svg")
        assert b"</svg>" in file.getvalue(), name


def test_typical_cases_of_the_published_design():
    cases = [Case(f"{h}_{m}", h, m) for h in (6, 8, 10, 12, 14) for m in (50, 75, 100, 125, 150)]
    chosen = [(cases[index].thickness, cases[index].body_mass) for _, index in typical_cases(cases)]
    assert chosen == [(14, 50), (14, 150), (10, 100), (6, 50), (6, 150)]
    assert cases[centre_case(cases)] == Case("10_100", 10, 100)


def test_no_case_is_shown_twice(whole):
    indices = [index for _, index in typical_cases(whole.maps.cases)]
    assert len(indices) == len(set(indices)) == 4


def test_medial_is_drawn_left_and_anterior_up(whole):
    axes = draw_damage_maps(whole.maps, whole.grid, 0).axes[0]
    assert axes.get_xlim()[0] > axes.get_xlim()[1]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def test_mark_stands_at_the_largest_damage(whole):
    axes = draw_damage_maps(whole.maps, whole.grid, 0).axes[0]
    case = typical_cases(whole.maps.cases)[0][1]
    worst = np.unravel_index(whole.maps.damage_depth[0, case, 0].argmax(), (24, 18))
    x, _, z = whole.grid.centre[0][worst]
    mark = axes.lines[0].get_xydata()[0]
    assert mark == pytest.approx([z, x])
