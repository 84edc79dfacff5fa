"""Compiled breadth-first search: outward from the elements that were active before."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import compiled
from kneewear.contact._distance_kernels import face_indenter, find_feet
from kneewear.contact._proximity_kernels import OUTSIDE
from kneewear.contact._record_kernels import (
    ACTIVE,
    EVALUATED,
    FOOT_ROWS,
    SUMS,
    TILE_NUMBERS,
    WORK_ROWS,
    elements_of,
    indices_of,
    marks_of,
    neighbours_of,
    rows_of,
    voxels_of,
    work_of,
)
from kneewear.contact._search_kernels import (
    element_is_apart,
    into_voxels,
    place_element,
    tile_is_apart,
)

UNTRIED, TRIED = 0, 1


@compiled
def spread_from_active(
    pair: Any, rotation: NDArray, translation: NDArray
) -> None:  # pragma: no cover
    """Find the active elements of a pair, starting from those of the last search.

    These are tried; the neighbours of those still active follow, ring by ring, until a ring holds
    no active element. New regions are then looked for among the rest: lower bounds of the distance
    rule most of it out, and what they leave over is tried too.
    """
    listed, marks = indices_of(pair.listed, pair.count), marks_of(pair)
    before = indices_of(pair.before, pair.count)
    neighbours, work = neighbours_of(pair), work_of(pair)
    marks[:] = UNTRIED
    head = tail = np.int64(0)
    for n in range(pair.before_count):
        tail = try_element(pair, rotation, translation, before[n], tail)
    while tail > head:
        find_feet(pair, rotation, head, tail)
        face_indenter(pair, rotation, head, tail)
        ring = tail
        for slot in range(head, ring):
            if work[FOOT_ROWS, slot] < 0.0:
                for direction in range(neighbours.shape[1]):
                    beside = neighbours[listed[slot], direction]
                    if beside >= 0:
                        tail = try_element(pair, rotation, translation, beside, tail)
        head = ring
    tail = try_the_rest(pair, rotation, translation, tail)
    find_feet(pair, rotation, head, tail)
    face_indenter(pair, rotation, head, tail)
    keep_in_order(pair, tail)


@compiled
def try_element(
    pair: Any, rotation: NDArray, translation: NDArray, element: int, slot: int
) -> int:  # pragma: no cover
    """List an element that was not tried yet; returns the next free slot."""
    marks = marks_of(pair)
    if marks[element] != UNTRIED:
        return slot
    marks[element] = TRIED
    voxel = place_element(pair, rotation, translation, element, slot)
    if voxel == OUTSIDE:
        return slot
    indices_of(pair.listed, pair.count)[slot] = element
    indices_of(pair.held, pair.count)[slot] = voxel
    return slot + 1


@compiled
def try_the_rest(
    pair: Any, rotation: NDArray, translation: NDArray, slot: int
) -> int:  # pragma: no cover
    """List the untried elements that lower bounds leave over."""
    tile_first = indices_of(pair.tile_first, pair.tile_count + 1)
    tiles = rows_of(pair.tiles, pair.tile_count, TILE_NUMBERS)
    elements, voxels, marks = elements_of(pair), voxels_of(pair), marks_of(pair)
    way = into_voxels(pair, rotation, translation)
    for tile in range(pair.tile_count):
        if tile_is_apart(tiles, tile, way, voxels):
            continue
        for element in range(tile_first[tile], tile_first[tile + 1]):
            if marks[element] == UNTRIED and not element_is_apart(elements, element, way, voxels):
                slot = try_element(pair, rotation, translation, element, slot)
    return slot


@compiled
def keep_in_order(pair: Any, tried: int) -> None:  # pragma: no cover
    """Bring the active elements among the tried into the places that other searches give them."""
    listed, work = indices_of(pair.listed, pair.count), work_of(pair)
    before = indices_of(pair.before, pair.count)
    first_tile = indices_of(pair.chunk_first, pair.chunk_count + 1)
    first_element = indices_of(pair.tile_first, pair.tile_count + 1)
    sums = rows_of(pair.sums, pair.chunk_count, SUMS)
    sums[:] = 0.0
    sums[0, EVALUATED] = tried
    found = np.empty((2, tried), dtype=np.int64)
    count = 0
    for slot in range(tried):
        if work[FOOT_ROWS, slot] < 0.0:
            found[0, count], found[1, count] = listed[slot], slot
            count += 1
    columns = np.empty((WORK_ROWS, count))
    for n in range(count):
        for row in range(WORK_ROWS):
            columns[row, n] = work[row, found[1, n]]
    order = np.argsort(found[0, :count])
    chunk, slot = 0, 0
    for n in order:
        element = found[0, n]
        while element >= first_element[first_tile[chunk + 1]]:
            chunk += 1
            slot = 0
        place = first_element[first_tile[chunk]] + slot
        for row in range(WORK_ROWS):
            work[row, place] = columns[row, n]
        listed[place] = element
        slot += 1
        sums[chunk, ACTIVE] = slot
    for n in range(count):
        before[n] = found[0, order[n]]
    pair.before_count = count
