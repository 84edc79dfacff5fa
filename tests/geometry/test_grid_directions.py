"""Elements built on planes of any direction, and grids of several sides."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.base.sides import SIDES
from kneewear.geometry.element_grid import join_grids
from kneewear.geometry.grid import Bearing, build_elements, build_grid
from kneewear.geometry.plane import Plane, upright_frame
from kneewear.geometry.thickness import thickness_to
from tests.geometry.test_grid import exact_area, hill, implant_of
from tests.physics.bodies import UPRIGHT, plate

ROUNDING = 1e-12
DIRECTIONS = ([1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.3, -0.8, 0.5])


def built(surface, rows, columns, direction=(0.0, 1.0, 0.0), backing=-6.0, name="post", **more):
    plane = Plane(tuple(direction))
    bearing = Bearing(name, surface, thickness_to(backing, plane), plane)
    return build_elements(bearing, bearing.rectangle(rows, columns), **more)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_frames_are_rotations_that_take_up_to_the_direction(direction):
    frame = upright_frame(direction)
    assert frame @ frame.T == pytest.approx(UPRIGHT, abs=ROUNDING)
    assert np.linalg.det(frame) == pytest.approx(1.0, abs=ROUNDING)
    assert frame[1] == pytest.approx(np.array(direction) / np.linalg.norm(direction), abs=ROUNDING)
    # The shortest turn from +y: by the angle between the two and no further.
    assert np.trace(frame) == pytest.approx(1.0 + 2.0 * frame[1, 1], abs=ROUNDING)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_turned_bearing_has_the_elements_of_the_upright_one(direction):
    # What was x, y, z of the upright bearing runs along the frame's axes of the turned one.
    turn = upright_frame(direction).T
    upright = built(hill(), 12, 9)
    turned = built(hill().transformed(turn, np.zeros(3)), 12, 9, direction)
    assert turned.area == pytest.approx(upright.area, abs=1e-9)
    assert turned.thickness == pytest.approx(upright.thickness, abs=1e-9)
    assert turned.corners == pytest.approx(upright.corners, abs=1e-9)
    for name in ("centre", "normal", "tangent_row", "tangent_column"):
        assert getattr(turned, name) == pytest.approx(getattr(upright, name) @ turn.T, abs=1e-9)


def test_posterior_face_of_a_post_has_rows_down_it_and_columns_across():
    # 8 mm deep, 16 mm wide and 20 mm tall, leaning back by 0.1 per mm: x = 0.1 y over its back.
    back = plate((-20, 0), (-8, 8), slope=-0.1).transformed(upright_frame([1, 0, 0]).T, [0, 0, 0])
    grid = built(back, 10, 8, [1.0, 0.0, 0.0], backing=-8.0)
    assert grid.sides == ("post",)
    assert grid.valid.all()
    assert grid.area.sum() == pytest.approx(20 * np.hypot(1, 0.1) * 16, rel=ROUNDING)
    x, y, z = np.moveaxis(grid.centre[0], -1, 0)
    assert x == pytest.approx(0.1 * y, abs=1e-9)
    assert (y[:, 0], z[0]) == (
        pytest.approx(np.arange(19, 0, -2.0), abs=1e-9),
        pytest.approx(np.arange(-7, 8, 2.0), abs=1e-9),
    )
    assert grid.thickness[0] == pytest.approx(x + 8.0, abs=1e-9)
    assert grid.normal[0, 4, 4] == pytest.approx(np.array([1, -0.1, 0]) / np.hypot(1, 0.1))


def test_thickness_reaches_to_a_backing_surface():
    # Both faces of a wedge: the line from x = 0.1 y runs back to x = -8 - 0.2 y.
    turn = upright_frame([1, 0, 0]).T
    back = plate((-20, 0), (-8, 8), slope=-0.1).transformed(turn, [0, 0, 0])
    front = plate((-22, 2), (-9, 9), slope=0.2).transformed(turn, [-8.0, 0, 0])
    grid = built(back, 10, 8, [1.0, 0.0, 0.0], backing=front)
    y = grid.centre[0, ..., 1]
    assert grid.thickness[0] == pytest.approx(8.0 + 0.3 * y, abs=1e-9)
    short = plate((-22, -6), (-9, 9), slope=0.2).transformed(turn, [-8.0, 0, 0])
    with pytest.raises(ValueError):
        built(back, 10, 8, [1.0, 0.0, 0.0], backing=short)


def test_joined_grids_keep_every_element_and_fill_up_with_nothing():
    plateaus = build_grid(implant_of(hill()), 8, 6)
    post = built(plate((0, 10), (0, 16)), 5, 9)
    grid = join_grids(plateaus, post)
    assert grid.sides == (*SIDES, "post")
    assert grid.valid.shape == (3, 8, 9)
    assert grid.valid.sum(axis=(1, 2)).tolist() == [48, 48, 45]
    for name in ("centre", "normal", "tangent_row", "tangent_column", "area", "thickness"):
        joined = getattr(grid, name)
        assert np.array_equal(joined[:2, :, :6], getattr(plateaus, name), equal_nan=True)
        assert np.array_equal(joined[2, :5], getattr(post, name)[0], equal_nan=True)
        blank = joined[~grid.valid]
        assert (np.isnan(blank) if name != "area" else blank == 0.0).all()
    assert np.isfinite(grid.corners).all()


@pytest.mark.parametrize("direction", [[0.0, 1.0, 0.0], [0.2, 1.0, -0.3]])
def test_areas_sum_to_the_surface_whatever_plane_they_are_laid_on(direction):
    surface = hill(2.0)
    total = built(surface, 40, 40, direction).area.sum()
    # Second order: 2 mm of height over a 0.3 mm cell leaves 1e-3; seen aslant the border is curved.
    assert total == pytest.approx(exact_area(surface), rel=1e-3)
