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
from tests.refusals import refused_at


@pytest.mark.parametrize(
    ("name", "value", "place"),
    [
        ("varus", 90.0, "gait.csv, column 'var', data row 2"),
        ("rotation", -61.0, "gait.csv, column 'rot', data row 2"),
        ("flexion", 300.0, "gait.csv, column 'flex', data row 2"),
        ("superior_inferior", 1e4, "gait.csv, column 'si', data row 2"),
    ],
)
def test_motion_out_of_all_proportion_is_refused(name, value, place):
    samples = motion()
    samples.loc[1, name] = value
    assert refused_at(build_activity, "mine", file_activity(), 25, samples, load()) == place


class TestFlexion:
    def test_a_reversed_sign_is_refused_with_the_remedy(self):
        with pytest.raises(InputDataError) as caught:
            check_motion(motion(flexion=-motion()["flexion"]), motion_settings())
        text = str(caught.value)
        assert "flexion: -1" in text

    def test_a_convention_of_other_angles_is_not_traded_for_signs(self):
        samples = motion(flexion=-motion()["flexion"])
        assert (
            refused_at(check_motion, samples, motion_settings("opensim"))
            == "gait.csv, column 'flex', data row 21"
        )

    def test_hyperextension_of_a_gait_is_no_reversal(self):
        assert check_motion(motion(flexion=motion()["flexion"] - 12.0), motion_settings()) == ()


class TestPeriodicity:
    def test_half_a_cycle_is_refused(self):
        percent = np.linspace(0, 100, 41)
        samples = motion(flexion=5 + 0.5 * percent)
        assert refused_at(check_motion, samples, motion_settings()) == "gait.csv, column 'flex'"

    def test_a_small_gap_is_closed_instead(self):
        samples = motion()
        samples["flexion"] += 0.04 * samples["percent"]
        assert check_motion(samples, motion_settings()) == ()

    def test_a_jump_over_the_missing_end_is_refused(self):
        samples = motion(101).iloc[:99].reset_index(drop=True)
        assert check_motion(samples, motion_settings()) == ()
        samples["anterior_posterior"] += np.linspace(0, 6, 99)
        assert refused_at(check_motion, samples, motion_settings()) == "gait.csv, column 'ap'"


class TestOutliers:
    def test_a_single_wild_sample_is_reported_with_its_row(self):
        samples = motion()
        samples.loc[17, "anterior_posterior"] += 6.0
        (warning,) = check_motion(samples, motion_settings())
        assert warning.check == "motion.spike"
        assert warning.where == "gait.csv, column 'ap', data row 18"

    def test_quick_but_smooth_motion_is_not(self):
        turn = 2 * np.pi * np.linspace(0, 1, 41)
        assert check_motion(motion(flexion=40 - 40 * np.cos(3 * turn)), motion_settings()) == ()


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
        assert {displacement.check, rotation.check} == {"motion.polarity"}
        assert f"iso14243-3:{edition}" in displacement.expected
        assert "column 'ap', data row 21" in displacement.where
        assert "column 'rot'" in rotation.where


class TestSide:
    @pytest.mark.parametrize(
        "column", ["knee_rot_l", "/jointset/knee_l/knee_rot_l/value", "Left rotation"]
    )
    def test_columns_of_the_other_knee_are_refused(self, column):
        settings = motion_settings()
        columns = settings.columns.model_copy(update={"rotation": column})
        chosen = file_activity(settings.model_copy(update={"columns": columns}))
        assert refused_at(build_activity, "mine", chosen, 25, motion(), load()) == "gait.csv"
        build_activity("mine", chosen, 25, motion(), load(), knee="left")

    def test_left_knees_of_opensim_are_refused(self):
        chosen = file_activity(motion_settings("opensim"))
        assert (
            refused_at(build_activity, "mine", chosen, 25, motion(), load(), knee="left")
            == "gait.csv"
        )


def test_another_duration_is_reported():
    columns = motion_settings().columns.model_dump() | {"percent": None, "time_s": "time"}
    settings = motion_settings(columns=columns)
    samples = motion().rename(columns={"percent": "time_s"})
    samples["time_s"] *= 0.0154
    activity = build_activity("mine", file_activity(settings), 25, samples, load())
    warning = activity.warnings[0]
    assert (warning.check, warning.where) == ("motion.duration", "gait.csv")
    assert "1.283" in warning.found
    assert "1.54 s and 1.2 s" in warning.remedy
    same = build_activity("mine", file_activity(settings, duration_s=1.54), 25, samples, load())
    assert not any(warning.check == "motion.duration" for warning in same.warnings)


class TestForcesAndBodyMass:
    def test_force_in_other_units_is_refused(self):
        newtons = load_settings("axial_force_n", body_mass_kg=75.0)
        chosen = file_activity(load=newtons.model_dump())
        assert (
            refused_at(
                build_activity, "mine", chosen, 25, motion(), load((0.2, 2.6, 1.0, 2.6, 0.2))
            )
            == "load.csv, column 'newton'"
        )
