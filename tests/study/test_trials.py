"""One verdict on a motion, of the check before a run and of the run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kneewear.activity.activity import thin_out
from kneewear.api import load_study
from kneewear.geometry.grid import build_grid
from kneewear.motion.placement import check_placement
from kneewear.runs.chains import chain_of
from kneewear.study.shipped import find_study
from kneewear.study.trials import build_trial, tried_cases, try_motion
from tests.study.studies import CHECKOUT

pytestmark = pytest.mark.compiled


def test_a_run_judges_a_motion_as_the_check_does_whatever_its_elements():
    study = load_study(find_study("quick"))
    trial = build_trial(study, ".", {})
    activity = thin_out(trial.activities[0], 10)
    finer = replace(trial.knee, grid=build_grid(trial.knee.implant, 20, 15))
    cases = tried_cases(study.preflight_cases())
    assert cases == trial.cases
    found = try_motion(study.implant, {}, finer, trial.record, activity, cases, study.simulation)
    pd.testing.assert_frame_equal(found.table, trial.place(activity).table)


def test_every_study_whose_motion_is_checked_shows_its_placement():
    for name in ("rotating_platform", "meniscal_bearing", "example_meshes"):
        study = load_study(find_study(name))
        chain = chain_of(study, str(CHECKOUT))
        assert chain.tried
        assert set(chain.placed) == set(chain.activities)
        shown = {Path(path).name for path in chain.reported["signs"]}
        assert "placement.csv" in shown


def test_contact_that_ends_at_a_border_is_judged_on_finer_elements():
    study = load_study(find_study("quick"))
    trial = build_trial(study, ".", {})
    travel = np.ones(6)
    travel[0] = 3.0
    activity = thin_out(trial.activities[0], 10).scaled(travel)
    judged = trial.place(activity, advises=False)
    coarse = check_placement(trial.knee, activity, trial.cases, study.simulation, advises=False)
    assert coarse.at_border
    assert judged.at_border
    assert not judged.table["value"].equals(coarse.table["value"])
