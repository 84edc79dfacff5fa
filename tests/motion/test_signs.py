"""Reversed signs of a motion are noticed where the bearing can tell them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kneewear import default_study
from kneewear.activity.sources import build_activity, build_parametric_activity
from kneewear.base.cases import Case
from kneewear.errors import ConvergenceError
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.table import tabulate_surface
from kneewear.io.curves import read_curves
from kneewear.io.shapes import load_shape
from kneewear.motion import sign_check
from kneewear.motion.cases import simulate_cases
from kneewear.motion.signs import SignTrial, doubtful_signs, tabulate_trials, try_signs
from kneewear.report.bodies import draw_signs
from tests.activity.motions import ROOT, study

DATA = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data").resolve()


def trial(reversed_sign, effort, rollback=0.0, screw_home=0.0):
    return SignTrial(reversed_sign, 0.9 * effort, 1.0, effort, -8.0, 4.0, rollback, screw_home)


class TestVerdict:
    def test_a_much_easier_motion_is_named(self):
        doubt = doubtful_signs([trial("nothing", 0.2), trial("rotation", 0.1)], "gait")
        assert (doubt.check, doubt.where) == ("motion.signs", "gait")
        assert "-8.0 to 4.0 mm" in doubt.found
        assert "rotation" in doubt.found

    @pytest.mark.parametrize(("given", "other"), [(0.2, 0.14), (0.1, 0.2), (0.04, 0.001)])
    def test_nothing_is_said_without_a_clear_difference(self, given, other):
        assert doubtful_signs([trial("nothing", given), trial("rotation", other)], "gait") is None

    def test_a_little_easier_motion_is_named_when_it_follows_flexion_better(self):
        given, other = trial("nothing", 0.2, 0.1, -0.6), trial("rotation", 0.16, 0.1, 0.6)
        assert "rotation" in doubtful_signs([given, other], "gait").found
        assert doubtful_signs([given, replace(other, screw_home=-0.2)], "gait") is None
        assert doubtful_signs([given, replace(other, effort=0.19, screw_home=0.3)], "gait") is None

    def test_motion_of_the_other_knee_turns_against_flexion_at_the_same_effort(self):
        given, other = trial("nothing", 0.2, 0.1, -0.6), trial("rotation", 0.21, 0.1, 0.6)
        assert "motion.knee" in doubtful_signs([given, other], "gait").remedy
        assert doubtful_signs([replace(given, standard=True), other], "gait") is None
        assert doubtful_signs([given, replace(other, effort=0.3)], "gait") is None
        assert doubtful_signs([replace(given, screw_home=-0.2), other], "gait") is None

    def test_directions_that_titles_state_are_doubted_for_the_effort_alone(self):
        given = replace(trial("nothing", 0.2, 0.1, -0.6), stated=True)
        for effort in (0.21, 0.16):
            assert doubtful_signs([given, trial("rotation", effort, 0.1, 0.6)], "gait") is None
        assert doubtful_signs([given, trial("rotation", 0.1, 0.1, 0.6)], "gait") is not None


def test_table_holds_every_trial_and_the_doubt():
    names = ("nothing", "anterior-posterior", "rotation", "anterior-posterior and rotation")
    trials = [
        trial(name, effort) for name, effort in zip(names, (0.3, 0.1, np.inf, 0.4), strict=True)
    ]
    table = tabulate_trials(trials, "gait")
    assert list(table["reversed"]) == list(names)
    assert "anterior-posterior" in table["verdict"].iloc[0]
    assert (table["verdict"].iloc[1:] == "").all()
    assert table["effort_of_load"].tolist() == [0.3, 0.1, np.inf, 0.4]


def test_a_picture_has_the_motion_as_given_and_with_the_sign_that_fits_best():
    cycle = np.linspace(0.0, 100.0, 8, endpoint=False)
    curves = np.column_stack([cycle, *np.random.default_rng(3).normal(size=(4, 8))])
    back = curves * [1, -1, 1, 1, 1]
    trials = [
        replace(trial("nothing", 0.3), curves=curves),
        replace(trial("rotation", 0.2), curves=curves),
        replace(trial("anterior-posterior", 0.1), curves=back),
    ]
    axes = draw_signs(trials).axes
    assert len(axes) == 4
    given, best = axes[0].lines
    np.testing.assert_array_equal(given.get_ydata()[:-1], curves[:, 1])
    np.testing.assert_array_equal(best.get_ydata()[:-1], -curves[:, 1])
    assert best.get_label() == "anterior-posterior reversed (0.10 of the load)"


@pytest.mark.parametrize(("reference", "origin"), [(None, 3.0), (0.0, 0.0), (2.0, 2.0)])
def test_positions_are_reversed_about_the_reference(monkeypatch, reference, origin):
    """A reference of zero is one."""

    def no_equilibrium(*_):
        raise ConvergenceError("the balance of forces", 0, 1.0, "N", "")

    monkeypatch.setattr(sign_check, "simulate_cases", no_equilibrium)
    chosen = default_study()
    gait = build_parametric_activity("gait", chosen.activities["gait"], 8)
    translation = np.random.default_rng(4).normal(size=gait.translation.shape)
    gait = replace(gait, translation=translation, zero=np.array([3.0, *gait.zero[1:]]))
    given, other, *_ = sign_check.check_signs(None, gait, None, chosen.simulation, reference)
    assert other.reversed == "anterior-posterior"
    np.testing.assert_allclose(other.curves[:, 1], 2.0 * origin - given.curves[:, 1])


@pytest.fixture(scope="module")
def fluoroscopy():
    if not (DATA / "gc_dm").is_dir():
        pytest.skip(f"no implant with fluoroscopy in {DATA} (set KNEEWEAR_DATA)")
    chosen = study("dm_fluoroscopy")
    meshes = {
        "insert_mesh": load_shape(DATA / chosen.implant.meshes.insert),
        "femoral_mesh": load_shape(DATA / chosen.implant.meshes.femoral),
    }
    implant, _ = build_implant(chosen.implant, **meshes)
    grid = build_grid(implant, 40, 30)
    tables = {side: tabulate_surface(one, 121, 61) for side, one in implant.femoral.items()}
    settings = chosen.activities["fluoroscopic_gait"]
    curves = [
        read_curves(DATA / part.file, part.columns.given())
        for part in (settings.motion, settings.load)
    ]
    activity = build_activity("fluoroscopic_gait", settings, 25, *curves)
    exact = chosen.simulation.model_copy(update={"analysis": "quasi_static", "distance": "exact"})
    done = {}

    def simulate(motion):
        key = (motion.translation[3, 0], motion.rotation[3, 1])
        if key not in done:
            try:
                done[key] = simulate_cases(
                    KneeModel(implant, grid, tables), motion, [Case("one", 10.0, 70.0)], exact
                )
            except ConvergenceError as error:
                done[key] = error
        if isinstance(done[key], ConvergenceError):
            raise done[key]
        return done[key]

    return activity, simulate


def turned_round(activity, displacement, rotation):
    translation = activity.translation * [displacement, 1.0, 1.0]
    return replace(
        activity, translation=translation, rotation=activity.rotation * [1.0, rotation, 1.0]
    )


@pytest.mark.slow
class TestRealMotion:
    def test_true_signs_raise_no_doubt(self, fluoroscopy):
        activity, simulate = fluoroscopy
        trials = try_signs(activity, simulate)
        assert trials[0].reversed == "nothing"
        assert trials[0].effort == min(one.effort for one in trials)
        assert doubtful_signs(trials, "gait") is None

    @pytest.mark.parametrize(
        ("factors", "suspected"),
        [
            ((-1, 1), "anterior-posterior"),
            ((1, -1), "rotation"),
            ((-1, -1), "anterior-posterior and rotation"),
        ],
    )
    def test_reversed_signs_are_named(self, fluoroscopy, factors, suspected):
        activity, simulate = fluoroscopy
        trials = try_signs(turned_round(activity, *factors), simulate)
        assert f"of {suspected} " in doubtful_signs(trials, "gait").found
