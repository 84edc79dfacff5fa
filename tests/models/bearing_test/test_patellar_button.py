"""A dome in the groove of a trochlea, with motion and force from a file."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kneewear import default_study
from kneewear.contact.foundation import confined_modulus
from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh
from kneewear.models.bearing_test.bearings import ball, trochlea
from kneewear.models.bearing_test.checks import judge_patella
from kneewear.models.bearing_test.compute import chosen_contact
from kneewear.models.bearing_test.figures import draw_worn_bearings
from kneewear.models.bearing_test.motions import patellar_cycle
from kneewear.models.bearing_test.settings import BearingTest, PatellarButton
from kneewear.models.bearing_test.simulation import BearingContact, wear_of_test
from kneewear.study.files import FileReader
from kneewear.study.inputs import CaseInputs
from kneewear.study.models import MODELS
from kneewear.study.plans import plan_cases
from kneewear.study.run import FAILURE, run_cases
from kneewear.study.settings import read_study
from tests.refusals import refusal
from tests.study.studies import CHECKOUT

DATA = Path(os.environ.get("KNEEWEAR_DATA") or CHECKOUT / "../shared/data").resolve()
pytestmark = pytest.mark.compiled

BUTTON = {
    "shape": "patellar_button",
    "dome_radius_mm": 25.0,
    "half_width_mm": 15.0,
    "groove_radius_mm": 30.0,
    "groove_half_width_mm": 16.0,
    "trochlea_radius_mm": 22.0,
    "thickness_mm": 8.0,
}
FORCE = 500.0
RATIO = [[0.0, 0.4], [90.0, 1.0]]


def contact_of(curves, bearing=BUTTON, lateral=True, tilt=False, **changes):
    columns = {"flexion": "flexion", "quadriceps_n": "quadriceps_n", "proximal_mm": "proximal_mm"}
    if tilt:
        columns["varus"] = "varus"
    if lateral:
        columns["lateral_mm"] = "lateral_mm"
    test = {
        "bearing": bearing,
        "motion": {"path": "patella", "file": "x.csv", "columns": columns, "force_ratio": RATIO},
        "million_cycles": 1.0,
        "frames": 8,
        "element_mm": 0.3,
    }
    settings = default_study().simulation
    return BearingContact(BearingTest.model_validate(test | changes), settings, curves)


def curves_of(flexion, **more):
    flexion = np.atleast_1d(np.asarray(flexion, dtype=float))
    percent = 100.0 * np.arange(flexion.size) / flexion.size
    ratio = np.interp(flexion, *np.array(RATIO).T)
    return pd.DataFrame(
        {"percent": percent, "flexion": flexion, "quadriceps_n": FORCE / ratio} | more
    )


@pytest.mark.parametrize("groove", [28.0, 35.0, 200.0])
def test_dome_in_a_groove_has_the_pressure_of_the_closed_form(groove):
    """F = pi K d^2 sqrt(R_x R_z) / h, p = K d / h: a foundation under an elliptic paraboloid."""
    width = min(16.0, groove)
    shape = BUTTON | {"groove_radius_mm": groove, "groove_half_width_mm": width}
    found = contact_of(curves_of(30.0), shape).fresh
    settings = default_study().simulation
    stiffness = confined_modulus(settings.youngs_modulus_mpa, settings.poisson_ratio) / 8.0
    along = 1.0 / (1.0 / 25.0 + 1.0 / 22.0)
    across = 1.0 / (1.0 / 25.0 - 1.0 / groove)
    depth = math.sqrt(FORCE / (math.pi * stiffness * math.sqrt(along * across)))
    # A paraboloid for circles of contacts up to 10 mm wide, and elements of 0.3 mm: 1 to 2 %.
    peak = found.max_pressure.values[0, :, 0]
    np.testing.assert_allclose(peak, stiffness * depth, rtol=0.02)
    area = 2.0 * math.pi * depth * math.sqrt(along * across)
    np.testing.assert_allclose(found.contact_area.values[0, :, 0], area, rtol=0.03)


def test_force_is_that_of_the_quadriceps_times_the_ratio_at_the_flexion():
    flexion = 45.0 + 45.0 * np.cos(2.0 * np.pi * np.arange(8) / 8)
    curves = curves_of(flexion).assign(quadriceps_n=800.0)
    contact = contact_of(curves)
    expected = 800.0 * (0.4 + 0.6 * flexion / 90.0)
    np.testing.assert_allclose(contact.load, expected, rtol=1e-12)
    force = contact.fresh["force"].values[0, :, 0]
    np.testing.assert_allclose(-force[:, 1], expected, rtol=1e-6)


def test_flexion_slides_the_groove_by_radius_times_angle():
    """Wear of a centred button: factor times force times the way R dtheta of the groove."""
    amplitude = math.radians(10.0)
    angle = np.degrees(amplitude) * (1.0 + np.cos(2.0 * np.pi * np.arange(48) / 48))
    contact = contact_of(curves_of(angle), frames=48, element_mm=0.5)
    wear = default_study().wear.model_copy(
        update={"wear_factor_mm3_per_n_m": 1e-6, "creep_mm_per_mpa": 0.0, "wear_law": "archard"}
    )
    values = wear_of_test(contact, wear).values
    way = 4.0 * amplitude * 22.0
    # Central differences of 48 frames, and points beside the bottom that slide further: 1 %.
    assert values["wear_rate"] == pytest.approx(1e-9 * FORCE * way * 1e6, rel=0.015)
    assert values["cross_shear"] < 0.01


def test_button_settles_in_the_groove_where_its_position_is_not_given():
    shifted = contact_of(curves_of(20.0, lateral_mm=1.0)).fresh
    settled = contact_of(curves_of(20.0), lateral=False).fresh
    assert abs(shifted["force"].values[0, 0, 0, 2]) > 10.0
    np.testing.assert_allclose(settled["force"].values[0, :, 0, 2], 0.0, atol=1e-5 * FORCE)
    np.testing.assert_allclose(settled.translation.values[0, :, 2], 0.0, atol=1e-3)


def anatomic(**changes):
    return {
        "shape": "anatomic_button",
        "sagittal_radius_mm": 40.0,
        "ridge_radius_mm": 12.0,
        "ridge_half_width_mm": 5.0,
        "facet_radius_mm": 30.0,
        "half_width_mm": 15.0,
        "groove_radius_mm": 13.0,
        "groove_half_width_mm": 5.2,
        "flank_radius_mm": 28.0,
        "trochlea_radius_mm": 25.0,
        "thickness_mm": 8.0,
    } | changes


def test_wide_ridge_of_one_radius_in_a_wide_groove_is_the_dome():
    ridge = anatomic(
        sagittal_radius_mm=25.0,
        ridge_radius_mm=25.0,
        ridge_half_width_mm=12.0,
        groove_radius_mm=30.0,
        groove_half_width_mm=16.0,
        trochlea_radius_mm=22.0,
    )
    dome, found = (
        contact_of(curves_of([10.0, 40.0]), shape, lateral=False).fresh for shape in (BUTTON, ridge)
    )
    for name in ("max_pressure", "contact_area"):
        # The elements of both divide the same plan otherwise.
        np.testing.assert_allclose(found[name].values, dome[name].values, rtol=0.01)


def test_facets_and_flanks_carry_a_button_that_is_tilted():
    """Both facets carry alike without tilt; a prescribed tilt loads one of them, and its mirror."""
    conforming = anatomic(ridge_radius_mm=12.9, facet_radius_mm=28.3)
    curves = curves_of(30.0, lateral_mm=0.0)
    straight = contact_of(curves, conforming).fresh
    np.testing.assert_allclose(straight.rotation.values[0, :, 0], 0.0, atol=1e-6)
    sides = []
    for tilt in (3.0, -3.0):
        contact = contact_of(curves.assign(varus=tilt), conforming, tilt=True)
        across = contact.bearing.grid.centre[0][..., 2]
        weight = contact.fresh["pressure"].values[0, 0, 0] * contact.bearing.grid.area[0]
        sides.append(float(np.nansum(weight * across) / np.nansum(weight)))
    assert abs(sides[0]) > 1.0
    assert sides[1] == pytest.approx(-sides[0], rel=1e-3)


def mesh_of(surface, count=161):
    """Triangles of a surface, m."""
    u, v = (np.linspace(*surface.domain[axis], count) for axis in (0, 1))
    points = surface.evaluate(*(part.ravel() for part in np.meshgrid(u, v, indexing="ij")))
    number = np.arange(count * count).reshape(count, count)
    a, b, c, d = (
        part.ravel()
        for part in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:])
    )
    faces = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    return TriangleMesh(1e-3 * points.reshape(-1, 3), faces)


def from_files():
    """Button and trochlea of `BUTTON` as sheets in axes of their own, and settings of them."""
    to_knee = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
    dome = ball(25.0, (1.0, 1.0)).transformed(np.diag([1.0, -1.0, -1.0]), [3.0, 7.0, -2.0])
    groove = trochlea(PatellarButton.model_validate(BUTTON)).transformed(to_knee, [4.0, -5.0, 0.0])
    settings = {
        "shape": "fitted_button",
        "button": "b.stl",
        "trochlea": "t.stl",
        "unit": "m",
        "button_axes": {"x": "superior", "y": "posterior", "z": "lateral"},
        "trochlea_axes": {"x": "posterior", "y": "superior", "z": "medial"},
        "half_width_mm": 15.0,
        "condyles_mm": [11.9, 12.1],
        "trochlea_half_width_mm": 14.0,
        "trochlea_angle_deg": [-150.0, 0.0],
        "mean_tolerance_mm": 0.002,
        "thickness_mm": 8.0,
    }
    return {"button": mesh_of(dome), "trochlea": mesh_of(groove)}, settings


def test_button_from_files_is_that_of_its_shape():
    meshes, settings = from_files()
    curves = curves_of([10.0, 40.0], varus=0.0)
    given = contact_of(curves, BUTTON, lateral=False).fresh
    contact = contact_of(curves, settings, lateral=False, tilt=True)
    found = BearingContact(contact.test, contact.settings, curves, meshes).fresh
    # Fitted within 2 um on average, 1 % of the penetration.
    for name in ("max_pressure", "contact_area"):
        np.testing.assert_allclose(found[name].values, given[name].values, rtol=0.02)
    np.testing.assert_allclose(found.translation.values, given.translation.values, atol=0.02)


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "gc_dm").is_dir(), reason="the data of subject DM are not here")
def test_real_button_rests_on_both_flanks():
    study = read_study(
        CHECKOUT / "config/evidence/patellar_button_dm.yaml",
        {"variables": {}, "wear_test": {"tests": {"gait": {"frames": 12}}}},
        defaults=CHECKOUT / "config/defaults.yaml",
    )
    inputs = CaseInputs(study, None, {}, exact=True, reader=FileReader(CHECKOUT))
    contact = chosen_contact(study, inputs)
    across = contact.bearing.grid.centre[0][..., 2]
    for pressure in contact.fresh["pressure"].values[0, :, 0]:
        loaded = across[pressure > 0.0]
        assert loaded.min() < -5.0 < 5.0 < loaded.max()
    assert np.abs(np.degrees(contact.fresh.rotation.values[0, :, 0])).max() < 2.0


def test_curves_are_periodic_between_their_samples():
    motion = contact_of(curves_of(0.0)).test.motion
    curves = curves_of([10.0, 30.0], proximal_mm=[1.0, 2.0])
    poses, _ = patellar_cycle(curves, motion, 4)
    np.testing.assert_allclose(np.degrees(poses[:, 5]), [10.0, 20.0, 30.0, 20.0])
    np.testing.assert_allclose(poses[:, 0], [1.0, 1.5, 2.0, 1.5])


def shipped(**test):
    return read_study(
        CHECKOUT / "config/patellar_button.yaml",
        {"variables": {}, "wear_test": {"tests": {"gait": test}}},
        defaults=CHECKOUT / "config/defaults.yaml",
    )


def test_shipped_study_reads_its_file_and_wears():
    study = shipped(frames=12, element_mm=1.5)
    inputs = CaseInputs(study, None, {}, exact=True, reader=FileReader(CHECKOUT))
    kept = MODELS[study.model].collect(study, inputs)
    (row,) = run_cases(study, plan_cases(study), inputs, kept.add).to_dict("records")
    assert row[FAILURE] == ""
    assert row["wear_rate"] > 0.0
    assert row["border_pressure"] == 0.0
    assert float(kept.total["max_pressure"].max()) == pytest.approx(row["max_pressure"])
    assert float(kept.total["wear_depth"].max()) == pytest.approx(row["max_wear_depth"])
    (figure,) = draw_worn_bearings(kept.total, {row["case"]: ""}).values()
    depths, pressures = (axes.collections[0].get_array() for axes in figure.axes[:2])
    assert np.nanmax(depths) == pytest.approx(row["max_wear_depth"])
    assert np.nanmax(pressures) == pytest.approx(row["max_pressure"])


@pytest.mark.parametrize(
    ("test", "place"),
    [
        ({"bearing": {"dome_radius_mm": 60.0}}, "bearing.dome_radius_mm"),
        ({"bearing": {"groove_half_width_mm": 31.0}}, "bearing.groove_half_width_mm"),
        ({"motion": {"force_ratio": [[20, 0.5], [0, 0.3]]}}, "motion.force_ratio"),
        ({"motion": {"columns": {"tilt": "tilt_deg"}}}, "motion.columns.tilt"),
        ({"load": {"low_n": 10.0, "high_n": 20.0}}, "load"),
    ],
)
def test_fault_is_stated_at_its_key(test, place):
    where = refusal(shipped, **test).where
    assert where.endswith(f"key wear_test.tests.gait.{place}")


CURVES = pd.read_csv(CHECKOUT / "config/patella/gait.csv", comment="#").rename(
    columns={"flexion_deg": "flexion", "tilt_deg": "varus", "rotation_deg": "rotation"}
)


@pytest.mark.parametrize(
    ("changed", "check"),
    [
        ({"flexion": -CURVES["flexion"]}, "patella.flexion"),
        ({"flexion": 30.0}, "patella.flexion_range"),
        ({"varus": np.radians(CURVES["varus"])}, "patella.angle_range"),
        ({"varus": 90.0}, "patella.angle"),
        ({"proximal_mm": 1e-3 * CURVES["proximal_mm"]}, "patella.position_range"),
        ({"proximal_mm": 1e3 * CURVES["proximal_mm"]}, "patella.position"),
        ({"quadriceps_n": 1e-3 * CURVES["quadriceps_n"]}, "patella.peak_force"),
        ({"quadriceps_n": -CURVES["quadriceps_n"]}, "patella.least_force"),
        ({"proximal_mm": CURVES["proximal_mm"].where(CURVES.index != 20, 15.0)}, "motion.spike"),
        ({"flexion": CURVES["flexion"] + 0.2 * CURVES["percent"]}, ""),
        ({}, None),
    ],
)
def test_curves_of_a_patella_are_judged(changed, check):
    motion = shipped().wear_test.chosen.motion
    try:
        found = [one.check for one in judge_patella(CURVES.assign(**changed), motion)]
    except InputDataError as error:
        found = [error.finding.check]
    assert found == ([] if check is None else [check])
