"""Texts of figures neither overlap nor leave the figure."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from tests.report.drawn import figures_of
from tests.report.labels import misplaced


def test_overlaps_and_texts_beyond_the_figure_are_found():
    figure = Figure(figsize=(3.0, 2.0))
    figure.text(0.1, 0.5, "one text")
    assert misplaced(figure) == []
    figure.text(0.2, 0.5, "another")
    figure.text(0.95, 0.9, "cut off")
    assert misplaced(figure) == [("cut off",), ("one text", "another")]


def test_turned_texts_are_compared_as_they_are_turned():
    figure = Figure(figsize=(3.0, 3.0))
    # Their boxes along the axes of the figure overlap, they do not.
    for height in (0.4, 0.55):
        figure.text(0.5, height, "a text of some length", rotation=45, ha="center", va="center")
    assert misplaced(figure) == []


@pytest.mark.parametrize("study", ["whole", "single"])
def test_texts_of_a_wear_study_do_not_overlap(study, request):
    found = {
        name: misplaced(one) for name, one in figures_of(request.getfixturevalue(study)).items()
    }
    assert {name: texts for name, texts in found.items() if texts} == {}
