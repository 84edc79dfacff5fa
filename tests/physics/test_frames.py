"""Left is mirrored right, and no result depends on where a body's frame has its origin."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from kneewear.base.sides import SIDES
from kneewear.geometry.grid import build_grid
from kneewear.mechanics.rotations import body_three_123
from tests.physics.bodies import CASES, UPRIGHT, Study, contact_of, gait_study, moved

pytestmark = pytest.mark.compiled

CASE = CASES[0]
# Frames' origins shift by up to this, mm: as far as the origin of a CAD file may lie.
FAR = 300.0
# Flexion about an axis this far off swings the condyles down by as much from frame to frame.
FEMORAL_FAR = 20.0
shifts = arrays(float, 3, elements=st.floats(-FAR, FAR, width=32))
femoral_shifts = arrays(float, 3, elements=st.floats(-FEMORAL_FAR, FEMORAL_FAR, width=32))
turns = arrays(float, 3, elements=st.floats(-3.0, 3.0, width=32))
# Each example is a simulation: few of them, and no search for a smaller one that fails too.
few = settings(
    max_examples=6, deadline=None, derandomize=True, phases=(Phase.explicit, Phase.generate)
)
# Poses are solved to 1e-9 of the load over stiffnesses of 0.1 of the load per mm and more, and
# arithmetic 300 mm away from the origin rounds at 1e-13 mm.
SOLVED = 1e-7


def moved_frames(study: Study, insert_shift, femoral_shift) -> Study:
    """The same study described in shifted frames of both components.

    The femoral origin moves with its frame; its x is prescribed, and does not depend on varus.
    """
    implant = moved(study.implant, insert_shift)
    femoral = {s: f.transformed(UPRIGHT, femoral_shift) for s, f in implant.femoral.items()}
    implant = replace(implant, femoral=femoral)
    lever = body_three_123(study.activity.rotation) @ femoral_shift
    activity = replace(
        study.activity, translation=study.activity.translation + insert_shift - lever
    )
    rows, columns = study.grid.area.shape[1:]
    moved_study = replace(
        study, implant=implant, grid=build_grid(implant, rows, columns), activity=activity
    )
    line = study.settings.fixed_load_line_mm + float(insert_shift[2])
    return moved_study.with_settings(fixed_load_line_mm=line)


@cache
def short_study(load_line="solved"):
    return gait_study(30, 24, 5).with_settings(load_line=load_line)


@cache
def short_history(load_line="solved"):
    return short_study(load_line).arrays(CASE)


def check_same(history, shifted, insert_shift, femoral_shift):
    top = history.max_pressure.max()
    # Single precision, and pressures of up to 4 MPa for each micrometre of pose.
    assert np.max(np.abs(shifted.pressure - history.pressure)) < 1e-6 * top + 4e3 * SOLVED
    assert shifted.rotation == pytest.approx(history.rotation, abs=SOLVED)
    lever = body_three_123(history.rotation) @ femoral_shift
    assert np.max(np.abs(shifted.translation + lever - history.translation - insert_shift)) < (
        SOLVED * (1 + FAR / 23)
    )
    assert shifted.load_line == pytest.approx(history.load_line + insert_shift[2], abs=1e-5)
    # Torque about the insert's origin: the position moves by the shift, so r x F is added.
    force = history.force
    expected = history.torque + np.cross(insert_shift, force)
    scale = history.load.max()
    assert np.max(np.abs(shifted.force - force)) < 1e-6 * scale
    assert np.max(np.abs(shifted.torque - expected)) < 1e-6 * scale * (40 + FAR)
    # Reactions turn about the femoral origin, which now lies at -R s from the former one; the load
    # stays at its own z but hangs, by convention, in the plane x = const of the femoral origin.
    assert np.max(np.abs(shifted.reaction_force - history.reaction_force)) < 1e-6 * scale
    pull = history.load[..., None] * np.array([0.0, -1.0, 0.0])
    expected = history.reaction_moment + np.cross(lever, history.reaction_force + pull)
    expected[..., 0] = 0.0
    assert np.max(np.abs(shifted.reaction_moment - expected)) < 1e-6 * scale * (40 + FAR)


@pytest.mark.parametrize("load_line", ["solved", "fixed"])
@pytest.mark.parametrize("which", ["insert", "femoral", "both"])
def test_moving_a_frames_origin_changes_no_pressure(load_line, which):
    @few
    @given(shifts, femoral_shifts)
    def check(insert_shift, femoral_shift):
        insert_shift = insert_shift * (which != "femoral")
        femoral_shift = femoral_shift * (which != "insert")
        shifted = moved_frames(short_study(load_line), insert_shift, femoral_shift).arrays(CASE)
        check_same(short_history(load_line), shifted, insert_shift, femoral_shift)

    check()


@given(turns, shifts)
@few
def test_rigid_motion_of_both_bodies_turns_the_wrench_with_them(turn, shift):
    study = short_study()
    contact, layer = contact_of(study.implant, 30, 24)
    rotation, translation = pose(0)
    still = contact.evaluate(rotation, translation, layer)
    motion = Rotation.from_rotvec(turn).as_matrix()
    carried = contact.with_grid(
        carried_grid(build_grid(study.implant, 30, 24), motion, shift), 0
    ).evaluate(motion @ rotation, motion @ translation + shift, layer)
    assert carried.element.tolist() == still.element.tolist()
    # Rounding 300 mm away from the origin, 1e-13 mm, against 0.1 mm of penetration.
    assert carried.penetration == pytest.approx(still.penetration, abs=1e-10)
    scale = np.abs(still.wrench).max()
    expected = np.concatenate([motion @ still.wrench[:3], motion @ still.wrench[3:]])
    assert np.max(np.abs(carried.wrench - expected)) < 1e-8 * scale
    both = np.kron(np.eye(2), motion)
    expected = both @ still.stiffness @ both.T
    assert np.max(np.abs(carried.stiffness - expected)) < 1e-8 * np.abs(expected).max()


def carried_grid(grid, motion, shift):
    """A grid moved rigidly."""
    turned = {
        name: getattr(grid, name) @ motion.T
        for name in ("centre", "normal", "tangent_row", "tangent_column")
    }
    turned["centre"] = turned["centre"] + shift
    return replace(grid, **turned)


def pose(frame):
    history = short_history()
    return body_three_123(history.rotation[0, frame]), history.translation[0, frame]


@given(shifts)
@few
def test_torque_about_another_femoral_origin_differs_by_r_cross_f(shift):
    study = short_study()
    femoral = {s: f.transformed(UPRIGHT, shift) for s, f in study.implant.femoral.items()}
    other = contact_of(replace(study.implant, femoral=femoral), 30, 24)[0]
    contact, layer = contact_of(study.implant, 30, 24)
    for frame in range(3):
        rotation, translation = pose(frame)
        one = contact.evaluate(rotation, translation, layer)
        two = other.evaluate(rotation, translation - rotation @ shift, layer)
        scale = np.abs(one.wrench[:3]).max()
        assert two.wrench[:3] == pytest.approx(one.wrench[:3], abs=1e-8 * scale)
        expected = one.wrench[3:] + np.cross(rotation @ shift, one.wrench[:3])
        assert two.wrench[3:] == pytest.approx(expected, abs=1e-8 * scale * (40 + FAR))


def left_study(study: Study) -> Study:
    """The other knee: every x, theta_y and theta_z changes sign; z stays medial."""
    implant = replace(
        study.implant,
        femoral={s: f.mirrored() for s, f in study.implant.femoral.items()},
        insert={s: p.mirrored() for s, p in study.implant.insert.items()},
        left=True,
    )
    rows, columns = study.grid.area.shape[1:]
    activity = replace(
        study.activity,
        translation=study.activity.translation * [-1.0, 1.0, 1.0],
        rotation=study.activity.rotation * [1.0, -1.0, -1.0],
    )
    return replace(
        study, implant=implant, grid=build_grid(implant, rows, columns), activity=activity
    )


@pytest.mark.parametrize("direction", ["minimum_distance", "mid_surface"])
def test_left_knee_is_the_mirrored_right_knee(direction):
    # Moved off centre, so that nothing is symmetric by itself.
    off_centre = moved_frames(short_study(), np.array([3.0, 0.0, 0.4]), np.zeros(3))
    turned = Rotation.from_euler("y", 4.0, degrees=True).as_matrix()
    insert = {
        s: p.transformed(turned, [2.0, 0.0, 0.0]) for s, p in off_centre.implant.insert.items()
    }
    implant = replace(off_centre.implant, insert=insert)
    right = replace(off_centre, implant=implant, grid=build_grid(implant, 30, 24))
    right = right.with_settings(force_direction=direction)
    left = left_study(right)
    assert np.array_equal(left.grid.valid, right.grid.valid[:, ::-1])
    assert left.grid.area[left.grid.valid].sum() == pytest.approx(
        right.grid.area[right.grid.valid].sum(), rel=1e-10
    )
    one, other = right.arrays(CASE), left.arrays(CASE)
    top = one.max_pressure.max()
    mirrored = other.pressure[:, :, :, ::-1]
    assert np.max(np.abs(mirrored - one.pressure)) < 1e-6 * top + 4e3 * SOLVED
    assert other.translation == pytest.approx(one.translation * [-1, 1, 1], abs=SOLVED)
    assert other.rotation == pytest.approx(one.rotation * [1, -1, -1], abs=SOLVED)
    scale = one.load.max()
    assert np.max(np.abs(other.force - one.force * [-1, 1, 1])) < 1e-6 * scale
    assert np.max(np.abs(other.torque - one.torque * [1, -1, -1])) < 4e-5 * scale
    assert other.load_line == pytest.approx(one.load_line, abs=1e-5)
    # Rows run against the mirrored x, so the first slip component turns, the second does not.
    slip = other.slip[:, :, :, ::-1] * [-1.0, 1.0]
    both = (one.pressure > 0) & (mirrored > 0)
    assert np.max(np.abs(slip - one.slip)[both]) < 1e-5


def test_sides_keep_their_names_when_mirrored_twice():
    study = short_study()
    twice = left_study(left_study(study))
    for side in SIDES:
        for first, second in (
            (study.implant.femoral[side], twice.implant.femoral[side]),
            (study.implant.insert[side], twice.implant.insert[side]),
        ):
            assert np.array_equal(first.control_points, second.control_points)
            # Knots are reversed twice, rounding each time.
            assert second.knots_u == pytest.approx(first.knots_u, abs=1e-15)
