"""Figures: which are drawn, and that what they show is where it belongs."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from contourpy import contour_generator
from matplotlib.figure import Figure

from kneewear import default_study
from kneewear.evidence.verification.figures import draw_cost, draw_distance_methods
from kneewear.geometry.distance_table import ErrorMap
from kneewear.geometry.extraction import extract_condyles, extract_plateaus
from kneewear.geometry.implant_sources import build_implant
from kneewear.io.documents import save_figures
from kneewear.report import maps
from kneewear.report.bodies import (
    draw_activity,
    draw_bearing_sections,
    draw_curve_samples,
    draw_history,
    draw_section,
)
from kneewear.report.maps import (
    draw_damage_maps,
    draw_deviation,
    draw_extraction,
)
from kneewear.report.style import new_figure
from tests.datasets import with_values
from tests.geometry.exact_arcs import measure_parametric_implant
from tests.geometry.solids import closed_femoral, closed_insert
from tests.report.drawn import WEAR_FIGURES, figures_of


@pytest.mark.slow
def test_full_design_gets_every_figure(whole):
    assert set(figures_of(whole)) == WEAR_FIGURES


def test_maps_of_two_lives_share_their_colours(single):
    deeper = single.maps.damage_depth * np.array([1.0, 2.0])[:, None, None, None, None]
    maps = with_values(single.maps, damage_depth=deeper)
    tops = [
        draw_damage_maps(maps, single.grid, life).axes[0].collections[-1].get_clim()[1]
        for life in (0, 1)
    ]
    assert tops == pytest.approx([float(deeper.max())] * 2)


def test_medial_is_drawn_left_and_anterior_up(whole):
    axes = draw_damage_maps(whole.maps, whole.grid, 0).axes[0]
    assert axes.get_xlim()[0] > axes.get_xlim()[1]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


class TestSurfaces:
    """Deviation maps, extractions and times of distance queries."""

    def test_deviation_map_shows_every_patch_with_its_numbers(self):
        study = default_study().implant
        implant, _ = build_implant(study)
        figure = draw_deviation(measure_parametric_implant(implant, study.parametric))
        titles = [axes.get_title(loc="left") for axes in figure.axes[:4]]
        assert titles[0].startswith("Medial condyle, 7 x 7 lines")
        assert titles[3].startswith("Lateral plateau, 3 x 7 lines")
        assert all("no deviation but rounding" in title for title in titles)

    def test_extraction_colours_what_bears(self):
        extractions = {
            "insert": extract_plateaus(closed_insert(30)),
            "femoral": extract_condyles(closed_femoral(40)),
        }
        figure = draw_extraction(extractions)
        assert len(figure.axes) == 4
        for axes, part in zip(figure.axes[1::2], ("insert", "femoral"), strict=True):
            colours = {tuple(colour) for colour in axes.collections[0].get_facecolors().round(3)}
            assert len(colours) == 2, part
            title = axes.get_title(loc="left")
            assert title.startswith(part.capitalize())
            assert "of the area bears" in title

    @pytest.mark.parametrize("with_cad", [True, False])
    def test_times_are_drawn_with_and_without_opencascade(self, with_cad):
        table = pd.DataFrame(
            {
                "geometry": ["one dense patch", "12 patches"],
                "max_mm": [0.0, 0.01],
                "mean_mm": [0.0, 0.001],
                "sd_mm": [0.0, 0.002],
                "minimum_distance_us": [1.0, 3.0],
                "ray_firing_us": [0.6, 1.1],
            }
        )
        if with_cad:
            table["opencascade_ray_firing_us"] = [11.0, 12.0]
        axes = draw_distance_methods(table).axes[0]
        assert len(axes.get_legend().get_texts()) == (3 if with_cad else 2)
        assert axes.get_yscale() == "log"


def test_a_force_controlled_activity_shows_forces_and_what_they_move(whole):
    activity = replace(
        whole.activities["gait"], prescribed=("z", "theta_3"), load_line=5.0, springs=()
    )
    titles = [axes.get_title("left") for axes in draw_activity(activity).axes]
    assert "Posterior force (BW)" in titles
    assert "External torque (BW mm)" in titles
    moved = [
        axes.get_title("left") for axes in draw_history(whole.cycles, 0, activity.prescribed).axes
    ]
    assert {"Posterior translation (mm)", "External rotation (deg)"} <= set(moved)
    usual = [axes.get_title("left") for axes in draw_history(whole.cycles, 0).axes]
    assert "Posterior translation (mm)" not in usual
    assert len(usual) == 9


def test_samples_are_drawn_with_what_is_made_of_them(whole):
    own = whole.activities["gait"]
    samples = own.coordinates[::4] + np.array([0.5, 0.0, 0.0, 0.0, 0.0, 0.0])
    deviation = np.array([0.5, 0.0, 0.0, 0.0, 0.0, np.radians(1.0)])
    figure = draw_curve_samples(
        replace(own, measured_percent=own.percent[::4], measured_pose=samples, deviation=deviation)
    )
    posterior, superior, *_, flexion = figure.axes
    np.testing.assert_allclose(posterior.lines[0].get_ydata(), samples[:, 0])
    np.testing.assert_allclose(posterior.lines[1].get_ydata()[:-1], own.translation[:, 0])
    assert posterior.get_title("left") == "Posterior (mm)"
    assert superior.get_title("left") == "Superior (mm), not prescribed"
    bands = [axes.collections[0].get_paths()[0].vertices for axes in (posterior, flexion)]
    for band, axes, size in zip(bands, (posterior, flexion), (0.5, 1.0), strict=True):
        most = axes.lines[1].get_ydata()[:-1].max()
        assert band[:, 1].max() == pytest.approx(most + size, abs=0.01)
    assert not superior.collections


def test_files_are_as_large_as_what_figures_show(tmp_path):
    figures, sizes = {}, {}
    for name, aspect, title in (
        ("filled", "auto", "Short"),
        ("titled", "auto", "Wide " * 25),
        ("square", "equal", "Short"),
    ):
        figures[name], ((axes,),) = new_figure(3.0)
        axes.plot([0.0, 1.0], [0.0, 1.0])
        axes.set_aspect(aspect)
        axes.set_title(title, loc="left")
        figures[name].draw_without_rendering()
        sizes[name] = figures[name].get_tightbbox().padded(0.1).size
    assert 2.0 * sizes["square"][0] < sizes["filled"][0] < sizes["titled"][0] - 1.0
    save_figures(figures, tmp_path)
    for name, size in sizes.items():
        text = (tmp_path / f"{name}.svg").read_text()
        points = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', text).groups()
        assert [float(one) / 72.0 for one in points] == pytest.approx(size, abs=0.02)


def test_bearing_sections_are_at_true_scale(whole):
    figure = draw_bearing_sections(whole.implant, whole.cycles, 0)
    figure.draw_without_rendering()
    assert len(figure.axes) == 3
    for axes in figure.axes:
        corners = axes.transData.transform([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)])
        across, up = np.linalg.norm(corners[1:] - corners[0], axis=1)
        assert across == pytest.approx(up, rel=1e-9)
    # The femoral section of a condyle of revolution is a circle: of its outer radius at most, and
    # flatter by less than a millimetre where the section is beside the middle.
    radius = whole.settings["implant"]["parametric"]["femoral_sagittal_radius_mm"]
    for axes in figure.axes[1:]:
        metal = max(axes.lines, key=lambda line: np.nanmax(line.get_ydata())).get_xydata()
        design = np.column_stack([2.0 * metal, np.ones(len(metal))])
        x, y, rest = np.linalg.lstsq(design, (metal**2).sum(axis=1), rcond=None)[0]
        assert radius - 1.0 < np.sqrt(rest + x**2 + y**2) < radius + 0.1


def rounded_past_the_end():
    """A wavy sheet and a plane whose cut, by rounding, ends a hair outside the samples."""
    generator = np.random.default_rng(0)
    x, z = np.meshgrid(np.linspace(-20, 20, 41), np.linspace(1, 31, 31), indexing="ij")
    while True:
        wavy = z + 0.3 * np.sin(x / 7 + generator.uniform(0, 6))
        value = generator.uniform(2, 30)
        (line,) = contour_generator(z=wavy).lines(value)
        if line[:, 1].max() > 40.0:
            return np.stack([x, -30.0 + 0.0 * x, wavy], axis=-1), value


def test_sections_end_where_the_surface_ends():
    points, value = rounded_past_the_end()
    axes = Figure().subplots()
    draw_section(axes, (points, points), (2, value), 0, "k")
    for line in axes.lines:
        np.testing.assert_allclose(line.get_ydata(), -30.0)


def test_cost_is_drawn_for_what_is_varied():
    rows = [
        (analysis, varied, number, factor * number)
        for analysis, factor in (("forward", 0.5), ("quasi_static", 0.1))
        for varied in ("cases", "elements", "frames")
        for number in (25, 100, 400)
    ]
    table = pd.DataFrame(rows, columns=["analysis", "varied", "number", "seconds"])
    panels = draw_cost(table).axes
    assert [axes.get_xlabel().split(",")[0] for axes in panels] == ["cases", "elements", "frames"]
    forward, still, proportional = panels[0].lines
    assert list(still.get_ydata()) == pytest.approx([2.5, 10.0, 40.0])
    assert list(proportional.get_ydata()) == pytest.approx(list(forward.get_ydata()[[0, 2]]))


def test_maps_of_table_errors_are_drawn_where_centres_fall_by_rounding(monkeypatch):
    study = default_study()
    implant, _ = build_implant(study.implant)
    table = object()
    row, column = np.mgrid[0:8.0, 0:12.0]
    noise = 1e-13 * (-1.0) ** (row + column)
    errors = ErrorMap(0.1 * row + noise, column + noise, 1e-4 * (1.0 + row), 1e-3 * (1.0 + column))
    monkeypatch.setattr(maps, "map_errors", lambda surface, of: errors)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = maps.draw_distance_errors(implant, {"medial": table})
    cells = figure.axes[0].collections[0].get_coordinates()
    assert cells.shape == (9, 13, 2)
    np.testing.assert_allclose(cells[0, :, 0], np.arange(13) - 0.5, atol=1e-9)
    np.testing.assert_allclose(cells[:, 0, 1], np.degrees(0.1 * (np.arange(9) - 0.5)), atol=1e-9)
