"""The source's four penetrations are those the engine finds by the same names."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.contact.pair import ContactPair
from kneewear.evidence.verification.figures import draw_distance_correction
from kneewear.evidence.verification.methods import correct_distances
from kneewear.geometry.table import tabulate_surface
from kneewear.report.study_tables import tilted_element
from tests.datasets import plain
from tests.physics.bodies import CASES, gait_study, linear_layer, pose_of


@pytest.fixture(scope="module")
def simulated():
    study = gait_study()
    return study, study.run(CASES[0])


@pytest.fixture(scope="module")
def table(simulated):
    study, history = simulated
    return correct_distances(study.grid, study.implant.femoral, history)


@pytest.mark.parametrize(
    ("column", "choices"),
    [
        ("minimum_distance_mm", {}),
        ("minimum_distance_corrected_mm", {"correction": "mid_surface"}),
        ("ray_mm", {"method": "ray"}),
        ("ray_corrected_mm", {"method": "ray", "correction": "mid_surface"}),
    ],
)
def test_penetrations_are_the_engines(simulated, table, column, choices):
    study, history = simulated
    condyle = study.implant.femoral["medial"]
    pair = ContactPair(study.grid, 0, condyle, tabulate_surface(condyle, 61, 41), **choices)
    frame = int(np.argmax(history["load"].values[0]))
    layer = linear_layer(study.grid.thickness[0].ravel()[pair.index])
    found = pair.evaluate(*pose_of(plain(history), frame), layer)
    ours = table[table["side"] == "medial"]
    # The same elements in the same order.
    centres = study.grid.centre[0].reshape(-1, 3)[pair.index[found.element]]
    order, wanted = (
        np.lexsort(centres[:, [0, 2]].T),
        np.lexsort(ours[["x_mm", "z_mm"]].to_numpy().T),
    )
    np.testing.assert_allclose(centres[order][:, 0], ours["x_mm"].to_numpy()[wanted])
    np.testing.assert_allclose(
        found.penetration[order], ours[column].to_numpy()[wanted], rtol=1e-5, atol=1e-9
    )


def test_figure_shows_the_table(table):
    figure = draw_distance_correction(table)
    section, ratios = figure.axes
    lines = {line.get_label(): line for line in ratios.lines}
    ray = 100.0 * (table["ray_mm"] / table["minimum_distance_mm"] - 1.0)
    np.testing.assert_allclose(lines["ray, uncorrected"].get_ydata(), ray)
    np.testing.assert_allclose(lines["ray, uncorrected"].get_xdata(), table["angle_deg"])
    one = tilted_element(table)
    (shortest,) = (line for line in section.lines if line.get_label().startswith("AB:"))
    ends = shortest.get_xydata()
    assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(one["minimum_distance_mm"])
