"""One built-in gait for all designs of a folder."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kneewear.base.cases import Case, centre_case
from kneewear.errors import InputDataError
from kneewear.setup import gait
from kneewear.setup.implant import _thicknesses

SCORES = {
    # Failures and warnings of the placement by share of the gait.
    "wide": {1.0: (0, 0), 0.75: (0, 0), 0.5: (0, 0), 0.25: (0, 0)},
    "usual": {1.0: (0, 1), 0.75: (0, 0), 0.5: (0, 0), 0.25: (0, 0)},
    "narrow": {1.0: (3, 0), 0.75: (1, 0), 0.5: (0, 2), 0.25: (0, 1)},
    "unstable": {1.0: (101, 0), 0.75: (101, 0), 0.5: (101, 0), 0.25: (101, 0)},
    "last": {1.0: (2, 1), 0.75: (2, 1), 0.5: (2, 0), 0.25: (1, 1)},
    "never": {1.0: (2, 1), 0.75: (2, 1), 0.5: (2, 1), 0.25: (2, 1)},
}


def write_settings(name, share=None):
    file = Path(f"{name}.yaml")
    file.write_text(f"study: {name}\nmotion:\n{gait.share_line(share)}", encoding="utf-8")
    return file


class Motion:
    """Motion of a trial, whose travel is its share."""

    def scaled(self, factors):
        return min(factors)


class Bearing:
    """Bearing on which shares have the scores of a design."""

    activities = (Motion(),)
    of_shape: frozenset[int] = frozenset()

    def __init__(self, design):
        self.design, self.tried = design, []

    def place(self, share, advises):
        self.tried.append(share)
        failures, warnings = SCORES[self.design][share]
        lacks, failures = divmod(failures, 100)
        verdicts = ["fail"] * failures + ["warning"] * warnings + ["pass"]
        table = pd.DataFrame({"quantity": range(len(verdicts)), "verdict": verdicts, "value": 1.0})
        if lacks:
            table["value"] = np.nan
        return SimpleNamespace(table=table, of_shape=self.of_shape)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    built = []

    def trial_of(settings):
        built.append(settings.stem)
        return Bearing(settings.stem)

    monkeypatch.setattr(gait, "trial_of", trial_of)
    return built


def shares():
    pattern = r"scale: \{anterior_posterior: ([\d.]+), rotation: \1\}"
    return {
        file.stem: float(re.search(pattern, file.read_text(encoding="utf-8")).group(1))
        for file in Path().glob("*.yaml")
    }


@pytest.mark.parametrize(
    ("design", "share"),
    [("wide", 1.0), ("usual", 0.75), ("narrow", 0.25), ("never", 1.0), ("unstable", 1.0)],
)
def test_share_is_the_largest_with_the_fewest_failures(design, share):
    found = gait.agree_on_share(write_settings(design))
    assert shares() == {design: share}
    assert [one.check for one in found.findings] == ["new.gait_share"]
    assert found.has_equilibrium == (design != "unstable")


@pytest.mark.parametrize(
    ("design", "tried"),
    [
        ("wide", [1.0]),
        ("usual", [1.0, 0.75]),
        ("narrow", [1.0, 0.75, 0.5, 0.25]),
        ("unstable", [1.0, 0.25]),
        ("never", [1.0, 0.75, 0.25]),
        ("last", [1.0, 0.75, 0.25, 0.5]),
    ],
)
def test_shares_between_two_that_are_no_better_are_not_tried(design, tried, folder):
    bearing = Bearing(design)
    gait.agree_on_share(write_settings(design), bearing)
    assert bearing.tried == tried
    assert folder == []


def test_a_failure_that_no_motion_changes_lowers_no_share():
    bearing = Bearing("never")
    bearing.of_shape = frozenset(range(sum(SCORES["never"][1.0])))
    gait.agree_on_share(write_settings("never"), bearing)
    assert bearing.tried == [1.0]
    assert shares() == {"never": 1.0}


def test_designs_of_a_folder_take_the_share_of_the_one_with_the_least_room():
    for design in ("wide", "usual"):
        gait.agree_on_share(write_settings(design))
    assert shares() == {"wide": 0.75, "usual": 0.75}
    found = gait.agree_on_share(write_settings("narrow"))
    assert shares() == {"wide": 0.25, "usual": 0.25, "narrow": 0.25}
    assert {Path(one.where).stem for one in found.findings} == {"wide", "usual", "narrow"}
    # One that could take more takes the share of the others.
    gait.agree_on_share(write_settings("wide"))
    assert set(shares().values()) == {0.25}


def test_share_that_is_given_is_of_one_design_alone(folder):
    gait.agree_on_share(write_settings("wide"))
    assert gait.agree_on_share(write_settings("narrow", 0.3)) == gait.ShareChoice()
    assert shares() == {"wide": 1.0, "narrow": 0.3}
    assert folder == ["wide"]


def test_gait_is_one_file_and_other_curves_of_its_name_stay():
    name = gait.write_built_in_gait()
    table = pd.read_csv(name)
    before = Path(name).stat().st_mtime_ns
    assert gait.write_built_in_gait() == name
    assert Path(name).stat().st_mtime_ns == before
    assert table["flexion_deg"].max() > 50.0
    table.assign(flexion_deg=table["flexion_deg"] + 1.0).to_csv(name, index=False)
    with pytest.raises(InputDataError):
        gait.write_built_in_gait()
    assert pd.read_csv(name)["flexion_deg"].max() == pytest.approx(table["flexion_deg"].max() + 1.0)


@pytest.mark.parametrize("least", [6.11, 7.1, 8.0, 8.004, 9.01, 12.0])
def test_designs_share_a_thickness_and_show_their_own_first(least):
    levels = [float(level) for level in _thicknesses(least).split(",")]
    cases = [Case("", thickness, mass) for thickness in levels for mass in (60.0, 90.0)]
    assert len(set(levels)) == 2
    assert any(abs(level - 8.0) < 0.005 for level in levels)
    assert cases[centre_case(cases)].thickness == pytest.approx(least, abs=0.001)
