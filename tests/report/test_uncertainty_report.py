"""Figures and page of uncertainty studies."""

from __future__ import annotations

import io

import pandas as pd
import pytest
from markupsafe import escape

from kneewear.report.captions import figure_texts
from kneewear.report.tables import words
from kneewear.report.uncertainty import draw_effects, draw_uncertainty
from kneewear.settings.cases import OUTPUTS
from kneewear.studies.cases import FAILURE, column_name
from kneewear.studies.uncertainty.analysis import analyse_samples
from kneewear.studies.uncertainty.element_sums import add_sample, no_sums
from kneewear.studies.uncertainty.plan import draw_samples
from tests.report.pages import both_pages
from tests.uncertainty.test_plan import study

FIGURES = {
    "monte_carlo": {"predictions", "damage_spread"},
    "one_at_a_time": {"effects"},
    "variance_based": {"indices", "damage_spread"},
}


def made_up(method):
    """Return study, tables and samples whose outputs are the sum of all relative changes."""
    one = study(method=method, samples=16)
    plan = draw_samples(one)
    constants = one.uncertainty.constants
    total = 1.0 + sum(
        0.01 * position * plan[name] / constant.spread
        for position, (name, constant) in enumerate(constants.items())
    )
    columns = {column_name(side, name): scale * total for name in OUTPUTS
               for scale, side in ((1.0, "medial"), (0.8, "lateral"))}  # fmt: skip
    samples = plan[["sample", "block", "role", "constant"]].assign(
        **columns, border_pressure=0.0, **{FAILURE: ""}
    )
    finer = pd.DataFrame(
        [
            {"side": side, "quantity": name, "unit": unit, "here": 1.0, "finer": 1.01,
             "difference_percent": -0.99}
            for side in ("medial", "lateral")
            for name, unit in OUTPUTS.items()
        ]
    )  # fmt: skip
    found = analyse_samples(one.uncertainty, one.seed, samples)
    tables = {method: found, "samples": samples, "discretisation": finer,
              "fit_quality": pd.DataFrame({"side": ["medial"], "max_mm": [0.0]})}  # fmt: skip
    return one, tables


@pytest.mark.parametrize("method", list(FIGURES))
def test_every_method_has_its_figures_words_and_page(method, whole):
    one, tables = made_up(method)
    sums = add_sample(no_sums(whole.grid), whole.maps)
    figures = draw_uncertainty(method, tables[method], tables["samples"], sums, whole.grid)
    assert set(figures) == FIGURES[method] <= set(figure_texts())
    for figure in figures.values():
        figure.savefig(io.BytesIO(), format="svg")
    page = both_pages("uncertainty", one.model_dump(mode="json"), tables,
                                   dict.fromkeys(figures, b"<svg/>"))  # fmt: skip
    assert page.count("<img") == len(figures)
    for name, constant in one.uncertainty.constants.items():
        assert str(escape(words(name))) in page
        assert constant.source[:20] in page
    assert ("Not converged" in page) == (method != "one_at_a_time")


def test_the_largest_effect_stands_on_top():
    _, tables = made_up("one_at_a_time")
    first = draw_effects(tables["one_at_a_time"]).axes[0]
    positions = dict(zip([text.get_text() for text in first.get_yticklabels()], first.get_yticks(),
                      strict=True))  # fmt: skip
    found = tables["one_at_a_time"]
    sizes = found[found["quantity"] == "wear_depth"].set_index("constant")["effect_percent"].abs()
    assert max(positions, key=positions.get) == words(str(sizes.idxmax()))
    assert len(positions) == 10
