"""Groups of elements for the search of active ones.

    all             the distance of every element (brute force)
    bounds          the distance of those that a lower bound does not exclude
    breadth_first   the elements active before, outward ring by ring, then what bounds leave

All three find the same active elements, independent of the elements active before, and the
same numbers to the last digit: the distance of an element never depends on another pose. Bounds
come from the map of the indenter's surroundings (`kneewear.contact.proximity`), first for tiles of
elements, then for the elements of the tiles left.

Breadth-first search is Bei's (2003, section 2.2.2). His misses a contact region that appears apart
from the others while these stay active; here bounds find it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kneewear.contact._distance_kernels import TileArrays

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# Elements of a chunk, at least: what a thread takes at a time. Fixed, because sums are added chunk
# by chunk.
CHUNK = 1024


def build_tiles(
    valid: NDArray[np.bool_], centre: Array, normal: Array, edge: float
) -> tuple[TileArrays, Integers, Integers]:
    """Group the valid elements of a grid into tiles with edges of about `edge`, mm.

    `valid` (rows, columns) states where the grid has elements; `centre` and `normal` (n, 3) belong
    to these. Returns the tiles, the number among the valid elements of each element in the order of
    the tiles, and the elements beside each (n, 8) in that order, -1 where there is none.
    """
    rows, columns = np.nonzero(valid)
    number = np.full(np.array(valid.shape) + 2, -1)
    number[1:-1, 1:-1][valid] = np.arange(rows.size)
    steps = [max(1, round(edge / spacing)) for spacing in _spacings(number, centre)]
    block = (rows // steps[0]) * (valid.shape[1] // steps[1] + 1) + columns // steps[1]
    order = np.argsort(block, kind="stable")
    first = np.append(np.flatnonzero(np.diff(block[order], prepend=-1)), rows.size)
    rank = np.empty(rows.size + 1, dtype=np.int64)
    rank[order], rank[-1] = np.arange(rows.size), -1
    around = [(a, b) for a in (0, 1, 2) for b in (0, 1, 2) if (a, b) != (1, 1)]
    beside = np.stack([number[rows + a, columns + b] for a, b in around], axis=-1)
    tiles = _measure_tiles(centre[order], normal[order], first)
    return tiles, order, np.ascontiguousarray(rank[beside[order]])


def _spacings(number: Integers, centre: Array) -> list[float]:
    """Usual distance between neighbours along rows and along columns, mm; inf without any."""
    spacings = []
    for one, other in ((number[1:], number[:-1]), (number[:, 1:], number[:, :-1])):
        both = (one >= 0) & (other >= 0)
        apart = np.linalg.norm(centre[one[both]] - centre[other[both]], axis=-1)
        spacings.append(float(np.median(apart)) if apart.size else np.inf)
    return spacings


def _chunks(tile_first: Integers) -> Integers:
    """First tile of each chunk: whole tiles, `CHUNK` elements or more."""
    starts, last = [0], 0
    for tile, first in enumerate(tile_first[:-1]):
        if first - last >= CHUNK:
            starts.append(tile)
            last = first
    return np.array([*starts, tile_first.size - 1])


def _measure_tiles(centre: Array, normal: Array, first: Integers) -> TileArrays:
    """Tiles of elements that are in the order of the tiles."""
    count = np.diff(first)
    middle = np.add.reduceat(centre, first[:-1]) / count[:, None]
    upward = np.add.reduceat(normal, first[:-1])
    length = np.linalg.norm(upward, axis=1, keepdims=True)
    upward = np.where(length > 1e-6 * count[:, None], upward / np.maximum(length, 1e-12), [0, 1, 0])
    away = centre - np.repeat(middle, count, axis=0)
    height = (away * np.repeat(upward, count, axis=0)).sum(axis=1)
    aside = np.sqrt(np.maximum((away**2).sum(axis=1) - height**2, 0.0))
    return TileArrays(
        centre=middle,
        normal=upward,
        radius=np.maximum.reduceat(aside, first[:-1]),
        depth=np.maximum.reduceat(np.abs(height), first[:-1]),
        first=first,
        chunk_first=_chunks(first),
    )
