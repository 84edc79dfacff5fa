"""Figures and page of a static study."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from kneewear.regression.materials import compare_materials
from kneewear.report.captions import figure_texts
from kneewear.report.facts import convergence_errors, division_errors, scan_results, scans_positions
from kneewear.report.static import (
    draw_grid_sensitivity,
    draw_position_scan,
    draw_static_figures,
    draw_static_sections,
    shown_cases,
)
from tests.report.pages import both_pages
from tests.report.static_results import CONVERGENCE, SENSITIVITY, STUDY


def figures_of(static_study):
    """All figures of the study."""
    record, implant, tables = static_study
    return draw_static_figures(
        record, implant, tables["static"], tables["material_comparison"], CONVERGENCE, SENSITIVITY
    )


def test_every_figure_has_its_words_and_can_be_written(static_study):
    figures = figures_of(static_study)
    assert set(figures) == {
        "static_sections", "static_pressure", "material_comparison", "element_convergence",
        "grid_sensitivity",
    }  # fmt: skip
    for name, figure in figures.items():
        assert name in figure_texts()
        file = io.BytesIO()
        figure.savefig(file, format="svg")
        assert b"</svg>" in file.getvalue(), name


def test_one_pose_a_flexion_is_shown_at_the_largest_load(static_study):
    record = static_study[0]
    shown = [record.cases[number] for number in shown_cases(record)]
    assert [(case.material, case.flexion, case.load) for case in shown] == [
        ("linear", 0.0, 3000.0),
        ("linear", 90.0, 3000.0),
    ]


def test_cam_is_drawn_where_it_stands(static_study):
    record, implant, _ = static_study
    axes = draw_static_sections(record, implant).axes[1]
    cam = next(line for line in axes.lines if line.get_linewidth() == 2.2).get_xydata()
    # Its foremost point has reached the post, whose back is at -6 mm.
    assert cam[:, 0].min() == pytest.approx(-6.0, abs=0.3)


def test_largest_pressure_is_the_last_colour(static_study):
    record = static_study[0]
    shown = np.isin(record.element_case, shown_cases(record))
    bar = figures_of(static_study)["static_pressure"].axes[-1]
    assert bar.get_ylim()[1] == pytest.approx(record.element_pressure[shown].max())


def test_errors_are_counted_from_the_most_elements():
    errors = convergence_errors(CONVERGENCE).set_index(["quantity", "wanted"])
    assert errors.loc[("max_pressure", 25), "median_percent"] == pytest.approx(4.0)
    assert errors.loc[("avg_pressure", 50), "greatest_percent"] == pytest.approx(4.0)
    assert errors.loc[("avg_pressure", 400), "median_percent"] == pytest.approx(0.0)


def test_deviations_are_counted_from_the_finest_grid_which_is_left_out():
    deviation = division_errors(SENSITIVITY, "max_pressure_mpa")
    assert list(deviation.index) == list(deviation.columns) == [20, 40]
    assert deviation.loc[20, 40] == pytest.approx(100.0 * (20.5 / 20.1 - 1.0))
    titles = [axes.get_title("left") for axes in draw_grid_sensitivity(SENSITIVITY).axes[:4]]
    assert titles[0] == "A) Contact force: within 0.0 %"
    assert titles[2] == "C) Maximum pressure: within 2.0 %"


def test_page_tells_what_was_found(static_study):
    tables = static_study[2]
    page = both_pages("static", STUDY.model_dump(mode="json"), tables, {}, {})
    comparison = tables["material_comparison"]
    mean = comparison.loc[comparison["load_n"].isna(), "mean_mpa"].iloc[0]
    assert f"Maximum pressure, nonlinear against linear: {mean:+.2f} MPa on average" in page
    assert "(published: -4.50 MPa)" in page
    assert "Cam and post touch at 90° only" in page
    assert "maximum pressure 4.0 % (at most 4.0 %)" in page


def test_page_of_one_material_without_elements_leaves_their_sections_out(static_study):
    tables = dict(static_study[2])
    alone = tables["static"][tables["static"]["material"] == "linear"]
    tables |= {"static": alone, "material_comparison": compare_materials(alone, published=False)}
    for name in ("element_convergence", "grid_sensitivity"):
        del tables[name]
    page = both_pages("static", STUDY.model_dump(mode="json"), tables, {}, {})
    assert 'id="materials"' not in page
    assert 'id="elements"' not in page
    assert 'id="pressure"' in page


def scanned(ahead):
    """Static table of three held positions; lateral contact lies so far behind medial."""
    rows = [
        {"material": "cartilage", "flexion_deg": 0.0, "posterior_mm": position, "load_n": 1000.0,
         "side": side, "quantity": quantity, "value": value}
        for position, peak, behind in zip((-2.0, 0.0, 2.0), (6.0, 4.5, 5.0), ahead, strict=True)
        for side, more in (("medial", 0.0), ("lateral", 0.5))
        for quantity, value in (
            ("max_pressure", peak + more), ("avg_pressure", 0.5 * peak),
            ("centre_posterior", position - 8.0 + (behind if side == "lateral" else 0.0)),
        )
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_scan_tells_where_pressure_is_least_and_which_side_is_in_front():
    found = scan_results(scanned((4.0, 5.0, 6.0)))
    assert (found["worst"], found["worst_mpa"]) == (-2.0, 6.5)
    assert (found["best"], found["best_mpa"]) == (0.0, 5.0)
    assert (found["least_mm"], found["most_mm"]) == (4.0, 6.0)
    found = scan_results(scanned((4.0, -1.0, 6.0)))
    assert (found["ahead"], found["positions"]) == (2, 3)


def test_scan_is_drawn_for_both_sides():
    table = scanned((4.0, 5.0, 6.0))
    assert scans_positions(table)
    assert not scans_positions(table[table["posterior_mm"] == 0.0])
    peaks, _, centres = draw_position_scan(table).axes
    np.testing.assert_allclose(peaks.lines[0].get_ydata(), [6.0, 4.5, 5.0])
    np.testing.assert_allclose(centres.lines[1].get_ydata(), [-6.0, -3.0, 0.0])
