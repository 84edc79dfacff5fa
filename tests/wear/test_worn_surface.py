"""The lowered surface: exact volume, exact slopes, and smoothing that keeps the volume."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kneewear.wear.summary import damage_volume
from kneewear.wear.worn_surface import lower_surface, smooth_drop

from .conftest import make_grid


def sloped(grid, over_x, over_z):
    """The flat example grid tilted to slopes over x and z."""
    up = np.array([-over_x, 1.0, -over_z]) / np.sqrt(1.0 + over_x**2 + over_z**2)
    centre = grid.centre.copy()
    centre[..., 1] = over_x * centre[..., 0] + over_z * centre[..., 2]
    normal = np.broadcast_to(up, centre.shape).copy()
    return replace(grid, centre=centre, normal=normal, area=grid.area / up[1])


def height(grid, x, z):
    """Gentle waves, mm."""
    return 0.3 + 0.1 * np.sin(0.2 * x) * np.cos(0.15 * z)


@given(st.floats(-0.5, 0.5), st.floats(-0.5, 0.5), st.floats(0.0, 3.0), st.integers(0, 2**32 - 1))
def test_volume_taken_away_is_the_integral_of_depth(over_x, over_z, smoothing, seed):
    fresh = sloped(make_grid(), over_x, over_z)
    depth = np.random.default_rng(seed).uniform(0.0, 0.5, fresh.area.shape)
    worn = lower_surface(fresh, depth, depth, smoothing, True)
    plan_area = 6.0
    taken = plan_area * (fresh.centre - worn.centre)[..., 1].sum()
    assert taken == pytest.approx(damage_volume(depth, fresh.area), rel=1e-12)


@pytest.mark.filterwarnings("error")
def test_cells_without_elements_keep_no_direction():
    whole = sloped(make_grid(rows=6, columns=6), 0.2, -0.1)
    valid = whole.valid.copy()
    valid[:, 0] = False
    fresh = replace(
        whole,
        valid=valid,
        normal=np.where(valid[..., None], whole.normal, 0.0),
        area=np.where(valid, whole.area, 0.0),
    )
    depth = np.where(valid, 0.1, 0.0)
    worn = lower_surface(fresh, depth, depth, 0.0, True)
    for name in ("normal", "tangent_row", "tangent_column", "area"):
        assert not getattr(worn, name)[:, 0].any()
    np.testing.assert_allclose(np.linalg.norm(worn.normal[valid], axis=-1), 1.0)


def test_normals_are_those_of_the_lowered_surface():
    fresh = make_grid(rows=60, columns=60)
    x, z = fresh.centre[..., 0], fresh.centre[..., 2]
    depth = height(fresh, x, z)
    worn = lower_surface(fresh, depth, depth, 0.0, False)
    over_x = -0.02 * np.cos(0.2 * x) * np.cos(0.15 * z)
    over_z = 0.015 * np.sin(0.2 * x) * np.sin(0.15 * z)
    expected = np.stack([-over_x, np.ones_like(over_x), -over_z], axis=-1)
    expected /= np.linalg.norm(expected, axis=-1, keepdims=True)
    # Central differences over 2 and 3 mm: (0.2 * 2)^2 / 6 of a slope of 0.02, and the like.
    inner = (slice(None), slice(1, -1), slice(1, -1))
    np.testing.assert_allclose(worn.normal[inner], expected[inner], atol=8e-4)
    np.testing.assert_allclose(worn.area * worn.normal[..., 1], 6.0, rtol=1e-13)
    np.testing.assert_allclose((worn.tangent_row * worn.normal).sum(axis=-1), 0.0, atol=1e-15)
    along_z = worn.tangent_column[..., 2]
    assert (along_z > 0.99).all()


def test_wear_thins_the_layer_and_creep_does_not():
    fresh = make_grid()
    wear, damage = np.full(fresh.area.shape, 0.1), np.full(fresh.area.shape, 0.3)
    worn = lower_surface(fresh, damage, wear, 0.25, True)
    np.testing.assert_allclose(worn.case_thickness(10.0), fresh.case_thickness(10.0) - 0.1)
    kept = lower_surface(fresh, damage, wear, 0.25, False)
    np.testing.assert_array_equal(kept.thickness, fresh.thickness)


def test_a_step_spreads_as_a_normal_distribution_sums_up():
    # Diffusion of a single lowered row: its standard deviation is the smoothing length.
    drop = np.zeros((81, 3))
    drop[40] = 1.0
    smooth = smooth_drop(drop, np.ones_like(drop), np.array([0.5, 0.5]), 2.0)
    position = 0.5 * (np.arange(81) - 40)
    assert smooth[:, 1].sum() == pytest.approx(1.0, rel=1e-12)
    assert (smooth[:, 1] * position**2).sum() == pytest.approx(2.0**2, rel=1e-9)
    assert smooth.min() >= 0.0


def test_cells_without_elements_take_no_part():
    fresh = make_grid()
    hole = (0, 2, 1)
    valid = fresh.valid.copy()
    valid[hole] = False
    centre, normal, thickness = fresh.centre.copy(), fresh.normal.copy(), fresh.thickness.copy()
    for array in (centre, normal, thickness):
        array[hole] = np.nan
    area = np.where(valid, fresh.area, 0.0)
    holed = replace(
        fresh, valid=valid, centre=centre, normal=normal, thickness=thickness, area=area
    )
    depth = np.where(valid, 0.2, 0.0)
    worn = lower_surface(holed, depth, depth, 1.0, True)
    # All others sink alike: no slope, and no volume lost into the hole.
    np.testing.assert_allclose(worn.centre[valid][:, 1], -0.2, rtol=1e-12)
    np.testing.assert_allclose(worn.normal[valid], np.broadcast_to([0.0, 1.0, 0.0], (47, 3)))
    assert worn.area[hole] == 0.0
