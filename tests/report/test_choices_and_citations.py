"""Choices with their effect, and what to cite."""

from __future__ import annotations

import copy

import pytest

from kneewear.report.choices import centre_values, choices
from kneewear.report.citations import WEAR_LAWS, citation_table
from kneewear.report.sections import signed


def row_of(study, settings, name):
    table = choices(settings, study.tables)
    return next(row for row in table.rows if row[0] == name)


def test_effects_of_wear_and_creep_add_up_to_that_of_damage(whole):
    wear = row_of(whole, whole.settings, "Wear factor")[3]
    creep = row_of(whole, whole.settings, "Creep constant")[3]
    for side in ("medial", "lateral"):
        parts = [
            float(text.split(side)[1].split("%")[0].replace("+", "")) for text in (wear, creep)
        ]
        # Ten per cent more of both are ten per cent more damage; each is printed to 0.1.
        assert sum(parts) == pytest.approx(10.0, abs=0.11)


def test_linear_effects_are_not_claimed_when_the_surface_follows(whole):
    settings = copy.deepcopy(whole.settings)
    settings["wear"]["blocks"] = 4
    assert row_of(whole, settings, "Wear factor")[3] == "–"


def test_thickness_moves_damage_as_the_regression_says(whole):
    text = row_of(whole, whole.settings, "Insert thickness")[3]
    regression = whole.tables["regression"]
    chosen = regression[
        (regression["quantity"] == "damage_depth") & (regression["side"] == "medial")
    ]
    centre = centre_values(whole.tables["cases"], "damage_depth")["medial"]
    expected = 100.0 * chosen["a1_per_mm"].iloc[0] / centre
    assert f"medial {signed(expected)} %" in text


@pytest.mark.parametrize("law", WEAR_LAWS)
def test_each_wear_law_is_cited(whole, law):
    settings = copy.deepcopy(whole.settings)
    settings["wear"]["wear_law"] = law
    sources = [source for _, source in citation_table(settings).rows]
    assert all(source in sources for source in WEAR_LAWS[law])
    assert len(set(sources)) == len(sources)


def test_every_wear_law_of_the_settings_has_a_source():
    from typing import get_args

    from kneewear.settings.wear import WearSettings

    assert set(get_args(WearSettings.model_fields["wear_law"].annotation)) == set(WEAR_LAWS)


def test_files_of_a_user_are_named_with_their_hashes(whole):
    settings = copy.deepcopy(whole.settings)
    settings["implant"]["source"] = "meshes"
    assert any("shape files" in source for _, source in citation_table(settings).rows)
