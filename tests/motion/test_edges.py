"""Edges of bearings have the names of the sides on which they are."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.geometry.fitting import patch_through
from kneewear.motion.bearing_ends import nearest_edge


def lateral_condyle():
    """Condyle of 30 mm radius whose inner edge falls into the notch at 72 deg."""

    def at(angle, across):
        radius = 30.0 - 6.0 * (np.clip(across + 14.0, 0.0, None) / 4.0) ** 2
        return np.stack([radius * np.sin(angle), -radius * np.cos(angle), across], axis=-1)

    knots = (np.radians(np.linspace(-30, 100, 27)), np.linspace(-37.0, -10.0, 28))
    return patch_through(at, tuple(np.pad(one, 3, mode="edge") for one in knots)), at


@pytest.mark.parametrize(
    ("angle", "across", "name"),
    [
        (58.0, -10.1, "inner"),
        (-10.0, -10.1, "inner"),
        (58.0, -36.8, "outer"),
        (99.5, -25.0, "posterior"),
        (-29.5, -25.0, "anterior"),
    ],
)
def test_an_edge_in_the_notch_is_the_inner_one(angle, across, name):
    surface, at = lateral_condyle()
    place = at(np.radians(angle), np.array(across))
    found, direction = nearest_edge(surface, place)
    assert found == name
    assert np.linalg.norm(direction) == pytest.approx(1.0)
