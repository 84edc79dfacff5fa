"""The dwell pose of arbitrary components, motions relative to it, and their placement."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kneewear.activity.activity import Activity
from kneewear.activity.settings import MotionScale
from kneewear.base.cases import Case
from kneewear.base.checks import checks
from kneewear.base.types import PerSide
from kneewear.geometry.dish import needed_radius
from kneewear.geometry.grid import build_grid
from kneewear.geometry.knee import middle_of_condyles
from kneewear.geometry.parametric import build_parametric_implant
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion import bearing_ends
from kneewear.motion.dwell_pose import find_dwell_pose, refer_to_dwell_pose
from kneewear.motion.placement import check_placement
from tests.physics.bodies import UPRIGHT, example_study, gait_study

pytestmark = pytest.mark.compiled

FLEXION = np.radians([0.0, 30.0, 60.0])
DISH = 50.0
CONDYLE = example_study().implant.parametric.femoral_sagittal_radius_mm
CASE = Case("one", 8.0, 75.0)


def dished_implant():
    """The example knee with dishes that hold the condyles, as an ultracongruent insert."""
    shape = example_study().implant.parametric
    radii = {"plateau_sagittal_radius_mm": DISH, "plateau_half_length_mm": 30.0}
    return build_parametric_implant(shape.model_copy(update=radii), "dished", 8.0)


def study_of(implant, activity=None):
    """An implant with the settings of the example study."""
    usual = gait_study()
    grid = build_grid(implant, 60, 40)
    return replace(usual, implant=implant, grid=grid, activity=activity or usual.activity)


def held_at(posterior, flexion=10.0, frames=8, zero=0.0):
    """A motion that keeps one position."""
    percent = 100.0 * np.arange(frames) / frames
    return Activity(
        name="held",
        percent=percent,
        duration=1.0,
        translation=np.tile([posterior, 0.0, 0.0], (frames, 1)),
        rotation=np.tile([0.0, 0.0, -np.radians(flexion)], (frames, 1)),
        load=2.0 + np.cos(2 * np.pi * percent / 100),
        zero=np.array([zero, 0.0, 0.0]),
    )


def test_condyles_settle_at_the_bottom_of_their_dishes():
    study = study_of(dished_implant())
    dwell_pose = find_dwell_pose(study.knee(), FLEXION, study.settings)
    np.testing.assert_allclose(dwell_pose.coordinates[:, 0], 0.0, atol=0.1)
    assert np.ptp(dwell_pose.coordinates[:, 1]) < 0.01
    np.testing.assert_allclose(np.degrees(dwell_pose.coordinates[:, [3, 4]]), 0.0, atol=0.2)


def test_dwell_pose_of_a_bearing_is_found_once():
    """Equal bearings share it, whatever their study solves; another shape or range has its own."""
    first, again = (study_of(dished_implant()) for _ in range(2))
    settled = find_dwell_pose(first.knee(), FLEXION, first.settings)
    other = again.settings.model_copy(update={"medial_lateral": "held"})
    assert find_dwell_pose(again.knee(), FLEXION * (1.0 + 1e-15), other) is settled
    assert find_dwell_pose(again.knee(), 0.9 * FLEXION, other) is not settled
    soft = first.settings.model_copy(update={"youngs_modulus_mpa": 300.0})
    assert find_dwell_pose(first.knee(), FLEXION, soft) is not settled
    usual = gait_study()
    assert find_dwell_pose(usual.knee(), FLEXION, usual.settings) is not settled


@pytest.mark.slow
def test_condyles_that_slide_off_stay_above_the_middle_of_the_plateaus():
    """Nearly flat plateaus that slope by 7 deg towards posterior: nothing holds the condyles."""
    shape = example_study().implant.parametric
    flat = build_parametric_implant(
        shape.model_copy(update={"plateau_sagittal_radius_mm": 2000.0}), "flat", 8.0
    )
    angle = np.radians(7.0)
    cosine, sine = np.cos(angle), np.sin(angle)
    slope = np.array([[cosine, sine, 0.0], [-sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    sloping = replace(
        flat,
        insert={s: one.transformed(slope, [0.0, 5.0, 0.0]) for s, one in flat.insert.items()},
    )
    study = study_of(sloping)
    dwell_pose = find_dwell_pose(study.knee(), FLEXION, study.settings)
    assert dwell_pose.slides
    lowest = CONDYLE * sine
    np.testing.assert_allclose(dwell_pose.coordinates[:, 0], 0.0, atol=lowest)
    moved = refer_to_dwell_pose(held_at(-17.0, zero=np.nan), study.knee(), study.settings)
    assert np.abs(moved.translation[:, 0]).max() < lowest
    assert not find_dwell_pose(study_of(flat).knee(), FLEXION, study.settings).slides


def test_dwell_pose_follows_origins_anywhere():
    """Femoral origin 40 mm before and 25 mm above the axis of the condyles, insert's elsewhere."""
    plain, arm, base = dished_implant(), np.array([40.0, -25.0, 3.0]), np.array([-55.0, 70.0, 30.0])
    moved = replace(
        plain,
        femoral={s: one.transformed(UPRIGHT, arm) for s, one in plain.femoral.items()},
        insert={s: one.transformed(UPRIGHT, base) for s, one in plain.insert.items()},
        underside=plain.underside + base[1],
    )
    dwell_poses = [
        find_dwell_pose(study.knee(), FLEXION, study.settings).at(FLEXION)
        for study in map(study_of, (plain, moved))
    ]
    cosine, sine = np.cos(FLEXION), np.sin(FLEXION)
    turned = [cosine * arm[0] + sine * arm[1], -sine * arm[0] + cosine * arm[1], 0 * sine + arm[2]]
    expected = dwell_poses[0][:, :3] + base - np.column_stack(turned)
    np.testing.assert_allclose(dwell_poses[1][:, [0, 1]], expected[:, [0, 1]], atol=0.1)
    np.testing.assert_allclose(dwell_poses[1][:, 2], expected[:, 2], atol=0.2)


def test_motion_of_another_implant_is_moved_to_the_dwell_pose():
    study = study_of(dished_implant(), held_at(-17.0, zero=np.nan))
    activity = refer_to_dwell_pose(study.activity, study.knee(), study.settings)
    np.testing.assert_allclose(activity.translation[:, 0], 0.0, atol=0.05)
    assert activity.zero[0] == pytest.approx(17.0, abs=0.05)
    history = study.arrays(CASE)
    np.testing.assert_allclose(history.translation[0], activity.translation, atol=50.0)
    np.testing.assert_array_equal(history.translation[0, :, 0], activity.translation[:, 0])


def placed(implant, activity):
    """Verdict, and its rows by quantity."""
    study = study_of(implant, activity)
    found = check_placement(study.knee(), activity, [CASE], study.settings)
    return found, found.table.set_index("quantity")


@pytest.mark.parametrize(
    ("line", "verdict"),
    [(5.0, "pass"), (16.0, "warning"), pytest.param(40.0, "fail", marks=pytest.mark.slow)],
)
def test_a_load_line_beside_the_plateaus_is_reported_with_their_middle(line, verdict):
    implant = dished_implant()
    _, rows = placed(implant, replace(held_at(0.0), load_line=line))
    found = rows.loc[checks()["placement.load_line"].quantity]
    assert found["verdict"] == verdict
    assert found["value"] == pytest.approx(line / 23.0, rel=0.05)


def test_a_motion_that_holds_the_condyles_against_a_rim_fails_with_the_setting_to_change():
    """10 mm up the dish more than half of the load pushes forward: 1500 N."""
    found, rows = placed(dished_implant(), held_at(10.0))
    force = rows.loc["force that prescribes the anterior-posterior position over the largest load"]
    slope = np.arcsin(10.0 / (DISH - CONDYLE))
    assert force["value"] == pytest.approx(np.tan(slope), rel=0.05)
    assert found.verdict == force["verdict"] == "fail"
    assert "activities.held.zero.anterior_posterior" in force["remedy"]
    assert rows.loc[
        "mean distance from the dwell pose towards posterior", "value"
    ] == pytest.approx(10.0, abs=0.2)


def test_a_motion_beside_the_bearing_fails():
    found, rows = placed(dished_implant(), held_at(300.0))
    assert found.verdict == "fail"
    assert "zero.anterior_posterior" in rows["remedy"].iloc[0]
    assert found.sentences[1].startswith("Fail: no equilibrium of the motion on the bearing. Set ")


def test_contact_that_ends_at_a_femoral_border_is_counted():
    """The condyles of the example knee end at 140 deg of flexion."""
    usual = gait_study()
    name = "contact force at the border of the femoral window"
    values = {}
    for flexion in (100.0, 137.0):
        study = replace(usual, activity=held_at(0.0, flexion))
        found = check_placement(study.knee(), study.activity, [CASE], study.settings)
        values[flexion] = found.table.set_index("quantity").loc[name]
    assert values[100.0]["value"] == 0.0
    assert values[137.0]["value"] > 0.02
    assert values[137.0]["verdict"] == "fail"
    assert "femoral_region_mm" in values[137.0]["remedy"]


def test_a_femoral_window_is_widened_by_an_angle_where_it_ends_at_one():
    """The mesh goes on by 6 deg about the condyles' axis."""
    study = replace(gait_study(), activity=held_at(0.0, 137.0))
    knee = study.knee()
    axis = middle_of_condyles(knee.implant.femoral)
    turns = [body_three_123([0.0, 0.0, np.radians(angle)]) for angle in np.linspace(-6, 6, 25)]
    sheets = {
        ("femoral", side): np.concatenate(
            [(bearing_ends.sampled(condyle) - axis) @ turn + axis for turn in turns]
        )
        for side, condyle in knee.implant.femoral.items()
    }
    found = check_placement(knee, study.activity, [CASE], study.settings, sheets=sheets)
    (advice,) = found.advice[checks()["placement.femoral_border_force"].quantity]
    assert advice.key.endswith(".angle_deg")
    assert advice.value == pytest.approx(6.0, abs=1.0)


def obeyed(activity, advice):
    """The motion with the changes of its settings that are advised."""
    factors, zero, line = np.ones(6), activity.zero.copy(), activity.load_line
    for one in advice:
        block, _, setting = one.key.removeprefix(f"activities.{activity.name}.").rpartition(".")
        if block == "motion.scale":
            assert one.multiplies
            factors[list(MotionScale.model_fields).index(setting)] = one.value
        elif block == "zero":
            assert (setting, one.value) == ("anterior_posterior", "dwell_pose")
            zero[0] = np.nan
        else:
            assert (block, setting) == ("control", "load_line_mm")
            line = one.value
    return replace(activity.scaled(factors), zero=zero, load_line=line)


def travelling(along, flexion=10.0):
    """A motion with travel from the middle of the insert (mm) and flexion from its mean (deg)."""
    usual = held_at(0.0)
    wave = np.sin(2.0 * np.pi * usual.percent / 100.0)
    translation, rotation = usual.translation.copy(), usual.rotation.copy()
    translation[:, 0] = along * wave
    rotation[:, 2] = -np.radians(flexion * (1.0 + 0.9 * wave))
    return replace(usual, translation=translation, rotation=rotation)


def short_implant():
    """The example knee with an insert that ends near the contact."""
    shape = example_study().implant.parametric
    short = shape.model_copy(update={"plateau_half_length_mm": 16.0})
    return build_parametric_implant(short, "short", 8.0)


@pytest.mark.parametrize(
    ("check", "implant", "motion"),
    [
        ("insert_border_force", short_implant, travelling(16.0)),
        pytest.param(
            "femoral_border_force", short_implant, travelling(0.0, 76.0), marks=pytest.mark.slow
        ),
        ("insert_border_force", short_implant, held_at(13.0)),
        ("force", dished_implant, held_at(10.0)),
        pytest.param("posterior", dished_implant, held_at(12.0), marks=pytest.mark.slow),
        pytest.param(
            "load_line",
            dished_implant,
            replace(held_at(0.0), load_line=40.0),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_obeying_an_advice_mends_what_it_is_about(check, implant, motion):
    study = study_of(implant(), motion)
    quantity = checks()[f"placement.{check}"].quantity

    def placed_again(activity):
        found = check_placement(study.knee(), activity, [CASE], study.settings, sheets={})
        return found, found.table.set_index("quantity").loc[quantity, "verdict"]

    found, verdict = placed_again(motion)
    assert verdict == ("warning" if check == "posterior" else "fail")
    advice = found.advice[quantity]
    assert advice
    assert placed_again(obeyed(motion, advice))[1] == "pass"


@pytest.mark.slow
def test_a_window_that_is_as_much_wider_as_advised_has_no_contact_at_its_border():
    """Its mesh goes on by 12 mm."""
    shape, motion = example_study().implant.parametric, travelling(16.0)
    quantity = checks()["placement.insert_border_force"].quantity

    def implant(half_length):
        longer = shape.model_copy(update={"plateau_half_length_mm": half_length})
        return build_parametric_implant(longer, "window", 8.0)

    whole = implant(28.0).insert
    sheets = {("insert", side): bearing_ends.sampled(one) for side, one in whole.items()}
    placed = []
    half_length = 16.0
    for _ in range(2):
        study = study_of(implant(half_length), motion)
        knee, settings = study.knee(), study.settings
        placed.append(check_placement(knee, motion, [CASE], settings, sheets=sheets))
        (advice,) = placed[0].advice[quantity]
        half_length += advice.value
    assert advice.key.startswith("implant.meshes.insert_region_mm.")
    assert advice.value == pytest.approx(12.0, abs=1.0)
    verdicts = [one.table.set_index("quantity").loc[quantity, "verdict"] for one in placed]
    assert verdicts == ["fail", "pass"]


def across_implant(condyle, plateau):
    """The example knee with other radii across, mm, and condyles without rims."""
    shape = example_study().implant.parametric
    shape = shape.model_copy(update={"femoral_edge_radius_mm": 0.5})
    radii = {"femoral_coronal_radius_mm": condyle, "plateau_coronal_radius_mm": plateau}
    both = {name: PerSide[float](medial=one, lateral=one) for name, one in radii.items()}
    return build_parametric_implant(shape.model_copy(update=both), "across", 8.0)


def test_condyles_of_the_radius_that_is_named_do_not_bear_on_their_edges(monkeypatch):
    """Condyles straight across on a round dish bear on both edges under every motion."""
    named = []

    def noted(*given):
        named.append(needed_radius(*given))
        return named[-1]

    monkeypatch.setattr(bearing_ends, "needed_radius", noted)
    quantity = checks()["placement.femoral_border_force"].quantity
    verdicts, most = [], 1e5
    for _ in range(2):
        study = study_of(across_implant(most, 60.0), held_at(0.0))
        held = study.settings.model_copy(update={"medial_lateral": "held"})
        found = check_placement(study.knee(), study.activity, [CASE], held, sheets={})
        verdicts.append(found.table.set_index("quantity").loc[quantity, "verdict"])
        most = named[0][2] if named else most
    assert verdicts == ["fail", "pass"]
    assert named[0][0] == pytest.approx(60.0, rel=0.02)
    assert 20.0 < most < 60.0


@pytest.mark.parametrize(("turn", "tilt"), [(0.0, 0.0), (8.0, 3.0)])
def test_radii_across_are_found_of_inclined_sections(turn, tilt):
    """A cylinder of 30 mm, turned about the vertical and tilted, on a torus of 40 mm across."""
    angle, z = np.meshgrid(np.radians(np.linspace(-60, 60, 200)), np.linspace(-11, 11, 60))
    cylinder = np.stack([30 * np.sin(angle), -30 * np.cos(angle), z], -1).reshape(-1, 3)
    cylinder = cylinder @ body_three_123(np.radians([tilt, turn, 0.0])).T
    x, z = np.meshgrid(np.linspace(-20, 20, 81), np.linspace(-15, 15, 61))
    dish = np.stack([x, x**2 / 120.0 + z**2 / 80.0, z], -1).reshape(-1, 3)
    hollow, radius, most = needed_radius(dish, cylinder, 10.0, 0.2)
    assert hollow == pytest.approx(40.0, rel=0.05)
    assert radius > 400.0
    assert most == pytest.approx(1.0 / (1.0 / 40.0 + 1.6 / 22.0**2), rel=0.05)
    round_condyle = np.stack([x, x**2 / 60.0 + z**2 / 60.0, z], -1).reshape(-1, 3)
    assert needed_radius(dish, round_condyle, 10.0, 0.2) is None


def test_a_condyle_that_fills_its_dish_along_is_found_wherever_it_is():
    """A sphere of 25.7 mm in a hollow of 26 mm and 27 mm of length, and one of 22 mm.

    A parabola over half of a hollow is up to 3 % more curved than its lowest place.
    """
    x, z = np.meshgrid(np.linspace(-13.5, 13.5, 61), np.linspace(-12, 12, 61))
    dish = np.stack([x, 26.0 - np.sqrt(26.0**2 - x**2 - z**2), z], -1).reshape(-1, 3)
    x, z = np.meshgrid(np.linspace(-18, 18, 121), np.linspace(-12, 12, 61))
    for shift in (0.0, 6.0):
        for radius, fills in ((25.7, True), (22.0, False)):
            y = radius - np.sqrt(radius**2 - x**2 - z**2)
            condyle = np.stack([x + shift, y, z], -1).reshape(-1, 3)
            sections = (points[:, [2, 1, 0]] for points in (dish, condyle))
            needed = needed_radius(*sections, 0.0, 0.15)
            assert (needed is not None) == fills
            if fills:
                assert needed[:2] == pytest.approx((26.0, radius), rel=0.03)
                assert needed[2] == pytest.approx(1.0 / (1.0 / 26.0 + 1.2 / 27.0**2), rel=0.03)


@pytest.mark.parametrize(("plateau", "wanders"), [(600.0, True), (40.0, False)])
def test_a_position_that_nothing_restores_is_found_where_it_is_solved(plateau, wanders):
    """Condyles of 30 mm are restored by the load times their distance over 570 and 10 mm."""
    study = study_of(across_implant(30.0, plateau), held_at(0.0))
    quantity = checks()["placement.restoring"].quantity
    rows = {}
    for way in ("solved", "held"):
        settings = study.settings.model_copy(update={"medial_lateral": way})
        found = check_placement(study.knee(), study.activity, [CASE], settings)
        rows[way] = found.table.set_index("quantity")
    assert (quantity in rows["solved"].index) == wanders
    assert quantity not in rows["held"].index
    if wanders:
        assert rows["solved"].loc[quantity, "verdict"] == "warning"
        assert rows["solved"].loc[quantity, "value"] == pytest.approx(1 / 570.0, rel=0.2)


@pytest.mark.parametrize(("dish", "verdict"), [(CONDYLE, "warning"), (20.0, "fail")])
def test_contact_that_ends_with_a_bearing_that_holds_its_condyle_is_warned_of(dish, verdict):
    """Both touch from front to back: one presses on all of it, a narrower one on its edges."""
    shape = example_study().implant.parametric
    radii = {"plateau_sagittal_radius_mm": dish, "plateau_half_length_mm": 10.0}
    implant = build_parametric_implant(shape.model_copy(update=radii), "held", 8.0)
    study = replace(study_of(implant, held_at(0.0)), grid=build_grid(implant, 24, 20))
    check = checks()["placement.insert_border_force"]
    # Where nothing is known of the mesh, its window may end before it.
    verdicts = {}
    for sheets in ({}, None):
        found = check_placement(study.knee(), study.activity, [CASE], study.settings, sheets=sheets)
        row = found.table.set_index("quantity").loc[check.quantity]
        assert row["value"] > check.range.highest
        assert (check.quantity in found.of_shape) == (sheets is not None)
        verdicts[sheets is not None] = row["verdict"]
    assert verdicts == {True: verdict, False: "fail"}
