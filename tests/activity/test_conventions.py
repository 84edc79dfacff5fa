"""Each convention against poses made by hand, one displacement or turn at a time.

Axes inside: x posterior, y superior, z medial, right knee. A point fixed in the femur shows which
way it went.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kneewear.activity.conventions import femoral_pose
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from tests.activity.motions import iso_settings, motion_settings

POSTERIOR, SUPERIOR, MEDIAL = np.eye(3)
ALL = ("flexion", "varus", "rotation", "anterior_posterior", "superior_inferior", "medial_lateral")


def pose(settings, **values):
    """Translation and rotation matrix of one pose; what is not given is zero."""
    given_columns = settings.columns.given()
    motion = pd.DataFrame({name: [values.get(name, 0.0)] for name in ALL if name in given_columns})
    translation, angles = femoral_pose(motion, settings)
    return translation[0], body_three_123(angles[0])


@pytest.mark.parametrize(
    "settings",
    [
        motion_settings("grood-suntay"),
        motion_settings("body-123"),
        motion_settings("opensim"),
        iso_settings("2004"),
        iso_settings("2014"),
    ],
    ids=lambda settings: settings.convention,
)
def test_a_flexed_knee_has_its_thigh_behind(settings):
    """On a standing tibia the hip goes back when the knee flexes, as in sitting down."""
    _, turn = pose(settings, flexion=90.0)
    np.testing.assert_allclose(turn @ SUPERIOR, POSTERIOR, atol=1e-12)


@pytest.mark.parametrize("convention", ["grood-suntay", "body-123", "opensim"])
def test_in_varus_the_thigh_leans_to_the_medial_side(convention):
    """The lateral side opens: over an upright tibia the femur's shaft tips medially."""
    _, turn = pose(motion_settings(convention), varus=10.0)
    assert (turn @ SUPERIOR) @ MEDIAL == pytest.approx(np.sin(np.radians(10)))


@pytest.mark.parametrize("convention", ["grood-suntay", "body-123"])
def test_external_rotation_of_the_tibia_takes_the_femurs_medial_side_back(convention):
    _, turn = pose(motion_settings(convention), rotation=10.0)
    assert (turn @ MEDIAL) @ POSTERIOR == pytest.approx(np.sin(np.radians(10)))


@pytest.mark.parametrize(
    "settings", [motion_settings("opensim"), iso_settings("2004"), iso_settings("2014")]
)
def test_internal_rotation_of_the_tibia_takes_the_femurs_medial_side_forward(settings):
    _, turn = pose(settings, rotation=10.0)
    assert (turn @ MEDIAL) @ POSTERIOR == pytest.approx(-np.sin(np.radians(10)))


@pytest.mark.parametrize("convention", ["grood-suntay", "body-123"])
def test_femur_forward_up_and_lateral(convention):
    location, _ = pose(
        motion_settings(convention), anterior_posterior=3.0, superior_inferior=40, medial_lateral=2
    )
    np.testing.assert_allclose(location, -3 * POSTERIOR + 40 * SUPERIOR - 2 * MEDIAL)


class TestIso:
    @pytest.mark.parametrize("edition", ["2004", "2014"])
    def test_tibia_forward_leaves_the_femur_behind(self, edition):
        location, _ = pose(iso_settings(edition), anterior_posterior=5.0)
        np.testing.assert_allclose(location, 5 * POSTERIOR)

    def test_displacement_counts_from_the_pose_at_rest(self):
        location, _ = pose(iso_settings(reference_posterior_mm=-6.5), anterior_posterior=5.0)
        np.testing.assert_allclose(location, -1.5 * POSTERIOR)

    def test_a_turned_tibia_is_displaced_across_the_standing_flexion_axis(self):
        """Machine axes are fixed: seen from the turned tibia the way is oblique."""
        location, turn = pose(iso_settings(), anterior_posterior=5.0, rotation=30.0)
        np.testing.assert_allclose(turn.T @ location, 5 * POSTERIOR, atol=1e-12)
        assert location @ POSTERIOR == pytest.approx(5 * np.cos(np.radians(30)))


class TestOpensim:
    """The joint gives the tibia in the femur; the pose wanted is the reverse."""

    settings = motion_settings("opensim")

    def test_tibia_forward_leaves_the_femur_behind(self):
        location, _ = pose(self.settings, anterior_posterior=5.0)
        np.testing.assert_allclose(location, 5 * POSTERIOR, atol=1e-12)

    def test_position_is_measured_along_the_flexed_femur(self):
        """At 90 deg the femur's way down points forward: a tibia 40 mm down the flexed femur's
        axis stands in front of it, and the femur behind the tibia."""
        location, _ = pose(self.settings, flexion=90.0, superior_inferior=-40.0)
        np.testing.assert_allclose(location, 40 * POSTERIOR, atol=1e-12)

    @given(st.tuples(*[st.floats(-0.7, 0.7)] * 3), st.tuples(*[st.floats(-40, 40)] * 3))
    def test_a_point_has_one_place_whichever_way_it_is_taken(self, angles, position):
        """x_femur = R x_tibia + t of the joint, against x_tibia = our pose of x_femur."""
        flexion, adduction, rotation = angles
        c, s = np.cos, np.sin
        about_z = np.array(
            [[c(-flexion), -s(-flexion), 0], [s(-flexion), c(-flexion), 0], [0, 0, 1]]
        )
        about_x = np.array(
            [[1, 0, 0], [0, c(adduction), -s(adduction)], [0, s(adduction), c(adduction)]]
        )
        about_y = np.array(
            [[c(rotation), 0, s(rotation)], [0, 1, 0], [-s(rotation), 0, c(rotation)]]
        )
        joint = about_z @ about_x @ about_y
        in_tibia = np.array([7.0, -3.0, 11.0])
        in_femur = joint @ in_tibia + position
        values = dict(zip(ALL, [*np.degrees(angles), *position], strict=True))
        location, turn = pose(self.settings, **values)
        ours = np.diag([-1.0, 1.0, -1.0])
        np.testing.assert_allclose(turn @ ours @ in_femur + location, ours @ in_tibia, atol=1e-10)

    def test_angles_are_the_clinical_ones_with_rotation_reversed(self):
        _, turn = pose(self.settings, flexion=50.0, varus=3.0, rotation=8.0)
        np.testing.assert_allclose(np.degrees(clinical_angles(turn)), [50.0, 3.0, -8.0], atol=1e-10)

    def test_components_sit_in_their_bones(self):
        """A femoral component 400 mm down the femur on an insert 30 mm down the tibia."""
        flip = [[-1, 0, 0], [0, 1, 0], [0, 0, -1]]
        placed = motion_settings(
            "opensim",
            placement={
                "femoral_mm": [[*flip[0], 0], [*flip[1], -400], [*flip[2], 4]],
                "insert_mm": [[*flip[0], 10], [*flip[1], -30], [*flip[2], 0]],
            },
        )
        # Tibial origin 410 mm down: the femoral origin is 10 mm over the tibial one at the knee.
        location, turn = pose(placed, superior_inferior=-410.0)
        np.testing.assert_allclose(turn, np.eye(3), atol=1e-12)
        # 40 mm over the insert, 10 mm behind it (its origin lies 10 mm forward), 4 mm lateral.
        np.testing.assert_allclose(location, 10 * POSTERIOR + 40 * SUPERIOR - 4 * MEDIAL, atol=1e-9)


class TestSigns:
    WAYS = (
        "flexion",
        "varus",
        "tibial_external_rotation",
        "femur_anterior",
        "femur_superior",
        "femur_lateral",
    )

    def settings(self, *signs):
        return motion_settings("signs", signs=dict(zip(self.WAYS, signs, strict=True)))

    @given(st.tuples(*[st.sampled_from([1, -1])] * 6))
    def test_each_sign_turns_its_own_column_round(self, signs):
        values = dict(zip(ALL, (50.0, 3.0, 8.0, 4.0, 40.0, 1.0), strict=True))
        turned = {name: sign * values[name] for name, sign in zip(ALL, signs, strict=True)}
        found = pose(self.settings(*signs), **turned)
        wanted = pose(motion_settings("grood-suntay"), **values)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-14)


def test_angles_have_no_jumps_over_half_a_turn():
    motion = pd.DataFrame({"flexion": np.linspace(100.0, 260.0, 50)})
    settings = motion_settings("grood-suntay", ALL[1:3] + ALL[4:])
    _, angles = femoral_pose(motion, settings)
    assert np.abs(np.diff(angles, axis=0)).max() < 0.1
