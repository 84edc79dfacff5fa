"""The numbers behind the figures are those of the tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.regression.groups import QUANTITIES
from kneewear.report.figures import draw_contact
from kneewear.report.maps import typical_cases
from kneewear.report.regression import BAR_COLOURS
from kneewear.report.verification import draw_active_elements
from kneewear.settings.cases import centre_case
from kneewear.simulation.history import cases_of
from kneewear.verification.engine import vary_active_elements
from kneewear.wear.subsurface import subsurface_stress
from tests.report.drawn import figures_of

SIDES = ("medial", "lateral")


@pytest.fixture(scope="module")
def figures(whole):
    return figures_of(whole)


def of(cases, quantity, side, case=None):
    """Values of the case table."""
    rows = cases[(cases["quantity"] == quantity) & (cases["side"] == side)]
    return rows["value"] if case is None else rows.set_index("case")["value"][case]


def cells(axes):
    """Largest value of the coloured cells of each side."""
    return [float(np.nanmax(mesh.get_array())) for mesh in axes.collections
            if hasattr(mesh, "get_coordinates")]  # fmt: skip


def test_damage_maps_reach_the_depths_of_the_case_table(whole, figures):
    panels = figures["damage_maps"].axes
    for axes, (_, index) in zip(panels, typical_cases(cases_of(whole.maps)), strict=False):
        name = cases_of(whole.maps)[index].name
        wanted = [of(whole.tables["cases"], "damage_depth", side, name) for side in SIDES]
        assert cells(axes) == pytest.approx(wanted)


def test_wear_and_creep_maps_are_those_of_the_centre_case(whole, figures):
    index = centre_case(cases_of(whole.maps))
    for axes, depth in zip(figures["wear_maps"].axes, ("wear_depth", "creep_depth"), strict=False):
        wanted = whole.maps[depth].values[0, index].max(axis=(1, 2))
        assert cells(axes) == pytest.approx(list(wanted))


def test_pressure_map_and_history_reach_the_pressure_of_the_case_table(whole, figures):
    name = cases_of(whole.cycles)[centre_case(cases_of(whole.cycles))].name
    (axes,) = (axes for axes in figures["history_gait"].axes
               if axes.get_title("left") == "Maximum pressure (MPa)")  # fmt: skip
    for line, side in zip(axes.lines, SIDES, strict=True):
        wanted = of(whole.tables["cases"], "max_pressure", side, name)
        assert line.get_ydata().max() == pytest.approx(wanted)
    frame = int(np.argmax(whole.cycles["load"].values[0, centre_case(cases_of(whole.cycles))]))
    shown = cells(figures["pressure_gait"].axes[0])
    assert shown == pytest.approx([line.get_ydata()[frame] for line in axes.lines], rel=1e-6)


def test_pressure_map_marks_a_case_outside_validity(whole):
    def title(*limits):
        drawn = draw_contact(whole.implant, whole.grid, whole.cycles, whole.activities,
                             whole.histories, *limits)  # fmt: skip
        return drawn["pressure_gait"].axes[0].get_title("left")

    peak = max(one.max_pressure.max() for one in whole.histories.values())
    assert title((0.99 * peak, 1e9)).endswith("outside validity")
    assert title((1e9, 1e-3)).endswith("outside validity")
    assert "outside" not in title((1.01 * peak, 1e9)) + title()


def test_index_of_delamination_is_drawn_with_a_coupled_layer_only(whole, figures):
    assert "subsurface_gait" not in figures
    drawn = draw_contact(whole.implant, whole.grid, whole.cycles, whole.activities,
                         whole.histories, poisson_ratio=0.46)  # fmt: skip
    found = subsurface_stress(whole.histories["gait"].isel(case=[0]), whole.grid, 0.46)
    index = found["delamination_index"].values[0].reshape(len(SIDES), -1)
    shown = cells(drawn["subsurface_gait"].axes[0])
    assert shown == pytest.approx(index.max(axis=1), rel=1e-6)


def test_damage_surface_spans_the_case_table(whole, figures):
    for axes, side in zip(figures["damage_surfaces"].axes, SIDES, strict=True):
        # Of two by two cases there is one cell, coloured by the mean of its corners.
        depths = of(whole.tables["cases"], "damage_depth", side)
        assert list(axes.collections[0].get_array()) == pytest.approx([depths.mean()])


def test_scatter_and_errors_show_every_compared_value(whole, figures):
    comparison = whole.tables["comparison"]
    for axes, quantity in zip(figures["published_scatter"].axes, QUANTITIES, strict=False):
        drawn = np.concatenate([line.get_xydata() for line in axes.lines[1:]])
        own = comparison[comparison["quantity"] == quantity][["published", "computed"]]
        np.testing.assert_allclose(
            drawn[np.lexsort(drawn.T)], own.to_numpy()[np.lexsort(own.to_numpy().T)]
        )
    written = [int(text.get_text()) for axes in figures["published_errors"].axes
            for text in axes.texts if text.get_text().lstrip("-").isdigit()]  # fmt: skip
    wanted = [round(100.0 * error) for error in comparison["relative_error"]]
    assert sorted(written) == sorted(wanted)
    frames = [axes.patches for axes in figures["published_errors"].axes]
    assert sum(map(len, frames)) == comparison["calibration"].sum() > 0


def test_bars_are_the_leave_one_out_errors(whole, figures):
    models = whole.tables["regression_models"]
    for axes, side in zip(figures["regression_models"].axes, SIDES, strict=True):
        for bars in axes.containers:
            assert bars.get_label() in BAR_COLOURS
            own = models[(models["side"] == side) & (models["model"] == bars.get_label())]
            own = own.set_index("quantity")["leave_one_out_percent"][list(QUANTITIES)]
            assert [bar.get_height() for bar in bars] == pytest.approx(own.tolist())


def test_residuals_are_those_of_the_points_table(whole, figures):
    points = whole.tables["regression_points"]
    panels = np.reshape(figures["regression_residuals"].axes, (2, len(QUANTITIES)))
    for (row, column), axes in np.ndenumerate(panels):
        for line in axes.lines[1:]:
            own = points[
                (points["side"] == SIDES[row])
                & (points["quantity"] == QUANTITIES[column])
                & (points["model"] == line.get_label())
            ]
            wanted = 100.0 * own["residual"] / own["value"].mean()
            np.testing.assert_allclose(line.get_ydata(), wanted)
            np.testing.assert_allclose(line.get_xdata(), own["fitted"])


def test_activity_and_thickness_are_those_of_the_inputs(whole, figures):
    load = whole.activities["gait"].load
    (axes,) = (axes for axes in figures["activity_gait"].axes if "load" in axes.get_title("left"))
    np.testing.assert_allclose(axes.lines[0].get_ydata()[:-1], load)
    found = cells(figures["thickness_map"].axes[0])
    wanted = [whole.grid.thickness[side][whole.grid.valid[side]].max() for side in (0, 1)]
    assert found == pytest.approx(wanted)


def test_active_elements_show_their_table():
    table = vary_active_elements(1, counts=(25, 50), offsets=3)
    for axes, column in zip(
        draw_active_elements(table).axes,
        ("median_error_percent", "worst_error_percent"),
        strict=True,
    ):
        drawn = np.concatenate([line.get_ydata() for line in axes.lines[:5]])
        np.testing.assert_allclose(np.sort(drawn), np.sort(pd.Series(table[column]).to_numpy()))
