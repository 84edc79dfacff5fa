"""The tidy case table: definitions of the quantities."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.geometry.element_grid import border_elements, covered_area
from kneewear.motion.history import cases_of
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.records import record_cycles
from kneewear.wear.summary import (
    damage_area,
    summarize_cases,
)
from tests.datasets import with_values


@pytest.fixture
def summary(history, grid, settings):
    maps = accumulate_wear({"gait": history}, grid, settings())
    return maps, summarize_cases(maps, record_cycles({"gait": history}), grid, settings())


def value(table, case, side, quantity):
    """One value of the tidy table."""
    rows = table.query("case == @case and side == @side and quantity == @quantity")
    assert len(rows) == 1
    return float(rows["value"].iloc[0])


def test_volume_is_the_integral_of_depth(summary, grid):
    maps, table = summary
    expected = float(np.sum(maps.damage_depth[0, 1, 1] * grid.area[1]))
    assert value(table, "t10_m100", "lateral", "damage_volume") == pytest.approx(expected)


def test_depths_stand_at_the_element_of_largest_damage(summary):
    maps, table = summary
    worst = np.unravel_index(maps.damage_depth.values[0, 0, 0].argmax(), (6, 4))
    names = ("wear_depth_at_deepest_damage", "creep_depth_at_deepest_damage", "damage_depth")
    wear, creep, damage = (value(table, "t06_m050", "medial", name) for name in names)
    assert wear == maps.wear_depth.values[0, 0, 0][worst]
    assert damage == pytest.approx(wear + creep, rel=1e-14)
    assert value(table, "t06_m050", "medial", "max_wear_depth") >= wear


@pytest.mark.parametrize(
    ("along", "about", "limits"),
    [
        (
            ("reaction_force", -20.0, 30.0),
            ("reaction_moment", -4000.0, 5000.0),
            {"anterior_posterior_reaction": (-20, 30), "rotation_torque": (-4, 5)},
        ),
        (
            ("translation", -3.0, 4.0),
            ("rotation", np.radians(-6.0), np.radians(8.0)),
            {"posterior_position": (-3, 4), "tibial_external_rotation": (-6, 8)},
        ),
    ],
    ids=["reactions", "motion"],
)
def test_extremes_are_those_of_all_frames(history, grid, settings, along, about, limits):
    given = {}
    for axis, (name, low, high) in ((0, along), (1, about)):
        given[name] = np.zeros((*history["load"].shape, 3))
        given[name][1, :, axis] = np.linspace(low, high, given[name].shape[1])
    histories = {"gait": with_values(history, **given)}
    maps = accumulate_wear(histories, grid, settings())
    table = summarize_cases(maps, record_cycles(histories), grid, settings())
    case = cases_of(history)[1].name
    for name, (low, high) in limits.items():
        assert value(table, case, "both", f"{name}_min") == pytest.approx(low)
        assert value(table, case, "both", f"{name}_max") == pytest.approx(high)


def test_areas_end_where_the_largest_pressure_tends_to_zero(summary):
    maps, table = summary
    pressure, areas = maps.max_pressure[0, 0, 0], np.full((6, 4), 6.0)
    found = {
        name: value(table, "t06_m050", "medial", f"{name}_area")
        for name in ("wear", "creep", "damage")
    }
    assert found["damage"] == covered_area(pressure, areas)
    for name in ("wear", "creep"):
        loaded = getattr(maps, f"{name}_depth")[0, 0, 0] > 0.0
        assert found[name] == covered_area(np.where(loaded, pressure, 0.0), areas)


def test_area_of_a_smooth_contact_is_exact(grid):
    middle = np.array([5.0, 4.5])
    place = np.stack([grid.centre[0, ..., 0], grid.centre[0, ..., 2] - 10.0], axis=-1) - middle
    pressure = np.maximum(1.0 - np.sum((place / [5.0, 5.5]) ** 2, axis=-1), 0.0)
    area = damage_area(pressure, pressure, grid.area[0])
    assert 6.0 * (pressure > 0.0).sum() != pytest.approx(np.pi * 5.0 * 5.5, rel=0.03)
    assert area == pytest.approx(np.pi * 5.0 * 5.5, rel=0.03)


def test_average_pressure_is_the_largest_frame_mean(summary, history):
    expected = history.avg_pressure[0, :, 1].max()
    assert value(summary[1], "t06_m050", "lateral", "avg_pressure") == expected


def test_distance_between_largest_damage_and_largest_pressure(history, grid, settings):
    pressure = np.zeros_like(history.pressure)
    slip = np.zeros_like(history.slip)
    pressure[:, 0, :, 1, 1] = 20.0  # still and highest
    pressure[:, 1, :, 4, 1] = 19.0  # three rows on, sliding far
    slip[:, 1, :, 4, 1, 0] = 100.0
    made = with_values(history, pressure=pressure, slip=slip)
    table = summarize_cases(
        accumulate_wear({"gait": made}, grid, settings()),
        record_cycles({"gait": made}),
        grid,
        settings(),
    )
    assert value(table, "t06_m050", "medial", "distance_max_damage_to_max_pressure") == 6.0
    assert value(table, "t06_m050", "medial", "damage_location_x") == 8.0


def test_centre_of_pressure_at_the_largest_load(summary, history):
    frame = history["load"].values[1].argmax()
    expected = history.centre_of_pressure[1, frame, 0, 2]
    assert value(summary[1], "t10_m100", "medial", "centre_of_pressure_z") == expected


def test_mass_is_lost_by_wear_only(summary):
    table = summary[1]
    volume = value(table, "t06_m050", "medial", "wear_volume")
    # 4.25 million cycles; 0.93 mg/mm3.
    assert value(table, "t06_m050", "medial", "mass_loss") == pytest.approx(0.93 * volume / 4.25)


def test_rates_are_those_of_the_whole_life(summary):
    table = summary[1]
    for rate, total in (
        ("linear_wear_rate", "max_wear_depth"),
        ("linear_penetration_rate", "damage_depth"),
        ("volumetric_wear_rate", "wear_volume"),
        ("volumetric_penetration_rate", "damage_volume"),
    ):
        of_life = value(table, "t10_m100", "lateral", total)
        assert value(table, "t10_m100", "lateral", rate) == pytest.approx(of_life / 4.25)


def test_share_of_the_outermost_elements_is_that_of_their_force_and_wear(history, grid, settings):
    maps = accumulate_wear({"gait": history}, grid, settings())
    cycles = record_cycles({"gait": history})
    table = summarize_cases(maps, cycles, grid, settings())
    border = border_elements(grid.valid[0])
    case = cases_of(maps)[0].name
    force = (maps.max_pressure.values[0, 0, 0] * grid.area[0])[border].sum()
    peak = np.linalg.norm(cycles.force[:, 0, :, 0], axis=-1).max()
    worn = maps.wear_depth.values[0, 0, 0] * grid.area[0]
    chosen = table[(table["case"] == case) & (table["side"] == "medial")]
    found = chosen.set_index("quantity")["value"]
    assert found["border_force_share"] == pytest.approx(force / peak)
    assert found["border_wear_share"] == pytest.approx(worn[border].sum() / worn.sum())
    # Where frames are kept, the share is that of the worst frame, of either surface.
    dims = (*cycles.contact_area.dims, "window")
    ends = np.zeros((*cycles.contact_area.shape, 2))
    ends[0, 0, :2, 0] = [[0.1 * peak, 0.0], [0.02 * peak, 0.3 * peak]]
    kept = cycles.assign({f"border_{name}": (dims, ends) for name in ("pressure", "force", "area")})
    table = summarize_cases(maps, kept, grid, settings())
    chosen = table[(table["case"] == case) & (table["side"] == "medial")]
    found = chosen.set_index("quantity")["value"]
    assert found["border_force_share"] == pytest.approx(0.1)
    assert found["femoral_border_force_share"] == pytest.approx(0.3)
