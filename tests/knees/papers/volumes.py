"""Blocks of tetrahedra with an optional layer of prisms, for tests."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from kneewear.knees.papers.fe_knee.volume_mesh import VolumeMesh


def block(
    size=(10.0, 10.0, 10.0), divisions=(2, 2, 2), layer=0.0, origin=(0.0, 0.0, 0.0), swapped=False
):
    """Box of tetrahedra, six per cell; a layer of prisms of a thickness on top (+y).

    Patches are "bottom" (y lowest), "top" (y highest, on the layer where there is one). Swapped
    turns the diagonals of the faces, so that meshes of the same size do not match.
    """
    n = np.asarray(divisions)
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, k + 1) for k in n], indexing="ij"), axis=-1)
    nodes = grid.reshape(-1, 3) * size
    number = np.arange(len(nodes)).reshape(n + 1)
    tetrahedra = np.concatenate([_path(number, order) for order in permutations(range(3))])
    if swapped:
        nodes[:, 0] = size[0] - nodes[:, 0]
    tetrahedra = _positive(nodes, tetrahedra)
    bottom, top = _face(number[:, 0], swapped), _face(number[:, -1], swapped)[:, ::-1]
    prisms = np.empty((0, 6), dtype=int)
    if layer:
        raised = np.arange(number[:, -1].size) + len(nodes)
        upper = np.full(len(nodes), -1)
        upper[number[:, -1].ravel()] = raised
        nodes = np.concatenate([nodes, nodes[number[:, -1].ravel()] + [0.0, layer, 0.0]])
        prisms = np.concatenate([top, upper[top]], axis=1)
        top = upper[top]
    return VolumeMesh(nodes + origin, tetrahedra, prisms, {"bottom": bottom, "top": top})


def _path(number, order):
    """Tetrahedra of all cells along a path of three edges from the lowest to the highest corner."""
    corner = np.zeros(3, dtype=int)
    nodes = [_shifted(number, corner)]
    for axis in order:
        corner[axis] = 1
        nodes.append(_shifted(number, corner))
    return np.stack(nodes, axis=1)


def _shifted(number, corner):
    a, b, c = (slice(k, k - 1 or None) for k in corner)
    return number[a, b, c].ravel()


def _positive(nodes, tetrahedra):
    at = nodes[tetrahedra]
    turned = np.linalg.det(at[:, 1:] - at[:, :1]) < 0.0
    tetrahedra[turned] = tetrahedra[turned][:, [1, 0, 2, 3]]
    return tetrahedra


def _face(number, swapped):
    """Triangles of a grid of nodes (x, z) with the normal -y."""
    a, b = number[:-1, :-1].ravel(), number[1:, :-1].ravel()
    c, d = number[1:, 1:].ravel(), number[:-1, 1:].ravel()
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return triangles[:, ::-1] if swapped else triangles
