"""The element grid: areas, frames, thickness and validity."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kneewear.geometry import SIDES, Coverage, Implant, Surface, build_grid
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
    """Surface area by Gauss quadrature of |S_u x S_v| over a single piece."""
    node, weight = np.polynomial.legendre.leggauss(points)
    node, weight = 0.5 * (node + 1), 0.5 * weight
    _, s_u, s_v, *_ = surface.derivatives(node[:, None], node[None, :])
    return float(weight @ np.linalg.norm(np.cross(s_u, s_v), axis=-1) @ weight)


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


def test_elements_lie_on_the_surface_in_regular_rows_and_columns():
    surface = hill()
    grid = build_grid(implant_of(surface), 12, 9)
    assert grid.centre.shape == (2, 12, 9, 3)
    # Stopped at a horizontal miss of 1e-11 mm.
    assert grid.centre[0, ..., 0] == pytest.approx(
        np.broadcast_to(np.arange(12)[:, None] + 0.5, (12, 9)), abs=1e-9
    )
    assert grid.centre[0, ..., 2] == pytest.approx(
        np.broadcast_to(np.arange(9)[None, :] + 0.5, (12, 9)), abs=1e-9
    )
    distance = surface.closest_points(grid.centre[0].reshape(-1, 3))[2]
    assert np.abs(distance).max() < 1e-9


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


def test_thickness_is_measured_down_to_the_underside():
    grid = build_grid(
        implant_of(plate((0, 10), (0, 6), height=2.0, slope=0.1), underside=-6.0), 5, 3
    )
    assert grid.thickness[0, :, 1] == pytest.approx(8.0 + 0.1 * np.arange(1, 10, 2), abs=1e-9)


def test_a_cases_thickness_adds_to_the_nominal_one():
    grid = build_grid(implant_of(hill()), 6, 6)
    assert grid.case_thickness(6.0) == pytest.approx(grid.thickness, abs=ROUNDING)
    assert grid.case_thickness(10.0) == pytest.approx(grid.thickness + 4.0, abs=ROUNDING)
    with pytest.raises(ValueError, match="choose a larger thickness"):
        grid.case_thickness(-0.5)


def test_cells_that_miss_the_plateau_carry_nothing():
    turned = plate((-5, 5), (-5, 5)).transformed(
        [[np.sqrt(0.5), 0, -np.sqrt(0.5)], [0, 1, 0], [np.sqrt(0.5), 0, np.sqrt(0.5)]], [0, 0, 0]
    )
    grid = build_grid(implant_of(turned), 40, 40)
    # A square on its tip covers half of its bounding square; the border is known to a cell.
    assert grid.valid.mean() == pytest.approx(0.5, abs=2 / 40)
    assert (grid.area[~grid.valid] == 0).all()
    assert np.isnan(grid.centre[~grid.valid]).all()
    assert np.isnan(grid.case_thickness(6.0)[~grid.valid]).all()
    inside = np.abs(grid.centre[grid.valid][:, [0, 2]]).sum(axis=1)
    assert inside.max() <= 5 * np.sqrt(2) + 1e-9


def test_coverage_masks_what_was_not_scanned():
    raster = np.linspace(-1, 11, 61)
    inside = np.add.outer(raster, np.zeros(61)) < 5.0
    coverage = dict.fromkeys(SIDES, Coverage(raster, raster, inside))
    grid = build_grid(implant_of(plate((0, 10), (0, 6)), coverage=coverage), 10, 6)
    assert grid.valid[0, :5].all()
    assert not grid.valid[0, 5:].any()


def test_coverage_is_empty_outside_its_raster():
    raster = np.linspace(0, 10, 11)
    coverage = Coverage(raster, raster, np.ones((11, 11), dtype=bool))
    found = coverage.contains(np.array([5.0, -1.0, 5.0, 10.4]), np.array([5.0, 5.0, 12.0, 5.0]))
    assert found.tolist() == [True, False, False, True]


def test_steep_or_sunken_plateaus_are_refused():
    with pytest.raises(ValueError, match="steeper than 80 deg"):
        build_grid(implant_of(plate((0, 1), (0, 6), slope=8.0)), 4, 4)
    with pytest.raises(ValueError, match="faces down"):
        build_grid(implant_of(plate((0, 1), (0, 6)).reversed_normal()), 4, 4)
    with pytest.raises(ValueError, match="below the insert's underside"):
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
