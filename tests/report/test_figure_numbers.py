"""The numbers behind the figures are those of the tables."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.analysis.groups import QUANTITIES
from kneewear.base.cases import centre_case
from kneewear.motion.history import cases_of
from kneewear.report.maps import typical_cases
from kneewear.report.tables import rows_with
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
    return [
        float(np.nanmax(mesh.get_array()))
        for mesh in axes.collections
        if hasattr(mesh, "get_coordinates")
    ]


def test_damage_maps_reach_the_depths_of_the_case_table(whole, figures):
    panels = figures["damage_maps"].axes
    for axes, (_, index) in zip(panels, typical_cases(cases_of(whole.maps)), strict=False):
        name = cases_of(whole.maps)[index].name
        wanted = [of(whole.tables["cases"], "damage_depth", side, name) for side in SIDES]
        assert cells(axes) == pytest.approx(wanted)


def test_pressure_map_and_history_reach_the_pressure_of_the_case_table(whole, figures):
    name = cases_of(whole.cycles)[centre_case(cases_of(whole.cycles))].name
    (axes,) = (
        axes
        for axes in figures["history_gait"].axes
        if axes.get_title("left") == "Maximum pressure (MPa)"
    )
    for line, side in zip(axes.lines, SIDES, strict=True):
        wanted = of(whole.tables["cases"], "max_pressure", side, name)
        assert line.get_ydata().max() == pytest.approx(wanted)
    frame = int(np.argmax(whole.cycles["load"].values[0, centre_case(cases_of(whole.cycles))]))
    shown = cells(figures["pressure_gait"].axes[0])
    assert shown == pytest.approx([line.get_ydata()[frame] for line in axes.lines], rel=1e-6)


def test_scatter_and_errors_show_every_compared_value(whole, figures):
    comparison = whole.tables["comparison"]
    for axes, quantity in zip(figures["published_scatter"].axes, QUANTITIES, strict=False):
        drawn = np.concatenate([line.get_xydata() for line in axes.lines[1:]])
        own = comparison[comparison["quantity"] == quantity][["published", "computed"]]
        np.testing.assert_allclose(
            drawn[np.lexsort(drawn.T)], own.to_numpy()[np.lexsort(own.to_numpy().T)]
        )
    errors = figures["published_errors"].axes[0]
    thickness, mass = (
        {float(at): float(label.get_text()) for at, label in zip(*ticks, strict=True)}
        for ticks in (
            (errors.get_xticks(), errors.get_xticklabels()),
            (errors.get_yticks(), errors.get_yticklabels()),
        )
    )
    written = {
        text.get_position(): int(text.get_text())
        for text in errors.texts
        if text.get_text().lstrip("-").isdigit()
    }
    shown = comparison.assign(percent=(100.0 * comparison["relative_error"]).round().astype(int))
    (frames,) = errors.collections
    framed = [tuple(frame.vertices[:4].mean(axis=0).round(9)) for frame in frames.get_paths()]
    for places, rows in ((written, shown), (framed, shown[shown["calibration"]])):
        found = [(thickness[x], mass[y], written[x, y]) for x, y in places]
        wanted = rows[["thickness_mm", "body_mass_kg", "percent"]].itertuples(
            index=False, name=None
        )
        assert sorted(found) == sorted(wanted)
    assert framed


def test_residuals_stand_at_their_fitted_values(whole, figures):
    points = whole.tables["regression_points"]
    for axes, side in zip(figures["regression_residuals"].axes, SIDES, strict=True):
        ticks = {
            float(at): float(label.get_text())
            for at, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
        }
        curves = iter(axes.lines[1:])  # after the line of zero
        for quantity in QUANTITIES:
            (start, _), models = next(curves).get_xdata(), (next(curves), next(curves))
            for model, line in zip(("plane", "power law"), models, strict=True):
                own = rows_with(points, side=side, quantity=quantity, model=model)
                percent = 100.0 * own["residual"] / own["value"].mean()
                np.testing.assert_allclose(line.get_ydata(), percent)
                if np.ptp(own["fitted"]) > 1e-6 * own["fitted"].mean():
                    slope, offset = np.polyfit(own["fitted"], line.get_xdata(), 1)
                    np.testing.assert_allclose(line.get_xdata(), slope * own["fitted"] + offset)
                    inside = {at: value for at, value in ticks.items() if start < at < start + 1.0}
                    for at, value in inside.items():
                        assert slope * value + offset == pytest.approx(at, abs=1e-6)
