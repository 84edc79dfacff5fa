"""Motions no knee makes are refused, and doubtful ones reported, before any long work."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.activity.checks import check_motion
from kneewear.activity.sources import build_activity
from kneewear.errors import InputDataError
from tests.activity.motions import (
    file_activity,
    iso_settings,
    load,
    load_settings,
    motion,
    motion_settings,
)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("varus", 90.0, r"gait.csv, column 'var', data row 2: found varus of 90 deg; expected -25"),
        ("rotation", -61.0, "expected -40 to 40 deg"),
        ("flexion", 300.0, "expected -45 to 180 deg"),
        ("superior_inferior", 1e4, "expected -15 to 120 mm"),
    ],
)
def test_motion_out_of_all_proportion_is_refused(name, value, message):
    samples = motion()
    samples.loc[1, name] = value
    with pytest.raises(InputDataError, match=message):
        build_activity("mine", file_activity(), 25, samples, load())


class TestFlexion:
    def test_a_reversed_sign_is_refused_with_the_remedy(self):
        with pytest.raises(InputDataError) as caught:
            check_motion(motion(flexion=-motion()["flexion"]), motion_settings())
        text = str(caught.value)
        assert "column 'flex', data row 21: found flexion of -45, hyperextended by 45 deg" in text
        assert "convention: signs with flexion: -1" in text

    def test_a_convention_of_other_angles_is_not_traded_for_signs(self):
        samples = motion(flexion=-motion()["flexion"])
        with pytest.raises(InputDataError, match="reverse its sign there"):
            check_motion(samples, motion_settings("opensim"))

    def test_the_remedy_works(self):
        ways = dict.fromkeys(
            ("varus", "tibial_external_rotation", "femur_anterior", "femur_superior",
             "femur_lateral"), 1,
        )  # fmt: skip
        settings = motion_settings("signs", signs={"flexion": -1, **ways})
        assert check_motion(motion(flexion=-motion()["flexion"]), settings) == ()
        with pytest.raises(InputDataError, match="signs with flexion: 1"):
            check_motion(motion(), settings)

    def test_hyperextension_of_a_gait_is_no_reversal(self):
        assert check_motion(motion(flexion=motion()["flexion"] - 12.0), motion_settings()) == ()


class TestPeriodicity:
    def test_half_a_cycle_is_refused(self):
        percent = np.linspace(0, 100, 41)
        samples = motion(flexion=5 + 0.5 * percent)
        with pytest.raises(InputDataError, match=r"column 'flex': found flexion of 5 in the first"):
            check_motion(samples, motion_settings())

    def test_a_small_gap_is_closed_instead(self):
        samples = motion()
        samples["flexion"] += 0.04 * samples["percent"]
        assert check_motion(samples, motion_settings()) == ()

    def test_a_jump_over_the_missing_end_is_refused(self):
        samples = motion(101).iloc[:99].reset_index(drop=True)
        assert check_motion(samples, motion_settings()) == ()
        samples["anterior_posterior"] += np.linspace(0, 6, 99)
        with pytest.raises(InputDataError, match="a cycle that ends where it starts"):
            check_motion(samples, motion_settings())


class TestOutliers:
    def test_a_single_wild_sample_is_reported_with_its_row(self):
        samples = motion()
        samples.loc[17, "anterior_posterior"] += 6.0
        (warning,) = check_motion(samples, motion_settings())
        assert "gait.csv, column 'ap', data row 18: found" in warning
        assert "6" in warning
        assert "off the line through its neighbours" in warning

    def test_smooth_motion_is_not(self):
        assert check_motion(motion(), motion_settings()) == ()

    def test_quick_but_smooth_motion_is_not(self):
        turn = 2 * np.pi * np.linspace(0, 1, 41)
        assert check_motion(motion(flexion=40 - 40 * np.cos(3 * turn)), motion_settings()) == ()

    def test_reach_the_activity(self):
        samples = motion()
        samples.loc[17, "rotation"] += 9.0
        activity = build_activity("mine", file_activity(), 25, samples, load())
        assert "column 'rot', data row 18" in activity.warnings[0]
        assert activity.remarks[0] == f"Check this: {activity.warnings[0]}"


class TestEdition:
    """Curves of the 2004 edition go tibia back and inwards, those of 2014 the other way."""

    @staticmethod
    def curves(displacement, rotation):
        turn = 2 * np.pi * np.linspace(0, 1, 41)
        samples = motion(
            anterior_posterior=displacement * 2.5 * (1 - np.cos(turn)),
            rotation=rotation * 2.5 * (1 - np.cos(turn)),
        )
        return samples.drop(columns=["varus", "superior_inferior", "medial_lateral"])

    @pytest.mark.parametrize(("edition", "ways"), [("2004", (-1, 1)), ("2014", (1, -1))])
    def test_curves_of_the_named_edition_pass(self, edition, ways):
        assert check_motion(self.curves(*ways), iso_settings(edition)) == ()

    @pytest.mark.parametrize(("edition", "ways"), [("2004", (1, -1)), ("2014", (-1, 1))])
    def test_curves_of_the_other_edition_are_reported(self, edition, ways):
        displacement, rotation = check_motion(self.curves(*ways), iso_settings(edition))
        assert f"as in the curves of iso14243-3:{edition}" in displacement
        assert "column 'ap', data row 21: found anterior posterior mainly" in displacement
        assert "column 'rot'" in rotation

    def test_six_signs_assume_nothing(self):
        ways = ("flexion", "varus", "tibial_external_rotation", "femur_anterior",
                "femur_superior", "femur_lateral")  # fmt: skip
        settings = motion_settings("signs", signs=dict.fromkeys(ways, 1))
        assert check_motion(self.curves(1, 1), settings) == ()


class TestSide:
    @pytest.mark.parametrize(
        "column", ["knee_rot_l", "/jointset/knee_l/knee_rot_l/value", "Left rotation"]
    )
    def test_columns_of_the_other_knee_are_refused(self, column):
        settings = motion_settings()
        columns = settings.columns.model_copy(update={"rotation": column})
        chosen = file_activity(settings.model_copy(update={"columns": columns}))
        with pytest.raises(InputDataError, match="looks like that of a left knee"):
            build_activity("mine", chosen, 25, motion(), load())
        build_activity("mine", chosen, 25, motion(), load(), knee="left")

    @pytest.mark.parametrize("column", ["knee_rot", "medial_l1", "fleft", "rot_lr"])
    def test_other_names_are_not(self, column):
        settings = motion_settings()
        columns = settings.columns.model_copy(update={"rotation": column})
        chosen = file_activity(settings.model_copy(update={"columns": columns}))
        build_activity("mine", chosen, 25, motion(), load())

    def test_left_knees_of_opensim_are_refused(self):
        chosen = file_activity(motion_settings("opensim"))
        with pytest.raises(InputDataError, match="opensim for a left knee"):
            build_activity("mine", chosen, 25, motion(), load(), knee="left")


def test_another_duration_is_reported():
    columns = motion_settings().columns.model_dump() | {"percent": None, "time_s": "time"}
    settings = motion_settings(columns=columns)
    samples = motion().rename(columns={"percent": "time_s"})
    samples["time_s"] *= 0.0154
    activity = build_activity("mine", file_activity(settings), 25, samples, load())
    assert activity.warnings[0] == (
        "gait.csv: found duration of the file over that of the settings of 1.283; expected 0.98 to "
        "1.02 usually. The file has 1.54 s and 1.2 s are expected: correct duration_s or window_s; "
        "it is scaled to another speed. (check motion.duration)"
    )
    same = build_activity("mine", file_activity(settings, duration_s=1.54), 25, samples, load())
    assert not any("motion.duration" in warning for warning in same.warnings)


class TestForcesAndBodyMass:
    def test_force_in_other_units_is_refused(self):
        newtons = load_settings("axial_force_n", body_mass_kg=75.0)
        chosen = file_activity(load=newtons.model_dump())
        with pytest.raises(InputDataError, match="looks like body weights or kN"):
            build_activity("mine", chosen, 25, motion(), load((0.2, 2.6, 1.0, 2.6, 0.2)))
