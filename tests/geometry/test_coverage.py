"""Coverage of the horizontal plane: areas, cells and the rectangle around it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kneewear.geometry.coverage import (
    Coverage,
    Rectangle,
    bounding_rectangle,
    cover_cells,
    mesh_coverage,
)
from tests.geometry.plans import on_circle, polygon


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 40), st.floats(-0.7, 0.7))
def test_covered_cells_sum_to_area_and_first_moment_of_any_star(seed, count, angle):
    random = np.random.default_rng(seed)
    turn = np.sort(random.uniform(0, 2 * np.pi, count))
    if np.diff(turn, append=turn[0] + 2 * np.pi).max() > 3.0:
        return
    corners = random.uniform(1.0, 5.0, (count, 1)) * np.column_stack([np.cos(turn), np.sin(turn)])
    star = polygon(corners)
    rectangle = Rectangle(np.array([-8.0, -8.0]), angle, 22.0, 22.0, 17, 23)
    moved = Coverage(star.edges + rectangle.at(8.5, 11.5))
    fraction, centroid = cover_cells(moved, rectangle)
    assert (fraction >= 0).all()
    assert (fraction <= 1).all()
    assert rectangle.cell_area * fraction.sum() == pytest.approx(star.area, rel=1e-9)
    (x0, z0), (x1, z1) = np.moveaxis(star.edges, 0, -1)
    cross = x0 * z1 - x1 * z0
    middle = np.array([((x0 + x1) * cross).sum(), ((z0 + z1) * cross).sum()]) / (6 * star.area)
    weighted = (fraction[..., None] * centroid).sum(axis=(0, 1)) / fraction.sum()
    assert weighted - rectangle.at(8.5, 11.5) == pytest.approx(middle, abs=1e-8)


def test_covered_cells_agree_with_dense_sampling():
    wavy = on_circle(1.0, 0.0, 2 * np.pi, 400)[:-1]
    wavy = wavy * (2.0 + 0.6 * np.sin(5 * np.arctan2(wavy[:, 1], wavy[:, 0])))[:, None]
    rectangle = Rectangle(np.array([-2.0, -2.7]), 0.3, 5.0, 5.0, 7, 9)
    fraction, _ = cover_cells(polygon(wavy), rectangle)
    part = (np.arange(40) + 0.5) / 40
    row = (np.arange(7)[:, None] + part).ravel()
    column = (np.arange(9)[:, None] + part).ravel()
    points = rectangle.at(row[:, None], column[None, :])
    inside = polygon(wavy).contains(points[..., 0], points[..., 1])
    sampled = inside.reshape(7, 40, 9, 40).mean(axis=(1, 3))
    # 1600 samples a cell know a straight border to a fortieth of a cell's side at worst.
    assert fraction == pytest.approx(sampled, abs=1 / 40)


def test_triangles_leave_their_outer_border_only():
    x, z = np.meshgrid(np.arange(5.0), np.arange(4.0), indexing="ij")
    corner = np.stack([x, z], axis=-1)
    a, b, c, d = corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]
    triangles = np.concatenate(
        [np.stack(t, axis=-2).reshape(-1, 3, 2) for t in ((a, b, c), (a, d, c))]
    )
    coverage = mesh_coverage(triangles)
    assert len(coverage.edges) == 14
    assert coverage.area == pytest.approx(12.0)
    assert mesh_coverage(triangles, (1.5, 9.0), (-3.0, 2.25)).area == pytest.approx(2.5 * 2.25)


@pytest.mark.parametrize("degrees", [-44.0, -10.0, 1.0, 30.0])
def test_smallest_rectangle_follows_a_turned_one(degrees):
    angle = np.radians(degrees)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    corners = np.array([[0, 0], [40, 0], [40, 30], [0, 30]]) @ turn
    found = bounding_rectangle(polygon(corners), 10, 10)
    assert np.degrees(found.angle) == pytest.approx(degrees)
    assert (found.length, found.width) == pytest.approx((40.0, 30.0))
    assert found.corners[0, 0] == pytest.approx(corners[0], abs=1e-9)
    assert found.corners[-1, -1] == pytest.approx(corners[2], abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(-0.7, 0.7))
def test_cells_away_from_the_border_are_covered_as_their_middle_is(seed, angle):
    random = np.random.default_rng(seed)
    turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    corners = random.uniform(3.0, 6.0, (24, 1)) * np.column_stack([np.cos(turn), np.sin(turn)])
    # A star with a round hole.
    edges = np.concatenate([polygon(corners).edges, polygon(0.25 * corners).edges[:, ::-1]])
    coverage = Coverage(edges)
    for x, z in random.uniform(-6.0, 6.0, (5, 2)):
        cells = Rectangle(np.array([x, z]), angle, 0.2, 0.1, 2, 3)
        fraction, centroid = cover_cells(coverage, cells)
        # The same as cells of a rectangle so large that the border runs through it.
        large = Rectangle(cells.at(-80, -160), angle, 16.2, 12.1, 162, 363)
        part, middle = (values[80:82, 160:163] for values in cover_cells(coverage, large))
        assert fraction == pytest.approx(part, abs=1e-8)
        assert centroid == pytest.approx(middle, abs=1e-8)
