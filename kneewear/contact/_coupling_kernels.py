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

from kneewear.base.compilation import compiled
from kneewear.contact._force_kernels import (
    add_conservative,
    add_pressure,
    fill_slip_velocities,
)
from kneewear.geometry._distance_kernels import PROJECTION_VALUES

# Exchanges of all wrong elements that may fail to reduce their number before single exchanges,
# which always end (Judice and Pires 1994, doi:10.1016/0305-0548(94)90106-6).
BLOCK_TRIES = 3
MAX_EXCHANGES = 2000
# Overlap that counts as closed, over the largest one: rounding.
CLOSED_OVERLAP = 1e-12
MOTIONS = 6  # of the body
# Rows of the factor that are eliminated together, from so many rows below them.
PANEL = 8
GROUP = 4
# Rows below the factor: right sides of the six motions and of the overlaps, in whole groups.
RIGHT = 8
# Rows below those where searches update a kept factor, see `_update_kernels`.
BORDERS = 64


class CouplingArrays(NamedTuple):
    """Influence of a `CoupledLayer` and the cells of the elements, in the order of their tiles."""

    on: bool
    across: NDArray[np.float64]
    along: NDArray[np.float64]  # rows, rows, and columns apart from least to most
    joint_along: NDArray[np.float64]  # rows, rows, terms
    joint_across: NDArray[np.float64]  # columns, terms, columns
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    covered: NDArray[np.float64]  # part of its cell that an element covers
    pressed: NDArray[np.uint8]  # the elements pressed at the last pose
    factor: NDArray[np.float64]  # of the influence among the elements in `factored`
    factored: NDArray[np.int64]  # row by row; their number comes first
    # Where a kept factor is updated:
    border: NDArray[np.int64]  # elements of the rows below it; their number comes first
    place: NDArray[np.int64]  # of every element in `among`, or -1
    placed: NDArray[np.int64]  # elements by place; their number comes first
    among: NDArray[np.float64]  # influence among the elements that have a place


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
        reaction = solve_forces(pair, candidates, deepest)
        keep_pressed(pair)
        sum_chunks(pair, rotation, reaction, -deepest)
    if moving:
        add_slips(pair, rotation, velocity)


@compiled
def add_slips(pair: Any, rotation: NDArray, velocity: NDArray) -> None:
    """Slip velocities of the pressed elements."""
    tiles, sums = pair.tiles, pair.work.sums
    for chunk in range(sums.size):
        first = tiles.first[tiles.chunk_first[chunk]]
        fill_slip_velocities(pair, rotation, velocity, first, first + sums[chunk].active)


@compiled
def list_candidates(pair: Any) -> NDArray:
    """Slots of the elements that overlap, row by row of the grid."""
    tiles, work, coupling = pair.tiles, pair.work, pair.coupling
    count = 0
    for chunk in range(work.sums.size):
        count += work.sums[chunk].active
    found, cell = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    n = 0
    for chunk in range(work.sums.size):
        first = tiles.first[tiles.chunk_first[chunk]]
        for slot in range(first, first + work.sums[chunk].active):
            element = work.listed[slot]
            found[n] = slot
            cell[n] = coupling.row[element] * coupling.across.shape[1] + coupling.column[element]
            n += 1
    return found[np.argsort(cell)]


@compiled
def solve_forces(pair: Any, candidates: NDArray, deepest: float) -> NDArray:
    """Forces of the candidates and which are pressed; returns the layer's stiffness (6, 6).

    The stiffness joins the motions of the body by the elements pressed. Forces are NaN if the
    influence among the elements is not positive definite, or no set of them is a solution.
    """
    coupling, work = pair.coupling, pair.work
    count = candidates.size
    element, gap = work.listed[candidates], work.projection[0][candidates]
    pressed = choose_start(coupling.pressed, element, gap, deepest)
    reaction = np.zeros((MOTIONS, MOTIONS))
    number, least, tries = count, count + 1, BLOCK_TRIES
    for _ in range(MAX_EXCHANGES if count > 0 else 0):
        chosen = np.flatnonzero(pressed)
        elements = element[chosen]
        runs = list_runs(coupling, elements)
        factor = factor_of(coupling, elements, runs)
        if factor.size == 0:
            break
        right = factor[chosen.size :]
        fill_right(pair, candidates[chosen], right)
        substitute(factor, chosen.size)
        force = substitute_back(factor, right[MOTIONS])
        for i in range(chosen.size):
            work.normal_force[candidates[chosen[i]]] = force[i]
        wrong = find_wrong(coupling, element, gap, pressed, elements, force, runs, deepest)
        number = 0
        for n in range(count):
            number += wrong[n]
        if number == 0:
            fill_reaction(right, reaction)
            break
        if number < least:
            least, tries = number, BLOCK_TRIES
        else:
            tries -= 1
        exchange(wrong, pressed, tries < 0)
    coupling.pressed[:] = 0
    for n in range(count):
        coupling.pressed[element[n]] = pressed[n] or number > 0
        if number > 0:
            work.normal_force[candidates[n]] = np.nan
    return reaction


@compiled
def choose_start(last: NDArray, element: NDArray, gap: NDArray, deepest: float) -> NDArray:
    """Start from the elements pressed at the last pose, or from those with half the overlap."""
    pressed = last[element] != 0
    if not pressed.any():
        pressed = gap <= 0.5 * deepest
    return pressed


@compiled
def list_runs(coupling: CouplingArrays, elements: NDArray) -> NDArray:
    """Starts of the runs of neighbours in a row among elements, and the end of the last run."""
    row, column = coupling.row, coupling.column
    runs = np.empty(elements.size + 1, dtype=np.int64)
    count = 0
    for i in range(elements.size):
        one, before = elements[i], elements[i - 1]
        if i == 0 or row[one] != row[before] or column[one] != column[before] + 1:
            runs[count] = i
            count += 1
    runs[count] = elements.size
    return runs[: count + 1]


@compiled
def factor_of(coupling: CouplingArrays, elements: NDArray, runs: NDArray) -> NDArray:
    """Cholesky factor of the influence among elements, and rows for right sides below it.

    Empty if there is none. The factor of the last elements is kept: it does not depend on the pose.
    """
    size, factored = elements.size, coupling.factored
    rows = size + RIGHT
    fits = rows * size <= coupling.factor.size
    same = fits and factored[0] == size
    for i in range(size if same else 0):
        same = same and factored[1 + i] == elements[i]
    factor = coupling.factor if fits else np.empty(rows * size)
    matrix = factor[: rows * size].reshape(rows, size)
    if same:
        return matrix
    if fits:
        factored[0] = 0
    fill_influence(coupling, elements, runs, matrix)
    if not eliminate(matrix):
        return np.empty((0, 0))
    if fits:
        factored[0], factored[1 : 1 + size] = size, elements
    return matrix


@compiled
def fill_influence(
    coupling: CouplingArrays, elements: NDArray, runs: NDArray, matrix: NDArray
) -> None:
    """Upper triangle of the influence among elements."""
    first = 0
    for i in range(elements.size):
        if runs[first + 1] == i:
            first += 1
        for run in range(first, runs.size - 1):
            begin = max(runs[run], i)
            fill_run(coupling, elements[i], elements[begin], matrix[i, begin : runs[run + 1]])


@compiled
def fill_run(coupling: CouplingArrays, element: int, other: int, target: NDArray) -> None:
    """Deflections of an element per force on another one and on those beside it in its row."""
    i, k = coupling.row[element], coupling.row[other]
    j, first = coupling.column[element], coupling.column[other]
    columns = coupling.across.shape[1]
    across = coupling.across[abs(i - k), j, first:]
    along = coupling.along[i, k, columns - 1 + first - j :]
    for n in range(target.size):
        target[n] = across[n] + along[n]
    share, joint = coupling.joint_along[i, k], coupling.joint_across[j]
    for t in range(0, share.size, GROUP):
        a, b, c, d = share[t], share[t + 1], share[t + 2], share[t + 3]
        p, q = joint[t, first:], joint[t + 1, first:]
        r, s = joint[t + 2, first:], joint[t + 3, first:]
        for n in range(target.size):
            target[n] += (a * p[n] + b * q[n]) + (c * r[n] + d * s[n])


@compiled
def eliminate(system: NDArray) -> bool:
    """Cholesky factor U'U in place; returns whether the matrix is positive definite.

    Written here because the results of a linear algebra library depend on its number of threads.
    Rows are eliminated in panels, so that a row below them is read and written once a panel. Below
    the diagonal is nothing of use.
    """
    size = system.shape[1]
    weight = np.empty((GROUP, PANEL))
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
        whole = last + (size - last) // GROUP * GROUP
        for i in range(last, whole, GROUP):
            for a in range(GROUP):
                for m in range(PANEL):
                    weight[a, m] = system[first + m, i + a]
            subtract_panel(system, i, first, weight, i)
        for i in range(whole, size):
            for m in range(first, last):
                subtract(system, i, m)
    return True


@compiled(inlined=True)
def subtract(system: NDArray, i: int, k: int) -> None:
    """Subtract a finished row from a row below it."""
    factor = system[k, i]
    target, source = system[i], system[k]
    for j in range(i, target.size):
        target[j] -= factor * source[j]


@compiled
def subtract_panel(system: NDArray, i: int, k: int, weight: NDArray, start: int) -> None:
    """Subtract eight weighted rows from each of four rows of a matrix, from a column on."""
    # Rows taken otherwise, such as from a block of them, take three times as long: the compiler
    # then does not see that they are apart.
    p, q = system[i, start:], system[i + 1, start:]
    r, s = system[i + 2, start:], system[i + 3, start:]
    a, b, c = system[k, start:], system[k + 1, start:], system[k + 2, start:]
    d, e, f = system[k + 3, start:], system[k + 4, start:], system[k + 5, start:]
    g, h = system[k + 6, start:], system[k + 7, start:]
    pa, pb, pc, pd, pe, pf, pg, ph = weights_of(weight[0])
    qa, qb, qc, qd, qe, qf, qg, qh = weights_of(weight[1])
    ra, rb, rc, rd, re, rf, rg, rh = weights_of(weight[2])
    sa, sb, sc, sd, se, sf, sg, sh = weights_of(weight[3])
    for j in range(a.size):
        aj, bj, cj, dj, ej, fj, gj, hj = a[j], b[j], c[j], d[j], e[j], f[j], g[j], h[j]
        one = pa * aj + pb * bj + (pc * cj + pd * dj)
        p[j] -= one + (pe * ej + pf * fj + (pg * gj + ph * hj))
        one = qa * aj + qb * bj + (qc * cj + qd * dj)
        q[j] -= one + (qe * ej + qf * fj + (qg * gj + qh * hj))
        one = ra * aj + rb * bj + (rc * cj + rd * dj)
        r[j] -= one + (re * ej + rf * fj + (rg * gj + rh * hj))
        one = sa * aj + sb * bj + (sc * cj + sd * dj)
        s[j] -= one + (se * ej + sf * fj + (sg * gj + sh * hj))


@compiled(inlined=True)
def weights_of(row: NDArray) -> tuple[float, ...]:
    """The eight numbers of a row."""
    return row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]


@compiled
def fill_right(pair: Any, slots: NDArray, right: NDArray) -> None:
    """Changes of the gaps of elements by the six motions, their overlaps, and a row of zeros.

    A translation t and a rotation s change the gaps by -N . t - (x x N) . s. An element without a
    slot (-1) has none.
    """
    point, projection = pair.work.point, pair.work.projection
    right[MOTIONS + 1] = 0.0
    for i in range(slots.size):
        slot = slots[i]
        if slot < 0:
            right[:, i] = 0.0
            continue
        x, y, z = point[0, slot], point[1, slot], point[2, slot]
        nx, ny, nz = projection[1, slot], projection[2, slot], projection[3, slot]
        right[0, i], right[1, i], right[2, i] = nx, ny, nz
        right[3, i], right[4, i], right[5, i] = y * nz - z * ny, z * nx - x * nz, x * ny - y * nx
        right[MOTIONS, i] = -projection[0, slot]


@compiled
def substitute(factor: NDArray, begin: int) -> None:
    """Forward substitution, in place, of the right sides below a factor from a row on."""
    size, weight = factor.shape[1], np.empty((GROUP, PANEL))
    right = factor[begin:]
    for first in range(0, size, PANEL):
        last = min(first + PANEL, size)
        for k in range(first, last):
            row = factor[k]
            for a in range(right.shape[0]):
                value = right[a, k] / row[k]
                right[a, k] = value
                for j in range(k + 1, last):
                    right[a, j] -= value * row[j]
        for a in range(0, right.shape[0] if last < size else 0, GROUP):
            weight[:] = right[a : a + GROUP, first:last]
            subtract_panel(factor, begin + a, first, weight, last)


@compiled
def substitute_back(factor: NDArray, right: NDArray) -> NDArray:
    """Forces of the elements, from the substituted overlaps."""
    size, found = right.size, right.copy()
    for i in range(size - 1, -1, -1):
        row = factor[i]
        # Four sums that the processor forms side by side; it does not with eight.
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
    return found


@compiled
def find_wrong(
    coupling: CouplingArrays,
    element: NDArray,
    gap: NDArray,
    pressed: NDArray,
    chosen: NDArray,
    force: NDArray,
    runs: NDArray,
    deepest: float,
) -> NDArray:
    """Which candidates are pulled though pressed, or overlap though not pressed.

    `chosen` are the elements pressed, with their forces.
    """
    wrong, influence = np.empty(gap.size, dtype=np.bool_), np.empty(chosen.size)
    i = 0
    for n in range(gap.size):
        if pressed[n]:
            wrong[n] = force[i] < 0.0
            i += 1
            continue
        moved = 0.0
        for run in range(runs.size - 1):
            part = influence[runs[run] : runs[run + 1]]
            fill_run(coupling, element[n], chosen[runs[run]], part)
            moved += product(part, force[runs[run] : runs[run + 1]])
        wrong[n] = gap[n] + moved < CLOSED_OVERLAP * deepest
    return wrong


@compiled
def product(one: NDArray, other: NDArray) -> float:
    """Scalar product, as a deflection by forces, of four sums formed side by side."""
    a = b = c = d = 0.0
    j, size = 0, other.size
    while j + 4 <= size:
        a += one[j] * other[j]
        b += one[j + 1] * other[j + 1]
        c += one[j + 2] * other[j + 2]
        d += one[j + 3] * other[j + 3]
        j += 4
    while j < size:
        a += one[j] * other[j]
        j += 1
    return (a + b) + (c + d)


@compiled
def exchange(wrong: NDArray, pressed: NDArray, single: bool) -> None:
    """Exchange wrong candidates between pressed and not, all or the last one only."""
    for n in range(wrong.size - 1, -1, -1):
        if wrong[n]:
            pressed[n] = not pressed[n]
            if single:
                return


@compiled
def fill_reaction(right: NDArray, reaction: NDArray) -> None:
    """Stiffness of the pressed elements over the six motions, from substituted right sides."""
    for a in range(MOTIONS):
        for b in range(MOTIONS):
            total = 0.0
            for i in range(right.shape[1]):
                total += right[a, i] * right[b, i]
            reaction[a, b] = total


@compiled
def keep_pressed(pair: Any) -> None:
    """Move the pressed elements to the front of their chunks, with their forces."""
    work, tiles, pressed = (
        pair.work,
        pair.tiles,
        pair.coupling.pressed,
    )
    point, normal, projection, listed = work.point, work.normal, work.projection, work.listed
    for chunk in range(work.sums.size):
        first = tiles.first[tiles.chunk_first[chunk]]
        slot = first
        for source in range(first, first + work.sums[chunk].active):
            if pressed[listed[source]]:
                for a in range(3):
                    point[a, slot], normal[a, slot] = point[a, source], normal[a, source]
                for a in range(PROJECTION_VALUES):
                    projection[a, slot] = projection[a, source]
                listed[slot] = listed[source]
                work.normal_force[slot], work.rate[slot] = work.normal_force[source], 0.0
                slot += 1
        work.sums[chunk].active = slot - first


@compiled
def sum_chunks(pair: Any, rotation: NDArray, reaction: NDArray, deepest: float) -> None:
    """Outcomes of the pressed elements and the sums of all chunks.

    The stiffness of the layer joins pairs of elements of different chunks: it is part of the sums
    of the first one. The largest penetration is that of all candidates. Pressure is that of whole
    cells, of which the layer consists: an element may be cut by an outline to almost nothing.
    """
    covered = pair.coupling.covered
    elements, tiles, work = pair.elements, pair.tiles, pair.work
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
