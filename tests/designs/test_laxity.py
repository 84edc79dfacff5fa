"""Laxity loops against rigid bearings, and what is said of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.settings.laxity import TESTS, LaxitySettings, LaxityTestSettings
from kneewear.studies.designs.laxity import compare_designs, drive_loops, summarise_loops
from tests.designs.conftest import SPHERES, both

LOAD = 710.0
COMMON = {
    "flexion_deg": (0.0,),
    "load_n": LOAD,
    "friction": (0.0,),
    "speed_mm_per_s": 10.0,
    "steps": 4,
    "free": ("anterior_posterior", "superior_inferior", "medial_lateral", "varus_valgus"),
}


def settings_of(**tests):
    """Settings with only some tests."""
    return LaxitySettings(**COMMON, **(dict.fromkeys(TESTS) | tests))


def loop(bench, friction=0.0, **tests):
    """Loop of one test, and its summary."""
    settings = settings_of(**tests)
    steps = drive_loops(bench, settings, friction, "one")
    return steps, summarise_loops(steps, settings).iloc[0]


def slope_force(displacement, radii, friction=0.0):
    """Horizontal force on a rigid sphere or cylinder in a dish: load times tangent of the slope.

    The slope is that at the contact, whose normal passes both centres; friction adds its angle.
    """
    slope = np.arcsin(displacement / (radii[1] - radii[0]))
    return LOAD * np.tan(slope + np.arctan(friction))


@pytest.mark.parametrize("test", ["anterior_posterior", "medial_lateral"])
def test_sphere_in_a_dish_resists_with_load_times_slope(bench, test):
    found, _ = loop(bench(SPHERES), **{test: {"amplitude": 4.0, "end_load": 50.0}})
    outward = found.iloc[1:5]
    expected = slope_force(outward["displacement"].to_numpy(), (25.0, 50.0))
    # The layer gives way by 0.2 to 0.3 mm, which adds to the 25 mm between the centres.
    assert outward["load"].to_numpy() == pytest.approx(expected, rel=0.015)
    stiff, _ = loop(bench(SPHERES, modulus=4000.0), **{test: {"amplitude": 4.0, "end_load": 50.0}})
    # A stiffer layer is nearer to the rigid dish; the small contact, of fewer elements, is rougher.
    error, stiff_error = (
        np.abs(one["load"].iloc[2:5].to_numpy() / expected[1:] - 1.0).mean()
        for one in (found, stiff)
    )
    assert stiff_error < 0.5 * error


def test_cylinder_in_a_trough_resists_with_load_times_slope(bench):
    trough = {"plateau_sagittal_radius_mm": 60.0}
    found, summary = loop(bench(trough), anterior_posterior={"amplitude": 6.0, "end_load": 50.0})
    outward = found.iloc[2:5]
    expected = slope_force(outward["displacement"].to_numpy(), (21.11, 60.0))
    assert outward["load"].to_numpy() == pytest.approx(expected, rel=0.01)
    end = (60.0 - 21.11) * np.sin(np.arctan(50.0 / LOAD))
    # Read between the steps of 1.5 mm.
    assert summary["positive_end"] == pytest.approx(end, rel=0.02)
    assert summary["negative_end"] == pytest.approx(-end, rel=0.02)


def test_friction_widens_the_loop_by_its_coefficient_times_the_load(bench):
    ap = {"anterior_posterior": {"amplitude": 4.0, "end_load": 50.0}}
    rubbing, summary = loop(bench(SPHERES, friction=0.04), friction=0.04, **ap)
    free, _ = loop(bench(SPHERES), **ap)
    assert summary["hysteresis"] == pytest.approx(0.04 * LOAD, rel=3e-3)
    work = np.trapezoid(rubbing["load"], rubbing["displacement"])
    # From the second branch on the loop is closed; the first quarter does work of friction, too.
    assert work > 0.0
    closed = free.iloc[4:]
    # Without friction nothing is lost between two visits of one position.
    assert abs(np.trapezoid(closed["load"], closed["displacement"])) < 1e-3 * work


def test_turning_takes_load_times_slope_times_lever(bench):
    turns = {"internal_external": {"amplitude": 12.0, "end_load": 1.0}}
    one = bench(SPHERES)
    lever = 0.5 * (one.middles[0] - one.middles[1])
    found, summary = loop(one, **turns)
    angle = np.radians(found["displacement"].iloc[2:5].to_numpy())
    # Each condyle moves on a circle of this radius, away from the bottom of its dish along a chord
    # that makes half the angle with the direction in which it turns.
    force = slope_force(2.0 * lever * np.sin(angle / 2.0), (25.0, 50.0))
    expected = 1e-3 * force * lever * np.cos(angle / 2.0)
    assert found["load"].iloc[2:5].to_numpy() == pytest.approx(expected, rel=0.02)
    assert summary["load_unit"] == "N m"
    _, rubbing = loop(bench(SPHERES, friction=0.04), friction=0.04, **turns)
    assert rubbing["hysteresis"] == pytest.approx(1e-3 * 0.04 * LOAD * lever, rel=0.005)


def test_tipping_moment_is_load_times_lever_until_a_condyle_lifts_off(bench):
    one = bench(SPHERES)
    found, summary = loop(one, varus_valgus={"amplitude": 1.5, "end_load": 5.0})
    assert summary["subluxation"] == "condyle lifts off"
    # One condyle carries all, half the spacing from the load, N m.
    assert summary["peak_load"] == pytest.approx(1e-3 * LOAD * one.middles[0], rel=0.02)
    lifted = found["displacement"] == summary["subluxation_at"]
    assert found.loc[lifted, ["medial_force_n", "lateral_force_n"]].min(axis=1).iloc[0] < 7.1


def test_distraction_takes_the_whole_load(bench):
    found, summary = loop(bench({}), distraction={"amplitude": 0.3, "end_load": 100.0})
    assert summary["peak_load"] == pytest.approx(LOAD, rel=1e-9)
    assert found["load"].is_monotonic_increasing


def test_steps_too_far_for_the_dish_are_said_to_leave_it(bench):
    # A short, deep dish: the condyle reaches its rim.
    dish = {"plateau_sagittal_radius_mm": 24.0, "plateau_half_length_mm": 8.0}
    _, summary = loop(bench(dish), anterior_posterior={"amplitude": 12.0, "end_load": 50.0})
    assert summary["subluxation"] in ("load falls beyond its peak", "no equilibrium")
    assert 0.0 < abs(summary["subluxation_at"]) <= 12.0


def test_whole_loops_repeat_and_mirror(bench):
    found, _ = loop(bench(SPHERES), medial_lateral={"amplitude": 3.0, "end_load": 50.0})
    load = found["load"].to_numpy()
    # 0 to 1, to -1, to 1: the last branch passes the first one's positions.
    assert load[16:21] == pytest.approx(load[0:5], abs=1e-3 * LOAD)
    assert load[8:13] == pytest.approx(-load[0:5], abs=1e-3 * LOAD)


def test_designs_are_compared_with_the_first_as_ratio_and_difference(bench):
    """Deeper dishes are stiffer and less lax by the difference of the radii."""
    deep = {**SPHERES, "plateau_sagittal_radius_mm": 40.0, "plateau_coronal_radius_mm": both(40.0)}
    settings = settings_of(anterior_posterior={"amplitude": 4.0, "end_load": 50.0})
    loops = [
        drive_loops(bench(shape), settings, 0.0, name)
        for name, shape in (("shallow", SPHERES), ("deep", deep))
    ]
    found = compare_designs(summarise_loops(pd.concat(loops), settings))
    assert len(found) == 1
    row = found.iloc[0]
    assert (row["first"], row["second"]) == ("shallow", "deep")
    # By the radii 25 / 15 and 15 / 25, which differ by the same layer of 0.3 mm.
    assert row["stiffness_ratio"] == pytest.approx(25.0 / 15.0, rel=0.03)
    assert row["laxity_ratio"] == pytest.approx(15.0 / 25.0, rel=0.03)
    assert row["stiffness_difference"] == pytest.approx(LOAD / 15.0 - LOAD / 25.0, rel=0.05)
    assert row["laxity_difference"] == pytest.approx(
        row["positive_end_difference"] - row["negative_end_difference"]
    )
    assert compare_designs(summarise_loops(loops[0], settings)).empty


def test_settings_without_a_test_are_refused():
    with pytest.raises(ValueError, match="expected at least one of anterior_posterior"):
        settings_of()
    with pytest.raises(ValueError, match="greater than 0"):
        LaxityTestSettings(amplitude=0.0, end_load=1.0)


def test_a_held_height_under_an_axial_load_is_refused():
    free = {**COMMON, "free": ("anterior_posterior", "varus_valgus")}
    with pytest.raises(ValueError, match="superior_inferior among them"):
        LaxitySettings(
            **free, **(dict.fromkeys(TESTS) | {"distraction": {"amplitude": 1.0, "end_load": 1.0}})
        )


def test_a_load_that_friction_reaches_is_reached_at_rest(bench):
    ml = {"medial_lateral": {"amplitude": 2.0, "end_load": 10.0}}
    _, summary = loop(bench({}, friction=0.1), friction=0.1, **ml)
    # Friction of 71 N passes 10 N within the first step, and before zero on the way back.
    assert 0.0 < summary["positive_end"] < 0.5
    assert summary["negative_end"] == pytest.approx(0.0, abs=1e-12)
