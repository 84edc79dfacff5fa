"""Measured motion and load become a periodic activity in the insert's frame."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kneewear.activity.cycles import close_cycle, frame_percent, resample_cycle
from kneewear.activity.fluoroscopy import motion_pose
from kneewear.activity.load import axial_load, scale_ground_reaction
from kneewear.activity.sources import build_activity
from kneewear.config import LoadColumns, LoadSettings, load_study, merge_settings, read_settings
from kneewear.errors import InputDataError
from kneewear.io.motion_csv import read_columns
from kneewear.mechanics.rotations import body_three_123, grood_suntay

ROOT = Path(__file__).parents[2]


def study(name: str):
    settings = merge_settings(
        read_settings(ROOT / "config/config.yaml"), read_settings(ROOT / f"config/{name}.yaml")
    )
    return load_study(settings)


def motion(n: int = 41, **changed) -> pd.DataFrame:
    percent = np.linspace(0, 100, n)
    turn = 2 * np.pi * percent / 100
    columns = {
        "percent": percent,
        "flexion": 25 - 20 * np.cos(turn),
        "varus": 1.0 * np.sin(turn),
        "tibial_external_rotation": 6.0 * np.cos(turn),
        "anterior": 4 * np.sin(turn),
        "superior": 40 + np.cos(turn),
        "lateral": 0.5 * np.cos(turn),
    }
    return pd.DataFrame({**columns, **changed})


def settings(kind: str = "axial_load", limits=None) -> LoadSettings:
    return LoadSettings(
        file="load.csv",
        columns=LoadColumns(percent="percent", load="load"),
        kind=kind,
        load_range_body_weights=limits,
    )


def load(values) -> pd.DataFrame:
    return pd.DataFrame({"percent": np.linspace(0, 100, len(values)), "load": values})


class TestCycles:
    def test_frames_leave_the_end_out(self):
        np.testing.assert_allclose(frame_percent(4), [0, 25, 50, 75])

    @given(gap=st.floats(-5, 5), closing=st.floats(0, 50))
    def test_closed_curve_ends_where_it_starts(self, gap, closing):
        percent = np.linspace(0, 100, 101)
        values = np.sin(percent / 7) + gap * percent / 100
        closed, found = close_cycle(percent, values, closing)
        assert closed[-1] == closed[0] == values[0]
        assert found == pytest.approx(values[-1] - values[0])
        before = percent <= 100 - closing - 1e-9
        np.testing.assert_array_equal(closed[before], values[before])

    def test_closing_changes_no_sample_by_more_than_the_gap(self):
        percent = np.linspace(0, 100, 101)
        values = np.column_stack([percent / 100, -percent / 50])
        closed, gap = close_cycle(percent, values, 10.0)
        assert (np.abs(closed - values) <= np.abs(gap) + 1e-15).all()

    def test_cycle_without_a_last_sample_counts_as_closed(self):
        percent = np.arange(0, 100, 2.0)
        values = np.sin(2 * np.pi * percent / 100)
        closed, gap = close_cycle(percent, values, 5.0)
        assert gap == 0
        np.testing.assert_array_equal(closed, values)

    @pytest.mark.parametrize("end", [True, False])
    def test_resampling_a_harmonic_converges_with_the_fourth_power(self, end):
        error = []
        for n in (20, 40):
            percent = np.linspace(0, 100, n + 1)[: None if end else -1]
            values = np.cos(2 * np.pi * percent / 100)
            found = resample_cycle(percent, values, 64)
            error.append(np.abs(found - np.cos(2 * np.pi * frame_percent(64) / 100)).max())
        assert error[1] < error[0] / 12

    def test_samples_are_kept_where_frames_meet_them(self):
        percent = np.linspace(0, 100, 51)
        values = np.sin(2 * np.pi * percent / 100) ** 3
        values[-1] = values[0]
        np.testing.assert_allclose(resample_cycle(percent, values, 50), values[:-1], atol=1e-12)


class TestMotion:
    def test_axes_are_posterior_superior_medial(self):
        translation, _, _ = motion_pose(motion(), "grood-suntay", 40, 5.0)
        turn = 2 * np.pi * np.arange(40) / 40
        expected = np.column_stack([-4 * np.sin(turn), 40 + np.cos(turn), -0.5 * np.cos(turn)])
        np.testing.assert_allclose(translation, expected, atol=1e-9)

    def test_clinical_angles_go_through_the_matrix(self):
        samples = motion()
        _, rotation, _ = motion_pose(samples, "grood-suntay", 40, 5.0)
        names = ["flexion", "varus", "tibial_external_rotation"]
        clinical = np.radians(samples[names].to_numpy()[:-1])
        np.testing.assert_allclose(body_three_123(rotation), grood_suntay(*clinical.T), atol=1e-12)

    def test_copying_clinical_angles_would_be_wrong_by_tenths_of_a_degree(self):
        _, right, _ = motion_pose(motion(), "grood-suntay", 40, 5.0)
        _, copied, _ = motion_pose(motion(), "body-123", 40, 5.0)
        assert 0.05 < np.degrees(np.abs(right - copied).max()) < 1.0

    def test_body_three_angles_are_taken_over(self):
        _, rotation, _ = motion_pose(motion(), "body-123", 40, 5.0)
        turn = 2 * np.pi * np.arange(40) / 40
        degrees = np.column_stack([np.sin(turn), 6 * np.cos(turn), -25 + 20 * np.cos(turn)])
        np.testing.assert_allclose(np.degrees(rotation), degrees, atol=1e-8)

    def test_unknown_convention_is_refused(self):
        with pytest.raises(ValueError, match="unknown convention 'euler'"):
            motion_pose(motion(), "euler", 40, 5.0)

    def test_gap_is_stated_for_each_coordinate(self):
        percent = np.linspace(0, 100, 41)
        samples = motion(anterior=percent / 250.0)
        _, _, notes = motion_pose(samples, "grood-suntay", 40, 5.0)
        assert "anterior +0.4 mm" in notes[0]
        assert "last 5 percent" in notes[0]

    def test_closed_motion_states_its_resampling_only(self):
        samples = motion()
        samples.iloc[-1, 1:] = samples.iloc[0, 1:]
        _, _, notes = motion_pose(samples, "grood-suntay", 25, 5.0)
        assert len(notes) == 1
        assert "41 samples" in notes[0]
        assert "25 frames" in notes[0]


class TestPlausibleMotion:
    chosen = study("example_meshes").activities["example_gait"]

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("varus", 90.0, r"'varus_deg', data row 2: found varus of 90; expected -45 to 45 deg"),
            ("tibial_external_rotation", -61.0, "expected -60 to 60 deg"),
            ("flexion", 300.0, "expected -45 to 180 deg"),
            ("superior", 1e4, "expected -200 to 200 mm"),
        ],
    )
    def test_motion_no_knee_makes_is_refused(self, name, value, message):
        samples = motion()
        samples.loc[1, name] = value
        with pytest.raises(InputDataError, match=message):
            build_activity("mine", self.chosen, 25, samples, load([1.0] * 5))


class TestLoad:
    def test_ground_reaction_recipe_keeps_shape_and_range(self):
        force = 400 * np.sin(np.linspace(0, np.pi, 30)) ** 2
        scaled = scale_ground_reaction(force, (0.25, 3.0))
        assert scaled.min() == 0.25
        assert scaled.max() == 3.0
        np.testing.assert_allclose(np.corrcoef(force, scaled)[0, 1], 1.0)

    def test_ground_reaction_of_any_unit_gives_the_same_load(self):
        force = 100 + 90 * np.cos(np.linspace(0, 2 * np.pi, 41))
        kind = settings("ground_reaction", (0.25, 3.0))
        newton, notes = axial_load(load(force), kind, 40, 5.0)
        kilonewton, _ = axial_load(load(force / 1000), kind, 40, 5.0)
        np.testing.assert_allclose(newton, kilonewton, rtol=1e-12)
        assert "0.25-3 body weights" in notes[0]

    def test_body_weights_are_taken_over(self):
        values = 1.5 + np.cos(np.linspace(0, 2 * np.pi, 41))
        found, _ = axial_load(load(values), settings(), 40, 5.0)
        np.testing.assert_allclose(found, values[:-1], atol=1e-12)

    def test_newtons_are_refused(self):
        with pytest.raises(InputDataError, match="looks like newtons"):
            axial_load(load(np.linspace(200, 2000, 20)), settings(), 10, 5.0)

    def test_tension_is_refused(self):
        with pytest.raises(InputDataError, match=r"data row 3.*positive \(compressive\)"):
            axial_load(load([1.0, 2.0, -0.1, 1.0, 1.0]), settings(), 10, 5.0)

    def test_constant_ground_reaction_is_refused(self):
        with pytest.raises(InputDataError, match="constant ground reaction"):
            axial_load(load([5.0] * 9), settings("ground_reaction", (0.25, 3.0)), 10, 5.0)
        with pytest.raises(ValueError, match="constant ground reaction"):
            scale_ground_reaction([1.0, 1.0], (0.25, 3.0))

    def test_undershoot_to_nothing_is_refused(self):
        spike = [0.001] * 9 + [3.0] + [0.001] * 10 + [0.001]
        with pytest.raises(InputDataError, match="resampled load down to"):
            axial_load(load(spike), settings(), 100, 5.0)


NAMES = {"percent": "pct", "flexion": "flexion_deg", "superior": "up_mm"}


class TestColumns:
    @staticmethod
    def write(folder, text, encoding="utf-8"):
        path = folder / "motion.csv"
        path.write_bytes(text.encode(encoding))
        return path

    @staticmethod
    def rows(**changed):
        lines = [f"{p},{20 + p / 4},41.0" for p in range(0, 101, 10)]
        for row, line in changed.items():
            lines[int(row[1:]) - 1] = line
        return "# a comment\npct,flexion_deg,up_mm\n" + "\n".join(lines) + "\n"

    def test_columns_are_renamed_in_order(self, tmp_path):
        table = read_columns(self.write(tmp_path, self.rows()), NAMES)
        assert list(table.columns) == ["percent", "flexion", "superior"]
        assert table["flexion"].iloc[-1] == 45.0

    def test_missing_file(self, tmp_path):
        with pytest.raises(InputDataError, match="found no such file"):
            read_columns(tmp_path / "none.csv", NAMES)

    def test_empty_file(self, tmp_path):
        with pytest.raises(InputDataError, match="found an empty file"):
            read_columns(self.write(tmp_path, ""), NAMES)

    def test_header_without_rows(self, tmp_path):
        with pytest.raises(InputDataError, match="found no rows"):
            read_columns(self.write(tmp_path, "pct,flexion_deg,up_mm\n"), NAMES)

    def test_missing_column_suggests_the_nearest(self, tmp_path):
        names = {**NAMES, "flexion": "flexion_degrees"}
        with pytest.raises(InputDataError, match="Did you mean 'flexion_deg'"):
            read_columns(self.write(tmp_path, self.rows()), names)

    @pytest.mark.parametrize(
        ("cell", "found"),
        [
            ("", "an empty cell"),
            (" ", "an empty cell"),
            ("NaN", "'NaN'"),
            ("n/a", "'n/a'"),
            ("4;5", "'4;5'"),
        ],
    )
    def test_bad_number_is_named_with_its_row(self, tmp_path, cell, found):
        path = self.write(tmp_path, self.rows(r4=f"30,{cell},41.0"))
        with pytest.raises(InputDataError, match=f"'flexion_deg', data row 4: found {found}"):
            read_columns(path, NAMES)

    def test_row_that_ends_early(self, tmp_path):
        path = self.write(tmp_path, self.rows(r4="30,27.5"))
        with pytest.raises(InputDataError, match="'up_mm', data row 4: found an empty cell"):
            read_columns(path, NAMES)

    def test_infinite_value(self, tmp_path):
        path = self.write(tmp_path, self.rows(r2="10,inf,41.0"))
        with pytest.raises(InputDataError, match="data row 2: found 'inf'"):
            read_columns(path, NAMES)

    def test_percent_that_falls(self, tmp_path):
        path = self.write(tmp_path, self.rows(r5="20,30.0,41.0"))
        with pytest.raises(InputDataError, match="data row 5: found 20 after 30"):
            read_columns(path, NAMES)

    def test_half_a_cycle(self, tmp_path):
        text = "\n".join(self.rows().splitlines()[:8])
        with pytest.raises(InputDataError, match="found percent from 0 to 50"):
            read_columns(self.write(tmp_path, text), NAMES)

    def test_too_few_rows(self, tmp_path):
        text = "pct,flexion_deg,up_mm\n0,5,41\n50,6,41\n100,5,41\n"
        with pytest.raises(InputDataError, match="found 3 rows"):
            read_columns(self.write(tmp_path, text), NAMES)

    def test_fractions_for_percent(self, tmp_path):
        lines = [f"{p / 10},{20 + p},41.0" for p in range(11)]
        path = self.write(tmp_path, "pct,flexion_deg,up_mm\n" + "\n".join(lines))
        with pytest.raises(InputDataError, match="look like fractions"):
            read_columns(path, NAMES)

    def test_radians_for_degrees(self, tmp_path):
        lines = [f"{10 * p},{p / 10},41.0" for p in range(11)]
        path = self.write(tmp_path, "pct,flexion_deg,up_mm\n" + "\n".join(lines))
        with pytest.raises(InputDataError, match="look like radians"):
            read_columns(path, NAMES)

    def test_metres_for_millimetres(self, tmp_path):
        lines = [f"{10 * p},{2 * p},0.041" for p in range(11)]
        path = self.write(tmp_path, "pct,flexion_deg,up_mm\n" + "\n".join(lines))
        with pytest.raises(InputDataError, match="look like metres"):
            read_columns(path, NAMES)

    def test_other_encodings(self, tmp_path):
        text = "# Beugung in Grad, männlich\n" + self.rows()
        with pytest.raises(InputDataError, match="not UTF-8"):
            read_columns(self.write(tmp_path, text, "latin-1"), NAMES)

    def test_byte_order_mark_of_spreadsheets(self, tmp_path):
        text = self.rows().removeprefix("# a comment\n")
        table = read_columns(self.write(tmp_path, text, "utf-8-sig"), NAMES)
        assert len(table) == 11

    def test_ragged_rows(self, tmp_path):
        path = self.write(tmp_path, self.rows(r3="20,25.0,41.0,9,9,9"))
        with pytest.raises(InputDataError, match="unequal length"):
            read_columns(path, NAMES)


def csv_activity(name: str, activity: str, folder: Path):
    chosen = study(name).activities[activity]
    tables = [
        read_columns(folder / part.file, part.columns.model_dump())
        for part in (chosen.motion, chosen.load)
    ]
    return chosen, tables


def test_example_activity_is_read():
    chosen, tables = csv_activity("example_meshes", "example_gait", ROOT)
    activity = build_activity("example_gait", chosen, 25, *tables)
    assert activity.translation.shape == activity.rotation.shape == (25, 3)
    assert activity.load.max() == pytest.approx(3.0, abs=0.05)
    assert activity.load.min() > 0.2
    assert any("flexion +0.4 deg" in note for note in activity.notes)


def test_csv_activity_needs_its_tables():
    chosen = study("example_meshes").activities["example_gait"]
    with pytest.raises(ValueError, match="motion and load are needed"):
        build_activity("example_gait", chosen, 25)


def test_fluoroscopic_gait_of_the_real_implant():
    folder = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data")
    if not (folder / "gc_dm/fluoro_gait_dm.csv").is_file():
        pytest.skip(f"no fluoroscopy data in {folder} (set KNEEWEAR_DATA)")
    chosen, tables = csv_activity("dm_fluoroscopy", "fluoroscopic_gait", folder)
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
    assert any("anterior +0.4 mm" in note for note in activity.notes)
