"""Motion in words: they follow from the pose, and another sign or phase gives other words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.signal

from kneewear.activity.activity import Activity
from kneewear.activity.directions import (
    CURVES,
    describe_activity,
    prominent_peaks,
    turning_values,
)
from kneewear.mechanics.rotations import angles_123, grood_suntay

FRAMES = 100
PERCENT = 100.0 * np.arange(FRAMES) / FRAMES
# A load of one stance, from 10 to 70 percent, with two peaks.
LOAD = 0.3 + np.where(
    (PERCENT > 10) & (PERCENT < 70), 1.5 + np.sin(2 * np.pi * (PERCENT - 10) / 30) ** 2, 0.0
)


def activity_with(curve="flexion", values=None, load=LOAD):
    """An activity in which one curve (deg or mm) moves."""
    moving = np.sin(2 * np.pi * PERCENT / 100) if values is None else values
    angles = {
        name: np.radians(moving if curve == name else np.zeros(FRAMES))
        for name in ("flexion", "varus", "rotation")
    }
    turns = grood_suntay(angles["flexion"], angles["varus"], angles["rotation"])
    translation = np.zeros((FRAMES, 3))
    names = ("anterior_posterior", "superior_inferior", "medial_lateral")
    if curve in names:
        translation[:, names.index(curve)] = moving
    return Activity("one", PERCENT, 1.1, translation, angles_123(turns), load)


def ramp_in_early_stance(size):
    return np.interp(PERCENT, [0, 15, 35, 75, 90, 100], [0, 0, size, size, 0, 0])


# Growth of each curve inside, and what moves which way.
WORDS = {
    "flexion": ("bends", "straightens"),
    "rotation": ("outwards", "inwards"),
    "varus": ("varus", "valgus"),
    "anterior_posterior": ("back", "forward"),
    "medial_lateral": ("medial", "lateral"),
    "superior_inferior": ("up", "down"),
}


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("size", [6.0, -6.0])
def test_direction_size_and_phase_follow_from_the_curve(name, size):
    found = describe_activity(activity_with(name, ramp_in_early_stance(size)))
    (early,) = [
        one for one in found.movements if one.curve.name == name and one.phase == "early stance"
    ]
    assert early.changes == pytest.approx([size], abs=0.01)
    growing, falling = WORDS[name]
    assert (growing if size > 0 else falling) in early.words
    assert (falling if size > 0 else growing) not in early.words
    others = [one for one in found.movements if one.curve.name != name]
    assert not any(one.changes for one in others)
    (swing,) = [one for one in found.movements if one.curve.name == name and one.phase == "swing"]
    assert swing.changes == pytest.approx([-size], abs=0.01)


@pytest.mark.parametrize("shift", [0, 30, 55])
def test_phases_are_those_of_the_load_wherever_the_cycle_begins(shift):
    found = describe_activity(activity_with(load=np.roll(LOAD, shift)))
    assert [phase.name for phase in found.phases] == ["early stance", "late stance", "swing"]
    ends = [(phase.start - shift) % 100.0 for phase in found.phases]
    np.testing.assert_allclose(ends, [11.0, 40.5, 70.0], atol=1.0)
    assert found.phases[2].load == pytest.approx((0.3, 0.3))
    peaks = sorted((peak - shift) % 100.0 for peak in found.peaks)
    np.testing.assert_allclose(peaks, [17.5, 32.5, 47.5, 62.5], atol=1.0)


@pytest.mark.parametrize(
    "load",
    [
        np.full(FRAMES, 2.0),
        2.0 + 0.2 * np.sin(2 * np.pi * PERCENT / 100),  # loaded throughout
        1.5 + np.sin(4 * np.pi * PERCENT / 100),  # two strides
    ],
)
def test_loads_without_a_stance_have_thirds_of_the_cycle(load):
    phases = describe_activity(activity_with(load=load)).phases
    assert [phase.start for phase in phases] == pytest.approx([0.0, 100.0 / 3.0, 200.0 / 3.0])
    assert "stance" not in " ".join(phase.name for phase in phases)


def test_samples_of_a_file_are_described_and_solved_curves_are_named():
    pose = activity_with("rotation", ramp_in_early_stance(-8.0))
    activity = replace(
        activity_with("rotation", np.zeros(FRAMES)),
        measured_percent=PERCENT,
        measured_pose=pose.coordinates,
        prescribed=("theta_3",),
        load_line=0.0,
    )
    found = describe_activity(activity)
    changes = {one.curve.name: one.changes for one in found.movements if one.phase[:5] == "early"}
    assert changes["rotation"] == pytest.approx([-8.0], abs=0.01)
    use = dict(zip((curve.name for curve in CURVES), found.use, strict=True))
    assert use["rotation"] == "solved"
    assert use["anterior_posterior"].startswith("solved, ")


@pytest.mark.parametrize(
    ("values", "threshold", "expected"),
    [
        ([0, 1, 2, 3], 1.0, [0, 3]),
        ([0, 3, 2.5, 3.5, 1], 1.0, [0, 3.5, 1]),
        ([2, 2, 2], 1.0, []),
        ([0, -2, 5, 4.5, -1], 1.0, [0, -2, 5, -1]),
        ([], 1.0, []),
    ],
)
def test_small_ripples_are_within_larger_movements(values, threshold, expected):
    assert turning_values(np.array(values, dtype=float), threshold) == expected


@pytest.mark.parametrize("digits", [0, 1, 6])
def test_prominent_peaks_are_those_of_scipy(digits):
    random = np.random.default_rng(digits)
    for _ in range(200):
        values = np.round(np.cumsum(random.normal(size=random.integers(3, 60))), digits)
        least = float(np.abs(random.normal()))
        expected, _ = scipy.signal.find_peaks(values, prominence=least)
        assert prominent_peaks(values, least) == expected.tolist()
