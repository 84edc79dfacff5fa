"""Steps of a small dynamic knee: balance, contact, continuation, statements."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

from kneewear.analysis.literature import (
    NOT_REPRODUCED,
    REPRODUCED,
    SOURCE_ERROR,
    UNDECIDED,
)
from kneewear.errors import InputDataError
from kneewear.knees.papers.fe_knee.bones import BASE, TIE, build_bones
from kneewear.knees.papers.fe_knee.figures import shown_times
from kneewear.knees.papers.fe_knee.literature import (
    REVERSALS,
    compare_fe_knee,
    cycle_rates,
    phases,
    reversals,
)
from kneewear.knees.papers.fe_knee.model import DynamicKnee
from kneewear.knees.papers.fe_knee.progress import ProgressFile
from kneewear.knees.papers.fe_knee.run import KneeFrames, frame_steps, run_knee
from kneewear.study import netcdf
from kneewear.study.settings import merge_settings
from tests.knees.papers.knees import small_knee, with_fibula


@pytest.fixture(scope="module")
def knee():
    settings = small_knee()
    bones = build_bones(settings.bones)
    kept = []
    return bones, settings, run_knee(bones, settings, keep=kept.append), kept


@pytest.fixture(scope="module")
def fibular():
    """Bones of the small knee with a fibula."""
    return build_bones(small_knee(with_fibula()).bones)


@pytest.mark.slow
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


def test_pre_strain_pulls_the_bones_together_with_its_tension():
    """Tension is modulus times area times strain; the joint closes earlier than without."""
    settings = small_knee({"rods": {"pre_strain": 0.02}, "steps": 1})
    bones = build_bones(settings.bones)
    knee = DynamicKnee(bones, settings)
    state = knee.start()
    tension = knee.rods.stresses(state.rods)[..., 2]
    np.testing.assert_allclose(tension, 330.0 * np.pi * 5.0**2 * 0.02, rtol=1e-9)
    moved = knee.step(state).state.bodies.velocity - state.bodies.velocity
    free = DynamicKnee(bones, small_knee({"steps": 1}))
    other = free.step(free.start()).state.bodies.velocity - free.start().bodies.velocity
    pulled = moved - other
    parts = knee.problem.parts
    # Towards each other: the femur down, the tibia up.
    assert pulled[parts["femur"]][:, 1].sum() < 0.0 < pulled[parts["tibia"]][:, 1].sum()


@pytest.mark.slow
def test_a_traction_is_a_change_of_momentum_and_a_potential():
    """Before contact: Newton's second law and the balance of energy; bad places are refused."""
    pull = {"body": "femur", "point_mm": [0.0, 45.0, 0.0], "radius_mm": 10.0}
    settings = small_knee(
        {"tractions": {"pull": pull | {"force_n": [300.0, 2000.0, -500.0]}}, "steps": 6}
    )
    bones = build_bones(settings.bones)
    run = run_knee(bones, settings)
    momentum = run.history[[f"momentum_{axis}_n_s" for axis in "xyz"]].to_numpy()
    rows = compare_fe_knee(run, bones, settings).set_index("quantity")["computed"]
    assert rows["error of momentum in free fall over the momentum at the start"] < 1e-9
    names = ["viscous", "contact", "stabilisation", "coupling"]
    lost = run.history[[f"{name}_loss_mj" for name in names]].sum(axis=1)
    total = run.history["total_mj"]
    np.testing.assert_allclose(total + lost, total[0], rtol=1e-9)
    # 6 steps of 10 us; gravity does not act along x and z.
    gained = momentum[-1] - momentum[0]
    np.testing.assert_allclose(gained[[0, 2]], [300.0 * 6e-5, -500.0 * 6e-5], rtol=1e-9)
    far = {"far": pull | {"point_mm": [0.0, 120.0, 0.0], "force_n": [1.0, 0.0, 0.0]}}
    with pytest.raises(InputDataError, match=r"fe_knee\.tractions\.far"):
        DynamicKnee(bones, small_knee({"tractions": far}))


@pytest.mark.slow
def test_a_fibula_moves_with_the_tibia_and_bears_the_lateral_ligament(fibular, tmp_path):
    """Momentum of the fall, contact of its base, a joined tie, and an insertion of its own."""
    settings, kept = small_knee(with_fibula({"steps": 13})), []
    run = run_knee(fibular, settings, keep=kept.append)
    rows = compare_fe_knee(run, fibular, settings).set_index("quantity")
    laws = rows[rows["source"].isin(["contact condition", "coupling condition", "Theorem 2.2"])]
    assert len(laws) == 3 and set(laws["verdict"]) == {REPRODUCED}
    assert rows.loc["coarse tetrahedra of the fibula", "computed"] == 6 * 2 * 3 * 2
    assert rows.loc["first step in contact with the obstacle", "computed"] == 11
    knee = DynamicKnee(fibular, settings)
    ends = dict(zip(knee.ligaments, knee.attachments, strict=True))
    names = list(knee.problem.bodies)
    assert {name: names[pair[1].body] for name, pair in ends.items()} == {
        "ACL": "tibia",
        "PCL": "tibia",
        "MCL": "tibia",
        "LCL": "fibula",
    }
    assert ends["LCL"][1].insertion.centroid[2] < -42.0
    moved, contact = kept[-1].state.bodies.displacement, knee.problem.constraints
    touching = contact.nodes[contact.matrix @ moved.ravel() > contact.gaps - 1e-12]
    assert np.isin(knee.problem.triangles("fibula", BASE), touching).any()
    # Tied nodes are the near side of the lower end; each follows the tibia.
    (tie,) = knee.problem.ties
    assert np.isin(tie.nodes, knee.problem.triangles("fibula", TIE)).all()
    np.testing.assert_allclose(knee.problem.positions[tie.nodes, 2], -42.0)
    followed = (tie.weights @ moved.ravel()).reshape(-1, 3)
    np.testing.assert_allclose(moved[tie.nodes], followed, atol=1e-12)
    netcdf.save(run.frames, tmp_path / "frames.nc")
    assert netcdf.load(KneeFrames, tmp_path / "frames.nc").bodies == ("femur", "tibia", "fibula")


@pytest.mark.slow
def test_prescribed_ends_are_met_and_reported_with_their_work(tmp_path):
    """A held tibia and a femur pulled up: no fall, tension, energy from the reactions alone."""
    held = {"body": "tibia", "point_mm": [0.0, -45.0, 0.0], "radius_mm": 15.0}
    pulled = {"body": "femur", "point_mm": [0.0, 45.0, 0.0], "radius_mm": 15.0}
    changes = {
        "prescribed": {
            "held": held | {"displacement_mm": [0.0, 0.0, 0.0]},
            "pulled": pulled | {"displacement_mm": [0.0, 0.2, 0.0], "ramp_s": 1e-4},
        },
        "velocity_m_per_s": [0.0, 0.0, 0.0],
        "coupling": {"rotation": "least_squares", "tolerance": 1e-8},
        "obstacle_gap_mm": 5.0,
        "steps": 12,
    }
    settings = small_knee(changes)
    bones = build_bones(settings.bones)
    kept = []
    run = run_knee(bones, settings, keep=kept.append)
    knee = DynamicKnee(bones, settings)
    for progress in kept:
        share = min(progress.step / 10.0, 1.0)
        for motion, nodes in knee.problem.motions:
            moved = progress.state.bodies.displacement[nodes] - share * motion.displacement
            np.testing.assert_allclose(moved, 0.0, atol=1e-16)
    history = run.history
    # Gravity does not act along x and z; reactions are means over the steps.
    level = [
        history[[f"{name}_reaction_x_n", f"{name}_reaction_z_n"]].to_numpy()[1:]
        for name in changes["prescribed"]
    ]
    gained = np.diff(history[["momentum_x_n_s", "momentum_z_n_s"]].to_numpy(), axis=0)
    force = gained / settings.time_step_s
    np.testing.assert_allclose(sum(level), force, atol=1e-6 * np.abs(level).max())
    assert (history[[f"{name}_tension_n" for name in knee.ligaments]].iloc[-1] > 0.0).all()
    names = ["viscous", "contact", "stabilisation"]
    lost = history[[f"{name}_loss_mj" for name in names]].sum(axis=1)
    work = history["prescribed_work_mj"]
    np.testing.assert_allclose(history["total_mj"] + lost, work, atol=1e-5 * work.max())
    assert work.iloc[-1] > 0.0
    rows = compare_fe_knee(run, bones, settings).set_index("quantity")["computed"]
    assert abs(rows["loss by the coupling without contact over the energy at the start"]) < 1e-5
    file = ProgressFile(tmp_path / "progress.npz", bones, {}, "code")
    file.save(kept[9])
    again = run_knee(bones, settings, file.load()).history
    assert again.drop(columns=["bone_seconds", "rod_seconds"]).equals(
        history.drop(columns=["bone_seconds", "rod_seconds"])
    )


PART = {"body": "tibia", "point_mm": [0.0, -45.0, 0.0], "radius_mm": 10.0}
STILL = {"displacement_mm": [0.0, 0.0, 0.0]}
DOWN = {"displacement_mm": [0.0, -0.2, 0.0]}


@pytest.mark.parametrize(
    "prescribed",
    [
        {"one": PART | STILL | {"point_mm": [0.0, -26.0, 36.0]}},
        {"one": PART | STILL | {"point_mm": [10.0, -36.0, -36.0], "radius_mm": 15.0}},
        {"one": PART | STILL, "two": PART | STILL},
        {"one": PART | DOWN | {"ramp_s": 1e-4}},
        {"one": PART | STILL | {"point_mm": [0.0, -90.0, 0.0]}},
    ],
    ids=["insertion", "tie", "another", "obstacle", "far"],
)
def test_prescribed_parts_that_cannot_be_are_refused(fibular, prescribed):
    with pytest.raises(InputDataError):
        DynamicKnee(fibular, small_knee(with_fibula({"prescribed": prescribed})))


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


@pytest.mark.slow
def test_printed_numbers_are_compared(knee):
    bones, settings, run, _ = knee
    rows = compare_fe_knee(run, bones, settings).set_index("quantity")
    assert rows.loc["first step in contact with the obstacle", "computed"] == 11
    gap = "first step in contact with an obstacle at the printed gap of 1 mm"
    # 1 mm at 1 m/s takes 100 steps of 10 us.
    assert rows.loc[gap, "computed"] == 100
    assert rows.loc[gap, "verdict"] == SOURCE_ERROR
    laws = rows[rows["source"].isin(["contact condition", "coupling condition", "Theorem 2.2"])]
    assert len(laws) == 3 and set(laws["verdict"]) == {REPRODUCED}


HELD = {"body": "femur", "point_mm": [0.0, 45.0, 0.0], "radius_mm": 15.0}
RAISED = HELD | {"displacement_mm": [0.0, 0.1, 0.0], "ramp_s": 1e-4}


@pytest.mark.parametrize(
    "more",
    [{}, pytest.param(with_fibula({"prescribed": {"up": RAISED}}), marks=pytest.mark.slow)],
)
def test_multigrid_agrees_with_a_factorisation(more):
    changes = {
        "bones": {"refinements": 1},
        "steps": 6,
        "rods": None,
        "obstacle_gap_mm": 0.02,
        "solver": {"method": "direct"},
    }
    changes = merge_settings(more, changes)
    settings = small_knee(changes)
    bones = build_bones(settings.bones)
    moved = 1e3 * settings.time_step_s * settings.steps
    exact, other = (
        run_knee(bones, small_knee(changes | {"solver": {"method": method}})).frames.positions[-1]
        for method in ("direct", "truncated_newton")
    )
    assert np.abs(other - exact).max() < 1e-3 * moved


def test_rates_of_cycles_are_means_of_all_steps_and_of_those_in_contact():
    rates, touching = np.array([0.1, 0.3, 0.7, np.nan]), np.array([False, True, True, True])
    assert list(cycle_rates(rates, touching).values()) == pytest.approx([1.1 / 3.0, 0.5])
    assert len(cycle_rates(rates, touching & False)) == 1


def test_steps_of_frames_are_even_with_both_ends():
    even = small_knee({"shown_steps": []})
    assert frame_steps(even) == [0, 4, 8, 12, 16, 20]
    assert frame_steps(small_knee({"steps": 2})) == [0, 1, 2]


def test_chosen_steps_are_kept_up_to_the_last_one_and_shown():
    assert frame_steps(small_knee({"shown_steps": [3, 90]})) == [0, 3, 4, 8, 12, 16, 20]
    history = pd.DataFrame({"time_ms": [0.0, 0.01, 0.02], "shown": [False, True, False]})
    assert shown_times(history) == pytest.approx([1e-5])
    assert shown_times(history.drop(columns="shown")).size == 0


@pytest.mark.slow
def test_oscillation_is_judged_only_with_enough_nodes(knee):
    bones, settings, run, _ = knee
    steps = np.arange(len(run.history))
    for nodes, verdict in ((2.0, UNDECIDED), (30.0, NOT_REPRODUCED)):
        # Every other step in the second half has one node less.
        counts = np.where(steps > len(steps) // 2, nodes - steps % 2, 0.0)
        history = run.history.assign(cartilage_nodes=counts)
        found = compare_fe_knee(replace(run, history=history), bones, settings)
        rows = found[found["quantity"] == REVERSALS].set_index("case")
        assert rows.loc["cartilage", "verdict"] == verdict


def test_phases_and_reversals_of_series():
    assert phases(np.array([0, 1, 2, 0, 3])) == [(1, 2), (4, 4)]
    assert phases(np.zeros(3)) == []
    assert reversals(np.array([0, 2, 2, 5, 3, 0])) == 1
    assert reversals(np.array([0, 2, 1, 2, 0])) == 3
