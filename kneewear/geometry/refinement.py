"""Subdivision of long exact triangles, such as planes, cylinders and cones from CAD.

CAD programs export as few triangles as the shape needs: a plane has vertices on its border only, a
cylinder on both of its ends. What this package reads from vertices (bearings, posts, fits) needs
them everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.geometry.meshes import TriangleMesh

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]

# Longest edge of subdivided triangles, as a fraction of the mesh's largest extent.
LONGEST_EDGE = 0.025
# Distance of a neighbouring triangle from a plane, as a fraction of the largest extent, within
# which both triangles are of one facet.
_COPLANAR = 1e-5
# Neighbours of a facet that bend less than this continue its surface, deg, where they are at least
# this fraction of its width: of a cylinder all facets are about as wide.
_SMOOTH_BEND = 30.0
_COMPARABLE_WIDTH = 1.0 / 3.0
# Length over width of a facet beyond which its long sides are straight lines of the surface.
_STRIP_RATIO = 8.0
_MAX_ROUNDS = 12
_MAX_FLIP_PASSES = 12
# A diagonal is exchanged for one that is shorter by this factor.
_SHORTER = 0.99
# Parts of a triangle (corners a b c are 0 1 2, midpoints ab bc ca are 3 4 5) by the number of
# divided edges: ab, ab and bc, or all.
_PARTS = {
    1: ((0, 3, 2), (3, 1, 2)),
    2: ((3, 1, 4), (0, 3, 4), (0, 4, 2)),
    3: ((0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5)),
}


class _Edges(NamedTuple):
    """Edges of triangles: ends (n, 2), number of each triangle's edges (m, 3), and two owners.

    `owner` (n, 2) holds the first two triangles of an edge, -1 for the second one of a border;
    `uses` is the number of triangles.
    """

    ends: Integers
    of_face: Integers
    owner: Integers
    uses: Integers


class _Facets(NamedTuple):
    """Facets of a mesh: number of each triangle, planes without curvature, and straight edges.

    `straight` holds codes of pairs of facets whose common edges lie on the surface throughout.
    """

    of_face: Integers
    flat: Bools
    straight: Integers


def subdivided(mesh: TriangleMesh, longest: float | None = None) -> TriangleMesh:
    """Mesh whose long exact triangles are subdivided; the surface does not change.

    Parameters
    ----------
    mesh : TriangleMesh
        Mesh in any unit.
    longest : float, optional
        Longest edge, in the unit of the mesh; 2.5 % of its largest extent without it.

    Returns
    -------
    TriangleMesh
        The mesh itself if nothing is subdivided.

    Notes
    -----
    Coplanar triangles form a facet. A facet that no similar one continues is a plane, and receives
    vertices inside. Other facets are narrow strips of a curved surface. Only their long sides,
    which are straight lines of the surface, receive vertices; inside a strip the surface is not
    known. Triangles of a doubly curved surface remain as they are.
    """
    if mesh.is_cloud or not len(mesh.faces):
        return mesh
    width = float(mesh.extent.max())
    longest = LONGEST_EDGE * width if longest is None else longest
    vertices, faces = mesh.vertices, mesh.faces
    edges = _edges(faces)
    if not (_lengths(vertices, edges.ends) > longest).any():
        return mesh
    facets = _facets(mesh, edges, longest, _COPLANAR * width)
    facet = facets.of_face
    for _ in range(_MAX_ROUNDS):
        chosen = _lengths(vertices, edges.ends) > longest
        chosen &= _splittable(edges, facet, facets)
        if not chosen.any():
            break
        middle = np.full(len(edges.ends), -1)
        middle[chosen] = len(vertices) + np.arange(int(chosen.sum()))
        vertices = np.concatenate([vertices, vertices[edges.ends[chosen]].mean(axis=1)])
        faces, parent = _divided(faces, middle[edges.of_face])
        facet = facet[parent]
        faces = _with_short_diagonals(vertices, faces, facet, longest)
        edges = _edges(faces)
    if len(faces) == len(mesh.faces):
        return mesh
    return TriangleMesh(vertices, np.ascontiguousarray(faces))


def _edges(faces: Integers) -> _Edges:
    count = int(faces.max()) + 1
    directed = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    codes, number, uses = np.unique(
        np.sort(directed, axis=1) @ np.array([count, 1]), return_inverse=True, return_counts=True
    )
    number = number.reshape(-1)
    order = np.argsort(number, kind="stable")
    first = np.cumsum(np.r_[0, uses[:-1]])
    face = np.tile(np.arange(len(faces)), 3)[order]
    owner = np.full((len(codes), 2), -1)
    owner[:, 0] = face[first]
    owner[uses > 1, 1] = face[first[uses > 1] + 1]
    ends = np.column_stack(np.divmod(codes, count))
    return _Edges(ends, number.reshape(3, -1).T, owner, uses)


def _lengths(vertices: Array, ends: Integers) -> Array:
    return np.asarray(np.linalg.norm(vertices[ends[:, 0]] - vertices[ends[:, 1]], axis=1))


def _facets(mesh: TriangleMesh, edges: _Edges, longest: float, tolerance: float) -> _Facets:
    """Facets of a mesh, and which of their edges may be divided."""
    normals = mesh.face_normals
    area = np.linalg.norm(normals, axis=1)
    unit = normals / np.maximum(area, 1e-300)[:, None]
    between = np.flatnonzero(edges.uses == 2)
    first, second = edges.owner[between].T
    # Height of each triangle's other corner over the plane of its neighbour.
    origin = mesh.vertices[edges.ends[between, 0]]
    heights = [
        np.abs(np.einsum("nkd,nd->nk", mesh.vertices[mesh.faces[a]] - origin[:, None], unit[b]))
        for a, b in ((first, second), (second, first))
    ]
    level = np.max([height.max(axis=1) for height in heights], axis=0) < tolerance
    cosine = (unit[first] * unit[second]).sum(axis=1)
    level &= cosine > 0.0
    pairs = first[level], second[level]
    graph = scipy.sparse.coo_array((np.ones(level.sum()), pairs), (len(area), len(area)))
    count, facet = scipy.sparse.csgraph.connected_components(graph, directed=False)
    facet = facet.astype(np.int64)
    length = _lengths(mesh.vertices, edges.ends)
    inside = np.zeros(len(edges.ends), dtype=bool)
    inside[between] = facet[first] == facet[second]
    border = ~inside
    around = np.zeros(count)
    for side in range(2):
        owned = border & (edges.owner[:, side] >= 0)
        np.add.at(around, facet[edges.owner[owned, side]], length[owned])
    # Of a strip between two sides area over half of the perimeter, of a triangle twice that: its
    # height is the width. Otherwise diagonals of equilateral meshes were sides of strips.
    wide = 2.0 * np.bincount(facet, weights=area, minlength=count) / np.maximum(around, 1e-300)
    wide[np.bincount(facet, minlength=count) == 1] *= 2.0

    flat = np.ones(count, dtype=bool)
    smooth = ~inside[between] & (cosine > np.cos(np.radians(_SMOOTH_BEND)))
    for a, b in ((first, second), (second, first)):
        own, other = facet[a[smooth]], facet[b[smooth]]
        flat[own[wide[other] > _COMPARABLE_WIDTH * wide[own]]] = False
    long = border & (length > longest)
    exact = long.copy()
    for side in range(2):
        owner = edges.owner[:, side]
        own = facet[owner]
        exact &= (owner < 0) | flat[own] | (length > _STRIP_RATIO * wide[own])
    codes = _pair_codes(edges, facet)
    # The open ends of a strip are chords: where they are long, its open sides stay as they are too.
    return _Facets(facet, flat, np.setdiff1d(codes[exact], codes[long & ~exact]))


def _pair_codes(edges: _Edges, facet: Integers) -> Integers:
    """One number for the pair of facets at each edge."""
    owners = np.where(edges.owner < 0, -1, facet[edges.owner])
    low, high = np.sort(owners, axis=1).T
    return np.asarray((low + 1) * (int(facet.max()) + 2) + high + 1)


def _splittable(edges: _Edges, facet: Integers, facets: _Facets) -> Bools:
    inside = (edges.uses == 2) & (facet[edges.owner[:, 0]] == facet[edges.owner[:, 1]])
    straight = np.isin(_pair_codes(edges, facet), facets.straight)
    return np.where(inside, facets.flat[facet[edges.owner[:, 0]]], straight)


def _divided(faces: Integers, middles: Integers) -> tuple[Integers, Integers]:
    """Triangles divided at the midpoints of their edges (-1: not divided), and their parents."""
    cut = middles >= 0
    number = np.arange(len(faces))
    parts, parents = [faces[~cut.any(axis=1)]], [number[~cut.any(axis=1)]]
    for turn in range(3):
        corners = np.hstack([np.roll(faces, -turn, axis=1), np.roll(middles, -turn, axis=1)])
        is_cut = np.roll(cut, -turn, axis=1)
        for count in (1, 2, 3) if turn == 0 else (1, 2):
            chosen = (is_cut == (np.arange(3) < count)).all(axis=1)
            for part in _PARTS[count]:
                parts.append(corners[chosen][:, list(part)])
                parents.append(number[chosen])
    return np.concatenate(parts), np.concatenate(parents)


def _with_short_diagonals(
    vertices: Array, faces: Integers, facet: Integers, longest: float
) -> Integers:
    """Triangles with long edges inside facets exchanged for the other, shorter diagonals."""
    edges = _edges(faces)
    inside = (edges.uses == 2) & (facet[edges.owner[:, 0]] == facet[edges.owner[:, 1]])
    inside &= _lengths(vertices, edges.ends) > longest
    # Exchanges only shorten edges, so that facets without a long one stay as they are.
    concerned = np.zeros(int(facet.max()) + 1, dtype=bool)
    concerned[facet[edges.owner[inside, 0]]] = True
    chosen = concerned[facet]
    if not chosen.any():
        return faces
    several = edges.ends[edges.uses > 2] @ np.array([len(vertices), 1])
    faces = faces.copy()
    faces[chosen] = _exchanged(vertices, faces[chosen], facet[chosen], longest, several)
    return faces


def _exchanged(
    vertices: Array, faces: Integers, facet: Integers, longest: float, several: Integers
) -> Integers:
    """Triangles of whole facets after exchanges; `several` are codes of edges of three and more."""
    faces = faces.copy()
    for _ in range(_MAX_FLIP_PASSES):
        edges = _edges(faces)
        inside = (edges.uses == 2) & (facet[edges.owner[:, 0]] == facet[edges.owner[:, 1]])
        inside &= _lengths(vertices, edges.ends) > longest
        inside &= ~np.isin(edges.ends @ np.array([len(vertices), 1]), several)
        chosen = np.flatnonzero(inside)
        left, right = edges.owner[chosen].T
        a, b = edges.ends[chosen].T
        c, d = (faces[side].sum(axis=1) - a - b for side in (left, right))
        # The left triangle runs from a to b.
        at = np.argmax(faces[left] == a[:, None], axis=1)
        reverse = faces[left, (at + 1) % 3] != b
        a, b = np.where(reverse, b, a), np.where(reverse, a, b)
        pa, pb, pc, pd = (vertices[corner] for corner in (a, b, c, d))
        normal = np.cross(pb - pa, pc - pa) + np.cross(pa - pb, pd - pb)
        size = (normal**2).sum(axis=1)
        convex = np.ones(chosen.size, dtype=bool)
        for p, q, r in ((pa, pd, pc), (pd, pb, pc)):
            convex &= (np.cross(q - p, r - p) * normal).sum(axis=1) > 1e-6 * size
        before, after = np.linalg.norm(pa - pb, axis=1), np.linalg.norm(pc - pd, axis=1)
        gain = np.where(convex & (after < _SHORTER * before), before - after, 0.0)
        # Each triangle takes part in the exchange that shortens most.
        best = np.zeros(len(faces))
        np.maximum.at(best, left, gain)
        np.maximum.at(best, right, gain)
        done = (gain > 0.0) & (gain >= best[left]) & (gain >= best[right])
        used = np.zeros(len(faces), dtype=np.int64)
        np.add.at(used, left[done], 1)
        np.add.at(used, right[done], 1)
        done &= (used[left] == 1) & (used[right] == 1)
        if not done.any():
            break
        a, b, c, d = (corner[done] for corner in (a, b, c, d))
        faces[left[done]] = np.column_stack([a, d, c])
        faces[right[done]] = np.column_stack([d, b, c])
    return faces
