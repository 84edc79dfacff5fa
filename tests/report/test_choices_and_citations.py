"""Choices with their effect, and what to cite."""

from __future__ import annotations

import copy
from typing import get_args

import pytest

from kneewear.report.facts import centre_values, linear_effects, regression_effects
from kneewear.report.page import citations
from kneewear.settings.wear import WearSettings


def test_effects_of_wear_and_creep_add_up_to_that_of_damage(whole):
    effects = linear_effects(whole.settings, whole.tables["cases"], 10.0)
    for side in ("medial", "lateral"):
        # Ten per cent more of both are ten per cent more damage.
        assert effects["wear"][side] + effects["creep"][side] == pytest.approx(10.0, rel=1e-6)


def test_linear_effects_are_not_stated_when_the_surface_follows(whole):
    settings = copy.deepcopy(whole.settings)
    settings["wear"]["blocks"] = 4
    assert linear_effects(settings, whole.tables["cases"], 10.0) == {}


def test_thickness_changes_damage_as_the_regression_states(whole):
    regression, cases = whole.tables["regression"], whole.tables["cases"]
    chosen = regression.query("quantity == 'damage_depth' and side == 'medial'")
    expected = 100.0 * chosen["a1_per_mm"].iloc[0] / centre_values(cases, "damage_depth")["medial"]
    assert regression_effects(regression, cases, "a1_per_mm")["medial"] == pytest.approx(expected)


@pytest.mark.parametrize("law", get_args(WearSettings.model_fields["wear_law"].annotation))
def test_each_wear_law_is_cited_and_each_source_once(whole, law):
    settings = copy.deepcopy(whole.settings)
    settings["wear"]["wear_law"] = law
    found = citations(settings)
    assert found["source"].is_unique
    assert found["use"].str.contains(f"Wear law “{law.replace('_', ' ')}”").any()


@pytest.mark.parametrize("law", get_args(WearSettings.model_fields["creep_law"].annotation))
def test_each_creep_law_is_cited(whole, law):
    settings = copy.deepcopy(whole.settings)
    settings["wear"] |= {"creep_law": law, "recovery_minutes": 30.0}
    uses = "; ".join(citations(settings)["use"])
    assert "Creep law" in uses
    assert "Recovery of creep" in uses


def test_files_of_a_user_are_named_with_their_hashes(whole):
    settings = copy.deepcopy(whole.settings)
    settings["implant"]["source"] = "meshes"
    assert citations(settings)["source"].str.contains("shape files, listed with their hashes").any()
