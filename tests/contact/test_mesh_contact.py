"""Contact between meshes: known distances and forces, exact derivatives, mirror image."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kneewear.contact.foundation import ElasticLayer, SmallStrain
from kneewear.geometry.meshes import TriangleMesh
from kneewear.knees.contact.distance_field import build_distance_field, distances_to_mesh
from kneewear.knees.contact.mesh_pair import MeshContact

RADIUS = 20.0
MODULUS = 100.0
THICKNESS = 8.0


def ball(radius=RADIUS, count=80):
    """Sphere of triangles, vertices on it, normals outward."""
    polar, turn = np.linspace(0.0, np.pi, count // 2), np.arange(count) * 2 * np.pi / count
    ring = np.stack(
        [
            np.outer(np.sin(polar), np.cos(turn)),
            np.outer(np.sin(polar), np.sin(turn)),
            np.outer(np.cos(polar), np.ones(count)),
        ],
        axis=-1,
    )
    points = radius * np.concatenate([ring[:1, 0], ring[1:-1].reshape(-1, 3), ring[-1:, 0]])
    rows = len(polar) - 2
    faces = []
    for k in range(count):
        n = (k + 1) % count
        faces.append([0, 1 + k, 1 + n])
        faces.append([len(points) - 1, 1 + (rows - 1) * count + n, 1 + (rows - 1) * count + k])
        for r in range(rows - 1):
            a, b = 1 + r * count, 1 + (r + 1) * count
            faces += [[a + k, b + k, b + n], [a + k, b + n, a + n]]
    return TriangleMesh(points, np.array(faces))


def plate(half=10.0, step=0.25):
    """Horizontal sheet in y = 0 with normals up."""
    line = np.arange(-half, half + step / 2, step)
    n = line.size
    x, z = np.meshgrid(line, line, indexing="ij")
    points = np.column_stack([x.ravel(), np.zeros(n * n), z.ravel()])
    a = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    faces = np.concatenate([np.stack([a, a + 1, a + n], 1), np.stack([a + 1, a + n + 1, a + n], 1)])
    return TriangleMesh(points, faces)


@pytest.fixture(scope="module")
def contact():
    sheet = plate()
    layer = ElasticLayer(SmallStrain(MODULUS), np.full(len(sheet.faces), THICKNESS))
    return MeshContact(sheet, build_distance_field(ball(count=160)), layer)


def test_distances_to_a_sphere_are_signed_and_exact():
    points = np.random.default_rng(1).normal(0.0, 15.0, (200, 3))
    expected = np.linalg.norm(points, axis=1) - RADIUS
    near = np.abs(expected) < 8.0
    found = distances_to_mesh(ball(count=320), points[near])
    # Chords of 0.4 mm are 1 um inside the sphere.
    np.testing.assert_allclose(found, expected[near], atol=2e-3)


def test_triangles_may_differ_in_size():
    # A sheet of two triangles, and 3 mm below it a small one of many.
    wide, small = plate(50.0, 100.0), plate(2.0, 0.25)
    below = small.vertices + (20.0, -3.0, 20.0)
    faces = np.concatenate([wide.faces, small.faces + len(wide.vertices)])
    both = TriangleMesh(np.concatenate([wide.vertices, below]), faces)
    found = distances_to_mesh(both, [[20.0, 1.0, 20.0], [20.0, -0.5, 20.0], [20.0, -2.0, 20.0]])
    np.testing.assert_allclose(found, [1.0, -0.5, 1.0], atol=1e-12)


def test_beyond_an_open_border_there_is_no_body():
    points = np.array([[0.0, -0.5, 0.0], [0.0, 0.5, 0.0], [10.4, -0.3, 0.0]])
    np.testing.assert_allclose(distances_to_mesh(plate(), points), [-0.5, 0.5, 0.5], atol=1e-12)


def test_the_field_has_the_derivatives_of_its_value():
    field, step = build_distance_field(ball()), 1e-4
    points = np.random.default_rng(2).normal(0.0, 1.0, (20, 3))
    points *= (RADIUS - 0.1) / np.linalg.norm(points, axis=1, keepdims=True)
    value, gradient, hessian = field.look_up(points)
    np.testing.assert_allclose(value, -0.1, atol=0.04)  # chords are inside
    for a in range(3):
        move = step * np.eye(3)[a]
        after, before = field.look_up(points + move), field.look_up(points - move)
        np.testing.assert_allclose(gradient[:, a], (after[0] - before[0]) / (2 * step), atol=1e-7)
        slope = (after[1] - before[1]) / (2 * step)
        np.testing.assert_allclose(hessian[:, a], slope, atol=1e-5)


@pytest.mark.slow
def test_a_ball_on_a_layer_has_the_force_of_winkler(contact):
    # F = pi K R d^2 / h for the paraboloid, to first order in d / R.
    depth = 0.5
    found = contact.evaluate(np.eye(3), [0.0, RADIUS - depth, 0.0])
    expected = np.pi * MODULUS * RADIUS * depth**2 / THICKNESS
    # Triangles of 0.8 mm are up to 8 um inside the sphere.
    assert found.wrench[1] == pytest.approx(expected, rel=0.05)
    assert found.max_penetration == pytest.approx(depth, abs=0.008)
    assert found.max_pressure == pytest.approx(MODULUS * depth / THICKNESS, rel=0.02)
    assert found.contact_area == pytest.approx(2 * np.pi * RADIUS * depth, rel=0.05)
    np.testing.assert_allclose(found.wrench[[0, 2]], 0.0, atol=0.01 * expected)


def test_force_is_the_gradient_of_the_stored_energy(contact):
    turn, place = Rotation.from_rotvec([0.2, 0.4, -0.1]).as_matrix(), np.array([1.0, 19.6, -2.0])
    found, step = contact.evaluate(turn, place).wrench, 1e-4
    for axis in range(3):
        move = step * np.eye(3)[axis]
        ends = [contact.energy(contact.evaluate(turn, place + way * move)) for way in (1.0, -1.0)]
        slope = (ends[0] - ends[1]) / (2.0 * step)
        assert found[axis] == pytest.approx(-slope, abs=1e-4 * np.abs(found[:3]).max())


def test_stiffness_is_the_derivative_of_the_wrench(contact):
    turn, place = Rotation.from_rotvec([0.2, 0.4, -0.1]).as_matrix(), np.array([1.0, 19.6, -2.0])
    found = contact.evaluate(turn, place).stiffness
    step = 1e-6
    for column in range(6):
        move = step * np.eye(6)[column]
        ends = []
        for way in (1, -1):
            small = Rotation.from_rotvec(way * move[3:]).as_matrix()
            ends.append(contact.evaluate(small @ turn, place + way * move[:3]).wrench)
        slope = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(found[:, column], slope, atol=2e-4 * np.abs(found).max())


def test_a_mirrored_pair_has_mirrored_forces():
    mirror = np.diag([1.0, 1.0, -1.0])
    sheet = plate(6.0, 0.5)
    layer = ElasticLayer(SmallStrain(MODULUS), np.full(len(sheet.faces), THICKNESS))
    place = np.array([0.7, RADIUS - 0.3, 1.1])

    def mirrored(mesh):
        return TriangleMesh(mesh.vertices @ mirror, mesh.faces[:, ::-1])

    one = MeshContact(sheet, build_distance_field(ball()), layer)
    other = MeshContact(mirrored(sheet), build_distance_field(mirrored(ball())), layer)
    wrench = one.evaluate(np.eye(3), place).wrench
    found = other.evaluate(np.eye(3), mirror @ place).wrench
    np.testing.assert_allclose(found[:3], mirror @ wrench[:3], atol=1e-6 * wrench[1])
