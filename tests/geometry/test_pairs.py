"""Insert and condyles of one implant and size, and of two."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.plausibility import condyle_bearing, judge_pair, plateau_bearing

DISH, CONDYLE, LENGTH = 60.0, 35.0, 30.0
FLAT = 1e6


def sheet(height):
    """Grid of a height over x and z, mm, both sides of the middle."""
    x, z = np.meshgrid(np.linspace(-15.0, 15.0, 31), np.linspace(-36.0, 36.0, 73), indexing="ij")
    number = np.arange(x.size).reshape(x.shape)
    a, b, c, d = (
        part.ravel()
        for part in (number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1])
    )
    faces = np.vstack([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    return TriangleMesh(np.column_stack([x.ravel(), height(x, z).ravel(), z.ravel()]), faces)


def checks(spacing, ratio, across=DISH):
    """Names of the warnings about dishes of a spacing, mm, and condyles 46 mm apart."""
    windows = {"medial": (10.0, 34.0), "lateral": (-34.0, -10.0)}

    def dish(x, z):
        return 8.0 + x**2 / (2 * DISH) + (np.abs(z) - 0.5 * spacing) ** 2 / (2 * across)

    def condyle(x, z):
        radius = LENGTH - (np.abs(z) - 23.0) ** 2 / (2 * min(CONDYLE, across))
        return -np.sqrt(radius**2 - x**2)

    insert, femoral = sheet(dish), sheet(condyle)
    plateaus = {
        side: plateau_bearing(insert, (-14.0, 14.0), z, "insert", side)
        for side, z in windows.items()
    }
    condyles = {
        side: condyle_bearing(femoral, (0.0, 0.0), (-0.4, 0.4), z, "femoral", side)
        for side, z in windows.items()
    }

    def thickness(points):
        return points[:, 1]

    found = judge_pair(plateaus, condyles, thickness, 8.0, (72.0, ratio * 72.0))
    return [one.check for one in found]


@pytest.mark.parametrize("ratio", [0.85, 1.0, 1.2])
def test_dishes_below_their_condyles_are_of_one_size_however_wide_the_insert_is(ratio):
    assert checks(46.0, ratio) == []


@pytest.mark.parametrize("spacing", [43.5, 48.5])
def test_dishes_beside_their_condyles_are_of_another_size(spacing):
    assert checks(spacing, 1.0) == ["geometry.spacing"]


def test_bearings_that_are_flat_across_have_their_width_alone():
    assert checks(46.0, 1.0, FLAT) == []
    assert checks(46.0, 0.85, FLAT) == ["geometry.width"]
