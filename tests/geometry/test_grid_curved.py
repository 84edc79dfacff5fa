"""Elements built on cylinders and spheres: areas, frames, thickness, and the bodies they suit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kneewear.geometry.element_surfaces import Cylinder, Plane, Sphere, upright_frame
from kneewear.geometry.grid import Bearing, build_elements
from kneewear.geometry.thickness import thickness_to
from tests.geometry.test_grid import exact_area
from tests.physics.bodies import arc, cylinder, revolved, sphere

ROUNDING = 1e-12
# Lines stop 1e-10 mm from the patch they meet.
MET = 1e-9
TURN = upright_frame([0.4, 0.7, -0.5])
SHIFT = np.array([3.0, -2.0, 5.0])


def trough(radius=20.0, half_width=15.0):
    """Hollow part of a cylinder about z, +- 1 rad round its lowest line, normals to the axis."""
    return cylinder(radius, half_width).reversed_normal()


def cup(radius=14.3):
    """Hollow part of a sphere, +- 1 rad each way round its lowest point, normals to the centre."""
    return sphere(radius).reversed_normal()


def hemisphere(radius=14.3):
    """Full half sphere below the origin, revolved about y: one border is its lowest point."""
    profile, knots = arc(0.0, np.pi / 2, 1)
    points = np.array([[-y * radius, x * radius, w] for x, y, w in profile])
    bowl = revolved(points, knots, (-np.pi, np.pi), 4)
    # The revolution is about z, from the pole at +z; that axis goes to -y.
    return bowl.transformed([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]], np.zeros(3))


def round_axis(radius=20.0, hollow=True, middle=(0.0, -1.0, 0.0), point=(0.0, 0.0, 0.0)):
    return Cylinder(point, (0.0, 0.0, 1.0), middle, radius, hollow)


def round_centre(radius=14.3, hollow=True, middle=(0.0, -1.0, 0.0), centre=(0.0, 0.0, 0.0)):
    return Sphere(centre, middle, radius, hollow)


def built(surface, projection_surface, rows, columns, thickness=8.0):
    bearing = Bearing("joint", surface, thickness, projection_surface)
    return build_elements(bearing, bearing.rectangle(rows, columns))


def test_cylinder_is_cut_into_equal_elements_of_arc_and_length():
    grid = built(trough(), round_axis(), 8, 6)
    assert grid.valid.all()
    assert grid.area == pytest.approx((2.0 * 20.0 / 8) * (30.0 / 6), rel=1e-9)
    angle = np.arctan2(grid.centre[0, ..., 0], -grid.centre[0, ..., 1])
    assert np.abs(angle[:, 0]) == pytest.approx(np.abs(np.linspace(-7 / 8, 7 / 8, 8)), abs=MET)
    assert np.hypot(*np.moveaxis(grid.centre[0, ..., :2], -1, 0)) == pytest.approx(20.0, abs=MET)
    assert grid.corners[0, :, 0, 0] == pytest.approx(20.0 * np.linspace(-1, 1, 9), abs=1e-6)
    assert grid.corners[0, 0, :, 1] == pytest.approx(np.linspace(-15, 15, 7), abs=1e-6)


def test_elements_of_a_sphere_are_of_one_area_and_sum_to_the_half_sphere():
    grid = built(hemisphere(), round_centre(), 40, 40)
    whole = grid.covered[0] == 1.0
    cell = grid.area[0][whole]
    assert whole.sum() > 1000
    assert cell == pytest.approx(cell[0], rel=1e-9)
    # The rim is drawn as a polygon of 400 sides: 4e-5 of its area lies beyond.
    assert grid.area.sum() == pytest.approx(2.0 * np.pi * 14.3**2, rel=6e-5)
    assert np.linalg.norm(grid.centre[grid.valid], axis=-1) == pytest.approx(14.3, abs=MET)


@pytest.mark.parametrize(
    ("surface", "projection_surface"),
    [
        (trough(), round_axis(25.0, middle=(0.1, -1.0, 0.0), point=(1.5, 4.0, 0.0))),
        (cup(), round_centre(12.0, middle=(0.2, -1.0, 0.1), centre=(0.8, 2.0, -0.5))),
        (cup(), Cylinder((0.0, 3.0, 0.0), (1.0, 0.0, 0.2), (0.0, -1.0, 0.0), 16.0)),
        (trough(), round_centre(30.0, centre=(0.0, 9.0, 0.0))),
    ],
)
def test_areas_sum_to_the_surface_at_second_order_whatever_they_are_laid_on(
    surface, projection_surface
):
    exact = exact_area(surface)
    error = [built(surface, projection_surface, n, n).area.sum() / exact - 1 for n in (12, 24, 48)]
    # Cells cut by the border leave some scatter about the order.
    assert abs(error[2]) < 2e-4
    assert abs(error[2]) < abs(error[0]) / 8


@pytest.mark.parametrize("hollow", [True, False])
@pytest.mark.parametrize("kind", ["cylinder", "sphere"])
def test_local_frames_are_right_handed_and_follow_rows_and_columns(kind, hollow):
    surface = trough() if kind == "cylinder" else cup()
    surface = surface if hollow else surface.reversed_normal()
    projection_surface = (round_axis if kind == "cylinder" else round_centre)(hollow=hollow)
    grid = built(surface, projection_surface, 12, 10)
    on = grid.valid
    frame = np.stack([grid.tangent_row, grid.normal, grid.tangent_column], axis=-2)[on]
    assert frame @ frame.swapaxes(-1, -2) == pytest.approx(
        np.broadcast_to(np.eye(3), frame.shape), abs=ROUNDING
    )
    assert np.linalg.det(frame) == pytest.approx(1.0, abs=ROUNDING)
    for axis, tangent in ((1, grid.tangent_row), (2, grid.tangent_column)):
        # Centres of cells that the border cuts are not in line.
        centre = np.where((grid.covered == 1.0)[..., None], grid.centre, np.nan)
        step = np.diff(centre, axis=axis)
        along = np.take(tangent, range(step.shape[axis]), axis=axis)
        known = np.isfinite(step).all(axis=-1)
        # A chord leaves its tangent by half an element's 10 deg; Lambert's map shears by its own.
        cosine = (step * along).sum(-1)[known] / np.linalg.norm(step[known], axis=-1)
        assert known.sum() > 60
        assert cosine.min() > np.cos(np.radians(20.0))


@pytest.mark.parametrize("projection_surface", [round_axis(17.0), round_centre(17.0)])
def test_projected_elements_lie_over_the_middle_of_their_cells(projection_surface):
    surface = cup().transformed(np.eye(3), [0.5, 1.0, -0.3])
    bearing = Bearing("joint", surface, 8.0, projection_surface)
    grid = build_elements(bearing, bearing.rectangle(9, 7))
    whole = grid.covered[0] == 1.0
    middle = grid.corners[0][:-1, :-1] + 0.5 * (grid.corners[0][1:, 1:] - grid.corners[0][:-1, :-1])
    assert projection_surface.at(grid.centre[0]).plan[whole] == pytest.approx(
        middle[whole], abs=MET
    )
    assert np.abs(surface.closest_points(grid.centre[grid.valid])[2]).max() < MET


def test_turned_joint_has_the_elements_of_the_upright_one():
    for surface, one in ((trough(), round_axis()), (cup(), round_centre())):
        key = "point" if isinstance(one, Cylinder) else "centre"
        turned = {"middle": tuple(TURN @ one.middle), key: tuple(SHIFT)}
        if isinstance(one, Cylinder):
            turned["axis"] = tuple(TURN @ one.axis)
        upright = built(surface, one, 10, 8)
        other = built(surface.transformed(TURN, SHIFT), replace(one, **turned), 10, 8)
        assert other.area.sum() == pytest.approx(upright.area.sum(), rel=1e-5)
        if isinstance(one, Cylinder):
            # Only a sphere's rows start where they like.
            assert other.centre == pytest.approx(upright.centre @ TURN.T + SHIFT, abs=1e-8)
            assert other.tangent_row == pytest.approx(upright.tangent_row @ TURN.T, abs=1e-8)


def test_thickness_is_measured_along_the_radius():
    for surface, projection_surface in (
        (trough(20.0), round_axis(20.0)),
        (cup(20.0), round_centre(20.0)),
    ):
        shell = built(surface, projection_surface, 8, 8, thickness_to(-26.5, projection_surface))
        assert shell.thickness[shell.valid] == pytest.approx(6.5, abs=MET)
    # A backing off centre by e: 26.5^2 = r^2 + e^2 - 2 r e cos(angle to e).
    eccentric = sphere(26.5).transformed(np.eye(3), [0.0, -1.0, 0.0])
    liner = built(cup(20.0), round_centre(20.0), 8, 8, thickness_to(eccentric, round_centre(20.0)))
    cosine = -liner.centre[liner.valid][:, 1] / 20.0
    outer = cosine + np.sqrt(26.5**2 - 1.0 + cosine**2)
    assert liner.thickness[liner.valid] == pytest.approx(outer - 20.0, abs=1e-8)
    dome = built(
        cylinder(20.0, 15.0), round_axis(hollow=False), 8, 8,
        thickness_to(17.0, round_axis(hollow=False)),
    )  # fmt: skip
    assert dome.thickness == pytest.approx(3.0, abs=MET)


def test_flat_plan_is_the_limit_of_large_radii():
    surface = trough(200.0, 4.0)
    flat = built(surface, Plane(), 6, 5)
    far = Cylinder((0.0, 1e6, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0), 1e6)
    bent = built(surface, far, 6, 5)
    # Lines spread by 170 mm / 1e6 mm.
    assert bent.centre == pytest.approx(flat.centre, abs=0.1)
    assert bent.area == pytest.approx(flat.area, rel=1e-3)
    assert bent.tangent_row == pytest.approx(flat.tangent_row, abs=1e-3)


def test_surfaces_that_do_not_suit_a_bearing_are_refused():
    with pytest.raises(ValueError, match="faces down"):
        built(trough(), round_axis(hollow=False), 6, 6)
    with pytest.raises(ValueError, match="missed by lines"):
        # The far half plane cuts through the trough.
        built(trough(), round_axis(middle=(0.0, 1.0, 0.0)), 6, 6)
    with pytest.raises(ValueError, match="positive radius"):
        round_centre(0.0)
    with pytest.raises(ValueError, match="off its axis"):
        round_axis(middle=(0.0, 0.0, 2.0))
    with pytest.raises(ValueError, match="not zero"):
        round_centre(middle=(0.0, 0.0, 0.0))
