"""Steps of a small dynamic knee: balance, contact, continuation, statements."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from kneewear.io import netcdf
from kneewear.io.fe_knee_progress import ProgressFile
from kneewear.studies.fe_knee.bones import build_bones
from kneewear.studies.fe_knee.checks import cycle_rates
from kneewear.studies.fe_knee.run import KneeFrames, frame_steps, run_knee
from kneewear.studies.fe_knee.statements import knee_statements, phases, reversals
from tests.fe_knee.knees import small_knee


@pytest.fixture(scope="module")
def knee():
    settings = small_knee()
    bones = build_bones(settings.bones)
    kept = []
    return bones, settings, run_knee(bones, settings, keep=kept.append), kept


def test_energy_falls_by_the_losses_and_the_coupling_alone(knee):
    history = knee[2].history
    names = ["viscous", "contact", "stabilisation", "coupling"]
    lost = history[[f"{name}_loss_mj" for name in names]].sum(axis=1)
    np.testing.assert_allclose(history["total_mj"] + lost, history["total_mj"][0], rtol=1e-10)
    # What the coupling loses or adds is small beside the tolerance of 1e-4.
    assert np.abs(history["coupling_loss_mj"]).max() < 1e-4 * history["total_mj"][0]


def test_energy_is_in_balance_without_rods():
    settings = small_knee({"rods": None})
    history = run_knee(build_bones(settings.bones), settings).history
    assert np.abs(history["coupling_loss_mj"]).max() < 1e-9 * history["total_mj"][0]
    assert (np.diff(history["total_mj"]) < 1e-9).all()


def test_contact_begins_when_the_gap_is_passed_and_nothing_penetrates(knee):
    history = knee[2].history
    # 0.11 mm at 1 m/s takes 11 steps of 10 us.
    assert phases(history["obstacle_nodes"].to_numpy())[0][0] == 11
    assert history["obstacle_force_n"][:11].max() == 0.0
    assert history["penetration_mm"].max() < 1e-12
    assert history["cartilage_force_n"].max() > 0.0


def test_force_is_the_change_of_momentum(knee):
    history, settings = knee[2].history, knee[1]
    push = history["obstacle_force_n"] * settings.time_step_s
    gained = history["momentum_y_n_s"] - history["momentum_y_n_s"][0]
    # The stabilisation's impulses at the first contact are not forces of a step.
    assert gained.iloc[-1] > 0.0
    assert push.sum() == pytest.approx(gained.iloc[-1], rel=0.5)


def test_a_run_that_was_interrupted_continues_to_the_same_end(knee, tmp_path):
    bones, settings, run, kept = knee
    block = settings.model_dump(mode="json")
    file = ProgressFile(tmp_path / "progress.npz", bones, block, "code")
    assert file.load() is None
    file.save(kept[6])
    assert ProgressFile(tmp_path / "progress.npz", bones, block, "other").load() is None
    again = run_knee(bones, settings, file.load())
    assert again.history.drop(columns=["bone_seconds", "rod_seconds"]).equals(
        run.history.drop(columns=["bone_seconds", "rod_seconds"])
    )
    np.testing.assert_array_equal(again.frames.positions, run.frames.positions)
    (tmp_path / "progress.npz").write_bytes(b"PK half")
    assert file.load() is None
    file.remove()
    assert not list(tmp_path.glob("progress*"))


def test_frames_are_read_as_they_were_written(knee, tmp_path):
    frames = knee[2].frames
    netcdf.save(frames, tmp_path / "frames.nc")
    again = netcdf.load(KneeFrames, tmp_path / "frames.nc")
    for one in fields(KneeFrames):
        left, right = getattr(again, one.name), getattr(frames, one.name)
        if isinstance(right, np.ndarray):
            np.testing.assert_allclose(left, right, rtol=1e-6, err_msg=one.name)
        else:
            assert left == right


def test_frames_of_a_knee_without_rods_are_written(tmp_path):
    settings = small_knee({"rods": None, "steps": 1})
    frames = run_knee(build_bones(settings.bones), settings).frames
    netcdf.save(frames, tmp_path / "frames.nc")
    assert netcdf.load(KneeFrames, tmp_path / "frames.nc").rods.size == 0


def test_every_capability_has_statements_and_own_checks_hold(knee):
    bones, settings, run, _ = knee
    found = knee_statements(run, bones, settings)
    numbers = {int(one.split()[0][1:]) for one in found["statement"]}
    assert numbers == {1, 2, 3, 4, 5, 6, 8, 9, 10, 11}  # 7 is of multigrid
    own = found[found["source"].str.startswith("own check")]
    assert (own["holds"] == "yes").all(), own[own["holds"] != "yes"]


def test_multigrid_agrees_with_a_factorisation():
    settings = small_knee({"solver": {"method": "truncated_newton"}, "bones": {"refinements": 1}})
    bones = build_bones(settings.bones)
    settings = settings.model_copy(update={"steps": 2})
    found = knee_statements(run_knee(bones, settings), bones, settings)
    one = found[found["statement"].str.contains("factorised active set")]
    assert one["holds"].tolist() == ["yes", "yes"]
    # Only plain cycles are judged by the printed rate of a plain cycle.
    rates = found[found["statement"].str.contains("D7 Mean rate")].set_index("statement")["holds"]
    assert [*rates.filter(like="conjugate gradients")] == [""]
    assert len(rates.filter(like="one in an iteration")) == 1


def test_rates_of_cycles_are_judged_by_the_printed_ones():
    rates, touching = np.array([0.1, 0.3, 0.7, np.nan]), np.array([False, True, True, True])
    found = list(cycle_rates(rates, touching, small_knee(), ""))
    assert [(row.found, row.holds) for row in found] == [("0.37", False), ("0.50", False)]
    found = list(cycle_rates(rates, ~touching, small_knee(), ""))
    assert [(row.found, row.holds) for row in found] == [("0.37", False), ("0.10", True)]
    assert len(list(cycle_rates(rates, touching & False, small_knee(), ""))) == 1


def test_steps_of_frames_are_even_with_both_ends():
    assert frame_steps(small_knee()) == [0, 4, 8, 12, 16, 20]
    assert frame_steps(small_knee({"steps": 2})) == [0, 1, 2]


def test_phases_and_reversals_of_series():
    assert phases(np.array([0, 1, 2, 0, 3])) == [(1, 2), (4, 4)]
    assert phases(np.zeros(3)) == []
    assert reversals(np.array([0, 2, 2, 5, 3, 0])) == 1
    assert reversals(np.array([0, 2, 1, 2, 0])) == 3
