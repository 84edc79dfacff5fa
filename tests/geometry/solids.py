"""Made-up components: solids with a bearing, a left knee, symmetric and asymmetric ones."""

from __future__ import annotations

import numpy as np

from kneewear.geometry.meshes import TriangleMesh

RIGHT = {"x": "posterior", "y": "superior", "z": "medial"}


def closed_insert(n: int = 70, notch: float = 10.0, longer: float = 4.0) -> TriangleMesh:
    """Solid insert 80 mm wide: dished on top, flat below, a notch behind, medially longer."""
    u, v = np.meshgrid(np.linspace(-1, 1, n), np.linspace(-1, 1, n), indexing="ij")
    z = 40.0 * v
    back = 24.0 + 0.5 * longer * v - notch * np.exp(-((z / 9.0) ** 2))
    front = -24.0 - 0.5 * longer * v
    x = 0.5 * (front + back) + 0.5 * (back - front) * u
    top = 8.0 + x**2 / 120 + (np.abs(z) - 22.0) ** 2 / 400
    upper = np.stack([x, top, z], axis=-1)
    lower = np.stack([x, 0.0 * x, z], axis=-1)
    return closed(upper, lower)


def closed_femoral(n: int = 90, lean: float = 5.0) -> TriangleMesh:
    """Solid femoral component: two condyles behind, a flange in front that leans laterally."""
    angle, v = np.meshgrid(
        np.radians(np.linspace(-95, 100, 2 * n)), np.linspace(-1, 1, n), indexing="ij"
    )
    flange = np.clip(-angle / np.radians(95), 0, 1)
    width = 34.0 - 16.0 * flange
    z = width * v - lean * flange
    radius = 30.0 + 3.0 * flange - (np.abs(v) - 0.65) ** 2
    # Between the condyles the metal is cut away behind: it follows the condyles' inner sides.
    shape = np.stack([radius * np.sin(angle), -radius * np.cos(angle), z], axis=-1)
    inner = np.stack([(radius - 7.0) * np.sin(angle), -(radius - 7.0) * np.cos(angle), z], axis=-1)
    keep = (flange[:-1, :-1] > 0.05) | (np.abs(v[:-1, :-1] + 1.0 / n) > 0.28)
    return closed(shape, inner, keep)


def closed(upper, lower, keep=None) -> TriangleMesh:
    """Solid between two grids of points, cells left out where `keep` is false."""
    n_u, n_v = upper.shape[:2]
    keep = np.ones((n_u - 1, n_v - 1), dtype=bool) if keep is None else keep
    number = np.arange(n_u * n_v).reshape(n_u, n_v)
    a, b, c, d = (
        part[keep] for part in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:])
    )
    top = np.concatenate([np.column_stack([a, c, b]), np.column_stack([a, d, c])])
    bottom = top[:, ::-1] + n_u * n_v
    edges = np.concatenate([top[:, [0, 1]], top[:, [1, 2]], top[:, [2, 0]]])
    code = edges @ np.array([n_u * n_v, 1])
    back = edges[:, ::-1] @ np.array([n_u * n_v, 1])
    border = edges[~np.isin(code, back)]
    low = border + n_u * n_v
    walls = np.concatenate(
        [
            np.column_stack([border[:, 1], border[:, 0], low[:, 0]]),
            np.column_stack([border[:, 1], low[:, 0], low[:, 1]]),
        ]
    )
    mesh = TriangleMesh(
        np.concatenate([upper.reshape(-1, 3), lower.reshape(-1, 3)]),
        np.concatenate([top, bottom, walls]),
    )
    volume = (mesh.vertices[mesh.faces[:, 0]] * mesh.face_normals).sum()
    faces = mesh.faces if volume > 0 else mesh.faces[:, ::-1]
    used, renumbered = np.unique(faces, return_inverse=True)
    return TriangleMesh(mesh.vertices[used], renumbered.reshape(faces.shape))


def other_knee(mesh: TriangleMesh) -> TriangleMesh:
    """Mirror image, in the same axes (x posterior, y superior; z has become lateral)."""
    return TriangleMesh(mesh.vertices * [1.0, 1.0, -1.0], mesh.faces[:, ::-1])
