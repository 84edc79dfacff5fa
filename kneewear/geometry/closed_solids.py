"""Closed solids of components: a layer of elements, a shell of patches, and worn meshes."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.meshes import TriangleMesh, woven
from kneewear.geometry.surface import Surface

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

# Samples of a patch along u and along v, and the largest thickness of a shell, mm.
SAMPLES = (49, 41)
SHELL = 4.0
# Lengths that normals of the back are averaged over, thicknesses: the first that turns none over.
AVERAGED = (1.0, 2.0, 4.0)
# An underside whose heights differ by less, mm, is flat.
_FLAT = 1e-6


def is_watertight(mesh: TriangleMesh) -> bool:
    """True if each edge of a mesh is part of two triangles, once in either direction."""
    count = len(mesh.vertices)
    forth, back = mesh.edges @ [count, 1], mesh.edges[:, ::-1] @ [count, 1]
    once = len(np.unique(forth)) == len(forth)
    return bool(len(forth) and once and np.array_equal(np.sort(forth), np.sort(back)))


def enclosed_volume(mesh: TriangleMesh) -> float:
    """Volume of a watertight mesh, mm3; positive with normals that point outwards."""
    middle = mesh.vertices.mean(axis=0)
    a, b, c = (mesh.vertices[mesh.faces[:, corner]] - middle for corner in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def layer_solid(points: Array, quads: Ints, bottom: Array) -> TriangleMesh:
    """Solid between elements and the underside below them.

    Parameters
    ----------
    points, bottom : array, shape (n, 3)
        Corners of the elements, and the points of the underside below them, mm.
    quads : int array, shape (m, 4)
        Corners of each element; normals of this order point up.

    Raises
    ------
    ValueError
        If elements meet at a corner alone, so that no solid has them as its surface.
    """
    used, number = np.unique(quads, return_inverse=True)
    quads, points, bottom = number.reshape(quads.shape), points[used], bottom[used]
    top = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    edges = np.stack([quads, np.roll(quads, -1, axis=1)], axis=-1).reshape(-1, 2)
    _, first, times = np.unique(
        np.sort(edges, axis=1), axis=0, return_index=True, return_counts=True
    )
    border = edges[first[times == 1]]
    below = border + len(points)
    walls = np.concatenate(
        [
            np.column_stack([border[:, 1], border[:, 0], below[:, 0]]),
            np.column_stack([border[:, 1], below[:, 0], below[:, 1]]),
        ]
    )
    vertices = np.concatenate([points, bottom])
    rim = bottom[np.unique(border)]
    middle = rim.mean(axis=0)
    fan = np.column_stack([np.full(len(below), len(vertices)), below[:, ::-1]])
    # A flat underside whose outline is seen from its middle needs no triangles inside.
    corners = np.concatenate([vertices, middle[None]])[fan]
    faces_down = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 1] < 0.0
    if np.ptp(bottom[:, 1]) < _FLAT and faces_down.all():
        mesh = TriangleMesh(np.concatenate([vertices, middle[None]]), _stacked(top, walls, fan))
    else:
        mesh = TriangleMesh(vertices, _stacked(top, walls, top[:, ::-1] + len(points)))
    mesh = mesh.part(np.ones(len(mesh.faces), dtype=bool))
    if not is_watertight(mesh):
        raise ValueError("elements that meet at a corner alone are no surface of a solid")
    return mesh


def _stacked(*faces: Ints) -> Ints:
    return np.concatenate(faces).astype(np.int64)


def patch_shell(surface: Surface) -> TriangleMesh:
    """Closed shell behind a patch, whose normals point out of it.

    The back follows normals that are averaged over the thickness: waves of a scanned sheet turn
    normals of single samples. While a triangle of the back is turned over, they are averaged over
    up to four times as much, and then the thickness is halved.
    """
    (u0, u1), (v0, v1) = surface.domain
    u = np.linspace(u0, u1, SAMPLES[0])[:, None] + np.zeros(SAMPLES[1])
    v = np.linspace(v0, v1, SAMPLES[1]) + np.zeros(SAMPLES[0])[:, None]
    outer = surface.evaluate(u.ravel(), v.ravel()).reshape(*SAMPLES, 3)
    normal = surface.normal(u.ravel(), v.ravel()).reshape(*SAMPLES, 3)
    front = woven(outer)
    backs = (
        woven(outer - SHELL / halves * _averaged(normal, outer, width))
        for halves in (2.0**count for count in itertools.count())
        for width in AVERAGED
    )
    back = next(back for back in backs if not _is_turned_over(front, back))
    if (front.face_normals.sum(axis=0) * normal.sum(axis=(0, 1))).sum() < 0.0:
        front = replace(front, faces=front.faces[:, ::-1])
        back = replace(back, faces=back.faces[:, ::-1])
    codes, uses = np.unique(front.edge_codes, return_counts=True)
    border = front.edges[np.isin(front.edge_codes, codes[uses == 1])]
    behind = border + len(front.vertices)
    walls = np.concatenate(
        [
            np.column_stack([border[:, 1], border[:, 0], behind[:, 0]]),
            np.column_stack([border[:, 1], behind[:, 0], behind[:, 1]]),
        ]
    )
    faces = _stacked(front.faces, walls, back.faces[:, ::-1] + len(front.vertices))
    return TriangleMesh(np.concatenate([front.vertices, back.vertices]), faces)


def _averaged(normal: Array, points: Array, width: float) -> Array:
    """Unit normals of samples (n, m, 3), averaged over about `width` thicknesses of a shell."""
    steps = [np.linalg.norm(np.diff(points, axis=axis), axis=-1).mean() for axis in (0, 1)]
    widths = [width * SHELL / 2.0 / step for step in steps]
    averaged = scipy.ndimage.gaussian_filter(normal, [*widths, 0.0], mode="nearest")
    return np.asarray(averaged / np.linalg.norm(averaged, axis=-1, keepdims=True))


def _is_turned_over(front: TriangleMesh, back: TriangleMesh) -> bool:
    """True if a triangle of the back faces against its own of the front."""
    return bool(((front.face_normals * back.face_normals).sum(axis=1) <= 0.0).any())


def worn_mesh(
    mesh: TriangleMesh, bearing: NDArray[np.bool_], grid: ElementGrid, worn: ElementGrid
) -> TriangleMesh:
    """Mesh of an insert whose bearing is lowered as its elements are.

    Parameters
    ----------
    mesh : TriangleMesh
        Fresh insert, mm.
    bearing : array of bool
        Triangles of its bearing.
    grid, worn : ElementGrid
        Elements before and after wear. Between their centres the lowering is interpolated
        linearly, beyond them it is zero.
    """
    vertices = mesh.vertices.copy()
    own = np.unique(mesh.faces[bearing])
    for valid, fresh, lowered in zip(grid.valid, grid.centre, worn.centre, strict=True):
        plan = fresh[valid][:, [0, 2]]
        drop = (fresh - lowered)[valid][:, 1]
        lowering = scipy.interpolate.LinearNDInterpolator(plan, drop, fill_value=0.0)
        vertices[own, 1] -= lowering(mesh.vertices[own][:, [0, 2]])
    return TriangleMesh(vertices, mesh.faces)
