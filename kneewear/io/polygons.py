"""Polygons of mesh files as triangles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Faces = NDArray[np.int64]

# Relative excess of the area of a fan over its polygon that is rounding, or a bent polygon.
_SAME_AREA = 1e-3


def fan(corners: Sequence[int]) -> list[int]:
    """Corners of the triangles about the first corner of a polygon; ValueError of fewer than 3."""
    if len(corners) < 3:
        raise ValueError(f"a polygon of {len(corners)} corners")
    first, *rest = corners
    return [number for pair in pairwise(rest) for number in (first, *pair)]


def polygon_triangles(polygons: Iterable[Faces], vertices: Array) -> Faces:
    """Triangles of polygons of any number of corners, three and more.

    Parameters
    ----------
    polygons : iterable of array
        Numbers of the vertices of each polygon.
    vertices : array, shape (n, 3)
        Vertices; where a number is none of theirs, its polygon is cut about its first corner.

    Returns
    -------
    array, shape (m, 3)
        As many triangles as each polygon has corners beyond the second.
    """
    cut = [number for polygon in polygons for number in triangles_of(polygon.tolist(), vertices)]
    return np.array(cut, dtype=np.int64).reshape(-1, 3)


def triangles_of(corners: Sequence[int], vertices: Array) -> list[int]:
    """Corners of the triangles of one polygon: about its first corner where that is its area.

    A fan of a polygon with a corner that points inward overlaps itself; of such ears are cut off.
    """
    triangles = fan(corners)
    if len(corners) < 4 or min(corners) < 0 or max(corners) >= len(vertices):
        return triangles
    a, b, c = (vertices[triangles[k::3]] for k in range(3))
    doubled = np.cross(b - a, c - a)
    whole = float(np.linalg.norm(doubled.sum(axis=0)))
    if float(np.linalg.norm(doubled, axis=1).sum()) <= (1.0 + _SAME_AREA) * whole or not whole:
        return triangles
    ears = _cut_ears(vertices[list(corners)], doubled.sum(axis=0) / whole)
    return triangles if ears is None else [corners[number] for number in ears]


def _cut_ears(points: Array, normal: Array) -> list[int] | None:
    """Corners of the triangles of a polygon about a normal; None of one that crosses itself."""
    across = np.eye(3)[int(np.abs(normal).argmin())]
    right = np.cross(across, normal)
    right /= np.linalg.norm(right)
    plan = points @ np.column_stack([right, np.cross(normal, right)])
    count = len(plan)
    before, after = ([(n + step) % count for n in range(count)] for step in (-1, 1))
    turns = _turn(np.roll(plan, 1, axis=0).T, plan.T, np.roll(plan, -1, axis=0).T)
    inward = np.asarray(turns) <= 0.0
    found, at, missed = list[int](), 0, 0
    while count > 3:
        corners = before[at], at, after[at]
        if _is_ear(plan, corners, inward):
            found += corners
            first, _, last = corners
            after[first], before[last] = last, first
            inward[at] = False
            for end in (first, last):
                inward[end] = bool(_turn(plan[before[end]], plan[end], plan[after[end]]) <= 0.0)
            count, missed = count - 1, 0
        elif missed > count:
            return None
        else:
            missed += 1
        at = after[at]
    return [*found, before[at], at, after[at]]


def _is_ear(plan: Array, corners: tuple[int, int, int], inward: NDArray[np.bool_]) -> bool:
    """True if a corner points outward and the triangle with its neighbours holds no other one.

    Of others only those that point inward can be the first in it.
    """
    if inward[corners[1]]:
        return False
    others = inward.copy()
    others[list(corners)] = False
    p = plan[others].T
    a, b, c = (plan[number] for number in corners)
    return not np.any((_turn(a, b, p) >= 0) & (_turn(b, c, p) >= 0) & (_turn(c, a, p) >= 0))


def _turn(a: Array, b: Array, c: Array) -> Array:
    """Twice the area of a triangle, or of n in arrays (2, n), positive if it turns left."""
    turned: Array = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    return turned
