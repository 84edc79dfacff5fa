"""Paths, rotations and loads of tests of bearings."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from kneewear.models.bearing_test.motions import ball_rotations, loads, planar_poses
from kneewear.models.bearing_test.settings import AnyPath, BearingLoad, BearingTest

FRAMES = 3600


def path(**motion):
    """Positions (frame, 2) of a motion over a flat, mm."""
    settings = TypeAdapter(AnyPath).validate_python(motion)
    return planar_poses(settings, None, FRAMES)[:, [0, 2]]


def length(points):
    """Length of a closed path, mm."""
    return np.linalg.norm(np.roll(points, -1, axis=0) - points, axis=1).sum()


@pytest.mark.parametrize(
    ("motion", "exact"),
    [
        ({"path": "circle", "diameter_mm": 10.0}, np.pi * 10.0),
        ({"path": "straight", "stroke_mm": 10.0}, 20.0),
        ({"path": "rectangle", "length_mm": 7.0, "width_mm": 3.0}, 20.0),
        # Five cusps: a point of the rim has a path of 8 (fixed - rolling) times the arcs of a turn.
        (
            {"path": "hypotrochoid", "fixed_mm": 5.0, "rolling_mm": 1.0, "arm_mm": 1.0, "turns": 1},
            8.0 * 1.0 * (5.0 - 1.0),
        ),
    ],
)
def test_length_of_a_path(motion, exact):
    assert length(path(**motion)) == pytest.approx(exact, rel=2e-3)


def test_random_path_stays_within_its_circle_and_covers_it_evenly():
    points = path(path="random", diameter_mm=10.0, turns=60)
    radius = np.linalg.norm(points, axis=1)
    assert radius.max() <= 5.0
    # Uniform over the circle: half of the time within R / sqrt(2).
    assert (radius < 5.0 / np.sqrt(2.0)).mean() == pytest.approx(0.5, abs=0.06)
    step = np.linalg.norm(np.roll(points, -1, axis=0) - points, axis=1)
    assert step.max() < 0.05 * 60.0  # closed
    other = path(path="random", diameter_mm=10.0, turns=60, number=2)
    assert not np.allclose(points, other)


def test_rocking_keeps_its_angle_and_has_no_spin():
    settings = TypeAdapter(AnyPath).validate_python({"path": "rocking", "angle_deg": 23.0})
    turned = ball_rotations(settings, 90)
    np.testing.assert_allclose(turned[:, 1, 1], np.cos(np.radians(23.0)), rtol=1e-12)
    np.testing.assert_allclose(turned[:, 2, 0], turned[:, 0, 2], atol=1e-12)  # axis in the plane


def test_rotations_reach_their_extremes():
    motion = {"path": "rotations", "flexion": {"low_deg": -18.0, "high_deg": 25.0}}
    turned = ball_rotations(TypeAdapter(AnyPath).validate_python(motion), 360)
    angle = np.degrees(np.arctan2(-turned[:, 0, 1], turned[:, 0, 0]))
    assert abs(angle).max() == pytest.approx(25.0)
    assert min(angle.max(), -angle.min()) == pytest.approx(18.0)


@pytest.mark.parametrize("course", ["sinusoidal", "double_peak"])
def test_load_reaches_its_extremes_as_often_as_it_should(course):
    load = loads(BearingLoad(low_n=100.0, high_n=900.0, course=course, cycles=3), 1200)
    assert (load.min(), load.max()) == pytest.approx((100.0, 900.0), rel=1e-6)
    peaks = (load > np.roll(load, 1)) & (load >= np.roll(load, -1))
    assert peaks.sum() == 3 * (2 if course == "double_peak" else 1)


def test_a_ball_in_a_socket_does_not_translate():
    with pytest.raises(ValidationError, match="circle"):
        BearingTest(
            bearing={
                "shape": "ball_in_socket",
                "radius_mm": 14,
                "clearance_mm": 0.1,
                "thickness_mm": 8,
            },
            motion={"path": "circle", "diameter_mm": 10},
            load={"low_n": 1, "high_n": 1},
            million_cycles=1,
            frames=36,
            element_mm=1,
        )
