"""Closing, resampling and smoothing keep curves periodic and their derivatives continuous."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kneewear.activity.cycles import (
    close_cycle,
    frame_percent,
    keep_harmonics,
    periodic_spline,
    resample_cycle,
)


class TestClosing:
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


class TestResampling:
    @pytest.mark.parametrize("end", [True, False])
    def test_a_harmonic_converges_with_the_fourth_power(self, end):
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

    @given(seed=st.integers(0, 1000))
    def test_velocity_and_acceleration_are_continuous_everywhere(self, seed):
        """Across samples and across the end of the cycle, for rough samples too."""
        values = np.random.default_rng(seed).normal(size=20)
        period = 1.3
        curve = periodic_spline(period * np.arange(20) / 20, values, period)
        positions = np.concatenate([period * np.arange(20) / 20, [period]])
        for order in (0, 1, 2):
            before, after = curve(positions - 1e-9, order), curve(positions + 1e-9, order)
            # A third derivative of some 1e5 over 2e-9 s.
            np.testing.assert_allclose(before, after, atol=1e-3)


class TestSmoothing:
    def test_low_harmonics_pass_and_high_ones_do_not(self):
        turn = 2 * np.pi * np.arange(256) / 256
        low = 3.0 + np.cos(turn) - 0.5 * np.sin(4 * turn)
        found = keep_harmonics(low + np.sin(9 * turn), 8, 256)
        np.testing.assert_allclose(found, low, atol=1e-13)

    def test_smoothing_is_the_least_squares_fit_of_its_harmonics(self):
        samples = np.random.default_rng(3).normal(size=64)
        turn = 2 * np.pi * np.arange(64) / 64
        basis = np.column_stack(
            [np.ones(64), *(f(k * turn) for k in (1, 2, 3) for f in (np.cos, np.sin))]
        )
        fitted = basis @ np.linalg.lstsq(basis, samples, rcond=None)[0]
        np.testing.assert_allclose(keep_harmonics(samples, 3, 64), fitted, atol=1e-12)
