"""Both faces of an insert: rotating platform, and fixed insert with a stated motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kneewear.mechanics.rotations import body_three_123
from kneewear.models.mobile_insert import insert_motion
from kneewear.models.mobile_insert.backside import build_backside as build
from kneewear.models.mobile_insert.backside import moment_about
from kneewear.models.mobile_insert.compute import compute_faces, face_cycles
from kneewear.models.mobile_insert.insert_motion import InsertOnTray
from kneewear.motion.dwell_pose import refer_to_dwell_pose
from kneewear.motion.evaluation import build_layers, build_pairs
from kneewear.motion.quasi_static import solve_placed_frame
from kneewear.study.inputs import (
    CaseInputs,
    built_in_activities,
    exact_knee,
    with_exact_distances,
)
from kneewear.study.settings import merge_settings, validate_study
from tests.study.studies import COARSE, shipped

# A cycle closes to 1e-6 rad, 6e-5 deg.
CLOSED_DEG = 1e-3
COARSE_CASE = {
    "variables": {},
    "cases": {"plan": "factorial"},
    "grid": COARSE["grid"],
    "table": COARSE["table"],
    "simulation": {"frames": COARSE["simulation"]["frames"]},
    "backside": {"element_mm": 3.0},
}


def study_of(name, **movement):
    settings = merge_settings(shipped(name), COARSE_CASE)
    return validate_study(merge_settings(settings, {"backside": {"movement": movement}}))


def inputs_of(study):
    return CaseInputs(study, exact_knee(study), built_in_activities(study), exact=True)


def cycle_of(study):
    inputs = inputs_of(study)
    lower = build(study.backside, inputs.knee(study).implant, study.insert.thickness_mm)
    return face_cycles(study, inputs, lower)["gait"], lower


def friction(coefficient):
    return {"lower_friction": {"coefficient": coefficient}}


@pytest.fixture(scope="module")
def mobile_insert():
    return cycle_of(study_of("rotating_platform.yaml", **friction(0.05)))


@pytest.fixture(scope="module")
def held():
    study = study_of("rotating_platform.yaml", held="lower")
    return study, cycle_of(study)


@pytest.mark.slow
def test_friction_of_the_backside_is_full_where_it_slides_and_less_where_it_rests(mobile_insert):
    curves = mobile_insert[0].curves
    turned = np.abs(np.diff(curves["insert_rotation"], prepend=curves["insert_rotation"][-1]))
    moment, most = np.abs(curves["axial_moment"]), curves["friction_moment"]
    slides = turned > CLOSED_DEG
    assert 0 < slides.sum() < slides.size
    # The rotation is found to 1e-9 rad, where moments change by some N m per 1e-3 rad.
    np.testing.assert_allclose(moment[slides], most[slides], rtol=1e-4)
    assert (moment[~slides] <= most[~slides] * (1.0 + 1e-9)).all()
    assert mobile_insert[0].closure.max() < 1e-3


def test_friction_turns_the_insert_against_its_sliding(mobile_insert):
    curves = mobile_insert[0].curves
    turned = np.diff(curves["insert_rotation"], prepend=curves["insert_rotation"][-1])
    slides = np.abs(turned) > CLOSED_DEG
    assert (np.sign(turned[slides]) == np.sign(curves["axial_moment"][slides])).all()


def test_forces_on_both_faces_are_action_and_reaction(mobile_insert):
    """Force and horizontal moments of the femoral component and of the tray add to zero."""
    cycle, lower = mobile_insert
    force = cycle.upper["force"].values[0].sum(axis=1)
    torque = cycle.upper["torque"].values[0].sum(axis=1)
    arm = lower.centre - lower.pivot
    for frame in range(len(force)):
        wrench = np.concatenate([force[frame], torque[frame]])
        about = moment_about(lower.pivot, [wrench], np.zeros(3))
        pressure = cycle.lower["pressure"].values[0, frame, 0][lower.grid.valid[0]].astype(float)
        up = pressure * lower.area
        # Pressures are kept in single precision.
        scale = 1e-6 * abs(about[1])
        assert up.sum() + about[1] == pytest.approx(0.0, abs=scale)
        assert -up @ arm[:, 2] + about[3] == pytest.approx(0.0, abs=30.0 * scale)
        assert up @ arm[:, 0] + about[5] == pytest.approx(0.0, abs=30.0 * scale)


def test_held_backside_gives_the_fixed_insert(held):
    study, (cycle, _) = held
    fixed = inputs_of(study).cycles(study)["gait"]
    assert (cycle.curves["insert_rotation"] == 0.0).all()
    for name in ("pressure", "slip", "translation"):
        expected = fixed[name].values
        scale = np.abs(expected).max()
        # Equilibria are solved to 1e-8 of the load from other starts.
        np.testing.assert_allclose(cycle.upper[name].values, expected, atol=2e-5 * scale)
    assert not cycle.lower["slip"].values.any()


def test_held_bearing_turns_the_insert_with_the_moment_of_the_backside():
    """The moment is the friction of the lower face, not of a bearing that does not slide."""
    study = study_of("rotating_platform.yaml", held="upper", **friction(0.07))
    cycle, lower = cycle_of(study)
    curves = cycle.curves
    np.testing.assert_allclose(curves["insert_rotation"], curves["femoral_rotation"], atol=1e-9)
    turned = np.abs(np.diff(curves["insert_rotation"], prepend=curves["insert_rotation"][-1]))
    pressure = cycle.lower["pressure"].values[0, :, 0][:, lower.grid.valid[0]].astype(float)
    full = 1e-3 * 0.07 * pressure @ (lower.radius * lower.area)
    slides = turned > 0.05
    assert slides.sum() > 2
    # Friction is regularised at 0.1 um of sliding, which elements near the pivot hardly exceed.
    np.testing.assert_allclose(np.abs(curves["axial_moment"])[slides], full[slides], rtol=1e-3)
    assert np.abs(curves["axial_moment"]).max() <= full.max() * (1.0 + 1e-6)


def sliding(history, area):
    """Integral of pressure times sliding over a cycle, N mm."""
    distance = np.linalg.norm(history["slip"].values[0], axis=-1)
    return float(np.sum(history["pressure"].values[0] * distance * area))


def test_mobile_insert_takes_sliding_from_the_bearing_as_it_turns(mobile_insert, held):
    study, (fixed, _) = held
    turning, lower = mobile_insert
    area = exact_knee(study).grid.area
    assert sliding(turning.upper, area) < sliding(fixed.upper, area)
    assert sliding(turning.lower, lower.grid.area) > 0.0


def gliding(**movement):
    # A dish and elements that restore well: on few elements forces jump.
    changes = {
        "grid": {"rows": 50, "columns": 30},
        "implant": {"parametric": {"plateau_sagittal_radius_mm": 35.0}},
        "simulation": {"frames": 16, "medial_lateral": "held"},
        "backside": {"movement": {"free": ["anterior_posterior", "rotation"], **movement}},
    }
    settings = merge_settings(shipped("rotating_platform.yaml"), COARSE_CASE)
    return validate_study(merge_settings(settings, changes))


def mobile_insert_of(study):
    """Insert of a study under its gait, with its motion."""
    inputs = inputs_of(study)
    knee, settings = inputs.knee(study), with_exact_distances(study).simulation
    pairs = build_pairs(knee, settings)
    layers = build_layers(knee.grid, pairs, study.insert.thickness_mm, settings)
    activity = refer_to_dwell_pose(inputs.activities(study)["gait"], knee, settings)
    lower = build(study.backside, knee.implant, study.insert.thickness_mm)
    weight = 9.81 * study.patient.body_mass_kg
    found = InsertOnTray(pairs, layers, activity, weight, settings, study.backside.movement, lower)
    return found, found.solve()


def along(way):
    """Directions of ways (n, 3) with the transition of friction at 0.1 um."""
    return way / np.sqrt(np.sum(way**2, axis=1) + 1e-8)[:, None]


@pytest.mark.slow
def test_forces_on_a_gliding_insert_balance():
    """Friction of both faces, from the displacements of points, and contact pressure."""
    found, motion = mobile_insert_of(gliding(lower_friction={"coefficient": 0.05}))
    lower, coefficient = found.lower, 0.05
    assert np.ptp(motion.path[:, 0]) > 0.1
    assert np.abs(motion.closure).max() < 1e-3
    poses = motion.solution.coordinates
    for now in range(1, len(poses)):
        turns = [body_three_123(np.array([0.0, motion.path[n, 2], 0.0])) for n in (now - 1, now)]
        onto = -moment_about(
            lower.pivot,
            [part.wrench for part in motion.frames[now].contacts],
            motion.frames[now].translation,
        )
        bearing = onto.copy()
        for pair, contact in zip(found.pairs, motion.frames[now].contacts, strict=True):
            centre, normal = pair.centre[contact.element], pair.normal[contact.element]
            femur = body_three_123(poses[now, 3:]), body_three_123(poses[now - 1, 3:])
            material = (centre - poses[now, :3]) @ femur[0]
            way = centre - (material @ femur[1].T + poses[now - 1, :3])
            way -= np.sum(way * normal, axis=1)[:, None] * normal
            size = contact.pressure * pair.area[contact.element]
            force = 0.07 * size[:, None] * along(way)
            arm = centre - lower.pivot
            bearing += np.concatenate([force.sum(axis=0), np.cross(arm, force).sum(axis=0)])
        arm = lower.centre - lower.pivot
        places = [
            arm @ turn.T + [motion.path[n, 0], 0.0, motion.path[n, 1]]
            for turn, n in zip(turns, (now - 1, now), strict=True)
        ]
        size = lower.pressure(onto) * lower.area
        held = -coefficient * size[:, None] * along(places[1] - places[0])
        moment = np.cross(arm @ turns[1].T, held).sum(axis=0)[1]
        total = (turns[1] @ bearing[:3] + held.sum(axis=0))[0], bearing[4] + moment
        # A place is found to 1e-5 mm; the bearing returns the insert by some 100 N/mm.
        assert total[0] == pytest.approx(0.0, abs=1e-3 * size.sum() * coefficient)
        assert total[1] == pytest.approx(0.0, abs=1e-3 * size.sum() * coefficient * 20.0)


@pytest.mark.slow
def test_insert_without_friction_follows_the_femoral_component():
    none = {"coefficient": 0.0}
    found, motion = mobile_insert_of(gliding(lower_friction=none, upper_friction=none))
    given = found.activity.coordinates
    np.testing.assert_allclose(
        motion.path[:, [0, 2]] - motion.path[0, [0, 2]],
        given[:, [0, 4]] - given[0, [0, 4]],
        atol=1e-3 * np.ptp(given[:, 0]),
    )


def test_held_bearing_follows_the_femoral_component_up_to_a_stop():
    held = {"held": "upper", "lower_friction": {"coefficient": 0.05}}
    found, motion = mobile_insert_of(gliding(**held))
    given, path = found.activity.coordinates, motion.path
    np.testing.assert_allclose(path[:, 2], given[:, 4], atol=1e-12)
    # The femoral component stays where it is on the insert.
    beside = motion.solution.coordinates
    np.testing.assert_allclose(beside[:, 0], beside[0, 0], atol=1e-9)
    # Clinical angles are followed to 1e-8 rad; of body-three angles varus turns the axis.
    np.testing.assert_allclose(beside[:, 4], 0.0, atol=1e-6)
    most = 0.5 * np.abs(path[:, 0]).max()
    movement = found.mobile_insert.model_copy(update={"anterior_posterior_stop_mm": most})
    stopped = replace(found, mobile_insert=movement)._followed()
    np.testing.assert_allclose(stopped[:, 0], np.clip(path[:, 0], -most, most), atol=1e-12)


@pytest.mark.slow
def test_stop_ends_gliding():
    free, stopped = (
        cycle_of(gliding(**friction(0.05), **stop))[0]
        for stop in ({}, {"anterior_posterior_stop_mm": 1.0})
    )
    assert np.abs(free.curves["insert_posterior"]).max() > 1.1
    # 1e5 N/mm of the stop.
    assert np.abs(stopped.curves["insert_posterior"]).max() == pytest.approx(1.0, abs=0.02)
    assert sliding(stopped.lower, 1.0) < sliding(free.lower, 1.0)


@pytest.mark.slow
def test_meniscal_bearing_follows_the_condyle_it_conforms_to(monkeypatch):
    study, searches = study_of("meniscal_bearing.yaml"), []

    def counted(*arguments):
        searches.append(arguments)
        return solve_placed_frame(*arguments)

    monkeypatch.setattr(insert_motion, "solve_placed_frame", counted)
    _, motion = mobile_insert_of(study)
    # 282 where they start from an insert that follows, 463 where it rests.
    assert len(searches) < 350
    beside = motion.solution.coordinates[:, 0]
    assert np.ptp(motion.path[:, 0]) > 5.0 * np.ptp(beside)
    assert np.abs(motion.closure).max() < 1e-3


def test_wear_of_a_straight_micromotion_is_factor_times_load_times_way():
    study = study_of("fixed_backside.yaml", medial_lateral_mm=0.0, anterior_posterior_mm=0.2)
    found = compute_faces(study, inputs_of(study)).values
    cycle, _ = cycle_of(study)
    way = 0.2 * np.cos(2.0 * np.pi * np.arange(8) / 8) / 2.0
    half = 0.5 * np.abs(np.roll(way, -1) - np.roll(way, 1))
    work = float(np.sum(cycle.lower["load"].values[0] * half[: len(cycle.lower.percent)]))
    expected = 1e6 * study.backside.wear_factor_mm3_per_n_m * 1e-3 * work
    assert found["lower_wear_rate"] == pytest.approx(expected, rel=1e-5)
    assert found["lower_cross_shear"] == pytest.approx(0.0, abs=1e-6)


def test_micromotion_leaves_the_bearing_alone_and_wears_in_proportion():
    small, large = (
        compute_faces(study, inputs_of(study)).values
        for study in (
            study_of("fixed_backside.yaml"),
            study_of("fixed_backside.yaml", anterior_posterior_mm=0.2, medial_lateral_mm=0.1),
        )
    )
    assert large["lower_wear_volume"] == pytest.approx(2.0 * small["lower_wear_volume"], rel=1e-5)
    assert large["upper_wear_volume"] == small["upper_wear_volume"]
    assert 0.0 < small["lower_cross_shear"] < 0.5


@pytest.mark.slow
def test_an_insert_that_glides_starts_below_the_condyles():
    found, _ = mobile_insert_of(gliding(lower_friction={"coefficient": 0.0}))
    moved = found.activity.coordinates + np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    shifted = replace(found, activity=replace(found.activity, translation=moved[:, :3]))
    difference = shifted._first() - found._first()
    np.testing.assert_allclose(difference, [3.0, 0.0, 0.0], atol=1e-9)
