"""A cycle in seconds is as long as its window, whether or not there are samples at its ends."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.activity.motion import cut_cycle

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
