"""Compiled results of a pair, from the sums over its active elements."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import compiled
from kneewear.contact._record_kernels import (
    ACTIVE,
    ACTIVE_COUNT,
    ADDED,
    CARRIED,
    CENTRE_OF_PRESSURE,
    CONTACT_AREA,
    DAMPING,
    DEEPEST,
    DEPTH,
    DRAGS,
    EVALUATED,
    EVALUATED_COUNT,
    FORCE,
    HIGHEST,
    MEAN,
    MOMENTS,
    MOVING,
    ORIGIN,
    OUT_NUMBERS,
    PEAK,
    PLACES_CARRIED,
    PRESSURES,
    RATES,
    STIFFNESS,
    SUMS,
    TOUCHED,
    WRENCH,
    indices_of,
    rows_of,
)


@compiled
def finish(
    pair: Any, rotation: NDArray, translation: NDArray, moving: bool, numbers: NDArray
) -> None:
    """A pair's result in the fixed frame, from the sums of its chunks in their order."""
    sums = rows_of(pair.sums, pair.chunk_count, SUMS)
    total = np.zeros(SUMS)
    for chunk in range(pair.chunk_count):
        for k in range(ADDED):
            total[k] += sums[chunk, k]
        for k in range(ADDED, SUMS):
            total[k] = max(total[k], sums[chunk, k])
    numbers[:] = 0.0
    numbers[ACTIVE_COUNT], numbers[EVALUATED_COUNT] = total[ACTIVE], total[EVALUATED]
    numbers[MOVING] = 1.0 if moving else 0.0
    for a in range(3):
        numbers[ORIGIN + a] = translation[a]
    if total[ACTIVE] == 0.0:
        return
    numbers[PEAK], numbers[DEPTH] = total[HIGHEST], total[DEEPEST]
    numbers[MEAN] = total[PRESSURES] / total[ACTIVE]
    numbers[CONTACT_AREA] = total[TOUCHED]
    fill_wrench(rotation, total, numbers[WRENCH:])
    fill_stiffness(rotation, total, numbers[STIFFNESS:])
    turn_blocks(rotation, total[DRAGS:], numbers[DAMPING:])
    for a in range(3):
        numbers[CENTRE_OF_PRESSURE + a] = total[PLACES_CARRIED + a] / total[CARRIED]


@compiled
def gather_outcomes(pairs: NDArray, outcomes: NDArray) -> int:
    """Copy what the active elements bear, pair after pair and chunk after chunk; their number."""
    slot = np.int64(0)
    for p in range(pairs.shape[0]):
        pair = pairs[p]
        outcome = rows_of(pair.outcome, pair.count, OUT_NUMBERS)
        sums = rows_of(pair.sums, pair.chunk_count, SUMS)
        first_tile = indices_of(pair.chunk_first, pair.chunk_count + 1)
        first_element = indices_of(pair.tile_first, pair.tile_count + 1)
        for chunk in range(pair.chunk_count):
            first = first_element[first_tile[chunk]]
            count = np.int64(sums[chunk, ACTIVE])
            for n in range(count):
                for k in range(OUT_NUMBERS):
                    outcomes[slot + n, k] = outcome[first + n, k]
            slot += count
    return int(slot)


@compiled
def fill_wrench(rotation: NDArray, total: NDArray, wrench: NDArray) -> None:
    """Force and moment about the moving body's origin."""
    for a in range(3):
        wrench[a] = wrench[3 + a] = 0.0
        for b in range(3):
            c, d = (b + 1) % 3, (b + 2) % 3
            moment = total[MOMENTS + 3 * c + d] - total[MOMENTS + 3 * d + c]
            wrench[a] += rotation[a, b] * total[FORCE + b]
            wrench[3 + a] += rotation[a, b] * moment


@compiled
def fill_stiffness(rotation: NDArray, total: NDArray, stiffness: NDArray) -> None:
    """Derivative of the wrench over translation t and turn s.

    To the sums comes what moves besides the force: the point, whose moment changes by
    (-t + x x s) x f, and the moving frame itself, which turns force and moment along.
    """
    rates = total[RATES : RATES + 36].copy()
    trace = total[MOMENTS] + total[MOMENTS + 4] + total[MOMENTS + 8]
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        force = total[FORCE + a]
        moment = total[MOMENTS + 3 * b + c] - total[MOMENTS + 3 * c + b]
        # f x t, s x f and s x m, component a of f and m.
        rates[18 + 6 * c + b] += force
        rates[18 + 6 * b + c] -= force
        rates[6 * c + 3 + b] -= force
        rates[6 * b + 3 + c] += force
        rates[18 + 6 * c + 3 + b] -= moment
        rates[18 + 6 * b + 3 + c] += moment
        rates[18 + 6 * a + 3 + a] += trace
        for k in range(3):
            rates[18 + 6 * a + 3 + k] -= total[MOMENTS + 3 * a + k]
    turn_blocks(rotation, rates, stiffness)


@compiled
def turn_blocks(rotation: NDArray, rates: NDArray, out: NDArray) -> None:
    """Turn the four 3 x 3 blocks of a 6 x 6 matrix into the fixed frame."""
    half = np.empty(36)
    for a in range(6):
        for b in range(6):
            total = 0.0
            for k in range(3):
                total += rates[6 * a + b // 3 * 3 + k] * rotation[b % 3, k]
            half[6 * a + b] = total
    for a in range(6):
        for b in range(6):
            total = 0.0
            for k in range(3):
                total += rotation[a % 3, k] * half[6 * (a // 3 * 3 + k) + b]
            out[6 * a + b] = total
