"""Axial loads: body weights, newtons, or a ground reaction that is scaled."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.activity.load import axial_load, scale_ground_reaction
from tests.activity.motions import load, load_settings
from tests.refusals import refused_at

REACTION = load_settings("ground_reaction", load_range_body_weights=(0.25, 3.0))


def test_ground_reaction_recipe_keeps_shape_and_range():
    force = 400 * np.sin(np.linspace(0, np.pi, 30)) ** 2
    scaled = scale_ground_reaction(force, (0.25, 3.0))
    assert scaled.min() == 0.25
    assert scaled.max() == 3.0
    np.testing.assert_allclose(np.corrcoef(force, scaled)[0, 1], 1.0)


def test_ground_reaction_of_any_unit_gives_the_same_load():
    force = 100 + 90 * np.cos(np.linspace(0, 2 * np.pi, 41))
    newton, notes = axial_load(load(force), REACTION, 40, 5.0)
    kilonewton, _ = axial_load(load(force / 1000), REACTION, 40, 5.0)
    np.testing.assert_allclose(newton, kilonewton, rtol=1e-12)
    assert "0.25-3" in notes[0]


def test_newtons_are_those_of_the_body_mass():
    """2600 N on a person of 75 kg are 2600 / (75 x 9.81) = 3.534 body weights."""
    values = 1500 + 1100 * np.cos(np.linspace(0, 2 * np.pi, 41))
    found, notes = axial_load(
        load(values), load_settings("axial_force_n", body_mass_kg=75.0), 40, 5.0
    )
    np.testing.assert_allclose(found, values[:-1] / 735.75, rtol=1e-12)
    assert "75 kg" in notes[0]


def test_newtons_called_body_weights_are_refused():
    assert (
        refused_at(axial_load, load(np.linspace(200, 2000, 20)), load_settings(), 10, 5.0)
        == "load.csv, column 'newton', data row 20"
    )


def test_tension_is_refused():
    assert (
        refused_at(axial_load, load([1.0, 2.0, -0.1, 1.0, 1.0]), load_settings(), 10, 5.0)
        == "load.csv, column 'newton', data row 3"
    )


def test_constant_ground_reaction_is_refused():
    assert refused_at(axial_load, load([5.0] * 9), REACTION, 10, 5.0) == "load.csv"
    with pytest.raises(ValueError):
        scale_ground_reaction([1.0, 1.0], (0.25, 3.0))


def test_undershoot_to_nothing_is_refused():
    spike = [0.001] * 9 + [3.0] + [0.001] * 10 + [0.001]
    assert refused_at(axial_load, load(spike), load_settings(), 100, 5.0) == "load.csv"
