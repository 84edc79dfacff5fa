"""Figures: which are drawn, and that what they show is where it belongs."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from contourpy import contour_generator
from matplotlib.figure import Figure
from matplotlib.text import Text

from kneewear import default_study
from kneewear.geometry.distance_tabulation import build_distance_table
from kneewear.geometry.extraction import extract_condyles, extract_plateaus
from kneewear.geometry.implant_sources import build_implant
from kneewear.report.bodies import (
    draw_activity,
    draw_bearing_sections,
    draw_history,
    draw_measured,
    draw_section,
)
from kneewear.report.figures import draw_method
from kneewear.report.maps import (
    draw_damage_maps,
    draw_deviation,
    draw_distance_errors,
    draw_extraction,
    typical_cases,
)
from kneewear.report.specification import figure_text
from kneewear.report.style import SIZE, SMALL
from kneewear.report.verification import draw_cost, draw_distance_methods
from kneewear.settings.cases import Case, centre_case
from kneewear.simulation.history import cases_of
from tests.datasets import with_values
from tests.geometry.exact_arcs import measure_parametric_implant
from tests.geometry.solids import closed_femoral, closed_insert
from tests.report.drawn import figures_of


def test_full_design_gets_every_figure(whole):
    assert set(figures_of(whole)) == {
        "damage_maps", "wear_maps", "damage_surfaces", "design", "published_scatter",
        "published_errors", "regression_residuals", "regression_models", "implant",
        "bearing_sections", "control_nets",
        "element_grid", "thickness_map", "activity_gait", "history_gait", "pressure_gait",
        "motion_gait", "forces_gait", "areas_gait",
    }  # fmt: skip


def test_single_case_with_two_lives_gets_what_it_can(single):
    assert set(figures_of(single)) == {
        "damage_maps_walk", "damage_maps_rest", "wear_maps_walk", "wear_maps_rest",
        "implant", "bearing_sections", "control_nets", "element_grid", "thickness_map",
        "activity_gait", "history_gait", "pressure_gait",
        "motion_gait", "forces_gait", "areas_gait",
    }  # fmt: skip


def test_texts_of_all_figures_have_one_of_two_sizes(whole):
    for name, figure in figures_of(whole).items():
        sizes = {text.get_fontsize() for text in figure.findobj(Text) if text.get_text()}
        assert sizes <= {SIZE, SMALL}, name


def test_maps_of_two_lives_share_their_colours(single):
    deeper = single.maps.damage_depth * np.array([1.0, 2.0])[:, None, None, None, None]
    maps = with_values(single.maps, damage_depth=deeper)
    tops = [
        draw_damage_maps(maps, single.grid, life).axes[0].collections[-1].get_clim()[1]
        for life in (0, 1)
    ]
    assert tops == pytest.approx([float(deeper.max())] * 2)


@pytest.mark.slow
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
    indices = [index for _, index in typical_cases(cases_of(whole.maps))]
    assert len(indices) == len(set(indices)) == 4


def test_medial_is_drawn_left_and_anterior_up(whole):
    axes = draw_damage_maps(whole.maps, whole.grid, 0).axes[0]
    assert axes.get_xlim()[0] > axes.get_xlim()[1]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def test_mark_stands_at_the_largest_damage(whole):
    axes = draw_damage_maps(whole.maps, whole.grid, 0).axes[0]
    case = typical_cases(cases_of(whole.maps))[0][1]
    worst = np.unravel_index(whole.maps.damage_depth[0, case, 0].argmax(), (24, 18))
    x, _, z = whole.grid.centre[0][worst]
    mark = axes.lines[0].get_xydata()[0]
    assert mark == pytest.approx([z, x])


@pytest.mark.slow
@pytest.mark.compiled
def test_errors_of_distance_tables_are_mapped_on_both_condyles(whole):
    tables = {
        side: build_distance_table(surface, 1e-3) for side, surface in whole.implant.femoral.items()
    }
    figure = draw_distance_errors(whole.implant, tables)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert sum(title.startswith("Medial: worst") for title in titles) == 2
    assert sum(title.startswith("Lateral: worst") for title in titles) == 2
    for axes, unit in zip(figure.axes[:2], ("µm", "deg"), strict=True):
        (worst,) = axes.lines
        # Curvature jumps where the bearing part meets the rims, 12 mm from the condyle's middle.
        away = abs(float(worst.get_xdata()[0]) - 23.0)
        assert away > 11.5
        assert axes.get_title(loc="left").endswith(unit)
    # A condyle without a table is left out, here the medial one.
    alone = draw_distance_errors(whole.implant, {"lateral": tables["lateral"]})
    titles = [axes.get_title(loc="left") for axes in alone.axes]
    assert [title.partition(":")[0] for title in titles if title] == ["Lateral", "Lateral"]


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
                "max_mm": [0.0, 0.01], "mean_mm": [0.0, 0.001], "sd_mm": [0.0, 0.002],
                "minimum_distance_us": [1.0, 3.0], "ray_firing_us": [0.6, 1.1],
            }
        )  # fmt: skip
        if with_cad:
            table["opencascade_ray_firing_us"] = [11.0, 12.0]
        axes = draw_distance_methods(table).axes[0]
        assert len(axes.get_legend().get_texts()) == (3 if with_cad else 2)
        assert axes.get_yscale() == "log"

    def test_figures_have_their_words(self, whole):
        study = default_study()
        implant, record = build_implant(study.implant)
        figures = draw_method(
            whole.implant, whole.grid, whole.activities, whole.tables, quality=record.fit_quality
        )
        # The built-in surfaces are exact: four empty maps tell nothing.
        assert "surface_deviation" not in figures
        coarse = [
            replace(fit, max_mm=0.01)
            for fit in measure_parametric_implant(implant, study.implant.parametric)
        ]
        assert "surface_deviation" in draw_method(
            whole.implant, whole.grid, whole.activities, whole.tables, quality=coarse
        )
        assert figure_text("surface_deviation").title == "Deviation of the surfaces"
        for name in ("bearing_extraction", "distance_methods"):
            assert figure_text(name).alternative


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
    figure = draw_measured(
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


def test_measured_curves_are_drawn_beside_built_in_ones(whole):
    own = whole.activities["gait"]
    moved = own.translation + np.array([7.0, 0.0, 0.0])
    loaded = replace(own, load=0.5 * own.load)
    other = replace(own, translation=moved * np.array([2.0, 1.0, 1.0]))
    flexion, rotation, position, load = draw_activity(own, {"a": loaded, "b": other}).axes
    # What is the same is drawn once.
    assert [len(axes.lines) for axes in (flexion, rotation, position)] == [1, 1, 2]
    built_in, measured = (line.get_ydata()[:-1] for line in position.lines)
    assert measured.mean() == pytest.approx(built_in.mean())
    np.testing.assert_allclose(np.ptp(measured), 2.0 * np.ptp(built_in))
    labels = [line.get_label() for line in load.lines]
    assert labels[:2] == ["built-in", "a"]
    np.testing.assert_array_equal(load.lines[1].get_ydata()[:-1], loaded.load)
    assert [line.get_ydata()[0] for line in load.lines[2:]] == [0.25, 3.0]


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
