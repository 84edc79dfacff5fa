"""Texts of figures neither overlap nor leave the figure."""

from __future__ import annotations

import pytest

from tests.report.drawn import figures_of
from tests.report.labels import misplaced


@pytest.mark.slow
@pytest.mark.parametrize("study", ["whole", "single"])
def test_texts_of_a_wear_study_do_not_overlap(study, request):
    found = {
        name: misplaced(one) for name, one in figures_of(request.getfixturevalue(study)).items()
    }
    assert {name: texts for name, texts in found.items() if texts} == {}
