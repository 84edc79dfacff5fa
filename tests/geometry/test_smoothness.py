"""Ripple is what goes up and down between points; a rounded edge is shape."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.geometry.fit_quality import ripple_amplitude
from kneewear.geometry.fitting import fewest_spans, patch_through


def waved(height, amplitude=0.0, wavelength=4.0, spans=40):
    """Patch y = height(z) plus a wave along z, 20 x 40 mm with knots a millimetre apart along z."""

    def at(u, v):
        u, v = np.broadcast_arrays(u, v)
        wave = amplitude * np.sin(2 * np.pi * u / wavelength)
        return np.stack([v, height(u) + wave, u], axis=-1)

    knots = [
        np.concatenate([[0.0] * 3, np.linspace(0, 40, n + 1), [40.0] * 3]) for n in (spans, 10)
    ]
    return patch_through(at, tuple(knots))


def everywhere(surface):
    (u0, u1), (v0, v1) = surface.domain
    u, v = np.meshgrid(np.linspace(u0, u1, 81), np.linspace(v0, v1, 81))
    return surface.evaluate(u, v).reshape(-1, 3)


@pytest.mark.parametrize("amplitude", [0.002, 0.0005])
def test_amplitude_of_a_wave_is_found(amplitude):
    surface = waved(lambda z: 0.002 * (z - 20) ** 2, amplitude, wavelength=4.0)
    found = ripple_amplitude(surface, everywhere(surface), 1.0)
    # A cubic spline with four knots a wave follows it to a few per cent, its curvature to 15 %.
    assert found == pytest.approx(amplitude, rel=0.25)


def test_a_dish_and_a_rounded_edge_have_none():
    dish = waved(lambda z: 0.01 * (z - 20) ** 2)
    assert ripple_amplitude(dish, everywhere(dish), 1.0) < 1e-6
    edge = waved(lambda z: -6.0 * np.log1p(np.exp((z - 25) / 3.0)) / 3.0)
    assert ripple_amplitude(edge, everywhere(edge), 1.0) < 5e-5


def test_long_waves_are_shape():
    surface = waved(lambda z: 0.0 * z, 0.01, wavelength=20.0)
    assert ripple_amplitude(surface, everywhere(surface), 1.0) < 1e-5


class TestFewestLines:
    """The search over numbers of spans, on an acceptance that is known."""

    @staticmethod
    def search(need_u, need_v, most):
        built = []

        def build(counts):
            built.append(counts)
            return counts

        found = fewest_spans(build, lambda n: n[0] >= need_u and n[1] >= need_v, most)
        return found, built

    @pytest.mark.parametrize("need", [(1, 1), (7, 3), (3, 7), (40, 1), (33, 32)])
    def test_smallest_numbers_are_found(self, need):
        found, built = self.search(*need, (40, 32))
        assert found == need
        assert len(built) < 30
        assert len(set(built)) == len(built)

    def test_fewest_control_points_win_where_one_direction_can_stand_for_the_other(self):
        # Either direction may carry the detail: 24 x 1 spans, or 1 x 24, or 5 x 5 between.
        found = fewest_spans(lambda n: n, lambda n: n[0] * n[1] >= 24, (30, 12))
        assert found[0] * found[1] >= 24
