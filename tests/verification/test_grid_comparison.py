"""The table of fixed against adaptive grids, on a sphere with an analytical solution."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kneewear.contact.foundation import SmallStrain
from kneewear.geometry.grid import bearing_of
from kneewear.geometry.table import tabulate_surface
from kneewear.mechanics.rotations import body_three_123
from kneewear.reference import winkler
from kneewear.verification.adaptive import AdaptivePair
from kneewear.verification.methods import REFERENCE, compare_grids, lower_to_depth
from tests.physics.bodies import MODULUS, UPRIGHT, flat_implant, plate, sphere

RADIUS, HEIGHT = 30.0, 8.0
LAW = SmallStrain(MODULUS)


@pytest.fixture(scope="module")
def pair():
    implant = flat_implant(sphere(RADIUS), 9.0, 9.0)
    indenter = implant.femoral["medial"]
    table = tabulate_surface(indenter, 61, 41)
    return AdaptivePair(bearing_of(implant, "medial"), indenter, table, 2, 2)


@pytest.fixture(scope="module")
def table(pair):
    grids = {"adaptive": ((20, 20),), "fixed": ((20, 20), (80, 80))}
    found = compare_grids(pair, LAW, (1e-3, 1e-2, 0.1), **grids)
    return found.set_index(["kind", "elements", "depth_mm"]).sort_index()


@pytest.mark.compiled
@pytest.mark.parametrize("depth", [1e-3, 0.1])
def test_reference_is_the_analytical_solution(pair, depth):
    pose = lower_to_depth(pair, LAW, np.array([0.3, 99.0, -0.2]), depth)
    assert pose == pytest.approx([0.3, HEIGHT + RADIUS - depth, -0.2], abs=2e-3 * depth)
    result = pair.with_elements(*REFERENCE).evaluate(UPRIGHT, pose, LAW)
    deep = HEIGHT + RADIUS - pose[1]
    force = winkler.sphere_force(RADIUS, deep, winkler.LinearLayer(MODULUS, HEIGHT))
    assert result.wrench[1] == pytest.approx(force, rel=5e-5)
    assert result.pressure.max() == pytest.approx(MODULUS * deep / HEIGHT, rel=3e-4)
    area = math.pi * winkler.contact_radius(RADIUS, deep) ** 2
    assert result.area[result.pressure > 0].sum() == pytest.approx(area, rel=2e-3)


@pytest.mark.compiled
def test_adaptive_errors_are_small_at_every_depth_and_fixed_ones_grow_as_it_falls(table):
    adaptive, coarse, fine = (
        table.loc[key] for key in (("adaptive", 400), ("fixed", 400), ("fixed", 6400))
    )
    for name, most in (("force", 2e-3), ("peak", 1e-2), ("mean", 0.02), ("area", 0.02)):
        column = f"{name}_error"
        assert (adaptive[column] < most).all()
        assert (np.diff(coarse[column]) < 0).all()
        assert (np.diff(fine[column]) < 0).all()
        assert (fine[column] < coarse[column]).all()
        # A sixteenth of the elements beat the fine grid where that has fewer than ten under load.
        assert adaptive.loc[1e-3, column] < fine.loc[1e-3, column] / 5
    assert (adaptive["active"] > 200).all()
    assert fine.loc[1e-3, "active"] < 10


@pytest.mark.compiled
def test_table_is_reproducible(pair):
    once, again = (
        compare_grids(pair, LAW, (1e-2,), adaptive=((20, 15),), fixed=((20, 20),), positions=2)
        for _ in range(2)
    )
    pd.testing.assert_frame_equal(once, again, check_exact=True)


def test_surfaces_that_do_not_meet_are_refused(pair):
    with pytest.raises(ValueError, match="do not meet"):
        lower_to_depth(pair, LAW, np.array([500.0, 0.0, 0.0]), 0.1)


def test_turned_indenter_is_lowered_to_the_same_depth(pair):
    turn = body_three_123(np.array([0.0, 0.0, 0.3]))
    pose = lower_to_depth(pair, LAW, np.zeros(3), 0.05, turn)
    assert pose[1] == pytest.approx(HEIGHT + RADIUS - 0.05, abs=1e-4)


def test_depth_is_reached_on_a_slope(pair):
    slope = replace(pair.bearing, surface=plate((-9, 9), (14, 32), HEIGHT, 0.2))
    indenter = pair.search.indenter
    aslant = AdaptivePair(slope, indenter, tabulate_surface(indenter, 61, 41), 2, 2)
    pose = lower_to_depth(aslant, LAW, np.zeros(3), 0.05)
    # Depth is measured square to the slope.
    height = HEIGHT + (RADIUS - 0.05) * math.hypot(1, 0.2)
    assert pose[1] == pytest.approx(height, abs=1e-4)
