"""Compiled contact on a coupled elastic layer: forces at which no element overlaps or is pulled.

Elements that overlap are candidates. With their gaps g (negative) and deflections C f under forces
f >= 0, contact is g + C f >= 0, with f = 0 or g + C f = 0 everywhere. Of a symmetric positive
definite C there is one solution; the set of pressed elements is found by exchange, and its forces
are computed from that set alone, so that the start of the search changes no result.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import borrowed, compiled
from kneewear.contact._force_kernels import (
    add_conservative,
    add_pressure,
    fill_slip_velocities,
)
from kneewear.geometry._distance_kernels import PROJECTION_VALUES

# Exchanges of all wrong elements that may fail to reduce their number before single exchanges,
# which always end (Judice and Pires 1994, doi:10.1016/0305-0548(94)90106-6).
BLOCK_TRIES = 3
MOST_EXCHANGES = 2000
# Overlap that counts as closed, over the largest one: rounding.
CLOSED_OVERLAP = 1e-12
MOTIONS = 6  # of the body
# Rows of the factor that are eliminated together.
PANEL = 8


class CouplingArrays(NamedTuple):
    """Influence of a `CoupledLayer` and the cells of the elements, in the order of their tiles."""

    on: bool
    across: NDArray[np.float64]
    along: NDArray[np.float64]
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    covered: NDArray[np.float64]  # part of its cell that an element covers
    pressed: NDArray[np.uint8]  # the elements pressed at the last pose
    factor: NDArray[np.float64]  # of the influence among the elements in `factored`
    factored: NDArray[np.int64]  # ascending; their number comes first


@compiled
def press_pair(pair: Any, rotation: NDArray, velocity: NDArray, moving: bool, known: bool) -> None:
    """Pressures of a coupled pair's elements and their sums; `velocity` is in the moving frame.

    Those of a known pose are there. Afterwards the pressed elements alone are active.
    """
    if not known:
        candidates = list_candidates(pair)
        deepest = 0.0
        for n in range(candidates.size):
            deepest = min(deepest, pair.work.projection[0, candidates[n]])
        force, pressed, reaction = solve_forces(pair, candidates)
        keep_pressed(pair, candidates, pressed, force)
        sum_chunks(pair, rotation, reaction, -deepest)
    if moving:
        tiles, sums = borrowed(pair.tiles), borrowed(pair.work).sums
        for chunk in range(sums.size):
            first = tiles.first[tiles.chunk_first[chunk]]
            fill_slip_velocities(pair, rotation, velocity, first, first + sums[chunk].active)


@compiled
def list_candidates(pair: Any) -> NDArray:
    """Slots of the elements that overlap, in their order."""
    tiles, sums = borrowed(pair.tiles), borrowed(pair.work).sums
    count = 0
    for chunk in range(sums.size):
        count += sums[chunk].active
    found = np.empty(count, dtype=np.int64)
    n = 0
    for chunk in range(sums.size):
        first = tiles.first[tiles.chunk_first[chunk]]
        for slot in range(first, first + sums[chunk].active):
            found[n] = slot
            n += 1
    return found


@compiled
def solve_forces(pair: Any, candidates: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Force of every candidate, which of them are pressed, and the layer's stiffness (6, 6).

    The stiffness joins the motions of the body by the elements pressed. Forces are NaN if the
    influence among the elements is not positive definite, or no set of them is a solution.
    """
    coupling, work = borrowed(pair.coupling), borrowed(pair.work)
    count = candidates.size
    row, column = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    gap, force, pressed = np.empty(count), np.zeros(count), np.zeros(count, dtype=np.bool_)
    reaction = np.zeros((MOTIONS, MOTIONS))
    deepest = 0.0
    for n in range(count):
        element = work.listed[candidates[n]]
        row[n], column[n] = coupling.row[element], coupling.column[element]
        gap[n] = work.projection[0, candidates[n]]
        deepest = min(deepest, gap[n])
    choose_start(coupling.pressed, work.listed, candidates, gap, deepest, pressed)
    least, tries = count + 1, BLOCK_TRIES
    for _ in range(MOST_EXCHANGES if count > 0 else 0):
        chosen = np.flatnonzero(pressed)
        factor = factor_of(coupling, work.listed, candidates, chosen)
        if factor.size == 0:
            break
        close_gaps(factor, chosen, gap, force)
        wrong = find_wrong(
            coupling.across, coupling.along, row, column, gap, pressed, chosen, force
        )
        number = 0
        for n in range(count):
            number += wrong[n]
        if number == 0:
            fill_reaction(factor, pair, candidates, chosen, reaction)
            return force, pressed, reaction
        if number < least:
            least, tries = number, BLOCK_TRIES
        else:
            tries -= 1
        exchange(wrong, pressed, tries < 0)
    force[:] = np.nan if count > 0 else 0.0
    pressed[:] = True
    return force, pressed, reaction


@compiled
def choose_start(
    last: NDArray,
    listed: NDArray,
    candidates: NDArray,
    gap: NDArray,
    deepest: float,
    pressed: NDArray,
) -> None:
    """Start from the elements pressed at the last pose, or from those with half the overlap."""
    found = False
    for n in range(candidates.size):
        pressed[n] = last[listed[candidates[n]]] != 0
        found = found or pressed[n]
    if not found:
        for n in range(candidates.size):
            pressed[n] = gap[n] <= 0.5 * deepest


@compiled
def factor_of(
    coupling: CouplingArrays, listed: NDArray, candidates: NDArray, chosen: NDArray
) -> NDArray:
    """Cholesky factor of the influence among chosen candidates; empty if there is none.

    That of the last elements is kept: it does not depend on the pose.
    """
    size, factored = chosen.size, coupling.factored
    elements = np.empty(size, dtype=np.int64)
    for i in range(size):
        elements[i] = listed[candidates[chosen[i]]]
    fits = size * size <= coupling.factor.size
    same = fits and factored[0] == size
    for i in range(size if same else 0):
        same = same and factored[1 + i] == elements[i]
    factor = coupling.factor if fits else np.empty(size * size)
    matrix = factor[: size * size].reshape(size, size)
    if same:
        return matrix
    if fits:
        factored[0] = 0
    fill_influence(coupling, elements, matrix)
    if not eliminate(matrix):
        return np.empty((0, 0))
    if fits:
        factored[0], factored[1 : 1 + size] = size, elements
    return matrix


@compiled
def fill_influence(coupling: CouplingArrays, elements: NDArray, matrix: NDArray) -> None:
    """Upper triangle of the influence among elements."""
    across, along, row, column = coupling.across, coupling.along, coupling.row, coupling.column
    for i in range(elements.size):
        row_i, column_i = row[elements[i]], column[elements[i]]
        target = matrix[i]
        for j in range(i, elements.size):
            row_j, column_j = row[elements[j]], column[elements[j]]
            value = across[abs(row_i - row_j), column_i, column_j]
            target[j] = value + along[abs(column_i - column_j), row_i, row_j]


@compiled
def eliminate(system: NDArray) -> bool:
    """Cholesky factor U'U in place; returns whether the matrix is positive definite.

    Written here because the results of a linear algebra library depend on its number of threads.
    Rows are eliminated in panels, so that a row below them is read and written once a panel.
    """
    size = system.shape[0]
    for first in range(0, size, PANEL):
        last = min(first + PANEL, size)
        for k in range(first, last):
            for m in range(first, k):
                subtract(system, k, m)
            if not system[k, k] > 0.0:
                return False
            inverse = 1.0 / np.sqrt(system[k, k])
            for j in range(k, size):
                system[k, j] *= inverse
        for i in range(last, size):
            subtract_panel(system, i, first)
    return True


@compiled(inlined=True)
def subtract(system: NDArray, i: int, k: int) -> None:
    """Subtract a finished row from a row below it."""
    factor = system[k, i]
    target, source = system[i], system[k]
    for j in range(i, target.size):
        target[j] -= factor * source[j]


@compiled
def subtract_panel(system: NDArray, i: int, first: int) -> None:
    """Subtract the eight finished rows of a panel from a row below them."""
    target = system[i]
    a, b, c, d = system[first], system[first + 1], system[first + 2], system[first + 3]
    e, f, g, h = system[first + 4], system[first + 5], system[first + 6], system[first + 7]
    a_i, b_i, c_i, d_i = a[i], b[i], c[i], d[i]
    e_i, f_i, g_i, h_i = e[i], f[i], g[i], h[i]
    for j in range(i, target.size):
        one = a_i * a[j] + b_i * b[j] + (c_i * c[j] + d_i * d[j])
        other = e_i * e[j] + f_i * f[j] + (g_i * g[j] + h_i * h[j])
        target[j] -= one + other


@compiled
def close_gaps(factor: NDArray, chosen: NDArray, gap: NDArray, force: NDArray) -> None:
    """Forces of the chosen candidates that close their gaps; those of the others are zero."""
    size = chosen.size
    force[:] = 0.0
    found = np.empty(size)
    for i in range(size):
        found[i] = -gap[chosen[i]]
    substitute(factor, found)
    for i in range(size - 1, -1, -1):
        row = factor[i]
        # Four sums that the processor forms side by side.
        a = b = c = d = 0.0
        j = i + 1
        while j + 4 <= size:
            a += row[j] * found[j]
            b += row[j + 1] * found[j + 1]
            c += row[j + 2] * found[j + 2]
            d += row[j + 3] * found[j + 3]
            j += 4
        while j < size:
            a += row[j] * found[j]
            j += 1
        found[i] = (found[i] - ((a + b) + (c + d))) / row[i]
        force[chosen[i]] = found[i]


@compiled
def substitute(factor: NDArray, right: NDArray) -> None:
    """Forward substitution of a right side in place."""
    for k in range(right.size):
        row = factor[k]
        right[k] /= row[k]
        value = right[k]
        for j in range(k + 1, right.size):
            right[j] -= value * row[j]


@compiled
def find_wrong(
    across: NDArray,
    along: NDArray,
    row: NDArray,
    column: NDArray,
    gap: NDArray,
    pressed: NDArray,
    chosen: NDArray,
    force: NDArray,
) -> NDArray:
    """Which candidates are pulled though pressed, or overlap though not pressed."""
    wrong = np.zeros(gap.size, dtype=np.bool_)
    tolerance = -CLOSED_OVERLAP * gap.min()
    for n in range(gap.size):
        if pressed[n]:
            wrong[n] = force[n] < 0.0
            continue
        open_gap = gap[n]
        for i in range(chosen.size):
            m = chosen[i]
            value = across[abs(row[n] - row[m]), column[n], column[m]]
            value += along[abs(column[n] - column[m]), row[n], row[m]]
            open_gap += value * force[m]
        wrong[n] = open_gap < -tolerance
    return wrong


@compiled
def exchange(wrong: NDArray, pressed: NDArray, single: bool) -> None:
    """Exchange wrong candidates between pressed and not, all or the last one only."""
    for n in range(wrong.size - 1, -1, -1):
        if wrong[n]:
            pressed[n] = not pressed[n]
            if single:
                return


@compiled
def fill_reaction(
    factor: NDArray, pair: Any, candidates: NDArray, chosen: NDArray, reaction: NDArray
) -> None:
    """Stiffness of the pressed elements over the six motions of the body.

    A translation t and a rotation s change the gaps by -N . t - (x x N) . s.
    """
    point, projection = borrowed(pair.work).point, borrowed(pair.work).projection
    right = np.empty((MOTIONS, chosen.size))
    for i in range(chosen.size):
        slot = candidates[chosen[i]]
        x, y, z = point[0, slot], point[1, slot], point[2, slot]
        nx, ny, nz = projection[1, slot], projection[2, slot], projection[3, slot]
        right[0, i], right[1, i], right[2, i] = nx, ny, nz
        right[3, i], right[4, i], right[5, i] = y * nz - z * ny, z * nx - x * nz, x * ny - y * nx
    for a in range(MOTIONS):
        substitute(factor, right[a])
    for a in range(MOTIONS):
        for b in range(MOTIONS):
            total = 0.0
            for i in range(chosen.size):
                total += right[a, i] * right[b, i]
            reaction[a, b] = total


@compiled
def keep_pressed(pair: Any, candidates: NDArray, pressed: NDArray, force: NDArray) -> None:
    """Move the pressed elements to the front of their chunks, with their forces."""
    work, tiles, last = borrowed(pair.work), borrowed(pair.tiles), borrowed(pair.coupling).pressed
    point, normal, projection, listed = work.point, work.normal, work.projection, work.listed
    last[:] = 0
    n = 0
    for chunk in range(work.sums.size):
        first = tiles.first[tiles.chunk_first[chunk]]
        slot = first
        for source in range(first, first + work.sums[chunk].active):
            if pressed[n]:
                for a in range(3):
                    point[a, slot], normal[a, slot] = point[a, source], normal[a, source]
                for a in range(PROJECTION_VALUES):
                    projection[a, slot] = projection[a, source]
                listed[slot] = listed[source]
                last[listed[slot]] = 1
                work.normal_force[slot], work.rate[slot] = force[n], 0.0
                slot += 1
            n += 1
        work.sums[chunk].active = slot - first


@compiled
def sum_chunks(pair: Any, rotation: NDArray, reaction: NDArray, deepest: float) -> None:
    """Outcomes of the pressed elements and the sums of all chunks.

    The stiffness of the layer joins pairs of elements of different chunks: it is part of the sums
    of the first one. The largest penetration is that of all candidates. Pressure is that of whole
    cells, of which the layer consists: an element may be cut by an outline to almost nothing.
    """
    covered = borrowed(pair.coupling).covered
    elements, tiles, work = borrowed(pair.elements), borrowed(pair.tiles), borrowed(pair.work)
    projection, outcome = work.projection, work.outcome
    for chunk in range(work.sums.size):
        total = work.sums[chunk]
        first = tiles.first[tiles.chunk_first[chunk]]
        last = first + total.active
        total.weighted_centre[:] = 0.0
        total.drags[:] = 0.0
        total.normal_force = total.max_pressure = 0.0
        total.max_penetration = deepest
        for n in range(first, last):
            element = work.listed[n]
            depth, area = -projection[0, n], elements.area[element]
            pressure = work.normal_force[n] * covered[element] / area
            add_pressure(elements.centre, element, area, depth, pressure, total)
            outcome[n].element = elements.order[element]
            outcome[n].penetration, outcome[n].pressure, outcome[n].area = depth, pressure, area
            for a in range(3):
                outcome[n].direction[a] = 0.0
                for b in range(3):
                    outcome[n].direction[a] += rotation[a, b] * projection[1 + b, n]
        add_conservative(pair, first, last, total)
        if chunk == 0:
            for a in range(MOTIONS):
                for b in range(MOTIONS):
                    total.rates[a, b] -= reaction[a, b]
