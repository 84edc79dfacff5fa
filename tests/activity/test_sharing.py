"""Measured loads of both sides: clipped, shared by frame, and what the equilibria make of them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kneewear.activity.load import MIN_SHARE, clip_noise, judge_sharing, load_sharing
from kneewear.activity.sources import build_activity
from kneewear.base.checks import checks
from kneewear.study.files import load_activity
from tests.activity.motions import ROOT, file_activity, load_settings, motion, study
from tests.refusals import refused_at

DATA = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data").resolve()
PERCENT = np.linspace(0, 100, 41)
WAVE = np.cos(2 * np.pi * PERCENT / 100)
SIDES = {"percent": "p", "medial": "m", "lateral": "l"}


def settings(columns=SIDES, kind="axial_force_n", **changed):
    mass = {"body_mass_kg": 75.0} if kind == "axial_force_n" else {}
    return load_settings(kind, columns=columns, **mass, **changed)


def activity(load: pd.DataFrame, **changed):
    block = settings(**changed).model_dump()
    return build_activity("mine", file_activity(load=block), 40, motion(), load)


def forces(medial=600 + 500 * WAVE, lateral=500 + 300 * WAVE):
    return pd.DataFrame({"percent": PERCENT, "medial": medial, "lateral": lateral})


class TestSharing:
    def test_share_is_that_of_both_forces_at_every_frame(self):
        found = activity(forces())
        medial, lateral = 600 + 500 * WAVE[:-1], 500 + 300 * WAVE[:-1]
        np.testing.assert_allclose(found.load, (medial + lateral) / 735.75, rtol=1e-9)
        np.testing.assert_allclose(found.medial_share, medial / (medial + lateral), rtol=1e-9)
        assert any("54.5 %" in note for note in found.notes)

    def test_moment_is_a_load_line(self):
        table = pd.DataFrame({"percent": PERCENT, "load": 1000.0 + 500 * WAVE})
        table["varus_moment_n_m"] = 0.008 * table["load"]
        columns = {"percent": "p", "load": "f", "varus_moment_n_m": "m"}
        found = activity(table, columns=columns)
        assert found.medial_share is None
        np.testing.assert_allclose(found.varus_moment / found.load, 8.0, rtol=1e-9)


class TestTotalNamedAsASide:
    @pytest.mark.parametrize("share", [0.5, 0.57, 0.6, 0.63])
    def test_a_leg_that_is_loaded_medially_throughout_has_no_finding(self, share):
        total = 1000.0 + 800 * WAVE
        sides = forces(medial=share * total, lateral=(1 - share) * total).assign(load=total)
        assert judge_sharing(sides, settings()) == ()

    @pytest.mark.parametrize("share", [0.46, 0.5, 0.6])
    def test_a_total_beside_its_lateral_side_has_one(self, share):
        total = 1000.0 + 800 * WAVE
        sides = forces(medial=total, lateral=(1 - share) * total)
        judged = judge_sharing(sides.assign(load=sides["medial"] + sides["lateral"]), settings())
        assert "load.medial_excess" in [finding.check for finding in judged]


class TestNoise:
    def test_negative_noise_is_set_to_zero_and_counted(self):
        lateral = 500 + 300 * WAVE
        lateral[18:22] = -12.0
        table, notes = clip_noise(forces(lateral=lateral), settings())
        assert (table["lateral"] >= 0.0).all()
        (note,) = notes
        assert note.startswith("4 of 41 ")
        found = activity(forces(lateral=lateral))
        assert found.medial_share.max() == 1.0 - MIN_SHARE
        assert any("2 %" in note for note in found.notes)

    def test_a_frame_without_force_keeps_a_little(self):
        medial, lateral = 600 + 500 * WAVE, 500 + 300 * WAVE
        medial[20] = lateral[20] = -1.0
        table, notes = clip_noise(forces(medial, lateral), settings())
        assert table["load"][20] == 0.005 * 1900.0
        assert len(notes) == 3
        share, _ = load_sharing(table, settings(), 40, 0.0)
        assert share["medial_share"][20] == pytest.approx(0.5)

    def test_a_sensor_of_the_wrong_sign_is_refused(self):
        assert (
            refused_at(activity, forces(lateral=-(500 + 300 * WAVE)))
            == "load.csv, column 'l', data row 1"
        )

    @pytest.mark.parametrize(
        ("columns", "table", "place"),
        [
            (
                {"percent": "p", "load": "f", "medial_share": "s"},
                {"load": 1000.0, "medial_share": 45.0},
                "load.csv, column 's', data row 1",
            ),
            (
                {"percent": "p", "load": "f", "varus_moment_n_m": "m"},
                {"load": 1000.0, "varus_moment_n_m": 8000.0},
                "load.csv, column 'm'",
            ),
        ],
    )
    def test_other_units_are_refused(self, columns, table, place):
        assert (
            refused_at(activity, pd.DataFrame({"percent": PERCENT, **table}), columns=columns)
            == place
        )


def test_the_measured_study_is_the_fluoroscopic_one_with_another_load():
    measured, base = study("dm_measured"), study("dm_fluoroscopy")
    assert measured.implant == base.implant
    assert measured.table == base.table
    gait = base.activities["fluoroscopic_gait"]
    assert measured.activities["scaled_ground_reaction"] == gait
    assert measured.activities["measured_force"].motion == gait.motion
    assert measured.wear.wear_factor_mm3_per_n_m == base.wear.wear_factor_mm3_per_n_m


@pytest.mark.skipif(not (DATA / "gc_dm").is_dir(), reason=f"no data in {DATA}")
def test_the_force_measured_in_the_subject(monkeypatch):
    monkeypatch.setenv("KNEEWEAR_DATA", str(DATA))
    measured = load_activity(study("dm_measured"), "measured_force", ROOT)
    scaled = load_activity(study("dm_measured"), "scaled_ground_reaction", ROOT)
    assert scaled.load.mean() / measured.load.mean() == pytest.approx(1.44, abs=0.01)
    stance = measured.load > 0.5 * measured.load.max()
    assert 0.46 < measured.medial_share[stance].mean() < 0.50


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the data folder")
def test_limit_of_both_sides_separates_cycles_of_the_subject_from_shifted_ones():
    """Cycles with the standard deviations of both sides, correlated as those of their sum tell."""
    table = pd.read_csv(DATA / "waveforms/gc_dm_measured_gait_load_mean.csv", comment="#")
    medial, lateral, of_medial, of_lateral, of_sum = (
        table[name].to_numpy()[:-1]
        for name in ("medial_N", "lateral_N", "medial_sd_N", "lateral_sd_N", "total_sd_N")
    )
    covariance = 0.5 * (of_sum**2 - of_medial**2 - of_lateral**2)
    shared = np.clip(covariance / (of_medial * of_lateral), -1.0, 1.0)
    window = np.hanning(11) / np.linalg.norm(np.hanning(11))
    noise = np.random.default_rng(1).normal(size=(2, 1000, medial.size + 10))
    one, other = (np.array([np.convolve(row, window, "valid") for row in part]) for part in noise)
    cycles = np.clip(medial + one * of_medial, 0.0, None)
    others = np.clip(
        lateral + (shared * one + np.sqrt(1 - shared**2) * other) * of_lateral, 0, None
    )
    limit = checks()["load.sides"].range.low

    def below(shift):
        pairs = zip(np.roll(cycles, shift, axis=1), others, strict=True)
        return np.mean([np.corrcoef(*pair)[0, 1] < limit for pair in pairs])

    assert below(0) < 0.02
    assert below(medial.size // 10) > 0.95
