"""Compiled integrals over overlaps of triangles, and sweeps of 3 x 3 blocks."""

from __future__ import annotations

import numpy as np

from kneewear.base.compilation import compiled


@compiled
def clip(polygon, count, start, end, cut):
    """Part of a polygon (count, 2) to the left of a line, into `cut`; the number of its corners."""
    kept = 0
    for i in range(count):
        j = (i + 1) % count
        here = (end[0] - start[0]) * (polygon[i, 1] - start[1]) - (end[1] - start[1]) * (
            polygon[i, 0] - start[0]
        )
        there = (end[0] - start[0]) * (polygon[j, 1] - start[1]) - (end[1] - start[1]) * (
            polygon[j, 0] - start[0]
        )
        if here >= 0.0:
            cut[kept, 0], cut[kept, 1] = polygon[i, 0], polygon[i, 1]
            kept += 1
        if (here > 0.0 and there < 0.0) or (here < 0.0 and there > 0.0):
            part = here / (here - there)
            for c in range(2):
                cut[kept, c] = polygon[i, c] + part * (polygon[j, c] - polygon[i, c])
            kept += 1
    return kept


@compiled
def fill_coordinates(triangle, x, y, found):
    """Barycentric coordinates of a point in a triangle (3, 2)."""
    a0, a1 = triangle[1, 0] - triangle[0, 0], triangle[1, 1] - triangle[0, 1]
    b0, b1 = triangle[2, 0] - triangle[0, 0], triangle[2, 1] - triangle[0, 1]
    p0, p1 = x - triangle[0, 0], y - triangle[0, 1]
    size = a0 * b1 - a1 * b0
    found[1] = (p0 * b1 - p1 * b0) / size
    found[2] = (a0 * p1 - a1 * p0) / size
    found[0] = 1.0 - found[1] - found[2]


@compiled
def integrate_overlaps(first, second, pairs, area, own, mixed):
    """Integrals of products of linear functions over the overlaps of pairs of plane triangles.

    `first` (m, 3, 2) and `second` (m, 3, 2) are counter-clockwise triangles of pair after pair.
    Fills `area` (m,), `own` (m, 3, 3), products of the functions of the first triangle, and `mixed`
    (m, 3, 3), products of functions of the first (rows) and of the second.
    """
    polygon, cut = np.empty((9, 2)), np.empty((9, 2))
    here, there = np.empty(3), np.empty(3)
    for m in range(pairs):
        polygon[:3] = first[m]
        count = 3
        for side in range(3):
            count = clip(polygon, count, second[m, side], second[m, (side + 1) % 3], cut)
            polygon, cut = cut, polygon
        for k in range(1, count - 1):
            a0, a1 = polygon[k, 0] - polygon[0, 0], polygon[k, 1] - polygon[0, 1]
            b0, b1 = polygon[k + 1, 0] - polygon[0, 0], polygon[k + 1, 1] - polygon[0, 1]
            size = 0.5 * (a0 * b1 - a1 * b0)
            area[m] += size
            # Middles of the sides: exact for quadratic functions.
            for side in range(3):
                i = 0 if side == 0 else k + side - 1
                j = 0 if side == 2 else k + side
                x = 0.5 * (polygon[i, 0] + polygon[j, 0])
                y = 0.5 * (polygon[i, 1] + polygon[j, 1])
                fill_coordinates(first[m], x, y, here)
                fill_coordinates(second[m], x, y, there)
                for a in range(3):
                    for b in range(3):
                        own[m, a, b] += size / 3.0 * here[a] * here[b]
                        mixed[m, a, b] += size / 3.0 * here[a] * there[b]


@compiled
def fill_residual(start, column, data, nodes, right, x, left):
    """Residual of the rows of some nodes, three numbers per node."""
    for m in range(nodes.shape[0]):
        i = nodes[m]
        r0, r1, r2 = right[i, 0], right[i, 1], right[i, 2]
        for k in range(start[i], start[i + 1]):
            j = column[k]
            x0, x1, x2 = x[j, 0], x[j, 1], x[j, 2]
            r0 -= data[k, 0, 0] * x0 + data[k, 0, 1] * x1 + data[k, 0, 2] * x2
            r1 -= data[k, 1, 0] * x0 + data[k, 1, 1] * x1 + data[k, 1, 2] * x2
            r2 -= data[k, 2, 0] * x0 + data[k, 2, 1] * x1 + data[k, 2, 2] * x2
        left[3 * m], left[3 * m + 1], left[3 * m + 2] = r0, r1, r2


@compiled
def sweep(start, column, data, first, node, offset, inverse, right, bound, x, backward):
    """One block Gauss-Seidel sweep for A x = right under x[i, 0] <= bound[i], in place.

    Block b consists of the nodes `node[first[b] : first[b + 1]]`, of which one at most may have a
    finite bound; the inverse of its part of the matrix is stored by rows from
    `inverse[offset[b]]` on. Each block's energy is minimised exactly. Components whose rows and
    columns in an inverse are zero remain as they are.
    """
    blocks = first.shape[0] - 1
    widest = 0
    for b in range(blocks):
        widest = max(widest, first[b + 1] - first[b])
    left, change = np.empty(3 * widest), np.empty(3 * widest)
    for step in range(blocks):
        b = blocks - 1 - step if backward else step
        nodes = node[first[b] : first[b + 1]]
        size = 3 * nodes.shape[0]
        fill_residual(start, column, data, nodes, right, x, left)
        for a in range(size):
            change[a] = 0.0
            row = offset[b] + a * size
            for c in range(size):
                change[a] += inverse[row + c] * left[c]
        pressed = -1
        for m in range(nodes.shape[0]):
            room = bound[nodes[m]] - x[nodes[m], 0]
            response = inverse[offset[b] + 3 * m * (size + 1)]
            if change[3 * m] > room and response > 0.0:
                # A reaction at the bound: a column of the inverse gives what it changes.
                reaction = (room - change[3 * m]) / response
                for a in range(size):
                    change[a] += inverse[offset[b] + a * size + 3 * m] * reaction
                pressed = nodes[m]
        for a in range(size):
            x[nodes[a // 3], a % 3] += change[a]
        if pressed >= 0:
            x[pressed, 0] = bound[pressed]
