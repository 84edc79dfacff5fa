"""A cycle in seconds is as long as its window, whether or not there are samples at its ends."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.activity.motion import cut_cycle, mean_stride
from tests.refusals import refused_at

PERIOD = 1.2


def flexion(time):
    turn = 2.0 * np.pi * time / PERIOD
    return 30.0 - 25.0 * np.cos(turn + 0.6) + 5.0 * np.cos(2.0 * turn)


@pytest.mark.parametrize("rate", [100, 30, 15])
@pytest.mark.parametrize(("start", "further"), [(0.0, 0), (0.5, 3)])
def test_length_and_samples_of_a_window(rate, start, further):
    # Samples after the start by 0.3 of a step where the file goes on beyond the window.
    offset = start + (0.3 / rate if further else 0.0)
    time = offset + np.arange(-further, round(PERIOD * rate) + further) / rate
    curves = pd.DataFrame({"time_s": time, "flexion": flexion(time)})
    part, length = cut_cycle(curves, (start, start + PERIOD), "gait.csv")
    assert length == pytest.approx(PERIOD)
    at = part["percent"].to_numpy()
    assert at[0] == 0.0
    assert (at[-1] == 100.0) == bool(further)
    expected = flexion(start + at / 100.0 * PERIOD)
    np.testing.assert_allclose(part["flexion"], expected, atol=0.02)


STRIDES = (0.3, 1.4, 2.7, 4.1)


def recording(size=(1.0, 1.2, 0.8), missing=()):
    """Three strides of different length and size at 100 Hz; frames may be missing."""
    time = np.arange(0.0, 5.0, 0.01)
    turn = np.interp(time, STRIDES, np.arange(4.0))
    number = np.clip(np.searchsorted(STRIDES, time, side="right") - 1, 0, 2)
    angle = 30.0 + 20.0 * np.array(size)[number] * np.sin(2.0 * np.pi * turn)
    angle[list(missing)] = np.nan
    return pd.DataFrame({"time_s": time, "flexion": angle})


@pytest.mark.parametrize("missing", [(), (200, 201)])
def test_strides_are_cut_and_averaged(missing):
    mean, length, notes = mean_stride(recording(missing=missing), STRIDES, "gait.sto")
    expected = 30.0 + 20.0 * np.sin(2.0 * np.pi * mean["percent"] / 100.0)
    np.testing.assert_allclose(mean["flexion"], expected, atol=1e-3)
    assert length == pytest.approx(3.8 / 3.0)
    # Amplitudes of 16, 20 and 24 deg: 4 deg of standard deviation at the peak, rms 4/sqrt(2).
    assert "flexion 2.8" in notes[0]


def test_strides_beyond_the_file_are_refused():
    assert refused_at(mean_stride, recording(), (0.3, 1.4, 6.0), "gait.sto") == "gait.sto"
