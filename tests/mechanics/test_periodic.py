"""Periodic splines: through the samples, smooth over the cycle's end, converging as they should."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.mechanics.coordinates import fit_periodic


def course(time, period=1.22):
    phase = 2 * np.pi * np.asarray(time)[..., None] / period
    return np.concatenate([np.sin(phase), 3 + np.cos(2 * phase) * np.sin(phase)], axis=-1)


def fitted(count, period=1.22):
    return fit_periodic(course(period * np.arange(count) / count, period), period)


def test_splines_pass_through_samples_in_any_cycle():
    spline = fitted(20)
    for number in (0, 3, 19):
        time = 1.22 * number / 20
        for cycle in (-2, 0, 5):
            value, _, _ = spline(time + cycle * 1.22)
            assert value == pytest.approx(course(time), abs=1e-9)


def test_two_derivatives_are_continuous_everywhere():
    spline = fitted(20)
    for number in range(20):
        time = 1.22 * number / 20
        before, after = spline(time - 1e-9), spline(time + 1e-9)
        for one, other, size in zip(before, after, (1.0, 10.0, 1e3), strict=True):
            assert one == pytest.approx(other, abs=1e-6 * size)


def test_derivatives_are_those_of_the_values():
    spline = fitted(20)
    for time in (0.01, 0.4, 1.2):
        h = 1e-5
        (low, low_rate, _), (_, rate, acceleration), (high, high_rate, _) = (
            spline(time + s) for s in (-h, 0.0, h)
        )
        assert rate == pytest.approx((high - low) / (2 * h), abs=1e-5)
        assert acceleration == pytest.approx((high_rate - low_rate) / (2 * h), abs=1e-2)


def test_error_falls_with_the_fourth_power_of_the_interval():
    times = np.linspace(0.0, 1.22, 301)
    errors = []
    for count in (20, 40):
        spline = fitted(count)
        errors.append(max(np.abs(spline(t)[0] - course(t)).max() for t in times))
    assert errors[0] / errors[1] > 12.0
