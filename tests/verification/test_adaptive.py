"""Elements that follow the contact: as exact at a light touch as under load, and nothing lost."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from kneewear.contact.foundation import SmallStrain
from kneewear.contact.pair import ContactPair
from kneewear.geometry.element_surfaces import Plane, Sphere
from kneewear.geometry.grid import Bearing, bearing_of, build_elements
from kneewear.geometry.table import tabulate_surface
from kneewear.mechanics.rotations import body_three_123
from kneewear.reference import winkler
from kneewear.verification.adaptive import AdaptivePair, spread_force
from tests.physics.bodies import (
    CASES,
    MODULUS,
    UPRIGHT,
    flat_implant,
    gait_study,
    linear_layer,
    pose_of,
    sphere,
)
from tests.verification.test_regions import depth_of, egg_box

pytestmark = pytest.mark.compiled

RADIUS, HEIGHT, HALF = 30.0, 8.0, 9.0
LAW = SmallStrain(MODULUS)
LAYER = winkler.LinearLayer(MODULUS, HEIGHT)
SUMMED = "minimum_distance_along_normal"  # its force is the sum of pressure times area


def under_sphere(rows=20, columns=20, projection_surface=None):
    implant = flat_implant(sphere(RADIUS), HALF, HALF)
    bearing = bearing_of(implant, "medial")
    if projection_surface is not None:
        bearing = replace(bearing, projection_surface=projection_surface)
    indenter = implant.femoral["medial"]
    return AdaptivePair(bearing, indenter, tabulate_surface(indenter, 61, 41), rows, columns)


def fixed(pair, rows, columns):
    """The resultant on a fixed grid of the same bearing, and the grid."""
    bearing, indenter = pair.bearing, pair.search.indenter
    grid = build_elements(bearing, bearing.rectangle(rows, columns))
    contact = ContactPair(grid, 0, indenter, tabulate_surface(indenter, 61, 41))
    layer = linear_layer(grid.thickness[grid.valid])
    return grid, lambda rotation, translation: contact.evaluate(rotation, translation, layer)


def sphere_errors(evaluate, depth, positions):
    """Relative errors of force, peak, mean and area, root mean square over positions."""
    area = math.pi * winkler.contact_radius(RADIUS, depth) ** 2
    exact = np.array([
        winkler.sphere_force(RADIUS, depth, LAYER),
        LAYER.pressure(depth),
        winkler.sphere_force(RADIUS, depth, LAYER, SUMMED) / area,
        area,
    ])  # fmt: skip
    found = []
    for x, z in positions:
        result = evaluate(UPRIGHT, np.array([x, HEIGHT + RADIUS - depth, z]))
        on = result.pressure > 0
        pressure = result.pressure[on] if on.any() else np.zeros(1)
        found.append([result.wrench[1], pressure.max(), pressure.mean(), result.area[on].sum()])
    return np.sqrt(np.mean((np.array(found) / exact - 1.0) ** 2, axis=0))


POSITIONS = np.random.default_rng(3).uniform(-1.5, 1.5, (16, 2))


@pytest.mark.parametrize("depth", [1e-5, 1e-3, 1e-2, 0.1, 0.5])
def test_accuracy_does_not_depend_on_the_depth(depth):
    pair = under_sphere()
    errors = sphere_errors(lambda *pose: pair.evaluate(*pose, LAW), depth, POSITIONS)
    # Nine elements along the contact's radius: 9^-2.5 for the force, 1 / (2 * 9^2) for the peak,
    # 9^-1.5 for mean and area, each with what the lattice leaves of it.
    assert (errors < [1e-3, 6e-3, 1.5e-2, 1.5e-2]).all()


def test_fixed_grid_of_as_many_elements_is_lost_at_a_light_touch():
    pair = under_sphere()
    _, evaluate = fixed(pair, 20, 20)
    assert sphere_errors(evaluate, 1e-2, POSITIONS)[0] > 0.03
    assert sphere_errors(evaluate, 1e-3, POSITIONS)[0] > 0.3
    _, evaluate = fixed(pair, 100, 100)
    light = sphere_errors(evaluate, 1e-3, POSITIONS)
    assert (
        sphere_errors(lambda *pose: pair.evaluate(*pose, LAW), 1e-3, POSITIONS) < light / 3
    ).all()


def test_force_converges_with_the_elements_of_a_region():
    errors = []
    for number in (8, 32):
        pair = under_sphere(number, number)
        errors.append(sphere_errors(lambda *pose, p=pair: p.evaluate(*pose, LAW), 1e-2, POSITIONS))
    order = np.log(errors[0] / errors[1]) / math.log(4)
    # Orders of the fixed grid, as the elements of a region are scaled with it.
    assert order == pytest.approx([2.5, 2.0, 1.5, 1.5], abs=0.6)


def test_force_grows_steadily_with_depth():
    pair = under_sphere()
    depths = np.linspace(0.01, 0.02, 60)
    force = [pair.evaluate(UPRIGHT, np.array([0.2, HEIGHT + RADIUS - d, 0.1]), LAW).wrench[1]
             for d in depths]  # fmt: skip
    ratio = force / np.array([winkler.sphere_force(RADIUS, d, LAYER) for d in depths])
    # Rectangles grow with the contact: no element enters or leaves at once.
    assert (np.diff(force) > 0).all()
    assert np.ptp(ratio) < 1e-3


def test_stiffness_is_the_rate_of_the_force():
    pair = under_sphere(30, 30)
    position = np.array([0.2, HEIGHT + RADIUS - 0.05, 0.1])
    found = pair.evaluate(UPRIGHT, position, LAW)
    for axis in range(3):
        step = 1e-3 * np.eye(3)[axis]
        rate = (
            sum(
                sign * pair.evaluate(UPRIGHT, position + sign * step, LAW).wrench
                for sign in (1, -1)
            )
            / 2e-3
        )
        # Elements held in place: what their motion adds is of the order of the force's error.
        scale = np.abs(found.stiffness[:3, :3]).max()
        assert rate[:3] == pytest.approx(found.stiffness[:3, axis], abs=0.01 * scale)


def test_bodies_apart_feel_nothing():
    result = under_sphere().evaluate(UPRIGHT, np.array([0.0, HEIGHT + RADIUS + 0.1, 0.0]), LAW)
    assert result.regions == ()
    assert np.array_equal(result.wrench, np.zeros(6))
    assert np.array_equal(result.stiffness, np.zeros((6, 6)))
    assert result.pressure.size == result.area.size == result.penetration.size == 0


def test_result_does_not_depend_on_the_poses_before():
    pair = under_sphere()
    poses = [
        (
            body_three_123(np.array([0.02 * k, 0.0, 0.01 * k])),
            np.array([0.1 * k, HEIGHT + RADIUS - 0.01 * (k + 1), -0.1 * k]),
        )
        for k in range(8)
    ]
    once = [pair.evaluate(*pose, LAW) for pose in poses]
    for number in (5, 0, 7, 5, 2):
        again = pair.evaluate(*poses[number], LAW)
        alone = under_sphere().evaluate(*poses[number], LAW)
        for name in ("wrench", "stiffness", "pressure", "area"):
            assert np.array_equal(getattr(again, name), getattr(once[number], name))
            assert np.array_equal(getattr(alone, name), getattr(once[number], name))


@pytest.mark.parametrize(("seed", "regions"), [(1, 2), (5, 2), (6, 3)])
def test_rough_bodies_feel_the_force_of_a_fine_grid_in_all_their_regions(seed, regions):
    bearing = Bearing("rough", egg_box(seed, 0.2, 7).reversed_normal(), HEIGHT)
    indenter = egg_box(seed + 1, 0.2, 9, 22.0)
    pair = AdaptivePair(bearing, indenter, tabulate_surface(indenter, 61, 61), 24, 24)
    grid, evaluate = fixed(pair, 400, 400)
    translation = np.array([0.3, 0.0, 0.2])
    for _ in range(4):
        points = grid.centre[grid.valid]
        translation[1] += depth_of(points, indenter, UPRIGHT, translation).max() - 0.05
    fine, found = (run(UPRIGHT, translation) for run in
                   (evaluate, lambda *pose: pair.evaluate(*pose, LAW)))  # fmt: skip
    loaded = [r for r in found.regions if (r.resultant.pressure > 0).any()]
    assert len(loaded) == regions
    # 576 elements a region against 160 000 in all, of which 400 to 6700 are under load.
    size = np.linalg.norm(fine.wrench[:3])
    assert found.wrench[:3] == pytest.approx(fine.wrench[:3], abs=5e-3 * size)


@pytest.mark.parametrize("direction", [(0.0, 1.0, 0.0), (0.2, 1.0, -0.3)])
def test_spreading_over_a_fixed_grid_keeps_force_and_place(direction):
    pair = under_sphere(projection_surface=Plane(direction))
    cells = pair.bearing.rectangle(30, 24)
    grid, evaluate = fixed(pair, 30, 24)
    for depth, position in ((1e-3, (0.4, 0.2)), (0.3, (-1.0, 2.0)), (0.3, (7.5, 7.0))):
        pose = UPRIGHT, np.array([position[0], HEIGHT + RADIUS - depth, position[1]])
        result = pair.evaluate(*pose, LAW)
        (region,) = result.regions
        spread = spread_force(region, cells)
        assert spread.shape == (30, 24)
        assert (spread >= 0).all()
        assert spread.sum() == pytest.approx(np.sum(result.pressure * result.area), rel=1e-12)
        # A force within a cell counts as at its centre.
        fine = np.nansum(region.force[..., None] * np.nan_to_num(region.grid.centre[0]), (0, 1))
        coarse = np.sum(spread[..., None] * np.nan_to_num(grid.centre[0]), axis=(0, 1))
        assert coarse / spread.sum() == pytest.approx(fine / spread.sum(), abs=0.4)
        if depth > 0.1:
            pressure = np.divide(spread, grid.area[0], where=grid.valid[0], out=spread * 0)
            own = evaluate(*pose).pressure.max()
            # The mean over a cell of 0.6 by 0.75 mm against the value at its middle.
            assert pressure.max() == pytest.approx(own, rel=0.05)


def test_gait_feels_the_same_on_either_grid():
    study = gait_study()
    history = study.run(CASES[0])
    for side in ("medial", "lateral"):
        bearing, indenter = bearing_of(study.implant, side), study.implant.femoral[side]
        pair = AdaptivePair(bearing, indenter, tabulate_surface(indenter, 61, 31), 40, 40)
        _, evaluate = fixed(pair, 120, 90)
        for frame in (0, 4, 9):
            pose = pose_of(history, frame)
            fine, found = evaluate(*pose), pair.evaluate(*pose, LAW)
            # Where the insert's rim cuts the contact off, pressure ends within one of 40 cells.
            assert found.wrench[1] == pytest.approx(fine.wrench[1], rel=0.01)
            assert found.pressure.max() == pytest.approx(fine.pressure.max(), rel=0.01)


def test_ball_in_a_cup_is_followed_on_elements_of_a_sphere():
    lines = Sphere((0.0, 0.0, 0.0), (0.0, -1.0, 0.0), 14.3)
    bearing = Bearing("hip", sphere(14.3).reversed_normal(), HEIGHT, lines)
    pair = AdaptivePair(bearing, sphere(14.0), tabulate_surface(sphere(14.0), 81, 61), 24, 24)
    shift = 0.302
    towards = np.array([0.1, -1.0, 0.05]) / math.sqrt(1.0 + 0.1**2 + 0.05**2)
    result = pair.evaluate(UPRIGHT, shift * towards, LAW)
    exact = winkler.ball_in_cup_force(14.0, 14.3, shift - 0.3, winkler.LinearLayer(MODULUS, HEIGHT))
    assert result.wrench[:3] == pytest.approx(-exact * towards, abs=3e-3 * exact)


def test_thicker_layer_is_softer():
    pair = under_sphere()
    pose = UPRIGHT, np.array([0.0, HEIGHT + RADIUS - 0.05, 0.0])
    thin, thick = pair.evaluate(*pose, LAW), pair.evaluate(*pose, LAW, more_thickness=HEIGHT)
    assert thick.wrench == pytest.approx(0.5 * thin.wrench, rel=1e-12)
