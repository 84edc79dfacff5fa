"""Motion files become periodic poses in the insert's frame."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kneewear.activity.motion import cut_cycle, motion_pose
from kneewear.activity.sources import build_activity
from kneewear.io.curves import read_curves
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from tests.activity.motions import ROOT, file_activity, load, motion, motion_settings, study
from tests.refusals import refused_at


class TestNotes:
    def test_gap_is_stated_for_each_coordinate(self):
        percent = np.linspace(0, 100, 41)
        _, notes = motion_pose(motion(anterior_posterior=percent / 250), motion_settings(), 40, 5.0)
        assert "+0.4 mm" in notes[0]
        assert "last 5 percent" in notes[0]

    def test_closed_motion_states_its_resampling_only(self):
        samples = motion()
        samples.iloc[-1, 1:] = samples.iloc[0, 1:]
        _, (note,) = motion_pose(samples, motion_settings(), 25, 5.0)
        assert "41 samples" in note
        assert "25 frames" in note

    def test_smoothing_is_stated_with_what_it_changes(self):
        turn = 2 * np.pi * np.linspace(0, 1, 41)
        noisy = motion(anterior_posterior=4 * np.sin(turn) + 0.2 * np.sin(9 * turn))
        settings = motion_settings(smoothing_harmonics=5)
        pose, notes = motion_pose(noisy, settings, 40, 5.0)
        # Clinical angles keep harmonics above the fifth out to a hundredth of a degree.
        np.testing.assert_allclose(pose[:, 0], -4 * np.sin(turn[:-1]), atol=3e-3)
        assert "0.2 mm" in notes[-1]


class TestScale:
    """Deviations from the mean of each coordinate are multiplied, the mean stays."""

    def build(self, **scale):
        settings = motion_settings() if not scale else motion_settings(scale=scale)
        return build_activity("one", file_activity(settings), 40, motion(), load())

    def test_ones_change_no_bit(self):
        plain, ones = self.build(), self.build(flexion=1.0, anterior_posterior=1)
        np.testing.assert_array_equal(ones.coordinates, plain.coordinates)
        assert ones.notes == plain.notes

    def test_one_coordinate_is_scaled_and_the_others_stay(self):
        plain = self.build().prescribable
        for place, name in ((0, "anterior_posterior"), (4, "rotation"), (5, "flexion")):
            found = self.build(**{name: 1.5})
            expected = plain.copy()
            mean = expected[:, place].mean()
            expected[:, place] = mean + 1.5 * (expected[:, place] - mean)
            np.testing.assert_allclose(found.prescribable, expected, atol=1e-12)


class TestMeasured:
    def build(self, **changed):
        noisy = motion(varus=np.sin(np.arange(41.0)))
        chosen = file_activity(motion_settings(**changed))
        return noisy, build_activity("mine", chosen, 25, noisy, load())

    def test_samples_are_kept_as_they_were_measured(self):
        noisy, activity = self.build(smoothing_harmonics=3)
        np.testing.assert_array_equal(activity.measured_percent, noisy["percent"])
        np.testing.assert_allclose(activity.measured_pose[:, 0], -noisy["anterior_posterior"])
        flexion, varus, _ = np.degrees(
            clinical_angles(body_three_123(activity.measured_pose[:, 3:]))
        ).T
        np.testing.assert_allclose(varus, noisy["varus"], atol=1e-9)
        np.testing.assert_allclose(flexion, noisy["flexion"], atol=1e-9)

    def test_the_deviation_is_stated(self):
        given = {"flexion_deg": 1.0, "anterior_posterior_mm": 0.5, "harmonics": 3}
        notes = self.build(standard_deviation=given)[1].notes
        assert (
            "standard deviation of the measured pose: varus 0 deg, rotation 0 deg, flexion 1 deg, "
            "anterior posterior 0.5 mm, superior inferior 0 mm, medial lateral 0 mm; varying by "
            "its first 3 harmonics (for intervals)"
        ) in notes
        assert self.build()[1].notes


class TestWindow:
    curves = pd.DataFrame({"time_s": np.arange(0.0, 3.01, 0.1), "flexion": np.arange(31.0)})

    def test_the_whole_file_is_one_cycle_without_a_window(self):
        found, duration = cut_cycle(self.curves, None, "gait.sto")
        assert duration == pytest.approx(3.0)
        np.testing.assert_allclose(found["percent"], np.linspace(0, 100, 31))
        assert list(found.columns) == ["percent", "flexion"]

    def test_a_window_is_cut_out(self):
        found, duration = cut_cycle(self.curves, (0.5, 1.5), "gait.sto")
        assert duration == pytest.approx(1.0)
        np.testing.assert_allclose(found["flexion"], np.arange(5.0, 16.0))
        np.testing.assert_allclose(found["percent"], np.linspace(0, 100, 11))

    @pytest.mark.parametrize("window", [(2.5, 4.0), (-1.0, 1.0), (1.0, 1.15)])
    def test_a_window_beyond_the_file_is_refused(self, window):
        assert refused_at(cut_cycle, self.curves, window, "gait.sto") == "gait.sto"


def file_activity_of(name: str, activity: str, folder: Path):
    chosen = study(name).activities[activity]
    tables = [
        read_curves(folder / part.file, part.columns.given())
        for part in (chosen.motion, chosen.load)
    ]
    return chosen, tables


def test_fluoroscopic_gait_of_the_real_implant():
    folder = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data")
    if not (folder / "gc_dm/fluoro_gait_dm.csv").is_file():
        pytest.skip(f"no fluoroscopy data in {folder} (set KNEEWEAR_DATA)")
    chosen, tables = file_activity_of("dm_fluoroscopy", "fluoroscopic_gait", folder)
    activity = build_activity("fluoroscopic_gait", chosen, 100, *tables)
    # Ranges stated with the data: flexion 5-53 deg, rotation -9.7..7.4 deg, AP 8.3..-1.0 mm.
    flexion = -np.degrees(activity.rotation[:, 2])
    assert flexion.min() == pytest.approx(5.3, abs=0.2)
    assert flexion.max() == pytest.approx(53.1, abs=0.2)
    assert np.degrees(activity.rotation[:, 1]).min() == pytest.approx(-9.7, abs=0.2)
    assert np.degrees(activity.rotation[:, 1]).max() == pytest.approx(7.4, abs=0.2)
    assert activity.translation[:, 0].min() == pytest.approx(-8.3, abs=0.05)
    assert activity.translation[:, 0].max() == pytest.approx(1.0, abs=0.05)
    assert activity.load.min() == pytest.approx(0.25, abs=1e-3)
    assert activity.load.max() == pytest.approx(3.0, abs=1e-3)
    # Frames at whole percents keep the samples, away from the closing part.
    raw = tables[0]["flexion"].to_numpy()
    closed_from = 95
    copied = -np.degrees(activity.rotation[:closed_from, 2]) - raw[:closed_from]
    assert np.abs(copied).max() < 0.5
    assert any("+0.4 mm" in note for note in activity.notes)
    assert activity.warnings == ()
