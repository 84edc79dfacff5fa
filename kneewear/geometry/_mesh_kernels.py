"""Compiled search for the closest points of a triangle mesh, and signed distances to it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.base.compilation import compiled

DEEPEST = 64


class MeshTree(NamedTuple):
    """Triangles in the order of a binary tree of boxes, with normals of their features.

    Node n of the tree holds the triangles `first[n]` to below `last[n]`; `child[n]` is its first
    child, whose sibling follows, or -1. Features are numbered as by `nearest_on_triangle`.
    """

    corners: NDArray[np.float64]  # (m, 3, 3)
    normals: NDArray[np.float64]  # (m, 7, 3), of unit length
    border: NDArray[np.bool_]  # (m, 7), whether a feature is on the border of an open sheet
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    child: NDArray[np.int64]


@compiled
def nearest_on_triangle(corners: NDArray, p: NDArray, nearest: NDArray) -> tuple[float, int]:
    """Squared distance to a triangle and its feature; fills the nearest point.

    Features: 0 to 2 a corner, 3 the edge ab, 4 bc, 5 ca, 6 the face (Ericson 2005, Real-Time
    Collision Detection, section 5.1.5).
    """
    a, b, c = corners[0], corners[1], corners[2]
    d1 = d2 = d3 = d4 = d5 = d6 = 0.0
    for i in range(3):
        ab, ac = b[i] - a[i], c[i] - a[i]
        d1 += ab * (p[i] - a[i])
        d2 += ac * (p[i] - a[i])
        d3 += ab * (p[i] - b[i])
        d4 += ac * (p[i] - b[i])
        d5 += ab * (p[i] - c[i])
        d6 += ac * (p[i] - c[i])
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    v = w = 0.0
    feature = 6
    if d1 <= 0.0 and d2 <= 0.0:
        feature = 0
    elif d3 >= 0.0 and d4 <= d3:
        feature, v = 1, 1.0
    elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        feature, v = 3, d1 / (d1 - d3)
    elif d6 >= 0.0 and d5 <= d6:
        feature, w = 2, 1.0
    elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        feature, w = 5, d2 / (d2 - d6)
    elif va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        feature, v = 4, 1.0 - w
    else:
        v, w = vb / (va + vb + vc), vc / (va + vb + vc)
    square = 0.0
    for i in range(3):
        nearest[i] = a[i] + v * (b[i] - a[i]) + w * (c[i] - a[i])
        square += (p[i] - nearest[i]) ** 2
    return square, feature


@compiled
def _box_distance(tree: MeshTree, node: int, p: NDArray) -> float:
    """Square of the distance of a point from a box."""
    square = 0.0
    for i in range(3):
        beyond = max(tree.low[node, i] - p[i], p[i] - tree.high[node, i], 0.0)
        square += beyond * beyond
    return square


@compiled
def _nearest(
    tree: MeshTree, p: NDArray, stack: NDArray, spot: NDArray, found: NDArray
) -> tuple[float, int, int]:
    """Squared distance to the mesh, nearest triangle and its feature; fills the point found."""
    best = np.inf
    triangle = feature = 0
    stack[0], size = 0, 1
    while size > 0:
        size -= 1
        node = stack[size]
        if _box_distance(tree, node, p) >= best:
            continue
        if tree.child[node] < 0:
            for t in range(tree.first[node], tree.last[node]):
                square, part = nearest_on_triangle(tree.corners[t], p, spot)
                if square < best:
                    best, triangle, feature = square, t, part
                    found[:] = spot
            continue
        near, far = tree.child[node], tree.child[node] + 1
        if _box_distance(tree, near, p) > _box_distance(tree, far, p):
            near, far = far, near
        stack[size], stack[size + 1] = far, near
        size += 2
    return best, triangle, feature


@compiled
def closest_points(
    tree: MeshTree,
    margin: float,
    points: NDArray,
    closest: NDArray,
    outward: NDArray,
    gap: NDArray,
) -> None:
    """Closest point of the mesh to each point, the direction outward there, and the signed gap.

    Where the closest point is on an open border the gap is that to the tangent plane there, and
    infinite further beside the border than the margin.
    """
    stack = np.empty(DEEPEST, dtype=np.int64)
    spot, found = np.empty(3), np.empty(3)
    for n in range(points.shape[0]):
        p = points[n]
        best, triangle, feature = _nearest(tree, p, stack, spot, found)
        normal = tree.normals[triangle, feature]
        if tree.border[triangle, feature]:
            above = ((p - found) * normal).sum()
            beside = best - above * above > margin**2
            gap[n] = np.inf if beside else above
            closest[n], outward[n] = found, normal
            continue
        side = 1.0 if ((p - found) * normal).sum() >= 0.0 else -1.0
        distance = np.sqrt(best)
        gap[n] = side * distance
        closest[n] = found
        if distance > 1e-9 * np.sqrt((p**2).sum() + 1.0):
            outward[n] = side * (p - found) / distance
        else:
            outward[n] = normal


@compiled
def signed_distances(tree: MeshTree, points: NDArray, distance: NDArray) -> None:
    """Distance of each point, negative behind the normals, positive beside an open border."""
    stack = np.empty(DEEPEST, dtype=np.int64)
    spot, found = np.empty(3), np.empty(3)
    for n in range(points.shape[0]):
        best, triangle, feature = _nearest(tree, points[n], stack, spot, found)
        side = ((points[n] - found) * tree.normals[triangle, feature]).sum()
        behind = side < 0.0 and not tree.border[triangle, feature]
        distance[n] = -np.sqrt(best) if behind else np.sqrt(best)
