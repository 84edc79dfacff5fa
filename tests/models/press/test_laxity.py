"""Laxity loops against rigid bearings, and what is reported of them."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.analysis.tables import analyse_results
from kneewear.models.press.tables import compare_laxity
from kneewear.motion.laxity import FALLEN, LIFTED, NONE, drive_path, tabulate_path
from tests.models.press.conftest import SPHERES, both, compute, press_study

LOAD = 710.0
pytestmark = pytest.mark.compiled


def path(coordinate, amplitude, end_load, **changes):
    """A test in a few steps."""
    common = {"steps": 4, "speed_mm_per_s": 10.0}
    return (
        {"coordinate": coordinate, "amplitude": amplitude, "end_load": end_load} | common | changes
    )


def loop(rig, shape, test, **changes):
    """Loop of one test, its displacements and loads, and its summary."""
    one = rig(shape, path=test, **changes)
    data = drive_path(one, one.press.path)
    summary = tabulate_path(data, one.press.path)
    return data["displacement"].values, data["load"].values, summary


def slope_force(displacement, radii, friction=0.0):
    """Horizontal force on a rigid sphere or cylinder in a dish: load times tangent of the slope.

    The slope is that at the contact, whose normal passes both centres; friction adds its angle.
    """
    slope = np.arcsin(displacement / (radii[1] - radii[0]))
    return LOAD * np.tan(slope + np.arctan(friction))


@pytest.mark.parametrize("test", ["anterior_posterior", "medial_lateral"])
def test_sphere_in_a_dish_resists_with_load_times_slope(rig, test):
    at, load, _ = loop(rig, SPHERES, path(test, 4.0, 50.0))
    expected = slope_force(at[1:5], (25.0, 50.0))
    # The layer gives way by 0.2 to 0.3 mm, which adds to the 25 mm between the centres.
    assert load[1:5] == pytest.approx(expected, rel=0.015)
    _, stiff, _ = loop(rig, SPHERES, path(test, 4.0, 50.0), modulus=4000.0)
    # A stiffer layer is nearer to the rigid dish; the small contact, of fewer elements, is rougher.
    error, stiff_error = (np.abs(one[2:5] / expected[1:] - 1.0).mean() for one in (load, stiff))
    assert stiff_error < 0.5 * error


def test_cylinder_in_a_trough_resists_with_load_times_slope(rig):
    trough = {"plateau_sagittal_radius_mm": 60.0}
    at, load, summary = loop(rig, trough, path("anterior_posterior", 6.0, 50.0))
    expected = slope_force(at[2:5], (21.11, 60.0))
    assert load[2:5] == pytest.approx(expected, rel=0.01)
    end = (60.0 - 21.11) * np.sin(np.arctan(50.0 / LOAD))
    # Read between the steps of 1.5 mm.
    assert summary["positive_end"] == pytest.approx(end, rel=0.02)
    assert summary["negative_end"] == pytest.approx(-end, rel=0.02)


def test_friction_widens_the_loop_by_its_coefficient_times_the_load(rig):
    test = path("anterior_posterior", 4.0, 50.0)
    at, load, summary = loop(rig, SPHERES, test, friction=0.04)
    assert summary["hysteresis"] == pytest.approx(0.04 * LOAD, rel=3e-3)
    work = np.trapezoid(load, at)
    # From the second branch on the loop is closed; the first quarter does work of friction, too.
    assert work > 0.0
    at, load, _ = loop(rig, SPHERES, test)
    # Without friction nothing is lost between two visits of one position.
    assert abs(np.trapezoid(load[4:], at[4:])) < 1e-3 * work


def test_turning_takes_load_times_slope_times_lever(rig):
    turns = path("internal_external", 12.0, 1.0)
    one = rig(SPHERES)
    lever = 0.5 * (one.middles[0] - one.middles[1])
    at, load, summary = loop(rig, SPHERES, turns)
    angle = np.radians(at[2:5])
    # Each condyle moves on a circle of this radius, away from the bottom of its dish along a chord
    # that makes half the angle with the direction in which it turns.
    force = slope_force(2.0 * lever * np.sin(angle / 2.0), (25.0, 50.0))
    expected = 1e-3 * force * lever * np.cos(angle / 2.0)
    assert load[2:5] == pytest.approx(expected, rel=0.02)
    assert summary["load_unit"] == "N m"
    rubbing = loop(rig, SPHERES, turns, friction=0.04)[2]
    assert rubbing["hysteresis"] == pytest.approx(1e-3 * 0.04 * LOAD * lever, rel=0.005)


def test_tipping_moment_is_load_times_lever_until_a_condyle_lifts_off(rig):
    one = rig(SPHERES, path=path("varus_valgus", 1.5, 5.0))
    data = drive_path(one, one.press.path)
    summary = tabulate_path(data, one.press.path)
    assert summary["subluxation"] == LIFTED
    # One condyle carries all, half the spacing from the load, N m.
    assert summary["peak_load"] == pytest.approx(1e-3 * LOAD * one.middles[0], rel=0.02)
    lifted = data["displacement"].values == summary["subluxation_at"]
    assert data["vertical_force"].values[lifted].min(axis=1)[0] < 7.1


def test_distraction_takes_the_whole_load(rig):
    _, load, summary = loop(rig, {}, path("distraction", 0.3, 100.0))
    assert summary["peak_load"] == pytest.approx(LOAD, rel=1e-9)
    assert (np.diff(load) >= 0.0).all()


def test_steps_too_far_for_the_dish_are_reported_to_leave_it(rig):
    # A short, deep dish: the condyle reaches its rim.
    dish = {"plateau_sagittal_radius_mm": 24.0, "plateau_half_length_mm": 8.0}
    summary = loop(rig, dish, path("anterior_posterior", 12.0, 50.0))[2]
    assert summary["subluxation"] in (FALLEN, NONE)
    assert 0.0 < abs(summary["subluxation_at"]) <= 12.0


def test_whole_loops_repeat_and_mirror(rig):
    _, load, _ = loop(rig, SPHERES, path("medial_lateral", 3.0, 50.0))
    # 0 to 1, to -1, to 1: the last branch passes the first one's positions.
    assert load[16:21] == pytest.approx(load[0:5], abs=1e-3 * LOAD)
    assert load[8:13] == pytest.approx(-load[0:5], abs=1e-3 * LOAD)


def test_a_load_that_friction_reaches_is_reached_at_rest(rig):
    summary = loop(rig, {}, path("medial_lateral", 2.0, 10.0), friction=0.1)[2]
    # Friction of 71 N passes 10 N within the first step, and before zero on the way back.
    assert 0.0 < summary["positive_end"] < 0.5
    assert summary["negative_end"] == pytest.approx(0.0, abs=1e-12)


def test_designs_are_compared_with_the_first_as_ratio_and_difference():
    """Deeper dishes are stiffer and less lax by the difference of the radii."""
    deep = {**SPHERES, "plateau_sagittal_radius_mm": 40.0, "plateau_coronal_radius_mm": both(40.0)}
    study = press_study(
        {},
        path=path("anterior_posterior", 4.0, 50.0),
        variables={
            "design": {
                "settings": ["implant.parametric"],
                "blocks": {"shallow": SPHERES, "deep": deep},
            },
            "test": {
                "settings": ["press.path"],
                "blocks": {
                    "anterior_posterior": {},
                    "distraction": {"coordinate": "distraction", "amplitude": 0.2},
                },
            },
        },
        analyses={"loops": {}, "compared_laxity": {"between": "design"}},
    )
    results, data = compute(study)
    tables = analyse_results(study, results, data)
    assert len(tables["laxity_comparison"]) == 1
    row = tables["laxity_comparison"].iloc[0]
    assert (row["first"], row["second"]) == ("shallow", "deep")
    # By the radii 25 / 15 and 15 / 25, which differ by the same layer of 0.3 mm.
    assert row["stiffness_ratio"] == pytest.approx(25.0 / 15.0, rel=0.03)
    assert row["laxity_ratio"] == pytest.approx(15.0 / 25.0, rel=0.03)
    assert row["stiffness_difference"] == pytest.approx(LOAD / 15.0 - LOAD / 25.0, rel=0.05)
    assert row["laxity_difference"] == pytest.approx(
        row["positive_end_difference"] - row["negative_end_difference"]
    )
    only = results[results["design"] == "shallow"]
    assert compare_laxity(only, "design", ["test"]).empty
    loops = tables["loops"]
    assert loops.groupby("case")["step"].count().tolist() == [21, 5, 21, 5]
    for _, steps in loops.groupby("case"):
        carried = (steps["medial_force_n"] + steps["lateral_force_n"] + steps["load"]).iloc[-1]
        wanted = LOAD if steps["test"].iloc[0] == "distraction" else carried
        assert carried == pytest.approx(wanted, rel=1e-6)


HYPERCUBE = "tests/models/press/laxity_of_radii.yaml"


@pytest.mark.slow
def test_laxity_over_a_latin_hypercube_of_radii_is_one_file():
    """Stiffness of spheres in dishes: load over the difference of the radii."""
    from kneewear import default_settings_file
    from kneewear.study.settings import read_study

    study = read_study(HYPERCUBE, defaults=default_settings_file())
    results, data = compute(study)
    assert len(results) == 10
    gap = results["dish"] - results["condyle"]
    # The layer of 0.3 mm adds to the distance of the centres, and the elements of small contacts.
    assert results["stiffness"].to_numpy() == pytest.approx(LOAD / gap.to_numpy(), rel=0.05)
    tables = analyse_results(study, results, data)
    effects = tables["effects"].set_index(["quantity", "variable"])
    assert effects.loc[("stiffness", "dish"), "effect"] < 0.0
    assert effects.loc[("stiffness", "condyle"), "effect"] > 0.0
    assert effects.loc[("stiffness", "dish"), "unit"] == "N/mm"
    response = tables["response"].set_index("quantity")
    assert response.loc["stiffness", "r2"] > 0.95
