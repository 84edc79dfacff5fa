"""Each kind of test of bearings at small size, and wear laws as levels of a study."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear import default_study
from kneewear.errors import InputDataError
from kneewear.mechanics.rotations import body_three_123
from kneewear.models.bearing_test.settings import BearingTest
from kneewear.models.bearing_test.simulation import BearingContact, wear_of_test
from kneewear.study.inputs import CaseInputs
from kneewear.study.plans import plan_cases
from kneewear.study.run import FAILURE, run_cases
from kneewear.study.settings import read_study
from kneewear.wear.law_settings import WEAR_LAWS
from tests.study.studies import CHECKOUT

pytestmark = pytest.mark.compiled
K = 1.0e-6  # mm3/(N m)
SPHERE = {"shape": "sphere", "radius_mm": 28.0, "thickness_mm": 8.0}
BALL = {"shape": "ball_in_socket", "radius_mm": 14.0, "clearance_mm": 0.3, "thickness_mm": 8.0}
CYLINDER = {"shape": "cylinder", "radius_mm": 20.0, "length_mm": 6.0, "thickness_mm": 8.0}
PIN = {"shape": "flat_pin", "radius_mm": 4.5, "thickness_mm": 10.0}
CIRCLE = {"path": "circle", "diameter_mm": 8.0}
TESTS = {
    "flat pin, circle": (PIN, CIRCLE),
    "flat pin, rectangle": (PIN, {"path": "rectangle", "length_mm": 6.0, "width_mm": 2.0}),
    "flat pin, straight": (PIN, {"path": "straight", "stroke_mm": 8.0}),
    "flat pin, straight and turned": (
        PIN,
        {"path": "straight", "stroke_mm": 8.0, "rotation_deg": 20},
    ),
    "flat pin, random": (PIN, {"path": "random", "diameter_mm": 8.0, "turns": 4}),
    "flat pin, hypotrochoid": (
        PIN,
        {"path": "hypotrochoid", "fixed_mm": 3, "rolling_mm": 2, "arm_mm": 2, "turns": 2},
    ),
    "ring": (
        {"shape": "ring_pin", "inner_radius_mm": 3, "outer_radius_mm": 6, "thickness_mm": 8},
        {"path": "spin"},
    ),
    "sphere on plate": (SPHERE, CIRCLE),
    "sphere of polyethylene": (SPHERE | {"polyethylene": "pin"}, CIRCLE),
    "cylinder on plate": (CYLINDER, {"path": "straight", "stroke_mm": 8.0}),
    "cylinder of polyethylene": (
        CYLINDER | {"polyethylene": "pin"},
        {"path": "straight", "stroke_mm": 8.0},
    ),
    "socket, rocking": (BALL, {"path": "rocking", "angle_deg": 10.0}),
    "socket, rotations": (
        BALL | {"inclination_deg": 20.0},
        {
            "path": "rotations",
            "flexion": {"low_deg": -10, "high_deg": 10},
            "rotation": {"low_deg": -3, "high_deg": 3, "phase_deg": 90},
        },
    ),
    "ball of polyethylene": (BALL | {"polyethylene": "ball"}, {"path": "rocking", "angle_deg": 5}),
}


def contact_of(name, **changes):
    bearing, motion = TESTS[name]
    test = {
        "bearing": bearing,
        "motion": motion,
        "load": {"low_n": 100.0, "high_n": 300.0},
        "million_cycles": 0.5,
        "frames": 60,
        "element_mm": 0.6,
    }
    return BearingContact(BearingTest.model_validate(test | changes), default_study().simulation)


def wear_settings(**changes):
    wear = default_study().wear
    return wear.model_copy(
        update={"wear_factor_mm3_per_n_m": K, "creep_mm_per_mpa": 0.0, "wear_law": "archard"}
        | changes
    )


@pytest.mark.parametrize("name", TESTS)
def test_every_test_balances_its_load_and_wears_by_its_factor(name):
    contact = contact_of(name)
    result = wear_of_test(contact, wear_settings())
    force = contact.fresh["force"].values[0, :, 0]
    np.testing.assert_allclose(np.linalg.norm(force, axis=1), contact.load, rtol=1e-5)
    # Archard's law by pressure and sliding of each element gives back the factor.
    assert result.values["test_wear_factor"] == pytest.approx(K, rel=1e-6)
    assert result.values["wear_rate"] > 0.0
    bearing = contact.test.bearing
    if bearing.shape in ("flat_pin", "ring_pin") or getattr(bearing, "polyethylene", "") == "pin":
        assert result.values["loaded_part"] > 0.9
    # Elements reach beyond the contact where neither body ends.
    if contact.test.bearing.shape in ("sphere", "ball_in_socket"):
        assert result.values["border_pressure"] == 0.0


def test_contact_migrates_over_a_plate_and_not_over_a_pin():
    plate, pin = (
        wear_of_test(contact_of(name), wear_settings()).values
        for name in ("sphere on plate", "sphere of polyethylene")
    )
    assert pin["loaded_part"] == pytest.approx(1.0, abs=0.1)
    assert plate["loaded_part"] < 0.5
    # The same volume, on a track as against a spot: 4 mm of radius and the contact's own beyond.
    assert plate["wear_rate"] == pytest.approx(pin["wear_rate"], rel=0.02)
    assert plate["mark_area"] > 3.0 * pin["mark_area"]
    assert plate["max_wear_depth"] < pin["max_wear_depth"]


def test_circular_and_straight_paths_have_the_extremes_of_cross_shear():
    circular, straight = (
        wear_of_test(contact_of(f"flat pin, {path}"), wear_settings()).values["cross_shear"]
        for path in ("circle", "straight")
    )
    assert circular == pytest.approx(0.5, abs=1e-6)
    assert straight == pytest.approx(0.0, abs=1e-6)


def test_worn_surface_spreads_the_load():
    fresh, worn = (
        wear_of_test(contact_of("sphere of polyethylene", blocks=blocks), wear_settings()).values
        for blocks in (1, 6)
    )
    assert worn["mark_area"] > 1.5 * fresh["mark_area"]
    assert worn["max_wear_depth"] < 0.8 * fresh["max_wear_depth"]
    assert worn["wear_rate"] == pytest.approx(fresh["wear_rate"], rel=0.01)


def test_factor_ratio_of_a_test_multiplies_its_wear():
    once, more = (
        wear_of_test(contact_of("flat pin, random", factor_ratio=ratio), wear_settings()).values
        for ratio in (1.0, 1.23)
    )
    assert more["wear_rate"] == pytest.approx(1.23 * once["wear_rate"], rel=1e-9)


def test_laws_are_levels_of_a_study_and_contact_is_solved_once(monkeypatch):
    study = read_study(
        CHECKOUT / "config/evidence/measured_wear.yaml",
        {
            "variables": {"law": {"settings": ["wear.wear_law"], "values": list(WEAR_LAWS)}},
            "analyses": {},
        },
        defaults=CHECKOUT / "config/defaults.yaml",
    )
    solved = []
    solve = BearingContact.__call__
    monkeypatch.setattr(
        BearingContact, "__call__", lambda self, *grid: solved.append(1) or solve(self, *grid)
    )
    results = run_cases(study, plan_cases(study, []), CaseInputs(study, None, {}, exact=True))
    assert list(results["law"]) == list(WEAR_LAWS)
    assert (results[FAILURE] == "").all()
    assert len(solved) == 1
    by_law = results.set_index("law")["test_wear_factor"]
    assert by_law["cross_shear_saturation"] == pytest.approx(by_law["archard"], rel=1e-6)
    assert isinstance(results, pd.DataFrame)
    assert by_law["contact_area"] != by_law["archard"]


@pytest.mark.parametrize(
    ("thickness", "element", "penetration", "peak"),
    [
        # Boundary elements of an unbounded bonded layer, made independently: 0.0790 mm.
        (4.0, 0.25, 0.0790, None),
        (4.0, 0.12, 0.0790, None),
        # Hertz, closed form; the layer of 200 mm is 0.5 % stiffer.
        (200.0, 0.12, 0.10944, 23.373),
    ],
)
@pytest.mark.slow
def test_a_disc_under_a_ball_is_a_layer_without_ends(thickness, element, penetration, peak):
    settings = default_study().simulation
    coupled = type(settings)(**settings.model_dump() | {"contact": "coupled_layer"})
    test = contact_of(
        "sphere on plate",
        bearing=SPHERE | {"thickness_mm": thickness},
        motion={"path": "straight", "stroke_mm": 1.0},
        load={"low_n": 150.0, "high_n": 150.0},
        frames=8,
        element_mm=element,
    ).test
    found = BearingContact(test, coupled).fresh
    depth = SPHERE["radius_mm"] - found["translation"].values[0, :, 1]
    np.testing.assert_allclose(depth, penetration, rtol=6e-3)
    if peak is not None:
        assert float(found["pressure"].max()) == pytest.approx(peak, rel=5e-3)


def test_coupled_layer_is_refused_on_slopes_that_it_does_not_represent():
    settings = default_study().simulation
    coupled = type(settings)(**settings.model_dump() | {"contact": "coupled_layer"})
    small = contact_of("socket, rocking", frames=8, element_mm=2.0).test
    with pytest.raises(InputDataError, match="ball_in_socket"):
        BearingContact(small, coupled).fresh  # noqa: B018


def test_a_load_turns_with_the_metal_it_is_fixed_to_and_leans_to_the_inclined_side():
    name = "socket, rotations"
    load = {"low_n": 100.0, "high_n": 300.0}
    still, turning = (
        contact_of(name, load=load | {"fixed_to": body}) for body in ("polyethylene", "metal")
    )
    incline = np.radians(20.0)
    # An inclination leans the load to the positive side of the first axis.
    steady = np.array([np.sin(incline), -np.cos(incline), 0.0])
    np.testing.assert_allclose(still.direction, np.tile(steady, (60, 1)), atol=1e-12)
    turned = body_three_123(turning.poses[:, 3:]) @ steady
    assert np.ptp(turned[:, 0]) > 0.1
    np.testing.assert_allclose(turning.direction, turned, atol=1e-12)
    # The contact lies where the load points to.
    cycle = still.fresh
    force = cycle["force"].values[0, :, 0]
    np.testing.assert_allclose(
        force / np.linalg.norm(force, axis=1)[:, None], still.direction, atol=2e-3
    )
    assert cycle["centre_of_pressure"].values[0, :, 0, 0].mean() > 0.0


def test_contact_that_ends_with_the_pin_has_pressure_at_the_border():
    found = wear_of_test(contact_of("flat pin, circle"), wear_settings()).values
    assert found["border_pressure"] == pytest.approx(300.0 / (np.pi * 4.5**2), rel=0.2)
