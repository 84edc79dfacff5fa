"""Data of the page that plays: cases in their order, small maps of the same volume."""

from __future__ import annotations

import base64

import numpy as np
import pytest

import kneewear as kw
from docs.generators.playing import CELL, STEPS, playing_data

QUICK = "config/quick.yaml"


@pytest.fixture(scope="module")
def quick():
    study = kw.load_study(QUICK)
    return study, kw.accumulate_wear(kw.simulate(kw.build_knee(study), study), study)


@pytest.mark.slow
def test_cases_are_in_the_order_of_thickness_and_mass(quick):
    study, damage = quick
    data = playing_data(damage, study)
    assert (data["thickness"], data["mass"]) == ([6.0, 10.0], [50.0, 75.0])
    volumes = (damage.wear_depth * damage.area).sum(["side", "row", "column"]).isel(life=0)
    named = [
        float(volumes.sel(case=f"{thickness}mm_{mass}kg"))
        for thickness in (6, 10)
        for mass in (50, 75)
    ]
    assert data["volume"] == pytest.approx(named, rel=1e-4)


def test_cells_hold_the_depths_of_their_elements(quick):
    study, damage = quick
    data = playing_data(damage, study)
    cells, wear = data["cells"], damage.wear_depth.isel(life=0)
    for number, name in enumerate(["6mm_50kg", "6mm_75kg", "10mm_50kg", "10mm_75kg"]):
        steps = np.frombuffer(base64.b64decode(data["maps"]["wear"][number]), np.uint8)
        depth = steps.reshape(2, cells["rows"], cells["columns"]) * data["scales"]["wear"] / STEPS
        own = wear.sel(case=name).values
        # Rounded to half a step; rows and columns of the quick study are even.
        assert depth.mean() == pytest.approx(own.mean(), abs=0.5 * data["scales"]["wear"] / STEPS)
        assert own.shape[1:] == (CELL * cells["rows"], CELL * cells["columns"])


def test_creep_is_whole_at_the_end_of_the_life(quick):
    study, damage = quick
    ratio = playing_data(damage, study)["creep_ratio"]
    assert ratio[round(study.wear.months) - 1] == pytest.approx(1.0)
    assert ratio == sorted(ratio)


def test_incomplete_pairs_and_updated_surfaces_are_refused(quick):
    study, damage = quick
    with pytest.raises(ValueError, match="pair"):
        playing_data(damage.isel(case=slice(3)), study)
    blocks = study.model_copy(update={"wear": study.wear.model_copy(update={"blocks": 4})})
    with pytest.raises(ValueError, match="fresh"):
        playing_data(damage, blocks)
