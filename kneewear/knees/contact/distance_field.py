"""Signed distance to a triangle mesh as a smooth field on a regular grid."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from kneewear.geometry._mesh_kernels import signed_distances
from kneewear.geometry.meshes import TriangleMesh
from kneewear.knees.contact import _interpolation_kernels as kernels
from kneewear.knees.contact.mesh_tree import build_mesh_tree

Array = NDArray[np.float64]

# Nodes at least this near to the surface, mm, have exact distances; further ones those to the
# nearest triangle's centre, which only have to exclude contact.
BAND = 2.5
# Width of the grid around the mesh, mm.
MARGIN = 4.0


@dataclass(frozen=True)
class DistanceField:
    """Signed distance to a mesh, mm, positive on the side of its normals.

    A tricubic B-spline through the distances of the nodes, twice continuously differentiable; edges
    and facets smaller than its spacing are rounded.
    """

    arrays: kernels.FieldArrays
    # Vertices of the mesh on open edges, (n, 3), mm.
    border: Array = field(default_factory=lambda: np.empty((0, 3)))

    def look_up(self, points: ArrayLike) -> tuple[Array, Array, Array]:
        """Distance (n,), its gradient (n, 3) and second derivatives (n, 3, 3) at points (n, 3).

        NaN outside the grid, which reaches 3 mm or more beyond the mesh.
        """
        points = np.ascontiguousarray(points, dtype=float)
        found = np.empty((len(points), 10))
        kernels.interpolate_many(self.arrays, points, found)
        hessian = found[:, [4, 7, 8, 7, 5, 9, 8, 9, 6]].reshape(-1, 3, 3)
        return found[:, 0].copy(), found[:, 1:4].copy(), hessian


def distances_to_mesh(mesh: TriangleMesh, points: ArrayLike) -> Array:
    """Exact signed distance of points (n, 3) to a mesh, mm.

    The sign is that of the angle-weighted normal of the nearest face, edge or vertex (Baerentzen
    and Aanaes 2005, doi:10.1109/TVCG.2005.49). Where the nearest point is on an open border the
    distance is positive: there is no body beyond it.
    """
    points = np.ascontiguousarray(points, dtype=float)
    distance = np.empty(len(points))
    signed_distances(build_mesh_tree(mesh), points, distance)
    return distance


def build_distance_field(mesh: TriangleMesh, spacing: float = 1.0) -> DistanceField:
    """Field of signed distances around a mesh in mm, on nodes `spacing` apart, mm."""
    low = mesh.vertices.min(axis=0) - MARGIN
    counts = np.ceil((np.ptp(mesh.vertices, axis=0) + 2.0 * MARGIN) / spacing).astype(int) + 1
    lines = [start + spacing * np.arange(count) for start, count in zip(low, counts, strict=True)]
    nodes = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, 3)
    corners = mesh.vertices[mesh.faces]
    centres = corners.mean(axis=1)
    reach = np.linalg.norm(corners - centres[:, None], axis=-1).max()
    far, nearest = scipy.spatial.cKDTree(centres).query(nodes)
    side = ((nodes - centres[nearest]) * mesh.face_normals[nearest]).sum(axis=1)
    value = np.where(side < 0.0, -far, far)
    near = far < BAND + reach
    value[near] = distances_to_mesh(mesh, nodes[near])
    grid = value.reshape(counts)
    coefficient = np.ascontiguousarray(scipy.ndimage.spline_filter(grid, order=3, mode="mirror"))
    arrays = kernels.FieldArrays(
        np.ascontiguousarray(low), float(spacing), coefficient, grid.astype(np.float32)
    )
    return DistanceField(arrays, mesh.vertices[mesh.border_vertices])
