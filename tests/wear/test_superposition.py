"""Creep under changing pressure: closed forms of step loads, and of beds under constant load."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kneewear.base.cases import Case
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.creep import creep_strain_per_pressure
from kneewear.wear.superposition import ContactResponse, relaxed_pressure, superposed_creep
from tests.datasets import with_values

STIFFNESS = 200.0  # MPa/mm, mm/MPa
COMPLIANCE = 0.0175  # MPa/mm, mm/MPa


def compliance(minutes):
    """Strain law, 1/MPa, with the life as unit of time: a part is a number of minutes."""
    return creep_strain_per_pressure(minutes)


def test_constant_pressure_gives_the_creep_law():
    found = superposed_creep([0.0, 10.0, 4e3], np.full((3, 1), 7.0), 1e6, compliance)
    np.testing.assert_allclose(found, 7.0 * compliance(1e6), rtol=1e-14)


def test_creep_after_unloading_is_the_difference_of_two_creeps():
    found = superposed_creep([0.0, 1e4], np.array([[8.0], [0.0]]), 2e4, compliance)
    np.testing.assert_allclose(found, 8.0 * (compliance(2e4) - compliance(1e4)), rtol=1e-14)
    # The statement of the docstring: 93 % are recovered.
    assert 1.0 - found[0] / (8.0 * compliance(1e4)) == pytest.approx(0.93, abs=0.005)


def test_a_late_pressure_creeps_as_a_new_one():
    found = superposed_creep([0.0, 9e5], np.array([[0.0], [5.0]]), 1e6, compliance)
    np.testing.assert_allclose(found, 5.0 * compliance(1e5), rtol=1e-14)


def test_creep_of_a_fallen_pressure_is_never_below_that_of_the_pressure_alone():
    random = np.random.default_rng(0)
    starts = np.concatenate([[0.0], np.sort(random.uniform(1.0, 9e5, 20))])
    falling = np.sort(random.uniform(0.0, 20.0, (21, 5)), axis=0)[::-1]
    found = superposed_creep(starts.tolist(), falling, 1e6, compliance)
    assert (found >= falling[-1] * compliance(1e6) * (1.0 - 1e-12)).all()
    assert (found <= falling[0] * compliance(1e6) * (1.0 + 1e-12)).all()


def relaxed(pressure, cycle, deeper=0.0):
    """Pressures after a step of creep of a bed of equal elements."""
    area = np.full(pressure.shape, 2.0)
    lowering = COMPLIANCE * pressure + deeper
    response = ContactResponse(cycle, np.full(len(pressure), STIFFNESS), 1.0)
    return relaxed_pressure(pressure, lowering, COMPLIANCE, area, [response])


def test_under_a_rigid_punch_differences_of_pressure_fall_and_the_load_stays():
    # In full contact every element is a spring: deviations from the mean fall by 1 + stiffness
    # times compliance, and the mean is the load.
    pressure = 10.0 + np.random.default_rng(1).uniform(-3.0, 3.0, (2, 6, 5))
    mean = pressure.mean(axis=(1, 2), keepdims=True)
    expected = mean + (pressure - mean) / (1.0 + STIFFNESS * COMPLIANCE)
    np.testing.assert_allclose(relaxed(pressure, pressure[None]), expected, rtol=1e-12)


def test_uniform_wear_under_a_rigid_punch_changes_no_pressure():
    pressure = np.full((1, 4, 3), 9.0)
    np.testing.assert_allclose(relaxed(pressure, pressure[None], 0.5), pressure, rtol=1e-12)


def test_each_frame_keeps_its_own_load():
    # Two frames on separate halves of the plateau, loaded differently.
    cycle = np.zeros((2, 1, 8, 3))
    random = np.random.default_rng(2)
    cycle[0, 0, :4], cycle[1, 0, 4:] = random.uniform(8, 9, (4, 3)), random.uniform(3, 4, (4, 3))
    after = relaxed(cycle.max(axis=0), cycle)
    np.testing.assert_allclose(after[0, :4].sum(), cycle[0].sum(), rtol=1e-12)
    np.testing.assert_allclose(after[0, 4:].sum(), cycle[1].sum(), rtol=1e-12)


RADIUS = 300.0  # mm, N
LOAD = 2000.0  # mm, N


class Bed:
    """A paraboloid under constant load on independent springs, one frame."""

    def __call__(self, worn, fresh):
        surface, (x, z) = worn.centre[..., 1], np.moveaxis(worn.centre[..., [0, 2]], -1, 0)
        depth, pressure = np.zeros(2), np.zeros_like(surface)
        for side in range(2):
            gap = ((x[side] - x[side].mean()) ** 2 + (z[side] - z[side].mean()) ** 2) / (2 * RADIUS)
            gap = gap - surface[side]
            low, high = gap.min(), gap.max() + 10.0
            for _ in range(200):
                middle = 0.5 * (low + high)
                force = STIFFNESS * np.maximum(middle - gap, 0.0) @ np.ones(gap.shape[1])
                low, high = (middle, high) if force.sum() * 0.25 < LOAD else (low, middle)
            pressure[side] = STIFFNESS * np.maximum(middle - gap, 0.0)
            depth[side] = middle - gap.min()
        return with_values(
            fresh,
            pressure=pressure[None, None],
            slip=np.zeros((1, 1, *surface.shape, 2)),
            max_pressure=pressure.max(axis=(1, 2))[None, None],
            max_penetration=depth[None, None],
        )


@pytest.fixture
def bed(grid, history_of):
    """Flat plateaus of 60 x 60 elements of 0.5 mm, and the bed's frame on them."""
    cells = 60
    shape = (2, cells, cells)
    position = 0.5 * np.stack(np.meshgrid(*2 * [np.arange(cells + 1)], indexing="ij"), axis=-1)
    centre = np.zeros((*shape, 3))
    centre[..., [0, 2]] = position[:-1, :-1] + 0.25
    vectors = {
        name: np.broadcast_to(getattr(grid, name)[0, 0, 0], centre.shape).copy()
        for name in ("normal", "tangent_row", "tangent_column")
    }
    ones = np.ones(shape)
    fine = replace(
        grid,
        centre=centre,
        area=0.25 * ones,
        thickness=10.0 * ones,
        covered=ones,
        valid=ones.astype(bool),
        corners=np.stack([position, position]),
        **vectors,
    )
    one = history_of(cases=(Case("one", 10.0, 75.0),), frames=1, grid=fine)
    contact = Bed()
    return fine, contact, contact(fine, one)


def test_immediate_creep_under_constant_load_makes_a_softer_bed(bed, settings):
    # p = d / (1 / stiffness + compliance): the paraboloid's peak is sqrt(F s / (pi R)).
    grid, contact, fresh = bed
    chosen = settings(
        creep_time="constant", creep_mm_per_mpa=COMPLIANCE, wear_factor_mm3_per_n_m=0.0, blocks=24
    )
    smooth = chosen.surface_update.model_copy(update={"smoothing_mm": 0.0})
    chosen = chosen.model_copy(update={"surface_update": smooth})
    maps = accumulate_wear({"gait": fresh}, grid, chosen, contact)
    softer = 1.0 / (1.0 / STIFFNESS + COMPLIANCE)
    peak = np.sqrt(LOAD * softer / (np.pi * RADIUS))
    # Elements of 0.5 mm sample the paraboloid.
    assert maps.creep_depth.max() == pytest.approx(COMPLIANCE * peak, rel=5e-3)
    volume = (maps.creep_depth[0, 0] * grid.area).sum(axis=(1, 2))
    # The border of the contact still moves by 1e-4 of the volume after 24 steps.
    np.testing.assert_allclose(volume, COMPLIANCE * LOAD, rtol=1e-4)


def test_creep_volume_under_constant_load_does_not_depend_on_the_number_of_blocks(bed, settings):
    grid, contact, fresh = bed
    volumes = {}
    for blocks in (1, 8, 32):
        chosen = settings(creep_time="logarithm", wear_factor_mm3_per_n_m=0.0, blocks=blocks)
        maps = accumulate_wear({"gait": fresh}, grid, chosen, contact)
        volumes[blocks] = float((maps.creep_depth[0, 0] * grid.area).sum())
    exact = settings().creep_mm_per_mpa * 2.0 * LOAD
    assert list(volumes.values()) == pytest.approx([exact] * 3, rel=1e-6)
