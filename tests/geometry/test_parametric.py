"""The built-in implant is what its settings say."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear import default_study
from kneewear.base.sides import SIDES
from kneewear.geometry.implant_sources import check_thickness
from kneewear.geometry.parametric import (
    build_parametric_implant,
)
from tests.geometry.exact_arcs import measure_parametric_implant
from tests.refusals import refusal

SETTINGS = default_study().implant.parametric
NOMINAL = 6.0
TOP = NOMINAL + SETTINGS.extra_thickness_mm
IMPLANT = build_parametric_implant(SETTINGS, "built in", NOMINAL)
SIGN = {"medial": 1.0, "lateral": -1.0}
# Exact arcs: what is left is rounding of radii of up to 600 mm.
EXACT = 1e-11
ACROSS = np.linspace(0.0, 1.0, 401)
ROUND = np.linspace(0.0, 1.0, 41)


def lowest_line(side):
    """Coronal profile of a condyle at the bottom of its arc: z and radius about the axis."""
    points = IMPLANT.femoral[side].evaluate(0.5, ACROSS)
    return points[:, 2], np.hypot(points[:, 0], points[:, 1])


def dish(side):
    """Coronal profile of a plateau in its middle: z and height."""
    points = IMPLANT.insert[side].evaluate(0.5, ACROSS)
    assert np.abs(points[:, 0]).max() < EXACT
    return points[:, 2], points[:, 1]


@pytest.mark.parametrize("side", SIDES)
def test_condyle_is_of_revolution_about_the_flexion_axis(side):
    points = IMPLANT.femoral[side].evaluate(ROUND[:, None], ACROSS[None, :])
    radius = np.hypot(points[..., 0], points[..., 1])
    assert np.ptp(radius, axis=0).max() < EXACT
    assert np.ptp(points[..., 2], axis=0).max() < EXACT
    assert radius.max() == pytest.approx(SETTINGS.femoral_sagittal_radius_mm, abs=1e-4)


@pytest.mark.parametrize("side", SIDES)
def test_condyles_coronal_profile_is_two_rims_and_an_arc(side):
    z, radius = lowest_line(side)
    arc = getattr(SETTINGS.femoral_coronal_radius_mm, side)
    middle = SIGN[side] * 0.5 * SETTINGS.condyle_spacing_mm
    away = np.abs(z - middle)
    land = away < SETTINGS.femoral_half_width_mm
    centre = SETTINGS.femoral_sagittal_radius_mm - arc
    assert np.hypot(away, radius - centre)[land] == pytest.approx(arc, abs=EXACT)
    # A rim's centre lies on the line from the arc's centre through the joint.
    tilt = np.arcsin(SETTINGS.femoral_half_width_mm / arc)
    rim = SETTINGS.femoral_edge_radius_mm
    position = (arc - rim) * np.array([np.sin(tilt), np.cos(tilt)]) + [0.0, centre]
    assert np.hypot(away - position[0], radius - position[1])[~land] == pytest.approx(
        rim, abs=EXACT
    )
    assert (~land).sum() > 20


@pytest.mark.parametrize("side", SIDES)
def test_plateaus_coronal_profile_is_two_rims_and_a_hollow(side):
    z, height = dish(side)
    arc = getattr(SETTINGS.plateau_coronal_radius_mm, side)
    rim = getattr(SETTINGS.plateau_edge_radius_mm, side)
    middle = SIGN[side] * (
        0.5 * SETTINGS.condyle_spacing_mm + getattr(SETTINGS.plateau_spacing_mismatch_mm, side)
    )
    away = np.abs(z - middle)
    land = away < SETTINGS.plateau_land_half_width_mm
    # Hollow: its centre stands above.
    assert np.hypot(away, TOP + arc - height)[land] == pytest.approx(arc, abs=EXACT)
    tilt = np.arcsin(SETTINGS.plateau_land_half_width_mm / arc)
    position = np.array([(arc + rim) * np.sin(tilt), TOP + arc - (arc + rim) * np.cos(tilt)])
    assert np.hypot(away - position[0], height - position[1])[~land] == pytest.approx(
        rim, abs=EXACT
    )
    assert height[np.argmin(away)] == pytest.approx(TOP, abs=1e-3)


@pytest.mark.parametrize("side", SIDES)
def test_plateau_is_a_dish_of_its_sagittal_radius(side):
    points = IMPLANT.insert[side].evaluate(ROUND, 0.5)
    axis = TOP + SETTINGS.plateau_sagittal_radius_mm
    radius = np.hypot(points[:, 0], axis - points[:, 1])
    assert radius == pytest.approx(SETTINGS.plateau_sagittal_radius_mm, abs=EXACT)
    assert points[:, 0].max() == pytest.approx(SETTINGS.plateau_half_length_mm, abs=EXACT)
    assert points[:, 0].min() == pytest.approx(-SETTINGS.plateau_half_length_mm, abs=EXACT)


@pytest.mark.parametrize("side", SIDES)
def test_thickness_at_the_lowest_line_is_nominal_plus_extra(side):
    points = IMPLANT.insert[side].evaluate(0.5, 0.5)
    assert IMPLANT.underside == 0.0
    assert IMPLANT.nominal_thickness == NOMINAL
    assert points[1] - IMPLANT.underside == pytest.approx(TOP, abs=EXACT)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("body", ["femoral", "insert"])
def test_pieces_join_without_a_kink(body, side):
    surface = getattr(IMPLANT, body)[side]
    near = 1e-9
    for knots, along_u in ((surface.knots_u, True), (surface.knots_v, False)):
        joints = np.unique(knots)[1:-1]
        for joint in joints:
            for other in np.linspace(0.05, 0.95, 7):
                before, after = (
                    (joint + sign * near, other) if along_u else (other, joint + sign * near)
                    for sign in (-1, 1)
                )
                assert surface.evaluate(*before) == pytest.approx(
                    surface.evaluate(*after), abs=1e-5
                )
                # Normals turn by no more than the largest curvature times the way between.
                turn = surface.normal(*before) - surface.normal(*after)
                assert np.abs(turn).max() < 1e-6


@pytest.mark.parametrize("side", SIDES)
def test_normals_point_out_of_the_material(side):
    femoral, insert = IMPLANT.femoral[side], IMPLANT.insert[side]
    points = femoral.evaluate(ROUND[:, None], ACROSS[None, ::10])
    normals = femoral.normal(ROUND[:, None], ACROSS[None, ::10])
    outward = points * [1.0, 1.0, 0.0]
    assert ((outward * normals).sum(-1) > 0).all()
    assert (insert.normal(ROUND[:, None], ACROSS[None, ::10])[..., 1] > 0.5).all()


def distance_to_profile(side, z, radius):
    """Signed distance, in the half plane through the axis, to arc and rims of a condyle."""
    arc = getattr(SETTINGS.femoral_coronal_radius_mm, side)
    rim = SETTINGS.femoral_edge_radius_mm
    away = np.abs(z - SIGN[side] * 0.5 * SETTINGS.condyle_spacing_mm)
    centre = SETTINGS.femoral_sagittal_radius_mm - arc
    tilt = np.arcsin(SETTINGS.femoral_half_width_mm / arc)
    on_arc = np.arctan2(away, radius - centre) < tilt
    rim_z, rim_height = (arc - rim) * np.sin(tilt), centre + (arc - rim) * np.cos(tilt)
    to_rim = np.hypot(away - rim_z, radius - rim_height) - rim
    return np.where(on_arc, np.hypot(away, radius - centre) - arc, to_rim)


@pytest.mark.parametrize("side", SIDES)
def test_distance_to_a_condyle_is_exact_over_arc_and_rims(side):
    random = np.random.default_rng(4)
    surface = IMPLANT.femoral[side]
    u, v = random.uniform(0.1, 0.9, 500), random.uniform(0.06, 0.94, 500)
    # As far as contact goes: 0.8 mm out of the metal and in.
    height = random.uniform(-0.8, 0.8, 500)
    points = surface.evaluate(u, v) + height[:, None] * surface.normal(u, v)
    _, _, distance, _, interior = surface.closest_points(points)
    exact = distance_to_profile(side, points[:, 2], np.hypot(points[:, 0], points[:, 1]))
    assert interior.all()
    # Newton steps end below 1e-5 mm, which leaves 1e-11 mm in the distance.
    assert distance == pytest.approx(exact, abs=1e-10)
    assert distance == pytest.approx(height, abs=1e-10)


def test_patches_are_measured_against_the_arcs():
    quality = measure_parametric_implant(IMPLANT, SETTINGS)
    assert {(fit.component, fit.side) for fit in quality} == {
        (component, side) for component in ("insert", "femoral") for side in SIDES
    }
    for fit in quality:
        # The issue asks for 0.002 mm; exact arcs leave rounding.
        assert fit.max_mm < EXACT
        assert fit.n_points > 7000


def test_an_insert_without_thickness_at_its_lowest_point_is_refused_and_no_other():
    implant = default_study().implant
    lowest = min(dish(side)[1].min() for side in SIDES) - NOMINAL
    # Samples of the check miss the lowest point by less than a micrometre.
    check_thickness(implant, 1e-3 - lowest)
    assert refusal(check_thickness, implant, -1e-3 - lowest).where == "key insert.thickness_mm"
    # Control points alone decide nothing where they are below the underside.
    net = min(IMPLANT.insert[side].control_points[..., 1].min() for side in SIDES) - NOMINAL
    assert net < lowest - 0.1
