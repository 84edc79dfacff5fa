"""Compiled evaluation of contact pairs at one pose: search, distances, forces, sums.

A pair is a record (`_record_kernels.PAIR`). Its elements are cut into chunks that are evaluated and
summed one by one and whose sums are added in their order, so that the result does not depend on
how many threads share them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import compiled
from kneewear.contact._distance_kernels import drop_apart, face_indenter, find_feet, keep_active
from kneewear.contact._force_kernels import add_conservative, is_conservative, press_active
from kneewear.contact._general_kernels import add_general, note_motion
from kneewear.contact._record_kernels import (
    ACTIVE,
    ALL,
    BREADTH_FIRST,
    EVALUATED,
    SUMS,
    indices_of,
    rows_of,
)
from kneewear.contact._result_kernels import finish, gather_outcomes
from kneewear.contact._search_kernels import boxes_meet, list_all, list_by_bounds
from kneewear.contact._spread_kernels import spread_from_active

# Numbers kept of the last pose: whether there is one, how far elements may move before it counts as
# another, mm, and rotation and translation.
KNOWN, TOLERANCE, POSE, LAST_NUMBERS = 0, 1, 2, 14


@compiled
def search_chunk(pair: Any, rotation: NDArray, translation: NDArray, chunk: int) -> None:
    """Find the active elements of a chunk, and their feet; notes how many, and how many tried."""
    first_tile = indices_of(pair.chunk_first, pair.chunk_count + 1)
    first_element = indices_of(pair.tile_first, pair.tile_count + 1)
    total = rows_of(pair.sums, pair.chunk_count, SUMS)[chunk]
    first, tiles = first_element[first_tile[chunk]], first_tile[chunk + 1]
    if pair.search == ALL:
        last = list_all(pair, rotation, translation, first, first_element[tiles])
    else:
        last = list_by_bounds(pair, rotation, translation, first_tile[chunk], tiles)
    total[EVALUATED] = last - first
    if pair.search == ALL and pair.tabled == 1:
        last = drop_apart(pair, first, last)
    find_feet(pair, rotation, first, last)
    face_indenter(pair, rotation, first, last)
    total[ACTIVE] = keep_active(pair, first, last) - first


@compiled
def press_chunk(
    pair: Any, rotation: NDArray, velocity: NDArray, moving: bool, known: bool, chunk: int
) -> None:
    """Pressures of a chunk's active elements and their sums; `velocity` is in the moving frame.

    `known` tells that no distance was looked for.
    """
    first_tile = indices_of(pair.chunk_first, pair.chunk_count + 1)
    first_element = indices_of(pair.tile_first, pair.tile_count + 1)
    total = rows_of(pair.sums, pair.chunk_count, SUMS)[chunk]
    first = first_element[first_tile[chunk]]
    last = first + np.int64(total[ACTIVE])
    evaluated = 0.0 if known else total[EVALUATED]
    active = total[ACTIVE]
    total[:] = 0.0
    total[EVALUATED], total[ACTIVE] = evaluated, active
    if first == last:
        return
    if is_conservative(pair) and not moving:
        press_active(pair, rotation, first, last, total)
        add_conservative(pair, first, last, total)
    else:
        add_general(pair, rotation, velocity, moving, first, last, total)
    if moving:
        note_motion(pair, rotation, velocity, first, last)


@compiled
def search_pair(pair: Any, rotation: NDArray, translation: NDArray) -> None:
    """Find the active elements of a pair chunk by chunk."""
    if not boxes_meet(pair, rotation, translation):
        rows_of(pair.sums, pair.chunk_count, SUMS)[:] = 0.0
    elif pair.search == BREADTH_FIRST:
        spread_from_active(pair, rotation, translation)
    else:
        for chunk in range(pair.chunk_count):
            search_chunk(pair, rotation, translation, chunk)


@compiled
def into_moving_frame(rotation: NDArray, velocity: NDArray, turned: NDArray) -> None:
    """A velocity and an angular velocity in the frame of the moving body."""
    for a in range(3):
        turned[a] = turned[3 + a] = 0.0
        for b in range(3):
            turned[a] += rotation[b, a] * velocity[0, b]
            turned[3 + a] += rotation[b, a] * velocity[1, b]


@compiled
def find_pose(pairs: NDArray, motion: NDArray, last: NDArray, pose: NDArray) -> bool:
    """Fill the pose (4 x 3: rotation, translation) to evaluate at; whether it is the last one.

    It is if no element moved by more than the tolerance against the moving body since then.
    """
    shift = turn = 0.0
    for a in range(3):
        shift += (motion[3, a] - last[POSE + 9 + a]) ** 2
        for b in range(3):
            turn += (motion[a, b] - last[POSE + 3 * a + b]) ** 2
    reach = 0.0
    for p in range(pairs.shape[0]):
        square = 0.0
        for a in range(3):
            square += (abs(pairs[p].middle[a] - motion[3, a]) + pairs[p].half[a]) ** 2
        reach = max(reach, np.sqrt(square))
    known = last[KNOWN] == 1.0 and np.sqrt(shift) + reach * np.sqrt(turn) <= last[TOLERANCE]
    for a in range(4):
        for b in range(3):
            pose[a, b] = last[POSE + 3 * a + b] if known else motion[a, b]
    return known


@compiled
def keep_pose(pose: NDArray, last: NDArray) -> None:
    last[KNOWN] = 1.0
    for a in range(4):
        for b in range(3):
            last[POSE + 3 * a + b] = pose[a, b]


@compiled
def evaluate_pairs(
    pairs: NDArray, motion: NDArray, moving: bool, last: NDArray, numbers: NDArray
) -> None:
    """Contact of all pairs at one pose, a row of `numbers` (NUMBERS each) a pair.

    `pairs` are the `records` of a `ContactModel`; other kernels may call this, everything a pair
    needs stands in its record. `motion` (6 x 3) holds rotation, translation, and the velocity of
    the moving body's origin and its angular velocity in the fixed frame, which are looked at if
    `moving`. `last` (LAST_NUMBERS, zeros at first) keeps the last pose: when it comes again active
    elements and feet are used again.
    """
    pose, turned = np.empty((4, 3)), np.zeros(6)
    known = find_pose(pairs, motion, last, pose)
    if moving:
        into_moving_frame(pose, motion[4:], turned)
    for p in range(pairs.shape[0]):
        if not known:
            search_pair(pairs[p], pose[:3], pose[3])
        for chunk in range(pairs[p].chunk_count):
            press_chunk(pairs[p], pose[:3], turned, moving, known, chunk)
        finish(pairs[p], pose[:3], pose[3], moving, numbers[p])
    keep_pose(pose, last)


@compiled
def evaluate_model(
    pairs: NDArray,
    motion: NDArray,
    moving: bool,
    last: NDArray,
    numbers: NDArray,
    outcomes: NDArray,
) -> int:
    """Evaluate all pairs, and gather what their active elements bear; returns how many there are.

    `outcomes` has a row (OUT_NUMBERS) for every element.
    """
    evaluate_pairs(pairs, motion, moving, last, numbers)
    return gather_outcomes(pairs, outcomes)


@compiled
def evaluate_chunks(
    pairs: NDArray,
    motion: NDArray,
    moving: bool,
    last: NDArray,
    tasks: NDArray,
) -> None:
    """One thread's part of `evaluate_pairs`: `tasks` holds pair and chunk a row.

    `finish_pairs` comes after all threads.
    """
    pose, turned = np.empty((4, 3)), np.zeros(6)
    known = find_pose(pairs, motion, last, pose)
    if moving:
        into_moving_frame(pose, motion[4:], turned)
    for n in range(tasks.shape[0]):
        pair, chunk = pairs[tasks[n, 0]], tasks[n, 1]
        if not known:
            if boxes_meet(pair, pose[:3], pose[3]):
                search_chunk(pair, pose[:3], pose[3], chunk)
            else:
                rows_of(pair.sums, pair.chunk_count, SUMS)[chunk] = 0.0
        press_chunk(pair, pose[:3], turned, moving, known, chunk)


@compiled
def finish_pairs(
    pairs: NDArray,
    motion: NDArray,
    moving: bool,
    last: NDArray,
    numbers: NDArray,
    outcomes: NDArray,
) -> int:
    """Results of all pairs from the sums of their chunks, as of `evaluate_model`."""
    pose = np.empty((4, 3))
    find_pose(pairs, motion, last, pose)
    for p in range(pairs.shape[0]):
        finish(pairs[p], pose[:3], pose[3], moving, numbers[p])
    keep_pose(pose, last)
    return gather_outcomes(pairs, outcomes)


@compiled
def slide(
    centre: NDArray,
    tangent_row: NDArray,
    tangent_column: NDArray,
    rotation: NDArray,
    translation: NDArray,
    rotation_before: NDArray,
    translation_before: NDArray,
    rotation_after: NDArray,
    translation_after: NDArray,
    slip: NDArray,
) -> None:
    """Slip along the two tangents of the points of the moving body now at the element centres.

    It is half their displacement from the frame before to the frame after.
    """
    body = np.empty(3)
    moved = np.empty(3)
    for n in range(centre.shape[0]):
        for a in range(3):
            body[a] = 0.0
            for b in range(3):
                body[a] += rotation[b, a] * (centre[n, b] - translation[b])
        for a in range(3):
            moved[a] = translation_after[a] - translation_before[a]
            for b in range(3):
                moved[a] += (rotation_after[a, b] - rotation_before[a, b]) * body[b]
        slip[n, 0] = slip[n, 1] = 0.0
        for a in range(3):
            slip[n, 0] += 0.5 * moved[a] * tangent_row[n, a]
            slip[n, 1] += 0.5 * moved[a] * tangent_column[n, a]
