"""Bearing regions that `new` finds on a real implant, beside regions drawn by hand."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.spatial import cKDTree

import kneewear as kw
from kneewear.base.sides import SIDES
from kneewear.io.shapes import load_shape
from kneewear.setup.implant import create_study

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data").resolve()
# Of the fit; the windows by hand end at the wall of the notch, |z| 9.4, as the found ones do.
FIT = ("knot_spacing_mm", "smoothing_length_mm", "tolerance_mm", "wave_tolerance_mm")
BY_HAND = {"medial": {"z": [9.4, 38.0]}, "lateral": {"z": [-38.0, -9.4]}}
REGIONS = ("insert_region_mm", "femoral_region_mm")
# Contact below this is left out of outlines, MPa.
MIN_PRESSURE = 0.5


def results(study):
    """Damage maps, and table of results by side and quantity, of the one case of a study."""
    cycles = kw.simulate(kw.build_knee(study), study)
    damage = kw.accumulate_wear(cycles, study)
    table = kw.tabulate_cases(cycles, damage, study).set_index(["side", "quantity"])["value"]
    return damage, table


def pressed(damage, side):
    """Centres (n, 2) of elements that were loaded, and their largest pressure."""
    one = damage.sel(side=side)
    largest = one.max_pressure.values[0, 0]
    return np.stack([one.x.values, one.z.values], -1)[largest > 0.0], largest[largest > 0.0]


@pytest.mark.slow
def test_regions_found_give_the_results_of_regions_by_hand(tmp_path, monkeypatch):
    meshes = {part: DATA / f"gc_dm/{part}_contact.stl" for part in ("insert", "femoral")}
    if not all(file.is_file() for file in meshes.values()):
        pytest.skip(f"no real implant data in {DATA} (set KNEEWEAR_DATA)")
    monkeypatch.chdir(tmp_path)
    insert, femoral = ([str(file)] for file in meshes.values())
    created = create_study("mine", insert, femoral, knee="right")
    found = yaml.safe_load(created.settings.read_text())["implant"]["meshes"]
    # Regions belong to the copy of the femoral component, in mm, whose origin is on the axis.
    copied, original = (load_shape(file).vertices for file in (found["femoral"], meshes["femoral"]))
    shift = float(copied[:, 2].min() - 1e3 * original[:, 2].min())
    assert 0.0 < abs(shift) < 1.0
    for region in found["femoral_region_mm"].values():
        region["z"] = [place - shift for place in region["z"]]
    own = {
        "study": "mine",
        "data_folder": str(DATA),
        "accuracy": "draft",
        "variables": {"thickness_mm": [6.0], "body_mass_kg": [75]},
        "simulation": {"frames": 34},
        "implant": {"meshes": {key: found[key] for key in FIT}},
    }
    changes = [{"femoral_region_mm": BY_HAND}, {key: found[key] for key in REGIONS}]
    monkeypatch.chdir(ROOT)
    (by_hand, table), (automatic, other) = (
        results(kw.load_study("config/dm_fluoroscopy.yaml", own, {"implant": {"meshes": one}}))
        for one in changes
    )
    for side in SIDES:
        assert other[side, "wear_volume"] == pytest.approx(table[side, "wear_volume"], rel=0.01)
        assert other[side, "max_pressure"] == pytest.approx(table[side, "max_pressure"], rel=0.03)
        (places, pressure), (others, other_pressure) = (
            pressed(one, side) for one in (by_hand, automatic)
        )
        # Both outlines are within 1 mm of each other, and contact ends before the regions do.
        assert cKDTree(others).query(places[pressure > MIN_PRESSURE])[0].max() < 1.0
        assert cKDTree(places).query(others[other_pressure > MIN_PRESSURE])[0].max() < 1.0
        assert other[side, "border_force_share"] == 0.0
