"""Finite strips: waves on a flat layer, a bar, symmetry, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.contact.material import Elastic
from kneewear.contact.strips import Section, Strip, flat_section
from tests.contact.bonded_layer import layer_deflection

LEVELS = (0.0, 0.35, 0.65, 0.87, 1.0)
FINE = (0.0, 0.22, 0.42, 0.58, 0.71, 0.81, 0.89, 0.95, 1.0)
UNIT = Elastic(1.0, 0.46)


@pytest.mark.parametrize("wave", [0.05, 0.2, 0.5])
def test_wave_along_a_wide_strip_deflects_its_middle_as_a_layer(wave):
    strip = Strip(flat_section(160, 1.0, 8.0), UNIT, FINE)
    middle = strip.compliance(wave).sum(axis=1)[80]
    expected = 2.0 * (1.0 - 0.46**2) / wave * layer_deflection(8.0 * wave, 0.46)
    assert middle == pytest.approx(expected, rel=2e-3)


def test_strip_without_sideways_strain_is_a_bar_under_a_uniform_pressure():
    section = flat_section(6, 1.5, 4.0)
    moved = Strip(section, Elastic(2.0, 0.0), LEVELS).compliance(0.0).sum(axis=1)
    assert moved == pytest.approx(np.full(7, 4.0 / 2.0), rel=1e-12)


def test_influence_is_symmetric_also_under_a_slope():
    position = np.linspace(0.0, 20.0, 21)
    section = Section(position, 0.004 * (position - 12.0) ** 2, 6.0 + 0.02 * position)
    influence = Strip(section, UNIT, LEVELS).influence(0.3)
    assert influence == pytest.approx(influence.T, rel=1e-10)
    one = Strip(section, UNIT, LEVELS).influence(0.3, np.array([4]))
    assert one[:, 0] == pytest.approx(influence[:, 4], rel=1e-10)
    # The end is softer than the middle of the same thickness.
    even = Strip(flat_section(20, 1.0, 6.0), UNIT, LEVELS).influence(0.3)
    assert even[1, 1] > 1.05 * even[10, 10]


def test_mirrored_half_of_a_strip_deflects_as_the_whole():
    whole = Strip(flat_section(24, 1.0, 6.0), UNIT, LEVELS).influence(0.3, np.array([12]))
    half = Strip(flat_section(12, 1.0, 6.0), UNIT, LEVELS, mirrored=True)
    # Half of the force acts on either half. Rounding of two factors.
    assert 0.5 * half.influence(0.3, np.array([0])) == pytest.approx(whole[12:], rel=1e-9)
    assert half.influence(0.3) == pytest.approx(half.influence(0.3).T, rel=1e-10)
