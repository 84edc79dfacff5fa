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
from kneewear.study.files import load_shapes
from kneewear.study.shipped import find_study
from kneewear.study.trials import build_trial, tried_cases, try_motion

ROOT = Path(__file__).parents[2]

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


def test_an_implant_is_built_once_and_warned_of_each_time(caplog):
    study = load_study(find_study("example_meshes"))
    shapes = load_shapes(study, ROOT)
    femoral = shapes["femoral_mesh"]
    # Condyles that are narrow for the insert.
    shapes["femoral_mesh"] = replace(femoral, vertices=0.85 * femoral.vertices)
    trials, warned = [], []
    for _ in range(2):
        caplog.clear()
        trials.append(build_trial(study, ROOT, shapes))
        warned.append([record.getMessage() for record in caplog.records])
    assert trials[0].knee.implant is trials[1].knee.implant
    assert warned[0]
    assert warned[0] == warned[1]
    shapes["femoral_mesh"] = femoral
    assert build_trial(study, ROOT, shapes).knee.implant is not trials[0].knee.implant


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
