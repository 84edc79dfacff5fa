"""Wear by law and by the number of blocks, on the page and in figures."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.report.facts import BLOCK_QUANTITIES, by_blocks, creep_share, law_coefficients
from kneewear.report.wear import draw_blocks, draw_wear_laws
from kneewear.wear.laws import WEAR_LAWS
from kneewear.wear.summary import compare_wear_laws
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


def test_volumes_by_law_are_those_of_the_laws(whole):
    grid, settings = make_grid(), make_settings()
    history = {"gait": make_history(grid=grid)}
    volumes = compare_wear_laws(history, grid, settings).set_index(["law", "side"])["wear_volume"]
    assert set(volumes.index.get_level_values("law")) == set(WEAR_LAWS)
    doubled = make_settings(wear_factor_mm3_per_n_m=5.2e-7, blocks=4, wear_law="pressure_power")
    twice = compare_wear_laws(history, grid, doubled).set_index(["law", "side"])["wear_volume"]
    ratio = twice / volumes
    assert ratio["archard"].to_numpy() == pytest.approx(2.0)
    assert ratio["contact_area"].to_numpy() == pytest.approx(1.0)
    (axes,) = draw_wear_laws(volumes.reset_index()).axes
    bars = [bar.get_height() for bars in axes.containers[:1] for bar in bars]
    assert bars == pytest.approx(volumes.xs("medial", level="side").tolist())
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert ["unverified" in name for name in names] == [
        law.unverified() for law in WEAR_LAWS.values()
    ]


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
