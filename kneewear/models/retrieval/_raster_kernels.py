"""Compiled heights of a mesh over a grid of points of its plan."""

from __future__ import annotations

import math

from numpy.typing import NDArray

from kneewear.base.compilation import compiled


@compiled
def raise_heights(
    vertices: NDArray,
    faces: NDArray,
    origin_x: float,
    origin_z: float,
    step: float,
    heights: NDArray,
) -> None:
    """Highest point of the mesh above each grid point; `heights` (n, m) start at minus infinity.

    Triangles that face down have no height. `vertices` (k, 3) are in mm, grid point (i, j) is at
    `origin_x` + i `step`, `origin_z` + j `step`.
    """
    rows, columns = heights.shape
    for number in range(faces.shape[0]):
        a, b, c = faces[number, 0], faces[number, 1], faces[number, 2]
        xa, za = (vertices[a, 0] - origin_x) / step, (vertices[a, 2] - origin_z) / step
        xb, zb = (vertices[b, 0] - origin_x) / step, (vertices[b, 2] - origin_z) / step
        xc, zc = (vertices[c, 0] - origin_x) / step, (vertices[c, 2] - origin_z) / step
        # Twice the area in the plan (z, x), positive of triangles that face up.
        area = (zb - za) * (xc - xa) - (zc - za) * (xb - xa)
        if area <= 1e-12:
            continue
        first_row = max(math.ceil(min(xa, xb, xc)), 0)
        last_row = min(math.floor(max(xa, xb, xc)), rows - 1)
        first_column = max(math.ceil(min(za, zb, zc)), 0)
        last_column = min(math.floor(max(za, zb, zc)), columns - 1)
        for i in range(first_row, last_row + 1):
            for j in range(first_column, last_column + 1):
                u = ((j - za) * (xc - xa) - (zc - za) * (i - xa)) / area
                v = ((zb - za) * (i - xa) - (j - za) * (xb - xa)) / area
                if u < -1e-9 or v < -1e-9 or u + v > 1.0 + 1e-9:
                    continue
                height = (
                    vertices[a, 1]
                    + u * (vertices[b, 1] - vertices[a, 1])
                    + v * (vertices[c, 1] - vertices[a, 1])
                )
                heights[i, j] = max(heights[i, j], height)
