"""Wear by law and by the number of blocks, on the page and in figures."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from kneewear.report.decision import by_choice
from kneewear.report.facts import BLOCK_QUANTITIES, by_blocks, creep_share, law_coefficients
from kneewear.report.page import render_page
from kneewear.report.tables import span
from kneewear.report.wear import draw_blocks, draw_spread
from kneewear.sides import BOTH
from kneewear.wear.laws import WEAR_LAWS
from kneewear.wear.spread import vary_models
from tests.report.pages import both_pages
from tests.wear.conftest import make_grid, make_history, make_settings

LEVELS = {1.0: 1.1, 8.0: 1.01, 16.0: 1.0}


@pytest.fixture
def varied(whole):
    """Case table whose values approach a limit over the number of blocks."""
    tables = []
    for blocks, factor in LEVELS.items():
        one = whole.tables["cases"].copy()
        one["value"] *= factor
        one["case"] += f"_blocks_{blocks:g}"
        one.insert(4, "wear.blocks", blocks)
        tables.append(one)
    return pd.concat(tables, ignore_index=True)


def test_results_by_blocks_are_those_of_the_case_table(varied, whole):
    table = by_blocks(varied)
    assert set(table["quantity"]) == set(BLOCK_QUANTITIES)
    assert table["case"].nunique() == whole.tables["cases"]["case"].nunique()
    assert list(table.columns[-4:]) == ["1", "8", "16", "change"]
    loaded = table[table["16"] > 0.0]
    np.testing.assert_allclose(loaded["1"], 1.1 * loaded["16"])
    np.testing.assert_allclose(loaded["change"], -1.0)
    assert by_blocks(whole.tables["cases"]).empty


def test_figure_of_blocks_has_a_curve_for_each_part_and_side(varied):
    figure = draw_blocks(varied)
    for axes in figure.axes:
        assert len(axes.lines) == 6
        for line in axes.lines:
            assert list(line.get_xdata()) == [1, 8, 16]
            values = line.get_ydata()
            assert values[0] == pytest.approx(1.1 * values[-1])


def test_page_states_the_change_over_blocks(varied, whole):
    cases = whole.settings["cases"] | {"overrides": {"wear.blocks": list(LEVELS)}}
    settings = whole.settings | {"cases": cases}
    page = both_pages("wear", settings, whole.tables | {"cases": varied}, {})
    assert "between 1, 8 and 16 blocks of cycles, and creep follows the pressure" in page
    assert "change by up to 1 % from 8 to 16 blocks" in page


def spread_of(**changes):
    history = {"gait": make_history(grid=make_grid())}
    return vary_models(history, make_grid(), make_settings(**changes), None, 1, [1e-7, 4e-7])


def test_choices_of_the_model_are_those_of_its_laws_and_factors():
    volumes = by_choice(spread_of()).set_index(["choice", "variant"])["wear_volume"]
    assert set(volumes["wear law"].index) == set(WEAR_LAWS)
    assert volumes["as configured"].item() == volumes["wear law", "archard"]
    assert volumes["wear factor", "4e-07"] == pytest.approx(4.0 * volumes["wear factor", "1e-07"])
    doubled = spread_of(wear_factor_mm3_per_n_m=5.2e-7, wear_law="pressure_power")
    twice = by_choice(doubled).set_index(["choice", "variant"])["wear_volume"]
    assert twice["wear law", "archard"] == pytest.approx(2.0 * volumes["wear law", "archard"])
    assert twice["wear law", "contact_area"] == volumes["wear law", "contact_area"]
    assert twice["as configured"].item() == twice["wear law", "pressure_power"]


def test_a_surface_that_follows_is_compared_with_the_fresh_one_and_the_reverse():
    blocks = []

    def resimulate(surface, history):
        blocks.append(1)
        return history

    history = {"gait": make_history(grid=make_grid())}
    table = vary_models(history, make_grid(), make_settings(), resimulate, 4, [])
    assert set(table[table["choice"] == "surface"]["variant"]) == {"following in 4 blocks"}
    assert len(blocks) == 3


def test_figure_of_choices_draws_total_wear_and_names_unverified_laws():
    table = spread_of()
    left, right = draw_spread(table).axes
    total = by_choice(table)
    bars = [bar.get_width() for bar in left.containers[0]]
    assert bars == pytest.approx(total["wear_volume"].tolist())
    assert [bar.get_width() for bar in right.containers[0]] == pytest.approx(
        total["damage_depth"].tolist()
    )
    names = [label.get_text() for label in left.get_yticklabels()]
    assert ["unverified" in name for name in names[1:-2]] == [
        law.unverified() for law in WEAR_LAWS.values()
    ]


def test_first_screen_states_the_spread_and_without_it_says_so(whole):
    page = both_pages("wear", whole.settings, whole.tables | {"model_spread": spread_of()}, {})
    laws = by_choice(spread_of()).query("choice == 'wear law'")["wear_volume"]
    assert re.search(rf"<b>{span(laws, '2')} mm³</b> and <b>[^<]+ mm</b> deep over wear laws", page)
    factors = spread_of()
    factors = factors[~factors["choice"].isin(["wear law", "surface"])]
    only = both_pages("wear", whole.settings, whole.tables | {"model_spread": factors}, {})
    assert "mm</b> deep over other wear factors" in only
    assert "other wear factors" not in page.split('id="spread"')[0]
    without = both_pages("wear", whole.settings, whole.tables, {})
    assert "one wear law, one surface that stays fresh" in without


def test_an_evolving_surface_that_was_warned_of_is_marked_beside_its_number(whole):
    history = {"gait": make_history(grid=make_grid())}
    table = vary_models(history, make_grid(), make_settings(), lambda surface, found: found, 4, [])
    warned = {"warnings": [("vary_models", "2 of 3 updates; depths oscillate"), ("a", "b")]}
    tables = whole.tables | {"model_spread": table}
    for provenance, marked in ((warned, True), ({"warnings": [("a", "oscillate")]}, False)):
        page = render_page("wear", whole.settings, tables, {}, provenance=provenance)
        assert ("follows its wear (warned of: depths oscillate)" in page) is marked
        assert ("2 of 3 updates; depths oscillate." in page) is marked


INTERVALS = pd.DataFrame(
    {
        "side": BOTH, "quantity": quantity, "unit": unit, "nominal": 1.0, "samples": 48,
        "failed": 0, "percentiles": "2.5 to 97.5", "lower": low, "median": 1.0, "upper": high,
    }
    for quantity, unit, low, high in (
        ("wear_volume", "mm3", 1.25, 876.0), ("damage_depth", "mm", 0.0125, 0.0432)
    )
)  # fmt: skip
CONSTANTS = pd.DataFrame(
    {"constant": ["wear_factor", "youngs_modulus", "travel"], "varied": [True, True, False]}
)


def test_interval_of_uncertain_constants_is_drawn_and_stated_beside_the_choices(whole):
    left, right = draw_spread(spread_of(), INTERVALS).axes
    for axes, row in zip((left, right), INTERVALS.itertuples(), strict=True):
        bar = axes.containers[-1][0]
        assert [bar.get_x(), bar.get_width()] == pytest.approx([row.lower, row.upper - row.lower])
        assert axes.get_xlim()[1] > row.upper
    tables = {"constant_intervals": INTERVALS, "uncertain_constants": CONSTANTS}
    tables |= whole.tables | {"model_spread": spread_of()}
    page = render_page("wear", whole.settings, tables, {})
    stated = "<b>1.2 to 876 mm³</b> and <b>0.013 to 0.043 mm</b> deep over uncertain constants; "
    assert stated in page
    assert "2 constants (table below) change at once" in page
    assert "without travel, which belong" in page


def test_every_law_states_how_it_was_read(whole):
    table = law_coefficients(whole.settings["wear"], WEAR_LAWS)
    assert len(table) == len(WEAR_LAWS)
    assert table["status"].iloc[0] == "textbook"
    assert table["status"].iloc[1:].str.startswith("unverified").all()
    settings = whole.settings | {"wear": whole.settings["wear"] | {"wear_law": "directional_work"}}
    page = both_pages("wear", settings, whole.tables, {})
    assert "6.4 times less than the work across it" in page
    assert "(unverified: read in the abstract)" in page
    assert "Coefficients of the wear laws" in page


def test_creep_share_is_of_both_sides(whole):
    cases = whole.tables["cases"]
    name = cases["case"].iloc[0]
    own = cases[cases["case"] == name].groupby("quantity")["value"].sum()
    expected = 100.0 * own["creep_volume"] / (own["creep_volume"] + own["wear_volume"])
    assert creep_share(cases)["gait", name] == pytest.approx(expected)
    page = both_pages("wear", whole.settings, whole.tables, {})
    assert "creep in the volume of penetration" in page
