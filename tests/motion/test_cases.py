"""Batches of cases: shapes, names, order and errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kneewear.base.cases import Case
from kneewear.errors import ConvergenceError
from kneewear.mechanics.rotations import (
    angles_123,
    body_three_123,
    clinical_angles,
    grood_suntay,
)
from tests.physics.bodies import CASES, gait_study

pytestmark = pytest.mark.compiled


def test_history_has_the_promised_axes():
    study = gait_study()
    history = study.arrays(*CASES)
    cases, frames, sides, rows, columns = 3, 12, 2, 40, 30
    shapes = {
        "pressure": (cases, frames, sides, rows, columns),
        "slip": (cases, frames, sides, rows, columns, 2),
        "centre_of_pressure": (cases, frames, sides, 3),
    }
    shapes |= dict.fromkeys(["translation", "rotation"], (cases, frames, 3))
    on_the_component = ["reaction_force", "reaction_moment", "inertia_force", "inertia_moment"]
    shapes |= dict.fromkeys(on_the_component, (cases, frames, 3))
    shapes |= dict.fromkeys(["load", "load_line", "spring_force", "residual"], (cases, frames))
    shapes |= dict.fromkeys(["force", "torque"], (cases, frames, sides, 3))
    shapes |= dict.fromkeys(
        ["max_pressure", "avg_pressure", "contact_area", "max_penetration", "active_elements"],
        (cases, frames, sides),
    )
    shapes |= dict.fromkeys(["percent", "time"], (frames,))
    for name, shape in shapes.items():
        assert getattr(history, name).shape == shape, name
    assert history.cases == CASES
    assert history.sides == ("medial", "lateral")
    assert history.activity == "gait"
    assert history.pressure.dtype == history.slip.dtype == np.float32
    for name in shapes:
        assert np.isfinite(getattr(history, name)).all(), name


def test_prescribed_clinical_angles_are_those_of_the_file_at_the_varus_that_is_solved():
    """Body-three angles converted with 3 deg of measured varus would be 0.3 deg off."""
    study = gait_study()
    clinical = clinical_angles(body_three_123(study.activity.rotation))
    clinical[:, 1] += np.radians(3.0)
    clinical[:, 2] += np.radians(5.0)
    measured = replace(
        study.activity, rotation=angles_123(grood_suntay(*clinical.T)), angles="clinical"
    )
    found = {}
    for angles in ("clinical", "body-three"):
        history = replace(study, activity=replace(measured, angles=angles)).arrays(CASES[0])
        found[angles] = clinical_angles(body_three_123(history.rotation[0]))
    np.testing.assert_allclose(found["clinical"][:, [0, 2]], clinical[:, [0, 2]], atol=1e-7)
    assert np.abs(found["clinical"][:, 1] - clinical[:, 1]).min() > np.radians(2.0)
    assert np.abs(found["body-three"][:, 0] - clinical[:, 0]).max() > np.radians(0.2)


@pytest.mark.parametrize("analysis", ["quasi_static", "forward"])
@pytest.mark.parametrize("height", [47.0, 30.0])
def test_the_start_may_be_apart_or_overlapping(analysis, height):
    """The equilibrium lies at about 37.6 mm."""
    study = gait_study(30, 24, 12)
    fine = study.settings.forward.model_copy(update={"relative_tolerance": 1e-5})
    study = study.with_settings(analysis=analysis, forward=fine)
    translation = study.activity.translation.copy()
    translation[:, 1] = height
    rotation = study.activity.rotation + [np.radians(5.0), 0.0, 0.0]
    moved = replace(study.activity, translation=translation, rotation=rotation)
    history = replace(study, activity=moved).arrays(CASES[0])
    reference = study.arrays(CASES[0])
    # Steps of forward dynamics differ, and err by some nanometres, sideways by more.
    same = 1e-6 if analysis == "quasi_static" else 1e-4
    assert history.translation == pytest.approx(reference.translation, abs=same)
    assert history.rotation == pytest.approx(reference.rotation, abs=0.1 * same)


def test_order_of_cases_is_kept():
    study = gait_study()
    forward, backward = study.arrays(*CASES), study.arrays(*CASES[::-1])
    assert np.array_equal(forward.pressure, backward.pressure[::-1])
    assert [case.name for case in backward.cases] == [case.name for case in CASES[::-1]]


def test_an_impossible_motion_names_case_frame_and_remedy():
    study = gait_study()
    translation = study.activity.translation.copy()
    translation[4, 0] = 70.0
    away = replace(study, activity=replace(study.activity, translation=translation))
    with pytest.raises(ConvergenceError) as caught:
        away.run(CASES[0])
    assert caught.value.frame == 4
    assert caught.value.remedy
    history = away.arrays(CASES[0], keep_going=True)
    assert history.cases == ()
    assert history.pressure.shape == (0, 12, 2, 40, 30)
    (failure,) = history.failures
    assert (failure.case, failure.frame) == (CASES[0], 4)
    assert failure.reason == str(caught.value)


def test_a_case_that_fails_leaves_the_others_their_results():
    study = gait_study()
    # So heavy that the layer would have to be pressed through.
    heavy = Case("heavy", 6.0, 1e6)
    history = study.arrays(CASES[0], heavy, CASES[1], keep_going=True)
    assert history.cases == CASES[:2]
    assert [failure.case for failure in history.failures] == [heavy]
    assert np.array_equal(history.pressure, study.arrays(*CASES[:2]).pressure)
