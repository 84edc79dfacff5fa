"""Binary tree of boxes around the triangles of a mesh, for exact closest points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry._mesh_kernels import MeshTree
from kneewear.geometry.meshes import TriangleMesh

Array = NDArray[np.float64]

# Triangles in a leaf.
_LEAF = 6


def build_mesh_tree(mesh: TriangleMesh) -> MeshTree:
    """Tree of a mesh, with the normals that give the side of a point whose nearest one is known."""
    corners = mesh.vertices[mesh.faces]
    order = np.arange(len(corners))
    low, high = corners.min(axis=1), corners.max(axis=1)
    middle = 0.5 * (low + high)
    first, last, child = [0], [len(corners)], [-1]
    node = 0
    while node < len(first):
        begin, end = first[node], last[node]
        if end - begin > _LEAF:
            part = order[begin:end]
            half = (end - begin) // 2
            axis = int(np.argmax(np.ptp(middle[part], axis=0)))
            order[begin:end] = part[np.argpartition(middle[part, axis], half)]
            child[node] = len(first)
            first += [begin, begin + half]
            last += [begin + half, end]
            child += [-1, -1]
        node += 1
    spans = list(zip(first, last, strict=True))
    normals, border = _features(mesh)
    return MeshTree(
        np.ascontiguousarray(corners[order]),
        np.ascontiguousarray(normals[order]),
        np.ascontiguousarray(border[order]),
        np.array([low[order[a:b]].min(axis=0) for a, b in spans]),
        np.array([high[order[a:b]].max(axis=0) for a, b in spans]),
        np.array(first),
        np.array(last),
        np.array(child),
    )


def _features(mesh: TriangleMesh) -> tuple[Array, NDArray[np.bool_]]:
    """Unit normals of corners, edges ab, bc, ca and face of every triangle, (n_faces, 7, 3).

    And which of these are on the border of an open sheet, (n_faces, 7). Normals of edges and
    corners are sums over the adjacent triangles, at corners weighted by the angle, which gives the
    right side of every point (Baerentzen and Aanaes 2005, doi:10.1109/TVCG.2005.49).
    """
    faces = mesh.faces
    corners = mesh.vertices[faces]
    unit = _unit(mesh.face_normals)
    ahead = _unit(np.roll(corners, -1, axis=1) - corners)
    behind = _unit(np.roll(corners, 1, axis=1) - corners)
    angle = np.arccos(np.clip((ahead * behind).sum(-1), -1.0, 1.0))
    at = np.zeros_like(mesh.vertices)
    np.add.at(at, faces.ravel(), (angle[..., None] * unit[:, None]).reshape(-1, 3))
    _, edge, uses = np.unique(mesh.edge_codes, return_inverse=True, return_counts=True)
    across = np.zeros((uses.size, 3))
    np.add.at(across, edge, np.tile(unit, (3, 1)))
    of_edges = across[edge].reshape(3, -1, 3).swapaxes(0, 1)
    normals = np.concatenate([at[faces], of_edges, unit[:, None]], axis=1)
    border = np.zeros(normals.shape[:2], dtype=np.bool_)
    border[:, :3] = np.isin(faces, mesh.border_vertices)
    border[:, 3:6] = (uses == 1)[edge].reshape(3, -1).T
    return _unit(normals), border


def _unit(vectors: Array) -> Array:
    length: Array = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.maximum(length, 1e-300)
