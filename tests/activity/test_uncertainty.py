"""Random errors of a measured pose: variance, correlation, smoothness, reproducibility."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.activity.activity import motion_errors, sample_activity
from kneewear.activity.sources import build_activity
from tests.activity.motions import file_activity, load, motion, motion_settings

DEVIATION = {"flexion_deg": 0.6, "rotation_deg": 1.0, "anterior_posterior_mm": 0.5, "harmonics": 2}
N_SAMPLES = 4000


def measured(**changed):
    settings = motion_settings(standard_deviation=DEVIATION | changed)
    return build_activity("mine", file_activity(settings), 20, motion(), load())


def test_same_seed_same_motion():
    one, two = (sample_activity(measured(), np.random.default_rng(7)) for _ in range(2))
    other = sample_activity(measured(), np.random.default_rng(8))
    np.testing.assert_array_equal(one.coordinates, two.coordinates)
    assert np.abs(one.coordinates - other.coordinates).max() > 1e-3


def test_standard_deviation_at_every_frame_is_the_one_given():
    activity, generator = measured(), np.random.default_rng(1)
    errors = (
        np.array([sample_activity(activity, generator).coordinates for _ in range(N_SAMPLES)])
        - activity.coordinates
    )
    # Four standard errors of a standard deviation from so many samples are 4.5 %.
    np.testing.assert_allclose(errors.std(axis=0), np.tile(activity.deviation, (20, 1)), rtol=0.05)
    np.testing.assert_array_equal(errors[:, :, 1:4], 0.0)
    assert np.abs(errors.mean(axis=0)).max() < 4.0 * activity.deviation.max() / np.sqrt(N_SAMPLES)


@pytest.mark.parametrize("harmonics", [0, 1, 3])
def test_errors_correlate_as_stated(harmonics):
    turn = np.arange(12) / 12
    generator = np.random.default_rng(2)
    errors = motion_errors(turn, harmonics, generator, columns=N_SAMPLES)
    found = errors @ errors.T / N_SAMPLES
    apart = np.pi * (turn[:, None] - turn)
    order = 2 * harmonics + 1
    with np.errstate(invalid="ignore", divide="ignore"):
        kernel = np.sin(order * apart) / (order * np.sin(apart))
    kernel[np.eye(12, dtype=bool)] = 1.0
    np.testing.assert_allclose(found, kernel, atol=4.5 / np.sqrt(N_SAMPLES))


def test_without_harmonics_the_whole_cycle_shifts():
    activity = measured(harmonics=0)
    shift = sample_activity(activity, np.random.default_rng(3)).coordinates - activity.coordinates
    np.testing.assert_allclose(shift, np.tile(shift[0], (20, 1)), atol=1e-14)
    assert np.abs(shift[0, 0]) > 0
