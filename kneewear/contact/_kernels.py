"""Compiled evaluation of contact pairs at one pose, and the records it takes.

A `Model` is all contact between two bodies, a `Pair` one surface of each. Compiled kernels pass
both by reference (numba's `structref`), because passing some forty arrays one by one would take as
long as the contact of one condyle. Large kernels that a model needs are called by address: they are
compiled once for all their callers, and only for pairs that need them. Arrays are copied number by
number: numba's check of shapes takes seconds to compile. Loops use arrays that were taken from a
record before them: in loops that call kernels numba counts a reference to every array taken. The
elements of a pair are cut into chunks that are evaluated and summed one by one and whose sums are
added in their order, so that the result does not depend on how many threads share them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.base.compilation import by_reference, compiled, structured
from kneewear.contact._coupling_kernels import CouplingArrays, press_pair
from kneewear.contact._distance_kernels import (
    BREADTH_FIRST,
    ElementArrays,
    TileArrays,
    Voxels,
    WorkArrays,
    boxes_meet,
    search_chunk,
    spread_from_active,
)
from kneewear.contact._force_kernels import (
    PressureLawArrays,
    TractionLaw,
    chunk_forces,
    fill_result,
)
from kneewear.geometry._distance_kernels import DistanceArrays
from kneewear.geometry._kernels import PatchArrays

# Whether the last pose is known, and by how much elements may move, mm, before it is another.
LAST_POSE = structured(("is_known", np.bool_), ("tolerance", np.float64))


class Options(NamedTuple):
    """Choices of a `ContactPair`."""

    method: int
    corrected: bool
    direction: int
    search: int
    tabled: bool
    several: bool  # patches


class Pair(NamedTuple):
    """A contact pair with its layer, and working arrays of its own."""

    patch: PatchArrays
    others: list[PatchArrays]  # further patches of the same surface
    voxels: Voxels
    table: DistanceArrays
    elements: ElementArrays
    tiles: TileArrays
    law: PressureLawArrays
    thickness: NDArray[np.float64]  # in the order of the valid elements
    coupling: CouplingArrays
    traction: TractionLaw
    options: Options
    work: WorkArrays


class Contacts(NamedTuple):
    """Pairs of two bodies, the kernels that suit them all, and the state of their evaluation."""

    pairs: list[Pair]
    project: Callable[..., None]  # `project_open` or `project_listed`
    press: Callable[..., None]  # `press_chunks`, `press_pair` or `press_any`
    last: NDArray[np.void]  # (1,), LAST_POSE
    last_rotation: NDArray[np.float64]  # (3, 3), of the last pose
    last_translation: NDArray[np.float64]  # (3,)
    rotation: NDArray[np.float64]  # (3, 3), pose of the moving body to evaluate at
    translation: NDArray[np.float64]  # (3,)
    velocity: NDArray[np.float64]  # (6,), of its origin, and angular, in the fixed frame
    results: NDArray[np.void]  # RESULT of each pair
    outcomes: NDArray[np.void]  # OUTCOME of all active elements


class Model(NamedTuple):
    """All contact between two bodies, and the kernel that evaluates it."""

    contact: Contacts
    evaluate: Callable[..., None]  # `evaluate_contacts` or `evaluate_nothing`


_new_pair, _new_contact, _new_model = map(by_reference, (Pair, Contacts, Model))


@compiled
def build_pair(
    patch: PatchArrays,
    voxels: Voxels,
    table: DistanceArrays,
    elements: ElementArrays,
    tiles: TileArrays,
    law: PressureLawArrays,
    thickness: NDArray,
    coupling: CouplingArrays,
    traction: TractionLaw,
    options: Options,
    work: WorkArrays,
) -> Pair:
    """A `Pair` that kernels take."""
    others = [patch]
    others.clear()
    return _new_pair(
        patch,
        others,
        voxels,
        table,
        elements,
        tiles,
        law,
        thickness,
        coupling,
        traction,
        options,
        work,
    )


@compiled
def add_patch(pair: Pair, patch: PatchArrays) -> None:
    """Add a further patch to the surface of a pair."""
    pair.others.append(patch)


@compiled
def build_contact(
    pair: Pair,
    project: Callable[..., None],
    press: Callable[..., None],
    last: NDArray,
    last_rotation: NDArray,
    last_translation: NDArray,
    rotation: NDArray,
    translation: NDArray,
    velocity: NDArray,
    results: NDArray,
    outcomes: NDArray,
) -> Contacts:
    """A `Contacts` of one pair that kernels take."""
    return _new_contact(
        [pair],
        project,
        press,
        last,
        last_rotation,
        last_translation,
        rotation,
        translation,
        velocity,
        results,
        outcomes,
    )


@compiled
def add_pair(contact: Contacts, pair: Pair) -> None:
    """Add a further pair."""
    contact.pairs.append(pair)


@compiled
def remove_pairs(contact: Contacts) -> None:
    """Leave no contact."""
    contact.pairs.clear()


@compiled
def build_model(contact: Contacts, evaluate: Callable[..., None]) -> Model:
    """A `Model` that kernels take."""
    return _new_model(contact, evaluate)


@compiled
def search_pair(pair: Any, project: Any, rotation: NDArray, translation: NDArray) -> None:
    """Find the active elements of a pair."""
    if not boxes_meet(pair, rotation, translation):
        for chunk in range(pair.work.sums.size):
            pair.work.sums[chunk].active = pair.work.sums[chunk].evaluated = 0
    elif pair.options.search == BREADTH_FIRST:
        spread_from_active(pair, project, rotation, translation)
    else:
        for chunk in range(pair.work.sums.size):
            search_chunk(pair, project, rotation, translation, chunk)


@compiled
def into_moving_frame(rotation: NDArray, velocity: NDArray, turned: NDArray) -> None:
    """A velocity and an angular velocity in the frame of the moving body."""
    for a in range(3):
        turned[a] = turned[3 + a] = 0.0
        for b in range(3):
            turned[a] += rotation[b, a] * velocity[b]
            turned[3 + a] += rotation[b, a] * velocity[3 + b]


@compiled
def choose_pose(contact: Any, rotation: NDArray, translation: NDArray) -> bool:
    """Make the pose the last one unless it is known; returns whether it is.

    It is known if no element moved by more than the tolerance against the moving body since the
    last pose.
    """
    last = contact.last[0]
    last_rotation, last_translation = contact.last_rotation, contact.last_translation
    shift = turn = 0.0
    for a in range(3):
        shift += (translation[a] - last_translation[a]) ** 2
        for b in range(3):
            turn += (rotation[a, b] - last_rotation[a, b]) ** 2
    reach = 0.0
    for p in range(len(contact.pairs)):
        elements = contact.pairs[p].elements
        square = 0.0
        for a in range(3):
            square += (abs(elements.box_middle[a] - translation[a]) + elements.box_half[a]) ** 2
        reach = max(reach, np.sqrt(square))
    known = last.is_known and np.sqrt(shift) + reach * np.sqrt(turn) <= last.tolerance
    if not known:
        for a in range(3):
            last_translation[a] = translation[a]
            for b in range(3):
                last_rotation[a, b] = rotation[a, b]
    return known


@compiled
def is_finite(rotation: NDArray, translation: NDArray, velocity: NDArray, moving: bool) -> bool:
    """True if pose and, if `moving`, velocity are finite (zero times infinity is NaN)."""
    total = 0.0
    for a in range(3):
        total += 0.0 * translation[a]
        for b in range(3):
            total += 0.0 * rotation[a, b]
    for a in range(6 if moving else 0):
        total += 0.0 * velocity[a]
    return total == 0.0


@compiled
def press_chunks(
    pair: Any, rotation: NDArray, velocity: NDArray, moving: bool, known: bool
) -> None:
    """Pressures and sums of a pair whose elements do not depend on each other."""
    for chunk in range(pair.work.sums.size):
        chunk_forces(pair, rotation, velocity, moving, chunk)


@compiled
def press_any(pair: Any, rotation: NDArray, velocity: NDArray, moving: bool, known: bool) -> None:
    """Pressures and sums of a pair, coupled or not."""
    if pair.coupling.on:
        press_pair(pair, rotation, velocity, moving, known)
    else:
        press_chunks(pair, rotation, velocity, moving, known)


@compiled
def evaluate_contacts(
    contact: Any,
    rotation: NDArray,
    translation: NDArray,
    velocity: NDArray,
    moving: bool,
    results: NDArray,
) -> None:
    """Contact of all pairs at one pose, as of `evaluate_pairs`."""
    turned = np.zeros(6)
    known = choose_pose(contact, rotation, translation)
    turn, shift = contact.last_rotation, contact.last_translation
    if moving:
        into_moving_frame(turn, velocity, turned)
    for p in range(len(contact.pairs)):
        pair = contact.pairs[p]
        if not known:
            search_pair(pair, contact.project, turn, shift)
        contact.press(pair, turn, turned, moving, known)
        fill_result(pair, turn, shift, moving, results[p])
        if known:
            results[p].evaluated_elements = 0
    contact.last[0].is_known = True
    if not is_finite(rotation, translation, velocity, moving):
        for p in range(len(contact.pairs)):
            results[p].wrench[:] = np.nan


@compiled
def evaluate_nothing(
    contact: Any,
    rotation: NDArray,
    translation: NDArray,
    velocity: NDArray,
    moving: bool,
    results: NDArray,
) -> None:
    """Evaluate contact without pairs."""


@compiled
def evaluate_pairs(
    model: Any,
    rotation: NDArray,
    translation: NDArray,
    velocity: NDArray,
    moving: bool,
    results: NDArray,
) -> None:
    """Contact of all pairs at one pose, one RESULT per pair.

    Other kernels may call this with the `record` of a `ContactModel` and contiguous arrays.
    `velocity` (6): velocity of the moving body's origin and its angular velocity, fixed frame; it
    is used if `moving`. When the last pose comes again, active elements and projections are
    used again. Of a pose or velocity that is not finite the wrench is NaN.
    """
    model.evaluate(model.contact, rotation, translation, velocity, moving, results)


@compiled
def evaluate_model(model: Any, moving: bool) -> int:
    """Evaluate all pairs at the model's motion, and gather outcomes; returns how many.

    A motion that is not finite is not evaluated; -1 is returned. Everything is part of the model: a
    call from Python takes longer for every array passed.
    """
    contact = model.contact
    rotation, translation, velocity = contact.rotation, contact.translation, contact.velocity
    if not is_finite(rotation, translation, velocity, moving):
        return -1
    evaluate_pairs(model, rotation, translation, velocity, moving, contact.results)
    return gather_outcomes(contact)


@compiled
def evaluate_chunks(contact: Any, moving: bool, known: bool, tasks: NDArray) -> None:
    """One thread's part of `evaluate_pairs`: rows of `tasks` are pair and chunk.

    `choose_pose` comes before all threads, and `finish_pairs` after them.
    """
    rotation, translation, turned = contact.last_rotation, contact.last_translation, np.zeros(6)
    if moving:
        into_moving_frame(rotation, contact.velocity, turned)
    for n in range(tasks.shape[0]):
        pair, chunk = contact.pairs[tasks[n, 0]], tasks[n, 1]
        if not known:
            if boxes_meet(pair, rotation, translation):
                search_chunk(pair, contact.project, rotation, translation, chunk)
            else:
                pair.work.sums[chunk].active = pair.work.sums[chunk].evaluated = 0
        if not pair.coupling.on:
            chunk_forces(pair, rotation, turned, moving, chunk)


@compiled
def finish_pairs(contact: Any, moving: bool, known: bool) -> int:
    """Results of all pairs from the sums of their chunks, as of `evaluate_model`.

    The elements of coupled pairs depend on each other: they are solved here.
    """
    rotation, translation, turned = contact.last_rotation, contact.last_translation, np.zeros(6)
    if moving:
        into_moving_frame(rotation, contact.velocity, turned)
    for p in range(len(contact.pairs)):
        if contact.pairs[p].coupling.on:
            contact.press(contact.pairs[p], rotation, turned, moving, known)
        fill_result(contact.pairs[p], rotation, translation, moving, contact.results[p])
        if known:
            contact.results[p].evaluated_elements = 0
    contact.last[0].is_known = True
    return gather_outcomes(contact)


@compiled
def gather_outcomes(contact: Any) -> int:
    """Copy the outcome of active elements, pair after pair and chunk after chunk; their number."""
    slot, outcomes = np.int64(0), contact.outcomes
    for p in range(len(contact.pairs)):
        work, tiles = contact.pairs[p].work, contact.pairs[p].tiles
        for chunk in range(work.sums.size):
            first = tiles.first[tiles.chunk_first[chunk]]
            for n in range(first, first + work.sums[chunk].active):
                outcomes[slot] = work.outcome[n]
                slot += 1
    return int(slot)


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
