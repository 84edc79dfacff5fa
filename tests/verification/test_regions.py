"""The rectangles found hold every contact of a pose: of any size, number and position."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kneewear.geometry.element_surfaces import Cylinder, Plane, Sphere
from kneewear.geometry.grid import Bearing, bearing_of, build_elements
from kneewear.geometry.surface import Surface
from kneewear.mechanics.rotations import body_three_123
from kneewear.reference import winkler
from kneewear.verification.adaptive import RegionSearch
from tests.physics.bodies import (
    UPRIGHT,
    arc,
    cylinder,
    flat_implant,
    gait_study,
    plate,
    revolved,
    sphere,
)

RADIUS, HEIGHT = 30.0, 8.0


def egg_box(seed, roughness, count=10, size=16.0):
    """Wavy sheet over x and z within +- size / 2, normals down; a bump every three points."""
    knots = np.concatenate([np.zeros(3), np.linspace(0, 1, count - 2), np.ones(3)])
    z, x = np.meshgrid(*[np.linspace(-0.5, 0.5, count) * size] * 2, indexing="ij")
    y = roughness * np.random.default_rng(seed).normal(size=x.shape)
    sheet = Surface(np.stack([x, y, z], axis=-1), np.ones(x.shape), knots, knots, 3, 3)
    return sheet.reversed_normal()


def inside(points, rectangles):
    """Whether positions of the plan lie in any of the rectangles."""
    cells = np.array([rectangle.cells(points) for rectangle in rectangles]).reshape(
        -1, *points.shape
    )
    return ((cells >= 0.0) & (cells <= 1.0)).all(axis=-1).any(axis=0)


def apart(rectangles):
    """Whether no two parallel rectangles overlap."""
    if len(rectangles) < 2:
        return True
    boxes = [
        np.sort(rectangles[0].cells(r.corners.reshape(-1, 2)), axis=0)[[0, -1]] for r in rectangles
    ]
    return all(
        (one[1] <= other[0] + 1e-9).any() or (other[1] <= one[0] + 1e-9).any()
        for n, one in enumerate(boxes) for other in boxes[:n]
    )  # fmt: skip


def _ball(radius):
    """Profile of a sphere, +- 1.4 rad, and its knots."""
    profile, knots = arc(-1.4, 1.4, 2)
    return profile * np.array([radius, -radius, 1.0]), knots


def assert_held(depth, positions, rectangles):
    """What rectangles cut off is a shallow rim of little weight."""
    loaded = depth > 0.0
    lost = loaded.copy()
    lost[loaded] = ~inside(positions[loaded], rectangles)
    assert depth[lost].sum() <= 2e-3 * depth[loaded].sum()
    assert depth[lost].max(initial=0.0) < 0.1 * depth.max()


def depth_of(points, indenter, rotation, translation):
    """Penetration of points, by projecting each of them."""
    _, _, distance, _, interior = indenter.closest_points((points - translation) @ rotation)
    return np.where(interior, -distance, -np.inf)


@pytest.mark.parametrize("depth", [1e-6, 1e-4, 1e-2, 0.3])
@pytest.mark.parametrize("position", [(0.0, 0.0), (0.37, -1.1), (2.9, 1.3)])
def test_region_under_a_sphere_is_its_contact_circle(depth, position):
    implant = flat_implant(sphere(RADIUS), 9.0, 9.0)
    search = RegionSearch(bearing_of(implant, "medial"), implant.femoral["medial"])
    middle = np.array([position[0], HEIGHT + RADIUS - depth, position[1]])
    (found,) = search.find(UPRIGHT, middle)
    radius = winkler.contact_radius(RADIUS, depth)
    # Room of a fifth of a cell is kept, and at least seven cells lie across the contact.
    for start, extent, centre in zip(
        found.origin, (found.length, found.width), (position[0], 23.0 + position[1]), strict=True
    ):
        assert start < centre - 0.995 * radius
        assert start + extent > centre + 0.995 * radius
        assert extent < 2.2 * radius


def test_sphere_just_above_has_no_region():
    implant = flat_implant(sphere(RADIUS), 9.0, 9.0)
    search = RegionSearch(bearing_of(implant, "medial"), implant.femoral["medial"])
    assert search.find(UPRIGHT, np.array([0.3, HEIGHT + RADIUS + 1e-6, 0.2])) == ()
    assert search.find(UPRIGHT, np.array([0.3, HEIGHT + RADIUS + 50.0, 0.2])) == ()


def test_region_ends_where_the_bearing_does():
    implant = flat_implant(sphere(RADIUS), 9.0, 9.0)
    search = RegionSearch(bearing_of(implant, "medial"), implant.femoral["medial"])
    (found,) = search.find(UPRIGHT, np.array([8.0, HEIGHT + RADIUS - 0.3, 0.0]))
    assert found.origin[0] + found.length == pytest.approx(9.0, abs=1e-6)
    assert found.origin[0] == pytest.approx(8.0 - winkler.contact_radius(RADIUS, 0.3), abs=0.2)


@pytest.mark.compiled
@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    st.integers(0, 10_000), st.floats(0.02, 0.3), st.floats(-0.15, 0.15), st.floats(-0.15, 0.15),
    st.floats(-4.0, 4.0), st.floats(-4.0, 4.0), st.floats(1e-4, 0.4),
)  # fmt: skip
def test_no_contact_of_rough_bodies_is_missed(seed, roughness, tilt, roll, x, z, depth):
    bearing = Bearing("rough", egg_box(seed, roughness).reversed_normal(), HEIGHT)
    indenter = egg_box(seed + 1, roughness)
    rotation = body_three_123(np.array([tilt, 0.0, roll]))
    points = build_elements(bearing, bearing.rectangle(60, 60)).centre[0].reshape(-1, 3)
    # Let down until the deepest of 3600 positions is as deep as asked for.
    translation = np.array([x, 0.0, z])
    for _ in range(4):
        deepest = depth_of(points, indenter, rotation, translation).max()
        if not np.isfinite(deepest):
            return
        translation[1] += deepest - depth
    found = depth_of(points, indenter, rotation, translation)
    rectangles = RegionSearch(bearing, indenter).find(rotation, translation)
    assert apart(rectangles)
    assert_held(found, points[:, [0, 2]], rectangles)


def test_two_spheres_have_two_regions_that_merge_when_they_sink():
    low, high = plate((-15, 15), (-8, 8), HEIGHT), []
    # One patch with two bumps: the profile of a cylinder's waist, deeper at both ends.
    profile = np.array([[-10.0, 0.0], [-6.0, 2.0], [0.0, -2.0], [6.0, 2.0], [10.0, 0.0]])
    knots = np.array([0.0, 0, 0, 0, 0.5, 1, 1, 1, 1])
    points = np.zeros((5, 5, 3))
    points[..., 0], points[..., 2] = profile[None, :, 0], np.linspace(-8, 8, 5)[:, None]
    points[..., 1] = -profile[None, :, 1] + 0.02 * points[..., 2] ** 2
    bumps = Surface(points, np.ones((5, 5)), knots, knots, 3, 3).reversed_normal()
    search = RegionSearch(Bearing("two", low, HEIGHT), bumps)
    lowest = bumps.sample_points[:, 1].min()
    high = [len(search.find(UPRIGHT, np.array([0.0, HEIGHT - lowest - d, 0.0])))
            for d in (-0.05, 1e-3, 0.05, 2.0)]  # fmt: skip
    assert high == [0, 2, 2, 1]


@pytest.mark.compiled
@pytest.mark.parametrize("turned", [False, True])
def test_regions_of_gait_hold_every_loaded_element(turned):
    study = gait_study()
    turn = body_three_123(np.array([0.0, 0.6, 0.0])) if turned else UPRIGHT
    for side in ("medial", "lateral"):
        bearing = bearing_of(study.implant, side)
        bearing = replace(bearing, surface=bearing.surface.transformed(turn, np.zeros(3)))
        indenter = study.implant.femoral[side]
        points = build_elements(bearing, bearing.rectangle(120, 90)).centre[0]
        points = points[np.isfinite(points[..., 0])]
        search = RegionSearch(bearing, indenter)
        for flexion in (0.0, 0.4, 0.9):
            rotation = turn @ body_three_123(np.array([0.01, 0.05, -flexion]))
            translation = np.array([0.0, 10.0, 0.0])
            for depth in (-1.0, 1e-3, 0.1):
                for _ in range(4):
                    found = depth_of(points, indenter, rotation, translation)
                    translation[1] += found.max() - max(depth, 1e-4)
                found = depth_of(points, indenter, rotation, translation)
                rectangles = search.find(rotation, translation)
                assert found.max() > 0.0
                assert_held(found, points[:, [0, 2]], rectangles)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("surface", "projection_surface"),
    [
        (cylinder(14.3, 6.0).reversed_normal(), Cylinder((0, 0, 0), (0, 0, 1), (0, -1, 0), 14.3)),
        (sphere(14.3).reversed_normal(), Sphere((0, 0, 0), (0, -1, 0), 14.3)),
        (sphere(14.3).reversed_normal(), Sphere((0, 2, 0), (0.2, -1, 0), 12.0)),
        (sphere(14.3).reversed_normal(), Plane((0.1, 1.0, -0.1))),
    ],
    ids=["trough", "cup", "off centre", "plane"],
)
def test_regions_on_curved_and_turned_element_surfaces(surface, projection_surface):
    bearing = Bearing("hip", surface, HEIGHT, projection_surface)
    # Its patch is larger than the bearing.
    ball = revolved(*_ball(14.0), (-1.5, 1.5))
    points = build_elements(bearing, bearing.rectangle(150, 150)).centre[0]
    points = points[np.isfinite(points[..., 0])]
    search = RegionSearch(bearing, ball)
    for x in (0.0, 0.3, -0.5):
        for shift in (0.301, 0.35):
            translation = shift * np.array([x, -1.0, 0.0]) / np.hypot(x, 1.0)
            found = depth_of(points, ball, UPRIGHT, translation)
            rectangles = search.find(UPRIGHT, translation)
            assert len(rectangles) == 1
            assert_held(found, projection_surface.at(points).plan, rectangles)
            # An ellipse fills its rectangle by 0.79; points that might touch but do not add to it.
            share = search.whole.cell_area / rectangles[0].cell_area * (found > 0).sum() / 150**2
            assert share > 0.25


@pytest.mark.parametrize("projection_surface", [
    Plane((0.3, 1.0, -0.1)), Cylinder((0, 1, 0), (0.1, 0, 1), (0, -1, 0), 12.0),
    Sphere((0.2, 1, 0), (0.3, -1, 0.1), 12.0), Sphere((0.2, 40, 0), (0.3, 1, 0.1), 12.0, False),
])  # fmt: skip
def test_rates_of_the_plan_are_its_derivatives(projection_surface):
    points = np.random.default_rng(0).normal(size=(20, 3)) * 3.0 - [0.0, 12.0, 0.0]
    if not getattr(projection_surface, "hollow", True):
        points[:, 1] += 80.0
    step = 1e-4
    for axis in range(3):
        shift = step * np.eye(3)[axis]
        slope = (
            projection_surface.at(points + shift).plan - projection_surface.at(points - shift).plan
        ) / (2 * step)
        assert projection_surface.at(points).rates[..., axis] == pytest.approx(slope, abs=1e-8)
    # And the area it keeps: plan area over area square to the line.
    area = np.linalg.norm(
        np.cross(*np.moveaxis(projection_surface.at(points).rates, -2, 0)), axis=-1
    )
    assert area == pytest.approx(1.0 / projection_surface.at(points).stretch, rel=1e-9)
