"""A knee with one plateau: a unicompartmental implant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kneewear.analysis.tables import analyse_results
from kneewear.errors import InputDataError
from kneewear.mechanics.springs import Spring
from kneewear.motion.cases import simulate_cases
from kneewear.motion.laxity import drive_path
from kneewear.motion.press import Rig, solve_press
from kneewear.study.files import FileReader
from kneewear.study.inputs import CaseInputs, built_in_activities, exact_knee
from kneewear.study.settings import merge_settings, validate_study
from tests.models.press.conftest import compute, press_study
from tests.study.studies import CHECKOUT, COARSE, FACTORIAL, computed, shipped

NO_VARIABLES = {"variables": {}, "cases": {"plan": "factorial"}, "analyses": {}}
SIDES = ("medial", "lateral")


def study_of(*changes, base=COARSE):
    settings = merge_settings(base, NO_VARIABLES | {"simulation": {"distance": "exact"}})
    for change in changes:
        settings = merge_settings(settings, change)
    return validate_study(settings)


def single(side, **simulation):
    return {"implant": {"bearings": [side]}, "simulation": simulation}


def cycle(study, activity=None):
    activity = activity or built_in_activities(study)["gait"]
    return simulate_cases(exact_knee(study), activity, study.case_list(), study.simulation)


@pytest.fixture(scope="module")
def both():
    study = study_of()
    return study, cycle(study)


@pytest.mark.parametrize("side", SIDES)
def test_one_plateau_is_that_side_of_two_with_the_other_held(both, side):
    study, whole = both
    moved = replace(
        built_in_activities(study)["gait"],
        translation=whole.translation.values[0],
        rotation=whole.rotation.values[0],
    )
    alone = cycle(study_of(single(side, medial_lateral="held")), moved)
    assert alone["side"].values.tolist() == [side]
    for name in ("pressure", "slip", "force", "centre_of_pressure"):
        expected = whole[name].sel(side=side).values[0]
        found = alone[name].values[0][:, 0]
        # The equilibrium is solved to 1e-8 of the load.
        scale = np.nanmax(np.abs(expected))
        np.testing.assert_allclose(found, expected, atol=1e-6 * scale, err_msg=name)


@pytest.mark.parametrize("side", SIDES)
def test_one_plateau_carries_its_share_of_the_load(both, side):
    share = {"medial": 0.7, "lateral": 0.3}[side]
    alone = cycle(study_of(single(side)))
    total = both[1]["load"].values[0]
    np.testing.assert_allclose(alone["load"].values[0], share * total, rtol=1e-12)
    # The force on the insert.
    np.testing.assert_allclose(alone.force.values[0, :, 0, 1], -share * total, rtol=1e-7)
    # Nothing pushes along the free medial-lateral coordinate.
    np.testing.assert_allclose(alone.force.values[0, :, 0, 2], 0.0, atol=1e-7 * total.max())


def test_medial_lateral_spring_carries_what_the_slope_pushes():
    stiffness = 0.05
    alone = cycle(study_of(single("medial", medial_lateral_spring_per_mm=stiffness)))
    pushed = alone.force.values[0, :, 0, 2]
    away = alone.translation.values[0, :, 2]
    np.testing.assert_allclose(
        -pushed, stiffness * alone["load"].values[0] * away, atol=1e-6 * alone["load"].values.max()
    )


def test_forces_and_springs_of_a_simulator_act_on_one_plateau():
    """Anterior-posterior position from a force and a spring instead of from the motion."""
    study = study_of(single("medial", medial_lateral="held"))
    given = built_in_activities(study)["gait"]
    frames = given.percent.size
    push = np.zeros((frames, 6))
    push[:, 0] = 0.02
    driven = replace(
        given,
        prescribed=("z", "theta_1", "theta_2", "theta_3"),
        load_line=20.0,
        wrench=push,
        springs=(Spring("x", 10.0),),
    )
    found = cycle(study, driven)
    weight = study.patient.body_mass_kg * 9.81
    along = -found.force.values[0, :, 0, 0] - 10.0 * found.translation.values[0, :, 0]
    np.testing.assert_allclose(along, -0.7 * 0.02 * weight, atol=1e-4)


def test_forward_dynamics_of_one_plateau_follow_its_equilibria():
    quasi_static, forward = (
        cycle(study_of(single("medial", analysis=analysis, frames=20)))
        for analysis in ("quasi_static", "forward")
    )
    np.testing.assert_allclose(
        forward.max_pressure.values.max(), quasi_static.max_pressure.values.max(), rtol=0.01
    )


def test_tables_of_a_study_have_its_plateaus_and_the_whole_insert():
    study = study_of(
        single("lateral"),
        {"variables": {"thickness_mm": [6, 10]}, "cases": FACTORIAL},
    )
    row = computed(study).iloc[0]
    assert row["both_wear_volume"] == row["lateral_wear_volume"] > 0.0
    assert "medial_wear_volume" not in row.index


def test_dished_bearing_has_less_pressure_than_the_flat_one():
    flat = {"grid": {"rows": 40, "columns": 30}, "simulation": {"frames": 8}}
    dish = {
        "parametric": {
            "plateau_sagittal_radius_mm": 60.0,
            "femoral_coronal_radius_mm": {"medial": 60.0},
            "plateau_coronal_radius_mm": {"medial": 70.0},
        }
    }
    base = shipped("unicompartmental.yaml")
    peak, dished = (
        float(cycle(study_of(flat, *more, base=base)).max_pressure.max())
        for more in ((), ({"implant": dish},))
    )
    assert dished < 0.8 * peak


@pytest.mark.parametrize(
    ("changes", "at"),
    [
        ({"implant": {"bearings": []}}, "implant.bearings"),
        ({"implant": {"bearings": ["medial", "medial"]}}, "implant.bearings"),
        ({"implant": {"bearings": ["patella"]}}, "implant.bearings"),
    ],
)
def test_unknown_bearings_are_refused_at_their_place(changes, at):
    with pytest.raises(InputDataError) as error:
        study_of(changes)
    assert at in str(error.value)


@pytest.mark.parametrize("side", SIDES)
def test_pressed_plateau_is_that_side_of_two_under_its_part_of_the_load(side):
    """Two plateaus at a held varus, and each alone under the force that it carries of them."""
    press = {"free": ("superior_inferior",), "varus_offset_deg": 0.0, "medial_share": None}
    study = press_study({}, posterior_mm=0.0, medial_mm=0.0, **press)
    whole = solve_press(Rig(exact_knee(study).implant, study))
    number = SIDES.index(side)
    force = float(whole.equilibrium.contacts[number].wrench[1])
    alone = validate_study(
        merge_settings(
            study.model_dump(mode="json"),
            {"implant": {"bearings": [side]}, "press": {"load_n": force}},
        )
    )
    found = solve_press(Rig(exact_knee(alone).implant, alone))
    assert list(found.elements.cells) == [side]
    np.testing.assert_allclose(found.pose, whole.pose, atol=1e-7)
    expected = whole.equilibrium.contacts[number].pressure
    np.testing.assert_allclose(found.equilibrium.contacts[0].pressure, expected, rtol=1e-5)


def test_tables_of_a_pressed_plateau_name_no_other_side():
    study = press_study(
        {},
        flexion_deg=[0.0, 45.0],
        free=("superior_inferior", "anterior_posterior"),
        analyses={"contact": {}},
    )
    alone = validate_study(
        merge_settings(study.model_dump(mode="json"), {"implant": {"bearings": ["lateral"]}})
    )
    results = compute(alone).results
    tables = analyse_results(alone, results)
    assert set(tables["contact"]["side"]) == {"lateral", "all"}
    assert "medial_contact_area" not in results
    assert (results["lateral_force_superior"] + 710.0).abs().max() < 1e-3


def test_loop_of_one_plateau_has_its_force_alone():
    path = {
        "coordinate": "anterior_posterior",
        "amplitude": 1.0,
        "end_load": 10.0,
        "steps": 4,
        "speed_mm_per_s": 10.0,
    }
    study = press_study({}, free=("superior_inferior",), path=path)
    alone = validate_study(
        merge_settings(study.model_dump(mode="json"), {"implant": {"bearings": ["medial"]}})
    )
    rig = Rig(exact_knee(alone).implant, alone)
    loop = drive_path(rig, alone.press.path)
    assert loop["side"].values.tolist() == ["medial"]
    np.testing.assert_allclose(loop["vertical_force"].values, 710.0, rtol=1e-5)


def test_one_plateau_under_forces_and_springs_of_a_simulator_balances():
    held = {"control": {"varus": "held"}}
    study = study_of(
        NO_VARIABLES,
        {
            "implant": {"bearings": ["medial"]},
            "simulation": {"frames": 8, "analysis": "quasi_static"},
            "grid": COARSE["grid"],
            "table": COARSE["table"],
            "activities": {"displacement_control": held, "force_control": held},
        },
        base=shipped("example_simulator.yaml"),
    )
    inputs = CaseInputs(study, exact_knee(study), {}, exact=True, reader=FileReader(CHECKOUT))
    activities = inputs.activities(study)
    for name in ("displacement_control", "force_control"):
        found = inputs.cycles(study)[name]
        force = found["force"].values[0].sum(axis=1)
        share = study.simulation.medial_share
        weight = 9.81 * study.patient.body_mass_kg
        expected = share * weight * activities[name].load
        np.testing.assert_allclose(-force[:, 1], expected, rtol=0.01)
    moved = np.ptp(inputs.cycles(study)["force_control"]["translation"].values[0][:, 0])
    assert moved > 0.1
