"""The element grid: areas, frames, thickness and validity."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kneewear.base.sides import SIDES
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant import Implant
from kneewear.geometry.surface import Surface
from kneewear.geometry.thickness import PlaneUnderside, underside_of_mesh
from tests.geometry.plans import bar, on_circle, polygon
from tests.physics.bodies import UPRIGHT, gait_study, plate, sphere

ROUNDING = 1e-12


def implant_of(medial, lateral=None, underside=-6.0, **more):
    insert = {"medial": medial, "lateral": lateral or medial}
    return Implant("grid", dict.fromkeys(SIDES, sphere(30.0)), insert, underside, 6.0, **more)


def hill(height=4.0):
    """Bezier patch over the exact rectangle 0 <= x <= 12, 0 <= z <= 9, bulging up."""
    z, x = np.meshgrid(np.linspace(0, 9, 4), np.linspace(0, 12, 4), indexing="ij")
    y = height * np.outer([0.0, 1.0, 0.7, 0.2], [0.1, 0.8, 1.0, 0.3])
    knots = np.repeat([0.0, 1.0], 4)
    return Surface(np.stack([x, y, z], axis=-1), np.ones((4, 4)), knots, knots, 3, 3)


def exact_area(surface, points=60):
    """Surface area by Gauss quadrature of |S_u x S_v|, piece by piece."""
    node, weight = np.polynomial.legendre.leggauss(points)
    (u, of_u), (v, of_v) = (
        ((b[:-1, None] + half * (node + 1)).ravel(), (half * weight).ravel())
        for b in map(np.unique, (surface.knots_u, surface.knots_v))
        for half in [np.diff(b)[:, None] / 2]
    )
    _, s_u, s_v, *_ = surface.derivatives(u[:, None], v[None, :])
    return float(of_u @ np.linalg.norm(np.cross(s_u, s_v), axis=-1) @ of_v)


@pytest.mark.parametrize("slope", [0.0, 0.3, -1.2])
def test_area_of_a_tilted_plate_is_exact(slope):
    grid = build_grid(implant_of(plate((0, 10), (0, 6), slope=slope), underside=-20.0), 7, 5)
    assert grid.valid.all()
    exact = 10 * np.hypot(1, slope) * 6
    assert grid.area[0].sum() == pytest.approx(exact, rel=ROUNDING)
    assert grid.area == pytest.approx(exact / 35, rel=ROUNDING)
    across = np.array([-slope, 1.0, 0.0]) / np.hypot(1, slope)
    assert grid.normal[0, 3, 2] == pytest.approx(across, abs=ROUNDING)


def test_sum_of_areas_nears_the_surface_area_at_second_order():
    surface = hill()
    exact = exact_area(surface)
    assert exact == pytest.approx(exact_area(surface, 40), rel=1e-12)
    error = []
    for number in (10, 20, 40):
        error.append(build_grid(implant_of(surface), number, number).area[0].sum() / exact - 1)
    order = np.log2(np.abs(np.array(error[:-1]) / error[1:]))
    # Midpoint rule on a smooth patch that fills its rectangle: exactly second order.
    assert order == pytest.approx(2.0, abs=0.1)
    assert abs(error[-1]) < 1e-3


def test_local_frames_are_right_handed_and_orthonormal():
    for grid in (build_grid(implant_of(hill()), 8, 8), gait_study().grid):
        on = grid.valid
        frame = np.stack([grid.tangent_row, grid.normal, grid.tangent_column], axis=-2)[on]
        assert frame @ frame.swapaxes(-1, -2) == pytest.approx(
            np.broadcast_to(np.eye(3), frame.shape), abs=ROUNDING
        )
        assert np.linalg.det(frame) == pytest.approx(1.0, abs=ROUNDING)
        # Rows along +x, columns along +z, normals up.
        assert (grid.tangent_row[on][:, 0] > 0).all()
        assert (grid.tangent_column[on][:, 2] > 0).all()
        assert (grid.normal[on][:, 1] > 0).all()


def test_a_cases_thickness_adds_to_the_nominal_one():
    grid = build_grid(implant_of(hill()), 6, 6)
    assert grid.case_thickness(6.0) == pytest.approx(grid.thickness, abs=ROUNDING)
    assert grid.case_thickness(10.0) == pytest.approx(grid.thickness + 4.0, abs=ROUNDING)
    with pytest.raises(ValueError):
        grid.case_thickness(-0.5)


def test_cells_that_miss_the_plateau_carry_nothing():
    # A triangle covers half of its smallest rectangle.
    coverage = dict.fromkeys(SIDES, polygon([[0.0, 0.0], [10.0, 0.0], [0.0, 6.0]]))
    grid = build_grid(implant_of(plate((0, 10), (0, 6)), coverage=coverage), 40, 30)
    assert grid.covered.mean() == pytest.approx(0.5, abs=ROUNDING)
    # The slope runs through at most 40 + 30 of the 1200 cells, half of each beyond it.
    assert 0.5 < grid.valid.mean() < 0.53
    assert (grid.area[~grid.valid] == 0).all()
    assert np.isnan(grid.centre[~grid.valid]).all()
    assert np.isnan(grid.case_thickness(6.0)[~grid.valid]).all()
    x, _, z = grid.centre[grid.valid].T
    assert (6.0 * x + 10.0 * z < 60.0).all()


def test_turned_plateau_has_the_elements_of_the_upright_one():
    implant, angle = implant_of(hill()), np.radians(20.0)
    cosine, sine = np.cos(angle), np.sin(angle)
    turn = np.array([[cosine, 0, -sine], [0, 1, 0], [sine, 0, cosine]])
    turned = implant_of(hill().transformed(turn, [3.0, 0.0, -2.0]))
    one, other = build_grid(implant, 12, 9), build_grid(turned, 12, 9)
    assert other.valid.all()
    assert other.area == pytest.approx(one.area, abs=1e-9)
    assert other.thickness == pytest.approx(one.thickness, abs=1e-9)
    assert other.centre == pytest.approx(one.centre @ turn.T + [3.0, 0.0, -2.0], abs=1e-9)
    # Slips stay anatomical: tangents do not turn with the rectangle.
    assert np.abs(other.tangent_row[..., 2]).max() < np.abs(other.tangent_row[..., 0]).min()


@pytest.mark.compiled
def test_areas_of_the_default_implant_sum_to_its_surface():
    implant = gait_study().implant
    grid = build_grid(implant, 100, 75)
    for number, side in enumerate(SIDES):
        total = exact_area(implant.insert[side])
        # Accepted up to 0.1 %; the rounded edges' curvature leaves 0.01 %.
        assert grid.area[number].sum() == pytest.approx(total, rel=2e-4)


@pytest.mark.compiled
def test_areas_of_a_curved_sheet_with_a_round_border_sum_to_its_surface():
    # A spherical cap of half angle 30 deg: 2 pi R^2 (1 - cos), by geometry alone.
    radius, half = 40.0, np.radians(30.0)
    cap = sphere(radius).transformed(np.diag([1.0, -1.0, -1.0]), [0.0, 0.0, 0.0])
    coverage = polygon(on_circle(radius * np.sin(half), 0.0, 2 * np.pi, 2000)[:-1])
    implant = implant_of(cap, coverage=dict.fromkeys(SIDES, coverage))
    exact = 2 * np.pi * radius**2 * (1 - np.cos(half))
    error = [
        build_grid(implant, rows, columns).area[0].sum() / exact - 1
        for rows, columns in ((25, 19), (50, 38), (100, 75))
    ]
    assert abs(error[-1]) < 1e-4
    assert abs(error[-1]) < abs(error[0]) / 8


def test_tilted_plate_over_a_tilted_tray_has_exact_thickness():
    surface = plate((0, 10), (0, 6), height=2.0, slope=0.1)
    tray = PlaneUnderside(-6.0, rise_posterior=0.05, rise_medial=-0.02)
    grid = build_grid(implant_of(surface, underside=tray), 5, 3)
    x, _, z = np.moveaxis(grid.centre[0], -1, 0)
    assert grid.thickness[0] == pytest.approx(8.0 + 0.05 * x + 0.02 * z, abs=1e-9)


def test_thickness_of_a_solid_ends_where_it_is_left_first():
    # A block from y = -6 with a recess up to y = -4 for x > 5, as one closed body.
    profile = np.array([[0, -6], [5, -6], [5, -4], [10, -4], [10, 3], [0, 3]], dtype=float)
    grid = build_grid(
        implant_of(plate((0, 10), (0, 6), height=2.0), underside=underside_of_mesh(bar(profile))),
        8,
        6,
    )
    assert grid.thickness[0][:4] == pytest.approx(8.0, abs=1e-9)
    assert grid.thickness[0][4:] == pytest.approx(6.0, abs=1e-9)


def test_underside_that_ends_under_the_bearing_is_refused():
    profile = np.array([[0, -6], [9, -6], [9, 1], [0, 1]], dtype=float)
    short = underside_of_mesh(bar(profile))
    with pytest.raises(ValueError):
        build_grid(implant_of(plate((0, 10), (0, 6)), underside=short), 10, 6)


def test_steep_or_sunken_plateaus_are_refused():
    with pytest.raises(ValueError):
        build_grid(implant_of(plate((0, 1), (0, 6), slope=8.0)), 4, 4)
    with pytest.raises(ValueError):
        build_grid(implant_of(plate((0, 1), (0, 6)).reversed_normal()), 4, 4)
    with pytest.raises(ValueError):
        build_grid(implant_of(plate((0, 1), (0, 6)), underside=1.0), 4, 4)


def test_shifted_insert_has_shifted_elements_and_the_same_areas():
    implant = gait_study().implant
    shift = np.array([11.0, -3.0, 2.5])
    insert = {s: p.transformed(UPRIGHT, shift) for s, p in implant.insert.items()}
    moved = replace(implant, insert=insert, underside=implant.underside + shift[1])
    one, other = build_grid(implant, 20, 15), build_grid(moved, 20, 15)
    assert np.array_equal(one.valid, other.valid)
    assert other.centre[one.valid] == pytest.approx(one.centre[one.valid] + shift, abs=1e-9)
    assert other.area == pytest.approx(one.area, abs=1e-9)
    assert other.thickness[one.valid] == pytest.approx(one.thickness[one.valid], abs=1e-9)
