"""The common normal of two surfaces: known sphere pairs, free-form pairs, warm starts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from kneewear import default_study
from kneewear.geometry.parametric import build_parametric_implant
from kneewear.geometry.table import tabulate_surface
from kneewear.mechanics.rotations import body_three_123
from kneewear.reference.impact import (
    conformal_indentation,
    convex_indentation,
    plane_indentation,
)
from kneewear.verification.common_normal import (
    find_common_normal,
    frame_patch,
    frame_table,
    guess_common_normal,
)
from tests.physics.bodies import UPRIGHT, plate, sphere

# A last step of 1e-7 mm leaves its square, and sums of numbers of the order of 100 mm.
ROUNDING = 1e-11
OVERTURNED = np.diag([-1.0, -1.0, 1.0])
BALL = sphere(26.4)
FIXED = {
    "convex": sphere(36.02).transformed(OVERTURNED, np.zeros(3)),
    "conformal": sphere(75.0).reversed_normal(),
    "plane": plate((-60.0, 60.0), (-60.0, 60.0)),
}
INDENTATION = {
    "convex": lambda centre: convex_indentation(np.linalg.norm(centre), 26.4, 36.02),
    "conformal": lambda centre: conformal_indentation(np.linalg.norm(centre), 26.4, 75.0),
    "plane": lambda centre: plane_indentation(centre[1], 26.4),
}
# Distance of the ball's centre from the other's, or height over the plane, where the two touch.
TOUCHING = {"convex": 26.4 + 36.02, "conformal": 75.0 - 26.4, "plane": 26.4}
TABLES = {name: tabulate_surface(surface, 25, 25) for name, surface in FIXED.items()}
BALL_TABLE = tabulate_surface(BALL, 25, 25)

small_angles = st.floats(-0.3, 0.3)


def place_ball(pair, gap, tilt_x, tilt_z):
    """Centre of the ball at a gap from the other surface, seen at a slant."""
    up = np.array(
        [np.sin(tilt_x), np.cos(tilt_x) * np.cos(tilt_z), np.cos(tilt_x) * np.sin(tilt_z)]
    )
    if pair == "plane":
        return np.array([40 * tilt_x, TOUCHING[pair] + gap, 40 * tilt_z])
    return up * (TOUCHING[pair] + gap) if pair == "convex" else -up * (TOUCHING[pair] - gap)


def contact_of(pair, rotation, centre):
    """Contact of the ball from a cold start."""
    start = guess_common_normal(TABLES[pair], BALL_TABLE, rotation, centre)
    fixed, moving = frame_patch(FIXED[pair]), frame_patch(BALL)
    return find_common_normal(fixed, moving, rotation, centre, start)


@pytest.mark.parametrize("pair", FIXED)
@settings(deadline=None, max_examples=50)
@given(
    gap=st.sampled_from([-1.0, -0.03, -1e-6, 0.0, 1e-6, 0.5, 8.0]),
    tilts=st.tuples(small_angles, small_angles),
    turns=st.tuples(small_angles, small_angles, small_angles),
)
def test_sphere_pairs_are_the_known_ones(pair, gap, tilts, turns):
    rotation, centre = body_three_123(turns), place_ball(pair, gap, *tilts)
    contact = contact_of(pair, rotation, centre)
    assert contact.gap == pytest.approx(gap, abs=ROUNDING)
    assert max(-contact.gap, 0.0) == pytest.approx(INDENTATION[pair](centre), abs=ROUNDING)
    # The ball's point lies on the line through the centres (or the plumb line).
    assert contact.points[1] == pytest.approx(centre - 26.4 * contact.normal, abs=1e-9)
    assert contact.iterations <= 8


def test_printed_condition_of_separation_would_lose_most_of_the_contact():
    # Eq. 5.28 with d > Ri: balls that overlap by 1 mm would count as apart.
    distance = 26.4 + 36.02 - 1.0
    assert distance > 26.4
    assert convex_indentation(distance, 26.4, 36.02) == pytest.approx(1.0)


@pytest.fixture(scope="module")
def knee():
    """Medial condyle and plateau of the built-in implant, with their tables."""
    study = default_study()
    implant = build_parametric_implant(
        study.implant.parametric, "built in", study.implant.nominal_thickness_mm
    )
    surfaces = implant.insert["medial"], implant.femoral["medial"]
    return surfaces, tuple(tabulate_surface(surface, 61, 41) for surface in surfaces)


def lowest_gap(knee, rotation, translation, start):
    """Least signed distance of the condyle's points from the plateau, by another search."""
    plateau, condyle = knee[0]

    def distance(at):
        point = rotation @ condyle.evaluate(at[0], at[1]) + translation
        return plateau.closest_points(point[None])[2][0]

    tight = {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 2000}
    return minimize(distance, start, method="Nelder-Mead", options=tight).fun


@pytest.mark.parametrize("height", [31.0, 30.4, 29.0])  # apart, and overlapping
@pytest.mark.parametrize("angles", [(0.01, 0.05, -0.3), (-0.02, -0.08, -0.9)])
def test_free_form_gap_is_the_least_distance(knee, height, angles):
    rotation = body_three_123(angles)
    top = knee[1][0].point[..., 1].min()
    translation = np.array([2.0, top + height, 0.0])
    start = guess_common_normal(*knee[1], rotation, translation)
    fixed, moving = (frame_patch(surface) for surface in knee[0])
    contact = find_common_normal(fixed, moving, rotation, translation, start)
    # A simplex ends within about 1e-9 of a minimum that is flat to second order.
    assert contact.gap == pytest.approx(
        lowest_gap(knee, rotation, translation, contact.parameters[2:]), abs=1e-9
    )


def test_warm_start_needs_few_iterations(knee):
    # 0.6 deg of flexion and up to 0.3 mm forward a step, as in a gait cycle of 100 frames.
    fixed, moving = (frame_patch(surface) for surface in knee[0])
    top = knee[1][0].point[..., 1].min()
    iterations, at = [], None
    for part in np.linspace(0.0, 1.0, 101):
        rotation = body_three_123([0.01, 0.1 * np.sin(2 * np.pi * part), -np.radians(60) * part])
        translation = np.array([5.0 * np.sin(2 * np.pi * part), top + 30.2, 0.0])
        if at is None:
            at = guess_common_normal(*knee[1], rotation, translation)
        contact = find_common_normal(fixed, moving, rotation, translation, at)
        at = contact.parameters
        iterations.append(contact.iterations)
    # Two that converge and one that finds nothing left to do.
    assert max(iterations[1:]) <= 3


def test_table_gives_the_surface_up_to_the_square_of_its_spacing():
    centre = np.array([3.0, 26.4 + 0.5, -2.0])
    rotation = body_three_123([0.11, 0.2, -0.13])
    misses = []
    for nodes in (12, 24, 48):
        ball, floor = tabulate_surface(BALL, nodes, nodes), TABLES["plane"]
        start = guess_common_normal(floor, ball, rotation, centre)
        contact = find_common_normal(frame_table(floor), frame_table(ball), rotation, centre, start)
        spacing = 26.4 * 2.0 / (nodes - 1)  # the patch spans 2 rad
        # Two chords, each up to spacing^2 / (8 R) inside, for a parameter not quite the arc.
        assert 0.0 <= contact.gap - 0.5 <= 2.4 * spacing**2 / (8 * 26.4)
        misses.append(contact.gap - 0.5)
    assert max(misses) > 1e-3  # the pose does not happen to lie on a sample


def test_without_a_common_normal_inside_the_patches_it_says_so():
    floor, ball = frame_patch(plate((-2.0, 2.0), (-2.0, 2.0))), frame_patch(BALL)
    with pytest.raises(ValueError, match="no common normal inside both patches"):
        find_common_normal(floor, ball, UPRIGHT, [10.0, 27.0, 0.0], [0.5, 0.5, 0.5, 0.5])


def test_start_needs_samples_that_face_one_another():
    with pytest.raises(ValueError, match="no samples of the two surfaces face"):
        guess_common_normal(TABLES["plane"], BALL_TABLE, OVERTURNED, [0.0, 30.0, 0.0])
