"""Accumulated wear and creep: proportional, linear in the shares, independent of the batch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kneewear.motion.history import cases_of, failures_of, only_case
from kneewear.wear.accumulation import accumulate_cases, accumulate_wear
from kneewear.wear.creep import creep_strain_per_pressure, minutes_of_life
from tests.datasets import with_values
from tests.refusals import refused_at


def one_case(history, index):
    """The history of a single case, as another batch would hold it."""
    return history.isel(case=slice(index, index + 1))


def test_wear_is_proportional_to_factor_and_cycles(history, grid, settings):
    base = accumulate_wear({"gait": history}, grid, settings())
    factor = accumulate_wear({"gait": history}, grid, settings(wear_factor_mm3_per_n_m=5.2e-7))
    cycles = accumulate_wear({"gait": history}, grid, settings(cycles_per_year=2e6))
    months = accumulate_wear({"gait": history}, grid, settings(months=102.0))
    for changed in (factor, cycles, months):
        np.testing.assert_allclose(changed.wear_depth, 2.0 * base.wear_depth, rtol=1e-14)
    for changed in (factor, cycles):
        np.testing.assert_array_equal(changed.creep_depth, base.creep_depth)
    grown = creep_strain_per_pressure(minutes_of_life(102.0))
    grown /= creep_strain_per_pressure(minutes_of_life(51.0))
    np.testing.assert_allclose(months.creep_depth, grown * base.creep_depth, rtol=1e-14)


def test_wear_unit_is_mm3_per_newton_metre(history, grid, settings):
    # One element, by hand: 4.25e6 cycles, k = 2.6e-10 mm3/(N mm).
    maps = accumulate_wear({"gait": history}, grid, settings())
    work = sum(
        float(history.pressure[1, t, 0, 2, 1])
        * np.hypot(*history.slip.values[1, t, 0, 2, 1].astype(float))
        for t in range(history.pressure.shape[1])
    )
    assert maps.wear_depth[0, 1, 0, 2, 1] == pytest.approx(4.25e6 * 2.6e-10 * work, rel=1e-12)


def test_without_sliding_damage_is_creep(history, grid, settings):
    still = with_values(history, slip=np.zeros_like(history.slip))
    maps = accumulate_wear({"gait": still}, grid, settings())
    assert maps.wear_depth.max() == 0.0
    np.testing.assert_array_equal(maps.damage_depth, maps.creep_depth)


def test_mixing_is_linear_in_the_shares(history, stairs, grid, settings):
    lives = {
        "walk": {"gait": 1.0},
        "climb": {"stairs": 1.0},
        "mixed": {"gait": 0.85, "stairs": 0.15},
    }
    maps = accumulate_wear({"gait": history, "stairs": stairs}, grid, settings(lives=lives))
    for depth in (maps.wear_depth, maps.creep_depth, maps.damage_depth):
        np.testing.assert_allclose(depth[2], 0.85 * depth[0] + 0.15 * depth[1], rtol=1e-13)
    np.testing.assert_array_equal(
        maps.max_pressure[2], np.maximum(maps.max_pressure[0], maps.max_pressure[1])
    )


def test_batches_of_one_case_give_the_same_bits(history, grid, settings):
    whole = accumulate_wear({"gait": history}, grid, settings())
    parts = [
        accumulate_wear({"gait": one_case(history, index)}, grid, settings()) for index in (0, 1)
    ]
    for name in ("wear_depth", "creep_depth", "damage_depth", "max_pressure", "avg_pressure"):
        joined = np.concatenate([getattr(part, name) for part in parts], axis=1)
        np.testing.assert_array_equal(joined, getattr(whole, name))


def test_strain_creep_uses_the_case_thickness(history, grid, settings):
    maps = accumulate_wear({"gait": history}, grid, settings(creep_law="strain"))
    ratio = maps.creep_depth[0] / np.where(maps.max_pressure[0] > 0, maps.max_pressure[0], np.nan)
    # Local thickness is case thickness + 1 mm, so 7 and 11 mm.
    assert np.nanmean(ratio[1]) / np.nanmean(ratio[0]) == pytest.approx(11.0 / 7.0, rel=1e-12)


def test_damage_that_reaches_the_local_thickness_is_refused(history, grid, settings):
    assert (
        refused_at(accumulate_wear, {"gait": history}, grid, settings(wear_factor_mm3_per_n_m=1e-3))
        == "case t06_m050"
    )


def test_a_case_that_wears_through_leaves_the_others_their_damage(history, stairs, grid, settings):
    lives = {"life": {"gait": 0.8, "stairs": 0.2}}
    histories = {"gait": history, "stairs": stairs}
    whole = accumulate_wear(histories, grid, settings(lives=lives))
    thin = replace(cases_of(history)[0], thickness=-0.9)  # 0.1 mm locally
    changed = {
        name: with_values(one, cases=(thin, *cases_of(one)[1:])) for name, one in histories.items()
    }
    each = [
        {name: only_case(one, case.name) for name, one in changed.items()}
        for case in (thin, cases_of(history)[1])
    ]
    own = settings(lives=lives)
    maps = accumulate_cases(each, ("gait", "stairs"), grid, own, keep_going=True)
    assert cases_of(maps) == cases_of(history)[1:]
    np.testing.assert_array_equal(maps.damage_depth, whole.damage_depth[:, 1:])
    (failure,) = failures_of(maps)
    assert (failure.case, failure.frame) == (thin, None)
    assert "elements worn through" in failure.reason
    assert refused_at(accumulate_cases, each, ("gait", "stairs"), grid, own) == "case t06_m050"


def test_pressure_of_a_life_is_that_of_its_hardest_activity(history, stairs, grid, settings):
    lives = {"walk": {"gait": 1.0}, "climb": {"stairs": 1.0}}
    lives["mixed"] = {"gait": 0.5, "stairs": 0.5}
    maps = accumulate_wear({"gait": history, "stairs": stairs}, grid, settings(lives=lives))
    walk, climb, mixed = maps.avg_pressure.values
    np.testing.assert_array_equal(mixed, np.maximum(walk, climb))
    # Neither activity is the harder one everywhere, nor the last one.
    assert (walk > climb).any()
    assert (mixed > climb).any()
