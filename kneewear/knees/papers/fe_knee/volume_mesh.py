"""Meshes of bones (tetrahedra) with cartilage layers (prisms), and their uniform refinement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

# Faces of a tetrahedron of positive volume and of a prism, outward.
_TETRAHEDRON_FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
_PRISM_TRIANGLES = np.array([[0, 2, 1], [3, 4, 5]])
_PRISM_QUADS = np.array([[0, 1, 4, 3], [1, 2, 5, 4], [2, 0, 3, 5]])
_TETRAHEDRON_EDGES = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])
_PRISM_EDGES = np.array([[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [0, 3], [1, 4], [2, 5]])
_TRIANGLE_EDGES = np.array([[0, 1], [1, 2], [2, 0]])
# Children of a triangle: corners 0 to 2, middles of 01, 12 and 20 as 3 to 5.
_TRIANGLE_CHILDREN = np.array([[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]])
# Children of a tetrahedron at its corners: corners 0 to 3, middles in the order of the edges.
_CORNER_CHILDREN = np.array([[0, 4, 5, 6], [4, 1, 7, 8], [5, 7, 2, 9], [6, 8, 9, 3]])
# The octahedron of the middles: its three diagonals, and the ring of nodes around each.
_DIAGONALS = np.array([[4, 9], [5, 8], [6, 7]])
_RINGS = np.array([[5, 6, 8, 7], [4, 7, 9, 6], [4, 5, 9, 8]])


@dataclass(frozen=True)
class VolumeMesh:
    """Linear tetrahedra and linear prisms with common nodes.

    Parameters
    ----------
    nodes : array, shape (n, 3)
        Positions, mm.
    tetrahedra : array of int, shape (m, 4)
        Bone; corners of positive volume.
    prisms : array of int, shape (k, 6), optional
        Cartilage; the lower triangle on the bone's side, then the upper triangle in the same order,
        so that the upper triangle is outward and the volume positive.
    patches : mapping of str to array of int, shape (t, 3), optional
        Named parts of the boundary (contact surfaces, insertions), outward triangles of node
        numbers; refinement replaces each triangle by its four children.

    Raises
    ------
    ValueError
        If an element has no positive volume.
    """

    nodes: Array
    tetrahedra: Numbers
    prisms: Numbers = field(default_factory=lambda: np.empty((0, 6), dtype=np.int64))
    patches: Mapping[str, Numbers] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, volumes in zip(("tetrahedra", "prisms"), element_volumes(self), strict=True):
            if np.any(volumes <= 0.0):
                count, first = int(np.sum(volumes <= 0.0)), int(np.argmin(volumes))
                raise ValueError(
                    f"{count} {name} have no positive volume (number {first}: "
                    f"{volumes[first]:.3g} mm3); order their nodes as VolumeMesh describes"
                )

    @property
    def n_elements(self) -> int:
        """Number of tetrahedra and prisms."""
        return len(self.tetrahedra) + len(self.prisms)


@dataclass(frozen=True)
class Hierarchy:
    """Meshes from the coarsest to the finest and the prolongations between them.

    `prolongations[i]` (n of mesh i + 1, n of mesh i) interpolates nodal values linearly.
    """

    meshes: tuple[VolumeMesh, ...]
    prolongations: tuple[sparse.csr_array, ...]

    @property
    def finest(self) -> VolumeMesh:
        """Mesh of the finest level."""
        return self.meshes[-1]


def hierarchy(
    mesh: VolumeMesh,
    refinements: int,
    adapted: Callable[[VolumeMesh], VolumeMesh] | None = None,
) -> Hierarchy:
    """Meshes after each of a number of uniform refinements.

    `adapted`, if given, receives each refined mesh and returns it with moved nodes, as onto a
    surface that the coarse mesh does not resolve; the elements must remain the same.
    """
    meshes, prolongations = [mesh], []
    for _ in range(refinements):
        finer, prolongation = refined(meshes[-1])
        meshes.append(finer if adapted is None else adapted(finer))
        prolongations.append(prolongation)
    return Hierarchy(tuple(meshes), tuple(prolongations))


def element_volumes(mesh: VolumeMesh) -> tuple[Array, Array]:
    """Volumes of the tetrahedra and of the prisms, mm3; negative if turned inside out.

    The volume of a prism is that of its trilinear map, whose sides may be curved.
    """
    at = mesh.nodes[mesh.tetrahedra]
    tetrahedra = np.linalg.det(at[:, 1:] - at[:, :1]) / 6.0
    at = mesh.nodes[mesh.prisms]
    # Side vectors of the triangle are linear in the height; the mean height vector is a mean of the
    # triangle. Simpson's rule along the height is exact.
    prisms = np.zeros(len(at))
    height = (at[:, 3:] - at[:, :3]).mean(axis=1)
    for fraction, weight in ((0.0, 1.0), (0.5, 4.0), (1.0, 1.0)):
        triangle = (1.0 - fraction) * at[:, :3] + fraction * at[:, 3:]
        area = np.cross(triangle[:, 1] - triangle[:, 0], triangle[:, 2] - triangle[:, 0])
        prisms += weight / 12.0 * np.einsum("ei,ei->e", area, height)
    return tetrahedra, prisms


def refined(mesh: VolumeMesh) -> tuple[VolumeMesh, sparse.csr_array]:
    """Mesh with each element divided into eight, and the prolongation of nodal values to it.

    New nodes are the middles of edges and, in prisms, of quadrilateral sides. Of the octahedron
    inside a tetrahedron the shortest diagonal is drawn. The children fill their parent exactly.

    Returns
    -------
    finer : VolumeMesh
        The nodes of the coarse mesh come first, with their numbers.
    prolongation : sparse array, shape (n_fine, n_coarse)
        Linear interpolation; rows add up to one.
    """
    edges = _distinct(
        np.concatenate(
            [
                mesh.tetrahedra[:, _TETRAHEDRON_EDGES].reshape(-1, 2),
                mesh.prisms[:, _PRISM_EDGES].reshape(-1, 2),
            ]
        )
    )
    quads = _distinct(mesh.prisms[:, _PRISM_QUADS].reshape(-1, 4))
    n = len(mesh.nodes)
    prolongation = sparse.vstack(
        [sparse.eye_array(n), _means(edges, n), _means(quads, n)], format="csr"
    )
    middle = _numbering(edges, n)
    centre = _numbering(quads, n + len(edges))
    nodes = prolongation @ mesh.nodes
    patches = {
        name: _refined_triangles(triangles, middle) for name, triangles in mesh.patches.items()
    }
    finer = VolumeMesh(
        nodes,
        _refined_tetrahedra(mesh.tetrahedra, middle, nodes),
        _refined_prisms(mesh.prisms, middle, centre),
        patches,
    )
    return finer, prolongation


def boundary_triangles(mesh: VolumeMesh) -> Numbers:
    """Boundary of a mesh as outward triangles (t, 3); sides of prisms are divided in two."""
    triangles = np.concatenate(
        [
            mesh.tetrahedra[:, _TETRAHEDRON_FACES].reshape(-1, 3),
            mesh.prisms[:, _PRISM_TRIANGLES].reshape(-1, 3),
        ]
    )
    quads = _single(mesh.prisms[:, _PRISM_QUADS].reshape(-1, 4))
    return np.concatenate([_single(triangles), quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def cartilage_surface(mesh: VolumeMesh) -> Numbers:
    """Upper triangles (t, 3) of the prisms that are on the boundary, outward."""
    triangles = mesh.prisms[:, _PRISM_TRIANGLES]
    upper = _single(triangles.reshape(-1, 3))
    return upper[np.isin(_keys(upper), _keys(triangles[:, 1]))]


def columns(mesh: VolumeMesh) -> Numbers:
    """Numbers (n,) of the columns of nodes across the cartilage; other nodes have their own."""
    n = len(mesh.nodes)
    low, high = mesh.prisms[:, :3].ravel(), mesh.prisms[:, 3:].ravel()
    edges = sparse.coo_array((np.ones(low.size), (low, high)), shape=(n, n))
    return np.asarray(connected_components(edges, directed=False)[1], dtype=np.int64)


def _distinct(groups: Numbers) -> Numbers:
    """Rows of sorted node numbers without repetition."""
    return np.unique(np.sort(groups, axis=1), axis=0)


def _single(faces: Numbers) -> Numbers:
    """Faces that occur once, thus on the boundary."""
    _, inverse, count = np.unique(
        np.sort(faces, axis=1), axis=0, return_inverse=True, return_counts=True
    )
    return faces[count[inverse.ravel()] == 1]


def _keys(groups: Numbers) -> NDArray[np.void]:
    """Rows of sorted node numbers as single items that can be compared."""
    ordered = np.ascontiguousarray(np.sort(groups, axis=1))
    return ordered.view([("", ordered.dtype)] * ordered.shape[1]).ravel()


def _means(groups: Numbers, n: int) -> sparse.csr_array:
    """Matrix of the means of groups of nodal values."""
    count, size = groups.shape
    rows = np.repeat(np.arange(count), size)
    return sparse.csr_array(
        (np.full(count * size, 1.0 / size), (rows, groups.ravel())), shape=(count, n)
    )


def _numbering(groups: Numbers, first: int) -> Callable[[Numbers], Numbers]:
    """Function from groups of nodes (..., size) to the number of the node at their middle."""
    keys = _keys(groups)
    order = np.argsort(keys)
    keys = keys[order]

    def number(asked: Numbers) -> Numbers:
        flat = _keys(asked.reshape(-1, asked.shape[-1]))
        return first + order[np.searchsorted(keys, flat)].reshape(asked.shape[:-1])

    return number


def _refined_triangles(triangles: Numbers, middle: Callable[[Numbers], Numbers]) -> Numbers:
    """Four children of each triangle, oriented as their parent."""
    nodes = np.concatenate([triangles, middle(triangles[:, _TRIANGLE_EDGES])], axis=1)
    return nodes[:, _TRIANGLE_CHILDREN].reshape(-1, 3)


def _refined_tetrahedra(
    tetrahedra: Numbers, middle: Callable[[Numbers], Numbers], at: Array
) -> Numbers:
    """Four children at the corners and four around the shortest diagonal of the octahedron."""
    nodes = np.concatenate([tetrahedra, middle(tetrahedra[:, _TETRAHEDRON_EDGES])], axis=1)
    ends = at[nodes[:, _DIAGONALS]]
    shortest = np.argmin(np.linalg.norm(ends[:, :, 1] - ends[:, :, 0], axis=-1), axis=1)
    diagonal = np.take_along_axis(nodes, _DIAGONALS[shortest], axis=1)
    ring = np.take_along_axis(nodes, _RINGS[shortest], axis=1)
    inner = [
        np.column_stack([diagonal, ring[:, side], ring[:, (side + 1) % 4]]) for side in range(4)
    ]
    children = np.concatenate([nodes[:, _CORNER_CHILDREN], np.stack(inner, axis=1)], axis=1)
    flat = children.reshape(-1, 4)
    corner = at[flat]
    turned = np.linalg.det(corner[:, 1:] - corner[:, :1]) < 0.0
    flat[turned] = flat[turned][:, [1, 0, 2, 3]]
    return flat


def _refined_prisms(
    prisms: Numbers,
    middle: Callable[[Numbers], Numbers],
    centre: Callable[[Numbers], Numbers],
) -> Numbers:
    """Eight children: four triangles in each of two layers."""
    if not len(prisms):
        return prisms
    edge = middle(prisms[:, _PRISM_EDGES])
    levels = [
        np.concatenate([prisms[:, :3], edge[:, :3]], axis=1),
        np.concatenate([edge[:, 6:], centre(prisms[:, _PRISM_QUADS])], axis=1),
        np.concatenate([prisms[:, 3:], edge[:, 3:6]], axis=1),
    ]
    layers = [
        np.concatenate([low[:, _TRIANGLE_CHILDREN], high[:, _TRIANGLE_CHILDREN]], axis=2)
        for low, high in pairwise(levels)
    ]
    return np.concatenate(layers, axis=1).reshape(-1, 6)
