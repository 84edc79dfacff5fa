"""Updating the surface: nothing changed without updates, creep not compounded, convergence."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.base.cases import Case
from kneewear.motion.history import cases_of, only_case
from kneewear.wear import accumulation
from kneewear.wear.accumulation import accumulate_wear, block_ends
from kneewear.wear.creep import creep_development, minutes_of_life
from kneewear.wear.summary import damage_volume
from kneewear.wear.worn_contact import WornContact
from tests.datasets import with_values
from tests.physics.bodies import example_study, gait_study

CASE = Case("centre", 10.0, 100.0)
CASES_OF_HISTORY = ("t06_m050", "t10_m100")


class Unchanged:
    """Says that contact on the worn surface is that on the fresh one, and counts how often."""

    def __init__(self, scale=1.0):
        self.calls, self.scale, self.surfaces = 0, scale, []

    def __call__(self, worn, fresh):
        self.calls += 1
        self.surfaces.append(worn)
        return with_values(fresh, pressure=np.float32(self.scale) * fresh.pressure)


def slow(settings, **changes):
    """Settings whose creep takes time."""
    return settings(creep_time="logarithm", **changes)


def test_one_block_is_the_plain_extrapolation_to_the_bit(history, stairs, grid, settings):
    chosen = settings(lives={"mixed": {"gait": 0.85, "stairs": 0.15}})
    maps = accumulate_wear({"gait": history, "stairs": stairs}, grid, chosen, Unchanged())
    factor = chosen.wear_factor_mm3_per_n_m * 1.0e-3
    for index in range(2):
        wear, pressures = np.zeros(grid.area.shape), np.zeros(grid.area.shape)
        for share, activity in ((0.85, history), (0.15, stairs)):
            pressure = activity.pressure[index].astype(float)
            slip = np.linalg.norm(activity.slip[index].astype(float), axis=-1)
            wear += share * (4.25e6 * (factor * np.sum(pressure * slip, axis=0)))
            pressures += share * pressure.max(axis=0)
        creep = chosen.creep_mm_per_mpa * pressures
        np.testing.assert_array_equal(maps.wear_depth[0, index], wear)
        np.testing.assert_array_equal(maps.creep_depth[0, index], creep)
        np.testing.assert_array_equal(maps.damage_depth[0, index], wear + creep)


@pytest.mark.parametrize("blocks", [2, 5])
def test_on_a_surface_that_stays_wear_is_linear_and_creep_not_compounded(
    history, grid, settings, blocks
):
    plain = accumulate_wear({"gait": history}, grid, settings())
    maps = accumulate_wear({"gait": history}, grid, slow(settings, blocks=blocks), Unchanged())
    np.testing.assert_allclose(maps.wear_depth, plain.wear_depth, rtol=1e-13)
    # The weights of the blocks are differences whose sum is rounded.
    np.testing.assert_allclose(maps.creep_depth, plain.creep_depth, rtol=1e-13)
    np.testing.assert_array_equal(maps.max_pressure, plain.max_pressure)


@pytest.mark.parametrize("law", ["pressure", "strain"])
@pytest.mark.parametrize("scale", [0.0, 0.5, 2.0])
def test_creep_after_a_change_of_pressure_is_superposed(history, grid, settings, scale, law):
    chosen = slow(settings, blocks=2, creep_law=law)
    plain = accumulate_wear({"gait": history}, grid, slow(settings, creep_law=law))
    maps = accumulate_wear({"gait": history}, grid, chosen, Unchanged(scale))
    life = minutes_of_life(chosen.months)
    later = creep_development((1.0 - block_ends(chosen)[0]) * life, life)
    expected = plain.creep_depth * (1.0 + (scale - 1.0) * later)
    np.testing.assert_allclose(maps.creep_depth, expected, rtol=1e-6)
    np.testing.assert_allclose(maps.max_pressure, max(scale, 1.0) * plain.max_pressure, rtol=1e-6)


def test_in_sequence_wear_is_that_of_the_mixture_and_creep_that_of_the_harder_activity(
    history, stairs, grid, settings
):
    both = {"gait": history, "stairs": stairs}
    lives = {"mixed": {"gait": 0.85, "stairs": 0.15}}
    mixed = accumulate_wear(both, grid, settings(lives=lives))
    chosen = slow(settings, lives=lives, mixing="sequence", blocks=2)
    maps = accumulate_wear(both, grid, chosen, Unchanged())
    np.testing.assert_allclose(maps.wear_depth, mixed.wear_depth, rtol=1e-13)
    np.testing.assert_allclose(
        maps.creep_depth, chosen.creep_mm_per_mpa * mixed.max_pressure, rtol=1e-13
    )
    assert (maps.creep_depth >= mixed.creep_depth).all()


def test_every_case_and_life_starts_from_the_fresh_surface(history, grid, settings):
    watched = Unchanged()
    accumulate_wear({"gait": history}, grid, slow(settings, blocks=2), watched)
    for surface in watched.surfaces:
        sunk = (grid.centre - surface.centre)[..., 1]
        assert 0.0 < sunk.max() < 1.0


def test_recovery_lowers_creep_and_leaves_wear(history, grid, settings):
    plain = accumulate_wear({"gait": history}, grid, settings())
    maps = accumulate_wear({"gait": history}, grid, settings(recovery_minutes=1e4))
    np.testing.assert_allclose(maps.creep_depth, 0.49 * plain.creep_depth, rtol=1e-12)
    np.testing.assert_array_equal(maps.wear_depth, plain.wear_depth)


def test_creep_grows_with_time_and_with_pressure(history, grid, settings):
    loaded = history.pressure.values.max(axis=1) > 0.0
    for law in ("pressure", "strain"):
        depths = [
            accumulate_wear(
                {"gait": history}, grid, slow(settings, creep_law=law, months=months)
            ).creep_depth.values[0][loaded]
            for months in (1.0, 12.0, 51.0, 240.0)
        ]
        assert (np.diff(depths, axis=0) > 0.0).all()
        harder = with_values(history, pressure=np.float32(1.1) * history.pressure)
        more = accumulate_wear({"gait": harder}, grid, slow(settings, creep_law=law))
        assert (more.creep_depth.values[0][loaded] > depths[2]).all()


@pytest.fixture(scope="module")
def evolved():
    """Maps of a case of the default study after 1, 4, 8 and 16 blocks, on a coarse grid."""
    study = gait_study(rows=40, columns=30, frames=16)
    fresh = study.run(CASE)
    worn = WornContact(study.knee(), {"gait": study.activity}, study.settings)
    chosen = example_study().wear.model_copy(update={"creep_time": "logarithm"})
    return study.grid, {
        blocks: accumulate_wear(
            {"gait": fresh}, study.grid, chosen.model_copy(update={"blocks": blocks}), worn
        )
        for blocks in (1, 4, 8, 16)
    }


def largest(maps, name):
    """Largest value of each side."""
    return maps[name].values[0, 0].max(axis=(1, 2))


@pytest.mark.compiled
def test_updating_hardly_changes_wear_volume_but_halves_depths(evolved):
    grid, maps = evolved
    plain, followed = maps[1], maps[16]
    for side in (0, 1):
        volumes = [
            damage_volume(m.wear_depth.values[0, 0, side], grid.area[side]) for m in maps.values()
        ]
        np.testing.assert_allclose(volumes, volumes[0], rtol=0.05)
    ratio = largest(followed, "wear_depth") / largest(plain, "wear_depth")
    assert (ratio < 0.7).all()
    assert (ratio > 0.2).all()


@pytest.mark.compiled
def test_creep_relaxes_to_the_pressures_of_the_conforming_surface(evolved):
    grid, maps = evolved
    ratio = largest(maps[16], "creep_depth") / largest(maps[1], "creep_depth")
    assert (ratio < 0.85).all()
    # The load stays, so volumes grow only as far as more elements see their frame of highest load.
    for side in (0, 1):
        volumes = [
            damage_volume(m.creep_depth.values[0, 0, side], grid.area[side]) for m in maps.values()
        ]
        assert 1.0 < volumes[-1] / volumes[0] < 1.2


@pytest.mark.compiled
@pytest.mark.parametrize("scale", [0.6, 1.6])
def test_estimated_stiffness_of_the_contact_does_not_decide_the_result(evolved, monkeypatch, scale):
    grid, maps = evolved
    study = gait_study(rows=40, columns=30, frames=16)
    worn = WornContact(study.knee(), {"gait": study.activity}, study.settings)
    estimate = accumulation._stiffness
    monkeypatch.setattr(accumulation, "_stiffness", lambda cycle: scale * estimate(cycle))
    chosen = example_study().wear.model_copy(update={"blocks": 16})
    other = accumulate_wear({"gait": study.run(CASE)}, study.grid, chosen, worn)
    for side in (0, 1):
        expected = damage_volume(maps[16].creep_depth.values[0, 0, side], grid.area[side])
        found = damage_volume(other.creep_depth.values[0, 0, side], grid.area[side])
        assert found == pytest.approx(expected, rel=2e-3)
    for name, close in (("creep_depth", 5e-3), ("wear_depth", 5e-2)):
        np.testing.assert_allclose(largest(other, name), largest(maps[16], name), rtol=close)


@pytest.mark.compiled
def test_results_converge_with_the_number_of_blocks(evolved):
    grid, maps = evolved
    for name in ("wear_depth", "creep_depth", "damage_depth"):
        four, eight, sixteen = (largest(maps[blocks], name) for blocks in (4, 8, 16))
        assert (np.abs(sixteen - eight) < np.abs(eight - four)).all()
        assert (np.abs(sixteen / eight - 1.0) < 0.1).all()
        for side in (0, 1):
            eight, sixteen = (
                damage_volume(maps[blocks][name].values[0, 0, side], grid.area[side])
                for blocks in (8, 16)
            )
            assert sixteen == pytest.approx(eight, rel=1e-3)


@pytest.mark.compiled
def test_contact_on_an_insert_not_worn_yet_is_that_on_the_fresh_one():
    study = gait_study()
    fresh = study.run(CASE)
    parts = study.knee(), {"gait": study.activity}, study.settings
    again = WornContact(*parts, "as_simulated")(study.grid, fresh)
    np.testing.assert_array_equal(again.pressure, fresh.pressure)
    held = WornContact(*parts, "held")(study.grid, fresh)
    np.testing.assert_array_equal(held.translation[..., 2], fresh.translation[..., 2])
    # Solved to 1e-8 of the load; the same pressures but for that and single precision.
    np.testing.assert_allclose(held.pressure, fresh.pressure, atol=1e-5 * fresh.pressure.max())


def test_following_the_surface_of_one_case_does_not_depend_on_its_neighbours(
    history, grid, settings
):
    chosen = slow(settings, blocks=3)
    whole = accumulate_wear({"gait": history}, grid, chosen, Unchanged(0.9))
    for index, case in enumerate(cases_of(history)):
        alone = accumulate_wear(
            {"gait": only_case(history, case.name)}, grid, chosen, Unchanged(0.9)
        )
        np.testing.assert_array_equal(whole.damage_depth[:, index], alone.damage_depth[:, 0])


def deep(history, scale=1.0):
    """History whose pressures, multiplied by a scale, belong to penetrations."""
    pressure = np.float32(scale) * history.pressure
    depth = np.full(history.max_penetration.shape, 0.1) * scale
    peak = pressure.max(("row", "column")).values.astype(float)
    return with_values(history, pressure=pressure, max_penetration=depth, max_pressure=peak)


def test_in_sequence_the_harder_activity_alone_decides_on_creep(
    history, grid, settings, monkeypatch
):
    seen = []
    relax = accumulation.relaxed_pressure

    def watched(pressure, lowering, compliance, area, responses):
        seen.extend(responses)
        return relax(pressure, lowering, compliance, area, responses)

    monkeypatch.setattr(accumulation, "relaxed_pressure", watched)
    lives = {"mixed": {"hard": 0.5, "easy": 0.5}}
    chosen = slow(settings, mixing="sequence", blocks=3, lives=lives)
    both = {"hard": deep(history), "easy": deep(history, 0.5)}
    accumulate_wear(both, grid, chosen, Unchanged())
    largest = both["hard"].pressure.values.max(axis=1)
    decided = {True: 0, False: 0}
    for response in seen:
        peak = response.pressure.max(axis=0)
        hard = min(np.abs(peak - case).max() for case in largest) < 1e-6
        assert (response.weight[peak > 0.0] == float(hard)).all()
        decided[hard] += 1
    assert min(decided.values()) > 0


def test_stiffness_is_the_largest_pressure_over_the_largest_penetration(history):
    cycle = deep(history).isel(case=slice(0, 1))
    found = accumulation._stiffness(cycle)
    for side in range(2):
        peak = float(cycle.pressure.values[0, :, side].max())
        assert found[side] == pytest.approx(peak / 0.1, rel=1e-6)


def test_force_that_holds_a_worn_insert_is_the_medial_lateral_one(history, grid, settings, caplog):
    caplog.set_level("INFO")
    update = settings().surface_update.model_copy(update={"medial_lateral": "held"})
    force = np.zeros(history.reaction_force.shape)
    force[..., 0], force[..., 1], force[..., 2] = 900.0, 700.0, -40.0
    pushed = with_values(history, reaction_force=force)
    accumulate_wear(
        {"gait": pushed}, grid, slow(settings, blocks=2, surface_update=update), Unchanged()
    )
    # Case and force of each record of the accumulation that names a case.
    logged = [record.args for record in caplog.records if record.name == accumulation.__name__]
    forces = {args[1] for args in logged if len(args) == 2 and args[0] in set(CASES_OF_HISTORY)}
    assert forces == {40.0}
