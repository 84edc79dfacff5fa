"""Compiled sums of matrices."""

from __future__ import annotations

from kneewear.base.compilation import compiled


@compiled
def add_lower(matrix, place, part):
    """Add the lower triangle of a symmetric part (n, n) at places (n,) to a lower triangle."""
    for column in range(place.size):
        at = place[column]
        for row in range(column, place.size):
            to = place[row]
            if to >= at:
                matrix[to, at] += part[row, column]
            else:
                matrix[at, to] += part[row, column]
