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
    PUSH,
    SUMS,
    TILE_NUMBERS,
    Voxels,
    elements_of,
    indices_of,
    marks_of,
    neighbours_of,
    rows_of,
    voxels_of,
    work_of,
)
from kneewear.contact._search_kernels import (
    Mapping,
    element_is_apart,
    into_voxels,
    place_element,
    tile_is_apart,
)

UNTRIED, TRIED, PRESSED = 0, 1, 2


@compiled
def spread_from_active(pair: Any, rotation: NDArray, translation: NDArray) -> None:
    """Find the active elements of a pair, starting from those of the last search.

    These are tried; the neighbours of those still active follow, ring by ring, until a ring holds
    no active element. New regions are then looked for among the rest: lower bounds of the distance
    rule most of it out, and what they leave over is tried too.
    """
    listed, marks = indices_of(pair.listed, pair.count), marks_of(pair)
    before = indices_of(pair.before, pair.count)
    neighbours, elements, work = neighbours_of(pair), elements_of(pair), work_of(pair)
    voxels, way = voxels_of(pair), into_voxels(pair, rotation, translation)
    marks[:] = UNTRIED
    head = tail = np.int64(0)
    for n in range(pair.before_count):
        if is_to_try(marks, elements, before[n], way, voxels):
            tail = list_element(pair, rotation, translation, before[n], tail)
    while tail > head:
        find_feet(pair, rotation, head, tail)
        face_indenter(pair, rotation, head, tail)
        ring = tail
        for slot in range(head, ring):
            if work[FOOT_ROWS, slot] < 0.0:
                for direction in range(neighbours.shape[1]):
                    beside = neighbours[listed[slot], direction]
                    if beside >= 0 and is_to_try(marks, elements, beside, way, voxels):
                        tail = list_element(pair, rotation, translation, beside, tail)
        head = ring
    tail = list_the_rest(pair, rotation, translation, tail)
    find_feet(pair, rotation, head, tail)
    face_indenter(pair, rotation, head, tail)
    keep_in_order(pair, tail)


@compiled(inlined=True)
def is_to_try(
    marks: NDArray, elements: NDArray, element: int, way: Mapping, voxels: Voxels
) -> bool:
    """Whether an element was not tried yet, and may touch; it counts as tried from now on."""
    if marks[element] != UNTRIED:
        return False
    marks[element] = TRIED
    return not element_is_apart(elements, element, way, voxels)


@compiled
def list_element(
    pair: Any, rotation: NDArray, translation: NDArray, element: int, slot: int
) -> int:
    """List an element; returns the next free slot."""
    voxel = place_element(pair, rotation, translation, element, slot)
    if voxel == OUTSIDE:
        return slot
    indices_of(pair.listed, pair.count)[slot] = element
    indices_of(pair.held, pair.count)[slot] = voxel
    return slot + 1


@compiled
def list_the_rest(pair: Any, rotation: NDArray, translation: NDArray, slot: int) -> int:
    """List the untried elements that lower bounds leave over."""
    tile_first = indices_of(pair.tile_first, pair.tile_count + 1)
    tiles = rows_of(pair.tiles, pair.tile_count, TILE_NUMBERS)
    elements, marks = elements_of(pair), marks_of(pair)
    voxels, way = voxels_of(pair), into_voxels(pair, rotation, translation)
    for tile in range(pair.tile_count):
        if tile_is_apart(tiles, tile, way, voxels):
            continue
        for element in range(tile_first[tile], tile_first[tile + 1]):
            if is_to_try(marks, elements, element, way, voxels):
                slot = list_element(pair, rotation, translation, element, slot)
    return slot


@compiled
def keep_in_order(pair: Any, tried: int) -> None:
    """Bring the active elements among the tried into the places that other searches give them."""
    listed, marks, work = indices_of(pair.listed, pair.count), marks_of(pair), work_of(pair)
    before, slot_of = indices_of(pair.before, pair.count), indices_of(pair.state, pair.count)
    first_tile = indices_of(pair.chunk_first, pair.chunk_count + 1)
    first_element = indices_of(pair.tile_first, pair.tile_count + 1)
    sums = rows_of(pair.sums, pair.chunk_count, SUMS)
    sums[:] = 0.0
    sums[0, EVALUATED] = tried
    for slot in range(tried):
        if work[FOOT_ROWS, slot] < 0.0:
            marks[listed[slot]], slot_of[listed[slot]] = PRESSED, slot
    source, target = np.empty(tried, dtype=np.int64), np.empty(tried, dtype=np.int64)
    count = 0
    for chunk in range(pair.chunk_count):
        place = first_element[first_tile[chunk]]
        for element in range(place, first_element[first_tile[chunk + 1]]):
            if marks[element] == PRESSED:
                source[count], target[count], before[count] = slot_of[element], place, element
                place += 1
                count += 1
        sums[chunk, ACTIVE] = place - first_element[first_tile[chunk]]
    values = np.empty(tried)
    for row in range(PUSH):
        for n in range(count):
            values[n] = work[row, source[n]]
        for n in range(count):
            work[row, target[n]] = values[n]
    for n in range(count):
        listed[target[n]] = before[n]
    pair.before_count = count
