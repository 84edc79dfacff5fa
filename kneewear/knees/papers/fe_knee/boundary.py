"""Refined bones that follow the surface they were meshed from, with even columns of cartilage.

References
----------
Sander et al. (2012), sections 3.1 and 5: new boundary nodes are placed by a parametrisation of the
surface, and nodes inside the cartilage at equal distances along their columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry._mesh_kernels import MeshTree, closest_points
from kneewear.geometry.meshes import TriangleMesh
from kneewear.knees.contact.mesh_tree import build_mesh_tree
from kneewear.knees.papers.fe_knee.bone_meshes import corner_volumes, tetrahedron_volumes
from kneewear.knees.papers.fe_knee.volume_mesh import VolumeMesh, boundary_triangles, columns

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

# Least part of its volume that an element keeps when its boundary nodes move.
_MIN_VOLUME = 0.3
# A smaller part of a way is none.
_MIN_SHARE = 0.01


def surface_follower(
    surface: TriangleMesh, thickness: float, reach: float, held: str | None = None
) -> Callable[[VolumeMesh], VolumeMesh]:
    """Function that moves the boundary of a bone onto a surface, for `volume_mesh.hierarchy`.

    Parameters
    ----------
    surface : TriangleMesh
        Surface of the bone without cartilage, normals outward, mm.
    thickness : float
        That of the cartilage, mm.
    reach : float
        Nodes further from the surface than this, mm, stay, such as those over its holes.
    held : str, optional
        Patch whose nodes stay, such as a plane cut.

    Notes
    -----
    Closest points are the parametrisation. The upper side of the cartilage is placed at its
    thickness along the mean normals of the bone's triangles below, nodes between at equal
    distances. Where an element would lose more than 0.7 of its volume the columns of its nodes go
    half the way, and so on.
    """
    tree = build_mesh_tree(surface)

    def follow(mesh: VolumeMesh) -> VolumeMesh:
        moving = bone_boundary(mesh)
        if held is not None and held in mesh.patches:
            moving = np.setdiff1d(moving, mesh.patches[held])
        found, gap = _closest(tree, mesh.nodes[moving])
        placed, near = mesh.nodes.copy(), np.abs(gap) <= reach
        placed[moving[near]] = found[near]
        ways = even_columns(mesh, placed, thickness) - mesh.nodes
        column, share = columns(mesh), np.ones((len(placed), 1))
        nodes = mesh.nodes + ways
        while (flat := _flattened(mesh, nodes)).size:
            share[np.isin(column, column[flat])] *= 0.5
            share[share < _MIN_SHARE] = 0.0
            nodes = mesh.nodes + share * ways
        return replace(mesh, nodes=nodes)

    return follow


def bone_boundary(mesh: VolumeMesh) -> Ints:
    """Nodes on the boundary of the bone, under cartilage too."""
    return np.unique(boundary_triangles(VolumeMesh(mesh.nodes, mesh.tetrahedra)))


def boundary_distances(mesh: VolumeMesh, surface: TriangleMesh) -> Array:
    """Distances of the nodes of a bone's boundary from a surface, mm, all positive.

    Nodes beside an open surface are left out.
    """
    gap = np.abs(_closest(build_mesh_tree(surface), mesh.nodes[bone_boundary(mesh)])[1])
    return gap[np.isfinite(gap)]


def _closest(tree: MeshTree, points: Array) -> tuple[Array, Array]:
    """Closest points (n, 3) of a surface and signed distances (n,), infinite beside it."""
    points = np.ascontiguousarray(points)
    (found, outward), gap = np.empty((2, *points.shape)), np.empty(len(points))
    closest_points(tree, 0.0, points, found, outward, gap)
    return found, gap


def even_columns(mesh: VolumeMesh, nodes: Array, thickness: float) -> Array:
    """Nodes (n, 3) with those of the cartilage at equal distances along its columns.

    Columns begin at the nodes of the bone, and are as long as the thickness, mm, along the mean
    outward normals of the bone's triangles there.
    """
    if not len(mesh.prisms):
        return nodes
    above = np.full(len(nodes), -1)
    above[mesh.prisms[:, :3]] = mesh.prisms[:, 3:]
    bottom = np.setdiff1d(mesh.prisms[:, :3], mesh.prisms[:, 3:])
    levels = [bottom]
    while (above[levels[-1]] >= 0).all():
        levels.append(above[levels[-1]])
    lowest = mesh.prisms[np.isin(mesh.prisms[:, :3], bottom).all(axis=1), :3]
    normals = TriangleMesh(nodes, lowest).vertex_normals[bottom]
    moved = nodes.copy()
    for number, level in enumerate(levels):
        moved[level] = nodes[bottom] + thickness * number / (len(levels) - 1) * normals
    return moved


def _flattened(mesh: VolumeMesh, nodes: Array) -> Ints:
    """Nodes of elements that have lost too much of their volume."""
    lost = []
    for elements, volumes in (
        (mesh.tetrahedra, tetrahedron_volumes),
        (mesh.prisms, corner_volumes),
    ):
        if len(elements):
            flat = volumes(nodes, elements) < _MIN_VOLUME * volumes(mesh.nodes, elements)
            lost.append(elements[flat].ravel())
    return np.unique(np.concatenate(lost))
