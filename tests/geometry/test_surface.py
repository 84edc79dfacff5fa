"""NURBS patches: evaluation, derivatives, projection and rigid changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BSpline
from scipy.spatial.transform import Rotation

from kneewear.geometry.surface import Surface
from tests.physics.bodies import arc, plate, revolved, sphere

# Sums of a few dozen products of numbers of the order of 10 mm.
ROUNDING = 1e-12
# Newton steps end below 1e-5 mm, which leaves 1e-11 mm in the distance.
DISTANCE = 1e-10


def wavy(degree_u=3, degree_v=2, rational=True, seed=1):
    """A gently waved patch of 20 x 15 mm that faces up, with uneven knots and weights."""
    random = np.random.default_rng(seed)
    n_u, n_v = 8, 7
    z, x = np.meshgrid(np.linspace(0, 15, n_u), np.linspace(0, 20, n_v), indexing="ij")
    y = 0.5 * np.sin(x / 5) * np.cos(z / 4) + 0.05 * random.normal(size=x.shape)
    weights = random.uniform(0.8, 1.2, x.shape) if rational else np.ones(x.shape)

    def knots(count, degree):
        inner = np.linspace(0, 1, count - degree + 1)[1:-1]
        inner = inner + random.uniform(-0.03, 0.03, inner.size)
        return np.concatenate([[0.0] * (degree + 1), inner, [1.0] * (degree + 1)])

    points = np.stack([x, y, z], axis=-1)
    return Surface(points, weights, knots(n_u, degree_u), knots(n_v, degree_v), degree_u, degree_v)


def parameters(count=200, seed=2, inset=0.0):
    random = np.random.default_rng(seed)
    return random.uniform(inset, 1 - inset, count), random.uniform(inset, 1 - inset, count)


def by_basis(surface, u, v, order_u=0, order_v=0):
    """Homogeneous coordinates by basis functions of scipy, one at a time."""

    def basis(knots, degree, count, at, order):
        rows = []
        for number in range(count):
            spline = BSpline(knots, np.eye(count)[number], degree)
            rows.append(spline(at) if order == 0 else spline.derivative(order)(at))
        return np.array(rows)

    n_u, n_v = surface.weights.shape
    b_u = basis(surface.knots_u, surface.degree_u, n_u, u, order_u)
    b_v = basis(surface.knots_v, surface.degree_v, n_v, v, order_v)
    weighted = surface.control_points * surface.weights[..., None]
    homogeneous = np.concatenate([weighted, surface.weights[..., None]], axis=-1)
    return np.einsum("an,bn,abc->nc", b_u, b_v, homogeneous)


@pytest.mark.parametrize("rational", [False, True])
@pytest.mark.parametrize("degrees", [(3, 2), (2, 2), (1, 1), (3, 3)])
def test_points_are_those_of_the_basis_functions(rational, degrees):
    surface = wavy(*degrees, rational)
    u, v = parameters()
    homogeneous = by_basis(surface, u, v)
    assert surface.evaluate(u, v) == pytest.approx(
        homogeneous[:, :3] / homogeneous[:, 3:], abs=ROUNDING
    )


def test_derivatives_of_a_polynomial_patch_are_those_of_the_basis_functions():
    surface = wavy(rational=False)
    u, v = parameters()
    orders = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]
    for found, order in zip(surface.derivatives(u, v), orders, strict=True):
        expected = by_basis(surface, u, v, *order)[:, :3]
        assert found == pytest.approx(expected, abs=ROUNDING * max(1.0, np.abs(expected).max()))


def test_derivatives_are_limits_of_differences():
    surface = wavy()
    u, v = parameters(inset=0.01)
    step = 1e-5
    _, s_u, s_v, s_uu, s_uv, s_vv = surface.derivatives(u, v)
    along_u = [surface.derivatives(u + sign * step, v) for sign in (1, -1)]
    along_v = [surface.derivatives(u, v + sign * step) for sign in (1, -1)]
    for exact, pair, column in (
        (s_u, along_u, 0),
        (s_v, along_v, 0),
        (s_uu, along_u, 1),
        (s_uv, along_v, 1),
        (s_uv, along_u, 2),
        (s_vv, along_v, 2),
    ):
        numerical = (pair[0][column] - pair[1][column]) / (2 * step)
        # Second derivatives of the patch jump at its knots; a difference across one sees both.
        error = np.abs(numerical - exact).max(axis=-1)
        scale = np.abs(exact).max()
        assert np.quantile(error, 0.98) < 1e-6 * scale
        assert np.median(error) < 1e-7 * scale


@pytest.mark.parametrize("radius", [5.0, 30.0])
def test_a_rational_sphere_is_a_sphere(radius):
    surface = sphere(radius)
    u, v = parameters()
    point, normal = surface.evaluate(u, v), surface.normal(u, v)
    assert np.linalg.norm(point, axis=-1) == pytest.approx(radius, abs=ROUNDING)
    assert normal == pytest.approx(point / radius, abs=ROUNDING)
    for curvature in surface.curvature(u, v):
        # The root of a difference of squares turns roundings of 1e-16 into 1e-8.
        assert curvature == pytest.approx(-1.0 / radius, abs=1e-7)


def torus(axis_radius=25.5, tube=5.0, sweep=1.2):
    """Outer part of a torus about z: tube centre on a circle, tube across."""
    profile, knots = arc(-sweep, sweep, 2)
    ring = np.column_stack(
        [tube * profile[:, 0], axis_radius - tube * profile[:, 1], profile[:, 2]]
    )
    return revolved(ring, knots)


def distance_to_torus(points, axis_radius=25.5, tube=5.0):
    return np.hypot(np.hypot(points[:, 0], points[:, 1]) - axis_radius, points[:, 2]) - tube


def test_curvature_of_a_torus():
    surface = torus()
    u, v = parameters()
    small, large = surface.curvature(u, v)
    point = surface.evaluate(u, v)
    ring = np.hypot(point[:, 0], point[:, 1])
    assert small == pytest.approx(-1 / 5.0, abs=1e-9)
    assert large == pytest.approx(-(1 - 25.5 / ring) / 5.0, abs=1e-9)


def near(surface, count=400, reach=1.5, seed=7, inset=0.08):
    u, v = parameters(count, seed, inset)
    height = np.random.default_rng(seed + 1).uniform(-reach, reach, count)
    return surface.evaluate(u, v) + height[:, None] * surface.normal(u, v), height, u, v


def test_distance_to_a_torus_is_exact():
    surface = torus()
    points, height, *_ = near(surface)
    u, v, distance, normal, interior = surface.closest_points(points)
    assert interior.all()
    assert distance == pytest.approx(distance_to_torus(points), abs=DISTANCE)
    assert distance == pytest.approx(height, abs=DISTANCE)
    assert normal == pytest.approx(surface.normal(u, v), abs=1e-9)
    assert points - distance[:, None] * normal == pytest.approx(surface.evaluate(u, v), abs=1e-8)


def test_distance_to_a_sphere_is_exact():
    surface = sphere(30.0)
    points, *_ = near(surface, reach=4.0)
    distance = surface.closest_points(points)[2]
    assert distance == pytest.approx(np.linalg.norm(points, axis=-1) - 30.0, abs=DISTANCE)


@pytest.mark.compiled
@pytest.mark.parametrize("rational", [False, True])
def test_distance_is_the_least_of_a_dense_sampling(rational):
    surface = wavy(rational=rational)
    points, *_ = near(surface, count=40)
    _, _, distance, _, interior = surface.closest_points(points)
    u = np.linspace(0, 1, 801)
    dense = surface.evaluate(u[:, None], u[None, :]).reshape(-1, 3)
    least = np.array([np.linalg.norm(dense - point, axis=1).min() for point in points])
    assert (np.abs(distance)[interior] <= least[interior] + DISTANCE).all()
    # Samples are 0.03 mm apart: the nearest is off by half of that sideways, so the distance by
    # s^2 / 2d, or by s itself where the point almost touches.
    gap = 0.5 * np.hypot(20, 15) / 800 * 1.3
    bound = np.sqrt(np.abs(distance) ** 2 + gap**2) - np.abs(distance) + 1e-4
    assert (least - np.abs(distance) <= bound)[interior].all()
    assert interior.sum() > 30


def test_points_beside_the_patch_have_no_foot():
    surface = plate((0.0, 10.0), (0.0, 6.0))
    inside, beside = [[5.0, 2.0, 3.0], [0.1, -1.0, 5.9]], [[-1.0, 1.0, 3.0], [5.0, -0.5, 7.0]]
    *_, distance, normal, interior = surface.closest_points(np.array(inside + beside))
    assert interior.tolist() == [True, True, False, False]
    assert distance[:2] == pytest.approx([2.0, -1.0], abs=ROUNDING)
    assert normal[0] == pytest.approx([0.0, 1.0, 0.0], abs=ROUNDING)


def rays(surface, count=2000, seed=11, inset=0.0):
    """Rays from outside through points of a patch, some of them oblique."""
    u, v = parameters(count, seed, inset)
    projection = surface.evaluate(u, v)
    away = surface.normal(u, v) + np.random.default_rng(seed).uniform(-0.4, 0.4, (count, 3))
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    return projection, projection + 4.0 * away, -away


@pytest.mark.parametrize("surface", [wavy(), wavy(rational=False), plate((0, 9), (0, 6))])
def test_rays_through_points_of_a_patch_meet_it(surface):
    _, origins, directions = rays(surface)
    u, v, distance, hit = surface.ray_hits(origins, 7.0 * directions)
    assert hit.all()
    # Never later than where it is known to be; Newton stops within 1e-10 mm of the line.
    assert (distance < 4.0 + 1e-8).all()
    assert surface.evaluate(u, v) == pytest.approx(
        origins + distance[:, None] * directions, abs=1e-9
    )


def test_rays_meet_a_sphere_where_the_formula_says():
    surface = sphere(30.0)
    _, origins, directions = rays(surface, inset=0.1)
    *_, distance, hit = surface.ray_hits(origins, directions)
    along = (origins * directions).sum(axis=1)
    root = np.sqrt(along**2 - (origins**2).sum(axis=1) + 30.0**2)
    assert hit.all()
    assert distance == pytest.approx(-along - root, abs=1e-9)


def test_rays_beside_and_away_miss():
    surface = plate((0.0, 10.0), (0.0, 6.0), height=2.0)
    origins = np.array([[5.0, 5.0, 3.0], [5.0, 5.0, 3.0], [11.0, 5.0, 3.0], [5.0, 1.0, 3.0]])
    down, up = [0.0, -1.0, 0.0], [0.0, 1.0, 0.0]
    *_, distance, hit = surface.ray_hits(origins, np.array([down, up, down, up]))
    assert hit.tolist() == [True, False, False, True]
    assert distance == pytest.approx([3.0, np.inf, np.inf, 1.0])
    with pytest.raises(ValueError):
        surface.ray_hits(origins, np.zeros(3))


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.tuples(*[st.floats(-3, 3)] * 3), st.tuples(*[st.floats(-100, 100)] * 3))
def test_rigid_motion_carries_points_normals_and_distances(turn, shift):
    surface = wavy()
    rotation = Rotation.from_rotvec(turn).as_matrix()
    moved = surface.transformed(rotation, shift)
    u, v = parameters(20)
    assert moved.evaluate(u, v) == pytest.approx(
        surface.evaluate(u, v) @ rotation.T + shift, abs=1e-11
    )
    assert moved.normal(u, v) == pytest.approx(surface.normal(u, v) @ rotation.T, abs=1e-10)
    points, *_ = near(surface, count=20, inset=0.15)
    assert moved.closest_points(points @ rotation.T + shift)[2] == pytest.approx(
        surface.closest_points(points)[2], abs=DISTANCE
    )


def test_mirrored_patch_is_the_other_knees_and_still_faces_out():
    surface = wavy()
    mirrored = surface.mirrored()
    u, v = parameters(50)
    flip = np.array([-1.0, 1.0, 1.0])
    assert mirrored.evaluate(1 - u, v) == pytest.approx(surface.evaluate(u, v) * flip, abs=ROUNDING)
    assert mirrored.normal(1 - u, v) == pytest.approx(surface.normal(u, v) * flip, abs=ROUNDING)
    points, *_ = near(surface, count=30)
    assert mirrored.closest_points(points * flip)[2] == pytest.approx(
        surface.closest_points(points)[2], abs=DISTANCE
    )
