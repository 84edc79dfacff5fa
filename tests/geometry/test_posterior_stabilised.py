"""The posterior-stabilised built-in implant: condyles of several arcs, cam and post."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.base.sides import POST, SIDES
from kneewear.geometry.grid import bearing_of, build_elements
from kneewear.geometry.parametric import (
    build_parametric_implant,
)
from kneewear.study.settings import merge_settings, read_settings, validate_study

BASE = merge_settings(
    read_settings("config/defaults.yaml"), read_settings("config/evidence/chapter3.yaml")
)
SETTINGS = validate_study(BASE).implant.parametric
IMPLANT = build_parametric_implant(SETTINGS, "built in", 9.0)
CAM = SETTINGS.cam_and_post.cam
BACK = SETTINGS.cam_and_post.post
RADII = {0.0: 35.0, 30.0: 28.0, 60.0: 24.0, 90.0: 20.0}
# Exact arcs: what is left is rounding of radii of up to 60 mm.
EXACT = 1e-12
ROUND = np.linspace(0.0, 1.0, 301)


def lowest(side, flexion_deg):
    """Parameters of the condyle's lowest point at a flexion, found on the patch itself."""
    turn = np.radians(flexion_deg)
    down = np.array([np.sin(turn), -np.cos(turn), 0.0])
    surface = IMPLANT.femoral[side]
    (u0, u1), _ = surface.domain
    fine = np.linspace(u0, u1, 20001)
    return fine[np.argmax(surface.evaluate(fine, 0.5) @ down)], 0.5, down


def resting_origin(flexion_deg):
    """Position x of the femoral origin when the condyles stand over the bottom of the dishes."""
    u, v, _ = lowest("medial", flexion_deg)
    x, y, _ = IMPLANT.femoral["medial"].evaluate(u, v)
    turn = np.radians(flexion_deg)
    return -(x * np.cos(turn) + y * np.sin(turn))


def gap_at_post(flexion_deg):
    """Distance from cam to post when the condyles rest in the dishes, mm; from the settings."""
    turn = np.radians(flexion_deg)
    axis = CAM.posterior_mm * np.cos(turn) + CAM.superior_mm * np.sin(turn)
    return resting_origin(flexion_deg) + axis - CAM.radius_mm - BACK.posterior_mm


def test_lateral_side_mirrors_the_medial_one():
    flip = np.array([1.0, 1.0, -1.0])
    for body in ("femoral", "insert"):
        patches = getattr(IMPLANT, body)
        medial = patches["medial"].evaluate(ROUND[:, None], ROUND[None, ::10])
        lateral = patches["lateral"].evaluate(ROUND[:, None], ROUND[None, ::-10])
        assert lateral == pytest.approx(medial * flip, abs=EXACT)


@pytest.mark.parametrize("flexion_deg", RADII)
def test_condyles_bear_on_the_arc_of_the_flexion(flexion_deg):
    u, v, down = lowest("medial", flexion_deg)
    surface = IMPLANT.femoral["medial"]
    # 20001 samples: 0.1 mm and 0.005 rad apart.
    assert surface.normal(u, v) == pytest.approx(down, abs=5e-3)
    bend, _ = surface.curvature(u, v)
    assert bend == pytest.approx(-1.0 / RADII[flexion_deg], rel=1e-9)


@pytest.mark.parametrize("side", SIDES)
def test_arcs_join_without_a_kink(side):
    surface = IMPLANT.femoral[side]
    near = 1e-9
    joints = np.unique(surface.knots_u)[1:-1]
    assert joints.size >= 3
    for joint in joints:
        before = surface.evaluate(joint - near, ROUND)
        after = surface.evaluate(joint + near, ROUND)
        assert after == pytest.approx(before, abs=1e-6)
        turn = surface.normal(joint - near, ROUND) - surface.normal(joint + near, ROUND)
        assert np.abs(turn).max() < 1e-7


def test_distance_to_a_condyle_is_that_of_its_arcs():
    random = np.random.default_rng(5)
    surface = IMPLANT.femoral["lateral"]
    u, v = random.uniform(0.02, 0.98, 500), random.uniform(0.06, 0.94, 500)
    height = random.uniform(-0.8, 0.8, 500)
    points = surface.evaluate(u, v) + height[:, None] * surface.normal(u, v)
    _, _, distance, _, interior = surface.closest_points(points)
    assert interior.all()
    # Newton steps end below 1e-5 mm, which leaves 1e-11 mm in the distance.
    assert distance == pytest.approx(height, abs=1e-10)


@pytest.mark.compiled
def test_cam_lies_between_the_condyles_and_inside_their_outline():
    cam = IMPLANT.cam_and_post.cam.evaluate(ROUND[:, None], ROUND[None, :]).reshape(-1, 3)
    condyle = IMPLANT.femoral["medial"].evaluate(ROUND[:, None], ROUND[None, :]).reshape(-1, 3)
    assert np.abs(cam[:, 2]).max() < condyle[:, 2].min()
    for flexion_deg in range(0, 121, 10):
        turn = np.radians(flexion_deg)
        down = np.array([np.sin(turn), -np.cos(turn), 0.0])
        assert (cam @ down).max() < (condyle @ down).max()


@pytest.mark.compiled
def test_posts_back_faces_posterior_and_stands_on_the_dishes():
    post = IMPLANT.cam_and_post.post
    points = post.evaluate(ROUND[:, None], ROUND[None, :])
    assert (post.normal(ROUND[:, None], ROUND[None, :])[..., 0] > 0.0).all()
    assert points[..., 0].max() == pytest.approx(BACK.posterior_mm, abs=EXACT)
    assert points[..., 1].min() == pytest.approx(9.0, abs=EXACT)
    assert points[..., 1].max() == pytest.approx(9.0 + BACK.height_mm, abs=EXACT)


def test_elements_of_the_post_reach_to_its_front():
    bearing = bearing_of(IMPLANT, POST)
    grid = build_elements(bearing, bearing.rectangle(20, 15))
    assert grid.sides == (POST,)
    front = BACK.posterior_mm - BACK.depth_mm
    assert grid.thickness[0] == pytest.approx(grid.centre[0, ..., 0] - front, abs=EXACT)
    # Projected area: height times the width the profile spans.
    upright = grid.area[0] * grid.normal[0, ..., 0]
    z = IMPLANT.cam_and_post.post.evaluate(0.5, ROUND)[:, 2]
    assert upright.sum() == pytest.approx(BACK.height_mm * np.ptp(z), rel=1e-9)


@pytest.mark.compiled
def test_cam_clears_the_post_in_every_angle_but_90():
    assert [round(gap_at_post(angle)) for angle in (0.0, 30.0, 60.0)] == [20, 13, 5]
    assert gap_at_post(90.0) < -2.0
