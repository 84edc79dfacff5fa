"""Compiled products of the modes of free ends with waves along them.

Sums are not left to a linear algebra library, whose last digits depend on its threads.
"""

from __future__ import annotations

from numpy.typing import NDArray

from kneewear.base.compilation import compiled


@compiled
def add_amplitudes(table: NDArray, waves: NDArray, amplitude: NDArray) -> None:
    """Add the work of loads (end, load, wave) on modes (end, wave, load, mode) to amplitudes."""
    ends, count, loads, modes = table.shape
    for e in range(ends):
        for w in range(count):
            total = amplitude[e, w]
            for i in range(loads):
                load = waves[e, i, w]
                if load == 0.0:
                    continue
                own = table[e, w, i]
                for m in range(modes):
                    total[m] += own[m].conjugate() * load


@compiled
def fill_waves(table: NDArray, amplitude: NDArray, waves: NDArray) -> None:
    """Sums (end, result, wave) of amplitudes (end, wave, mode) times modes of a table."""
    ends, count, results, modes = table.shape
    for e in range(ends):
        for w in range(count):
            own = amplitude[e, w]
            for i in range(results):
                total = 0.0 * own[0]
                row = table[e, w, i]
                for m in range(modes):
                    total += row[m] * own[m]
                waves[e, i, w] = total
