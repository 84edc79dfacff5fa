"""Coarse meshes of bones: volumes, closed boundaries, layers of even thickness, insertions."""

from __future__ import annotations

import builtins

import numpy as np
import pytest

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh
from kneewear.knees.papers.fe_knee import bone_meshes
from kneewear.knees.papers.fe_knee.volume_mesh import (
    VolumeMesh,
    boundary_triangles,
    cartilage_surface,
    element_volumes,
    hierarchy,
    refined,
)

SIZE = (50.0, 45.0, 72.0)


def areas(nodes, triangles):
    return np.linalg.norm(TriangleMesh(nodes, triangles).face_normals, axis=1)


def upper_side(nodes, tetrahedra):
    boundary = boundary_triangles(VolumeMesh(nodes, tetrahedra))
    return boundary[(nodes[boundary][..., 1] == 0.0).all(axis=1)]


def sphere(radius, count):
    """Closed sphere of triangles, outward, from a grid of longitudes and latitudes."""
    theta = np.linspace(0.0, np.pi, count + 1)[1:-1]
    phi = np.linspace(0.0, 2.0 * np.pi, 2 * count, endpoint=False)
    t, p = (one.ravel() for one in np.meshgrid(theta, phi, indexing="ij"))
    ring = np.stack([np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)], axis=1)
    points = radius * np.concatenate([ring, [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]])
    n = 2 * count
    own = np.arange(n)
    faces = [np.stack([np.full(n, len(ring)), own, np.roll(own, -1)], axis=1)]
    for row in range(count - 2):
        low, high = row * n + own, (row + 1) * n + own
        after, beyond = np.roll(low, -1), np.roll(high, -1)
        faces += [np.stack([low, high, beyond], axis=1), np.stack([low, beyond, after], axis=1)]
    last = (count - 2) * n + own
    faces.append(np.stack([np.full(n, len(ring) + 1), np.roll(last, -1), last], axis=1))
    return TriangleMesh(points, np.concatenate(faces))


def test_tetrahedra_of_a_box_fill_it_and_share_their_faces():
    nodes, tetrahedra = bone_meshes.simplified_tibia(SIZE, 12.0)
    mesh = VolumeMesh(nodes, tetrahedra)
    assert element_volumes(mesh)[0].sum() == pytest.approx(np.prod(SIZE), rel=1e-12)
    boundary = boundary_triangles(mesh)
    a, b, c = SIZE
    assert areas(nodes, boundary).sum() == pytest.approx(2 * (a * b + b * c + a * c), rel=1e-12)
    np.testing.assert_allclose(
        TriangleMesh(nodes, boundary).face_normals.sum(axis=0), 0.0, atol=1e-9
    )


def test_a_shaft_adds_its_volume_in_high_cells_and_leaves_the_joint_as_it_is():
    shaft, (a, b, c) = 70.0, SIZE
    for build, volume in (
        (lambda *own: bone_meshes.simplified_tibia(SIZE, 12.0, *own), a * b * c),
        (lambda *own: bone_meshes.simplified_femur(SIZE, 12.0, (30.0, 20.0), 44.0, *own), None),
    ):
        short, long = VolumeMesh(*build()), VolumeMesh(*build(shaft))
        volumes = [element_volumes(one)[0].sum() for one in (short, long)]
        assert volume is None or volumes[0] == pytest.approx(volume)
        assert np.ptp(long.nodes[:, 1]) == pytest.approx(np.ptp(short.nodes[:, 1]) + shaft)
        joint = [one.nodes[np.abs(one.nodes[:, 1]) < 1e-9] for one in (short, long)]
        np.testing.assert_allclose(*joint)
        # Two layers of at most 36 mm, in place of six.
        layers = np.unique(short.nodes[:, [0, 2]], axis=0).shape[0]
        assert len(long.nodes) == len(short.nodes) + 2 * layers
        if volume is not None:
            assert volumes[1] == pytest.approx(volume + a * shaft * c)


def test_lower_side_of_the_simplified_femur_has_the_radii_of_its_condyles():
    nodes, tetrahedra = bone_meshes.simplified_femur(SIZE, 5.0, (30.0, 20.0), 44.0)
    x, z = nodes[:, 0], np.abs(nodes[:, 2]) - 22.0
    below = 0.5 * (x**2 / 30.0 + z**2 / 20.0)
    assert (nodes[:, 1] >= below - 1e-12).all()
    boundary = boundary_triangles(VolumeMesh(nodes, tetrahedra))
    lower = np.unique(boundary[TriangleMesh(nodes, boundary).face_normals[:, 1] < -1e-9])
    on = np.isclose(nodes[lower, 1], below[lower], atol=1e-12)
    assert on.all()
    assert bone_meshes.tetrahedron_quality(VolumeMesh(nodes, tetrahedra)).min() > 0.2


def test_dishes_have_their_radii_and_depth_and_the_plateau_beside_them_stays():
    dishes = bone_meshes.Dishes((32.0, 21.0), 44.0, 3.0)
    nodes, tetrahedra = bone_meshes.simplified_tibia(SIZE, 2.0, 20.0, dishes)
    flat = bone_meshes.simplified_tibia(SIZE, 2.0, 20.0)[0]
    assert element_volumes(VolumeMesh(nodes, tetrahedra))[0].min() > 0.0
    top = flat[:, 1] == 0.0
    x, y, z = nodes[top].T
    low = (x**2 / 32.0 + (np.abs(z) - 22.0) ** 2 / 21.0) / 2.0 - 3.0
    np.testing.assert_allclose(y, np.minimum(low, 0.0), atol=1e-12)
    assert y.min() == pytest.approx(-3.0, abs=0.02)
    lowest = flat[:, 1] == flat[:, 1].min()
    np.testing.assert_array_equal(nodes[lowest], flat[lowest])


def test_a_longer_bone_has_the_volume_of_its_shaft_and_stays_closed():
    nodes, tetrahedra = bone_meshes.simplified_tibia(SIZE, 3.0)
    surface = TriangleMesh(nodes, boundary_triangles(VolumeMesh(nodes, tetrahedra)))
    longer = bone_meshes.lengthened(surface, 30.0)
    volumes = [
        (one.vertices[one.faces].mean(1) * one.face_normals).sum() / 3.0
        for one in (surface, longer)
    ]
    np.testing.assert_allclose(volumes, [np.prod(SIZE), SIZE[0] * (SIZE[1] + 30.0) * SIZE[2]])


def test_mean_ratio_is_one_for_a_regular_tetrahedron_and_small_for_a_flat_one():
    regular = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=float)
    flat = regular * [1.0, 1.0, 1e-3]
    for nodes, expected in ((regular, 1.0), (flat, 0.0)):
        own = bone_meshes.oriented(nodes, np.array([[0, 1, 2, 3]]))
        found = bone_meshes.tetrahedron_quality(VolumeMesh(nodes, own))
        np.testing.assert_allclose(found, expected, atol=0.03)


def test_layer_on_a_plane_has_its_thickness_everywhere_also_after_refinement():
    nodes, tetrahedra = bone_meshes.simplified_tibia(SIZE, 12.0)
    covered = upper_side(nodes, tetrahedra)
    mesh = bone_meshes.add_cartilage(nodes, tetrahedra, covered, 1.5)
    volume = SIZE[0] * SIZE[2] * 1.5
    for one in hierarchy(mesh, 1).meshes:
        assert element_volumes(one)[1].sum() == pytest.approx(volume, rel=1e-12)
        top = cartilage_surface(one)
        np.testing.assert_allclose(one.nodes[top][..., 1], 1.5, atol=1e-12)
        assert areas(one.nodes, top).sum() == pytest.approx(SIZE[0] * SIZE[2], rel=1e-12)
        assert (TriangleMesh(one.nodes, top).face_normals[:, 1] > 0.0).all()
        np.testing.assert_allclose(
            TriangleMesh(one.nodes, boundary_triangles(one)).face_normals.sum(axis=0), 0, atol=1e-9
        )


def test_a_layer_thicker_than_a_notch_is_refused_and_narrow_places_are_left_out():
    nodes, tetrahedra = bone_meshes.simplified_tibia((40.0, 30.0, 40.0), 10.0)
    covered = upper_side(nodes, tetrahedra)
    bent = nodes.copy()
    bent[:, 1] += 0.5 * np.abs(nodes[:, 2]) * (nodes[:, 1] + 30.0) / 30.0
    with pytest.raises(InputDataError, match="30 mm"):
        bone_meshes.add_cartilage(bent, tetrahedra, covered, 30.0)
    kept = bone_meshes.extrudable(bent, covered, 30.0)
    assert len(kept) < len(covered)
    bone_meshes.add_cartilage(bent, tetrahedra, kept, 30.0)
    assert len(bone_meshes.extrudable(bent, covered, 0.5)) == len(covered)


def test_insertions_are_of_bone_around_their_place_and_far_ones_are_refused():
    nodes, tetrahedra = bone_meshes.simplified_tibia(SIZE, 9.0)
    mesh = bone_meshes.add_cartilage(nodes, tetrahedra, upper_side(nodes, tetrahedra), 1.5)
    patch = bone_meshes.insertion_patch(mesh, [0.0, -20.0, 36.0], 8.0)
    assert (mesh.nodes[patch][..., 2] == 36.0).all()
    assert np.linalg.norm(mesh.nodes[patch].mean(axis=1) - [0.0, -20.0, 36.0], axis=1).max() < 12.0
    assert len(bone_meshes.insertion_patch(mesh, [0.0, -20.0, 36.0], 0.5)) == 1
    with pytest.raises(InputDataError, match="MCL"):
        bone_meshes.insertion_patch(mesh, [0.0, -20.0, 90.0], 5.0, "MCL")


def test_the_gap_is_the_vertical_distance_also_where_no_node_is_above_another():
    nodes, tetrahedra = bone_meshes.simplified_tibia(SIZE, 12.0)
    tibia = bone_meshes.add_cartilage(nodes, tetrahedra, upper_side(nodes, tetrahedra), 1.5)
    turned = VolumeMesh(nodes * [1.0, -1.0, -1.0] + [3.3, 4.0, 1.7], tetrahedra)
    below = boundary_triangles(turned)
    below = below[turned.nodes[below][..., 1].max(axis=1) == turned.nodes[:, 1].min()]
    femur = bone_meshes.add_cartilage(turned.nodes, tetrahedra, below, 1.5)
    assert bone_meshes.joint_gap(femur, tibia) == pytest.approx(1.0, abs=1e-12)
    beside = VolumeMesh(femur.nodes + [200.0, 0.0, 0.0], femur.tetrahedra, femur.prisms)
    assert bone_meshes.joint_gap(beside, tibia) == np.inf


def test_an_uneven_base_becomes_plane():
    nodes, tetrahedra = bone_meshes.simplified_tibia(SIZE, 12.0)
    bumpy = nodes + 0.4 * np.sin(nodes[:, [1, 0, 2]]) * (nodes[:, 1:2] < -44.0)
    # A splinter below the base, as meshers leave them, becomes flat.
    base = bone_meshes.lowest_triangles(VolumeMesh(bumpy, tetrahedra), 2.0)[3]
    tip = bumpy[base].mean(axis=0) - [0.0, 1.0, 0.0]
    more = np.vstack([bumpy, tip])
    both = bone_meshes.oriented(more, np.vstack([tetrahedra, [*base, len(bumpy)]]))
    flat, kept = bone_meshes.with_flat_base(more, both, 2.0)
    assert len(kept) == len(tetrahedra)
    low = nodes[:, 1] < -44.0
    assert np.ptp(flat[low, 1]) == 0.0 and flat[low, 1].min() == tip[1]
    np.testing.assert_array_equal(flat[~low], bumpy[~low])


def test_a_base_that_cannot_be_plane_is_refused(monkeypatch):
    nodes, tetrahedra = bone_meshes.simplified_tibia(SIZE, 12.0)
    top = upper_side(nodes, tetrahedra)
    monkeypatch.setattr(bone_meshes, "lowest_triangles", lambda *_: top)
    with pytest.raises(InputDataError):
        bone_meshes.with_flat_base(nodes, tetrahedra, 2.0)


def test_refined_bones_keep_their_insertions():
    nodes, tetrahedra = bone_meshes.simplified_tibia(SIZE, 12.0)
    mesh = VolumeMesh(nodes, tetrahedra)
    base = bone_meshes.lowest_triangles(mesh, 1.0)
    assert areas(nodes, base).sum() == pytest.approx(SIZE[0] * SIZE[2])
    finer, _ = refined(VolumeMesh(nodes, tetrahedra, patches={"base": base}))
    assert areas(finer.nodes, finer.patches["base"]).sum() == pytest.approx(SIZE[0] * SIZE[2])


@pytest.mark.slow
def test_tetrahedra_fill_a_sphere_and_close_a_hole():
    pytest.importorskip("pytetwild", exc_type=ImportError)
    ball = sphere(20.0, 16)
    volume = 4.0 / 3.0 * np.pi * 20.0**3
    for surface in (ball, TriangleMesh(ball.vertices, ball.faces[20:])):
        nodes, tetrahedra = bone_meshes.tetrahedralise(surface, 10.0, "ball")
        mesh = VolumeMesh(nodes, tetrahedra)
        # The polyhedron has 2.5 % less than the sphere, the envelope is 0.8 mm of 20 mm.
        assert element_volumes(mesh)[0].sum() == pytest.approx(volume, rel=0.1)
        assert bone_meshes.tetrahedron_quality(mesh).min() > 0.1
        assert np.linalg.norm(nodes, axis=1).max() < 21.0


def test_bones_without_the_mesher_say_how_to_install_it(monkeypatch):
    own = builtins.__import__

    def refuse(name, *rest, **more):
        if name.startswith("pytetwild"):
            raise ImportError(name)
        return own(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InputDataError, match=r"tibia: .*pytetwild"):
        bone_meshes.tetrahedralise(sphere(10.0, 6), 5.0, "tibia")
