"""Bearings, wear and verdict of an implant do not depend on how its files were written."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import yaml

import kneewear.api as kw
from kneewear.base.checks import checks
from kneewear.base.sides import SIDES
from kneewear.geometry.segmentation import segment_condyles, segment_plateaus
from kneewear.setup.implant import create_study
from kneewear.setup.shapes import recognise_shapes
from kneewear.study.files import load_shapes
from kneewear.study.trials import build_trial
from tests.recordings import write_turning_gait
from tests.transformations.changes import CHANGES, Files, covering_plan
from tests.transformations.implants import BASES

pytestmark = pytest.mark.compiled

# The whole plan takes about 15 minutes of processor time, and is run by hand.
CHOSEN = os.environ.get("KNEEWEAR_TRANSFORMATIONS_SEED")
SEED = int(CHOSEN or "1")
WINDOW_MM = 1.0
NEAR = 0.1
# Of the same triangles written otherwise; a vertex may be rounded across a limit of 0.1 mm.
SAME_MM = 0.1
QUANTITIES = {"wear_volume": "volume", "max_wear_depth": "depth"}
# Each change once, and each base: windows alone, which need neither a fit nor a simulation. The
# first ones are of make test.
FAST = [
    ("single plateau", "order"),
    ("cruciate-retaining", "unit"),
    *(
        pytest.param(*pair, marks=pytest.mark.slow)
        for pair in (
            ("ultracongruent", "moved"),
            ("posterior-stabilised", "mirrored"),
            ("rotating platform", "turned"),
            ("posterior-stabilised", "format"),
            ("ultracongruent", "holes"),
            ("cruciate-retaining", "noise"),
            ("rotating platform", "finer"),
            ("single plateau", "coarser"),
        )
    ),
]


class Result(NamedTuple):
    """Settings of an implant, wear by side and quantity, and the table of its motion's check."""

    settings: dict
    wear: dict[tuple[str, str], float]
    placement: pd.DataFrame


@cache
def result(base: str, change: str) -> Result:
    """Settings that `kneewear new` writes for the files of an implant, and a run of them.

    Elements are those of the accuracy `standard`: with those of `draft` the largest depth depends
    on where their middles are by more than the files change it.
    """
    chosen = CHANGES.get(change)
    implant = BASES[base](chosen.fineness if chosen else 1.0)
    files = Files({"insert": implant.insert, "femoral": implant.femoral})
    if chosen:
        files = chosen.apply(files, np.random.default_rng(SEED))
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("KNEEWEAR_DATA", folder)
        names = files.write(Path(folder))
        write_turning_gait("gait.csv", 3.0)
        created = create_study(
            "changed",
            [names["insert"]],
            [names["femoral"]],
            motion="gait.csv",
            load="gait.csv",
            knee=files.knee,
            side=implant.side,
        )
        settings = yaml.safe_load(created.settings.read_text(encoding="utf-8"))["implant"]
        chosen_case = {"variables": {"thickness_mm": [8.0]}, "accuracy": "standard"}
        study = kw.load_study(created.settings, chosen_case).at({"body_mass_kg": 75})
        knee = kw.build_knee(study)
        cycles = kw.simulate(knee, study)
        table = kw.tabulate_cases(cycles, kw.accumulate_wear(cycles, study), study)
        (activity,) = cycles.activities.values()
        trial = build_trial(study, folder, load_shapes(study, folder))
        placement = trial.place(activity, advises=False)
    wear = table.set_index(["side", "quantity"])["value"].to_dict()
    return Result(settings, wear, placement.table)


@cache
def bearings(base: str, change: str) -> dict[tuple[str, str], np.ndarray]:
    """Windows of both components by component and side: of plateaus from their lowest places."""
    chosen = CHANGES.get(change)
    implant = BASES[base](chosen.fineness if chosen else 1.0)
    files = Files({"insert": implant.insert, "femoral": implant.femoral})
    if chosen:
        files = chosen.apply(files, np.random.default_rng(SEED))
    sides = SIDES if implant.side is None else (implant.side,)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        names = files.write(Path(folder))
        components = [names["insert"]], [names["femoral"]]
        shapes = recognise_shapes("changed", *components, files.knee, sides)
    sheets = shapes.sheets
    (plateaus,) = segment_plateaus(sheets["insert"], sides=sides)
    condyles, _ = segment_condyles(sheets["femoral"], sides)
    # The origin of an insert's file is its own.
    middle = np.mean([(np.mean(one.x), np.mean(one.z)) for one in plateaus.values()], axis=0)
    found = {
        ("insert", side): np.array([one.x, one.z]) - middle[:, None]
        for side, one in plateaus.items()
    }
    return found | {
        ("femoral", side): np.array([one.z, one.angle_deg]) for side, one in condyles.items()
    }


def check_windows(settings: dict, reference: dict) -> None:
    """Windows of the same sides within 1 mm, and the least thickness within 0.05 mm."""
    assert settings["nominal_thickness_mm"] == pytest.approx(
        reference["nominal_thickness_mm"], abs=0.05
    )
    for region in ("insert_region_mm", "femoral_region_mm"):
        own, other = (one["meshes"][region] for one in (settings, reference))
        assert list(own) == list(other)
        for limits in sorted({"x", "z"} & set(next(iter(own.values())))):
            found, expected = (
                np.array([one[side][limits] for side in one]) for one in (own, other)
            )
            # The origin of an insert's file is its own.
            shift = np.mean(found - expected) if region == "insert_region_mm" else 0.0
            np.testing.assert_allclose(found - shift, expected, atol=WINDOW_MM)


def check_verdicts(placement: pd.DataFrame, reference: pd.DataFrame) -> None:
    """Equal verdicts, but for values within 10 % of one of their limits."""
    ranges = {
        one.quantity: one.range for name, one in checks().items() if name.startswith("placement.")
    }
    both = placement.merge(reference, on="quantity", suffixes=("", "_before"))
    assert len(both) == len(placement) == len(reference)
    for row in both[both["verdict"] != both["verdict_before"]].to_dict("records"):
        one = ranges[row["quantity"]]
        limits = np.array([one.lowest, one.low, one.high, one.highest])
        near = np.abs(row["value_before"] - limits) <= NEAR * np.abs(limits)
        assert near[np.isfinite(limits)].any(), row


@pytest.mark.parametrize(("base", "change"), FAST)
def test_bearings_do_not_depend_on_the_files(base, change):
    found, expected = bearings(base, change), bearings(base, "")
    assert list(found) == list(expected)
    limit = SAME_MM if CHANGES[change].same else WINDOW_MM
    for name, window in expected.items():
        # Angles end at steps of the raster, deg.
        limits = [[limit], [limit if name[0] == "insert" else max(limit, 2.0)]]
        assert (np.abs(found[name] - window) <= limits).all(), name


@pytest.mark.slow
@pytest.mark.skipif(CHOSEN is None, reason="needs KNEEWEAR_TRANSFORMATIONS_SEED, such as 1")
@pytest.mark.parametrize(("base", "change"), covering_plan(list(BASES), SEED))
def test_wear_does_not_depend_on_the_files(base, change):
    found, expected = result(base, change), result(base, "")
    check_windows(found.settings, expected.settings)
    check_verdicts(found.placement, expected.placement)
    for side in expected.settings["meshes"]["insert_region_mm"]:
        for quantity, limit in QUANTITIES.items():
            accepted = getattr(CHANGES[change], limit)
            first, second = expected.wear[side, quantity], found.wear[side, quantity]
            assert second == pytest.approx(first, rel=accepted), (side, quantity)
