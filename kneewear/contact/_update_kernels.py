"""Compiled contact on a coupled layer whose pressed elements change little from search to search.

A dented surface is pressed again and again in nearly the same place. The factor of the influence
among some elements, the base, is kept; elements that are pressed now and not in the base, and those
of the base that are not pressed now, are borders of it:

    ( C   W ) (f)   (b)
    ( W'  D ) (x) = (c),

where a column of W and D is the influence of an added element, or a one at a removed element, whose
force the multiplier keeps at zero. With C = U'U and V = U'^-1 W only S = D - V'V has to be factored
again. It is quasi-definite, so that its factor needs no pivots (Vanderbei 1995,
doi:10.1137/0805005, named from memory).

Forces are equal to `kneewear.contact._coupling_kernels` to rounding. They depend, in the
last digits, on the searches before, all of one case and in order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.base.compilation import compiled
from kneewear.contact._coupling_kernels import (
    BLOCK_TRIES,
    BORDERS,
    CLOSED_OVERLAP,
    GROUP,
    MAX_EXCHANGES,
    MOTIONS,
    RIGHT,
    CouplingArrays,
    add_slips,
    choose_start,
    eliminate,
    exchange,
    fill_right,
    fill_run,
    keep_pressed,
    list_candidates,
    product,
    solve_forces,
    substitute,
    substitute_back,
    sum_chunks,
)

# The base is renewed where more than this part of it has changed.
CHANGED = 0.25


@compiled
def press_updated(
    pair: Any, rotation: NDArray, velocity: NDArray, moving: bool, known: bool
) -> None:
    """Pressures of a coupled pair's elements and their sums, as in `press_pair`."""
    if not known:
        candidates = list_candidates(pair)
        deepest = 0.0
        for n in range(candidates.size):
            deepest = min(deepest, pair.work.projection[0, candidates[n]])
        if place_elements(pair.coupling, pair.work.listed[candidates]):
            reaction = solve_updated(pair, candidates, deepest)
        else:
            pair.coupling.border[0] = 0
            reaction = solve_forces(pair, candidates, deepest)
        keep_pressed(pair)
        sum_chunks(pair, rotation, reaction, -deepest)
    if moving:
        add_slips(pair, rotation, velocity)


@compiled
def place_elements(coupling: CouplingArrays, elements: NDArray) -> bool:
    """Give elements a place in the kept influence; returns whether all have one.

    Where it is full, places of other elements are given up.
    """
    place, placed, most = coupling.place, coupling.placed, coupling.among.shape[0]
    if elements.size * (elements.size + RIGHT + BORDERS) > coupling.factor.size:
        return False
    missing = 0
    for n in range(elements.size):
        missing += place[elements[n]] < 0
    if placed[0] + missing > most:
        place[:] = -1
        placed[0] = 0
    first = placed[0]
    for n in range(elements.size):
        if place[elements[n]] < 0:
            place[elements[n]], placed[1 + placed[0]] = placed[0], elements[n]
            placed[0] += 1
    if placed[0] > first:
        fill_places(coupling, first)
    return True


@compiled
def fill_places(coupling: CouplingArrays, first: int) -> None:
    """Influence of the elements that have a place from the first new one on, and on all before."""
    count, among = coupling.placed[0], coupling.among
    elements = coupling.placed[1 : 1 + count]
    left, width = row_extents(coupling, elements)
    rows, columns = left.size, coupling.across.shape[1]
    at, line = np.empty(count, dtype=np.int64), np.empty(rows * columns)
    for n in range(count):
        row = coupling.row[elements[n]]
        at[n] = row * columns + coupling.column[elements[n]] - coupling.column[left[row]]
    for own in range(first, count):
        # Whole rows of the grid: runs of elements in the order of their places are short.
        for row in range(rows):
            if width[row] > 0:
                target = line[row * columns : row * columns + width[row]]
                fill_run(coupling, elements[own], left[row], target)
        for other in range(own + 1):
            among[own, other] = line[at[other]]
    # Row by row: one new element after the other would go through all of the memory each time.
    for other in range(count):
        for own in range(max(first, other + 1), count):
            among[other, own] = among[own, other]


@compiled
def row_extents(coupling: CouplingArrays, elements: NDArray) -> tuple[NDArray, NDArray]:
    """First element of every row of the grid, and the columns from it to the last; of elements."""
    row, column = coupling.row, coupling.column
    left = np.full(coupling.along.shape[0], -1, dtype=np.int64)
    width = np.zeros(left.size, dtype=np.int64)
    for n in range(elements.size):
        own = elements[n]
        if left[row[own]] < 0 or column[own] < column[left[row[own]]]:
            left[row[own]] = own
    for n in range(elements.size):
        own = elements[n]
        width[row[own]] = max(width[row[own]], column[own] - column[left[row[own]]] + 1)
    return left, width


@compiled
def solve_updated(pair: Any, candidates: NDArray, deepest: float) -> NDArray:
    """Forces of the candidates and which are pressed, as in `solve_forces`."""
    coupling, work = pair.coupling, pair.work
    count = candidates.size
    element, gap = work.listed[candidates], work.projection[0][candidates]
    slot = np.full(coupling.row.size, -1, dtype=np.int64)
    slot[element] = candidates
    pressed = choose_start(coupling.pressed, element, gap, deepest)
    reaction = np.zeros((MOTIONS, MOTIONS))
    number, least, tries = count, count + 1, BLOCK_TRIES
    for _ in range(MAX_EXCHANGES if count > 0 else 0):
        chosen = element[np.flatnonzero(pressed)]
        if chosen.size == 0:
            break
        force = forces_among(pair, chosen, slot, reaction)
        wrong = find_unsolved(coupling, element, gap, pressed, chosen, force, deepest)
        number = 0
        for n in range(count):
            number += wrong[n]
        for i in range(chosen.size):
            work.normal_force[slot[chosen[i]]] = force[i]
        if number == 0:
            break
        least, tries = (number, BLOCK_TRIES) if number < least else (least, tries - 1)
        exchange(wrong, pressed, tries < 0)
    coupling.pressed[:] = 0
    for n in range(count):
        coupling.pressed[element[n]] = pressed[n] or number > 0
        if number > 0:
            work.normal_force[candidates[n]] = np.nan
    return reaction


@compiled
def forces_among(pair: Any, chosen: NDArray, slot: NDArray, reaction: NDArray) -> NDArray:
    """Forces of the chosen elements, and the layer's stiffness over the six motions.

    `slot` is the slot of every candidate, by element. NaN where a factor does not exist.
    """
    coupling = pair.coupling
    position, changed = list_changes(coupling, chosen)
    size, number = coupling.factored[0], changed.size
    if size == 0:
        return np.full(chosen.size, np.nan)
    system = coupling.factor[: (size + RIGHT + BORDERS) * size].reshape(-1, size)
    bordered = border_rows(coupling, changed, position, system)
    right = system[size : size + RIGHT]
    fill_right(pair, slot[coupling.factored[1 : 1 + size]], right)
    more = np.empty((RIGHT, number))
    fill_right(pair, slot[changed], more)
    for n in range(number):
        if position[changed[n]] >= 0:
            more[:, n] = 0.0
    substitute(system[: size + RIGHT], size)
    solved = solve_border(coupling, changed, position, bordered, right, more)
    fill_bordered_reaction(right, more, solved, reaction)
    for n in range(number):
        row = bordered[n]
        for i in range(size):
            right[MOTIONS, i] -= solved[MOTIONS, n] * row[i]
    inside = substitute_back(system, right[MOTIONS])
    return in_order(chosen, changed, position, inside, solved[MOTIONS])


@compiled
def in_order(
    chosen: NDArray, changed: NDArray, position: NDArray, inside: NDArray, outside: NDArray
) -> NDArray:
    """Forces of the chosen elements from the base and the added ones."""
    force, added = np.empty(chosen.size), 0
    for i in range(chosen.size):
        at = position[chosen[i]]
        if at >= 0:
            force[i] = inside[at]
        else:  # added elements are listed in the order of the chosen ones
            force[i] = outside[added]
            added += 1
    return force


@compiled
def list_changes(coupling: CouplingArrays, chosen: NDArray) -> tuple[NDArray, NDArray]:
    """Position of every element in the base, and the elements that differ: added, then removed.

    The base is renewed where too many differ.
    """
    base = coupling.factored
    position = np.full(coupling.row.size, -1, dtype=np.int64)
    is_chosen = np.zeros(coupling.row.size, dtype=np.bool_)
    for i in range(base[0]):
        position[base[1 + i]] = i
        if coupling.place[base[1 + i]] < 0:  # given up since
            base[0] = 0
    changed, number = np.empty(chosen.size + base[0], dtype=np.int64), 0
    for i in range(chosen.size):
        is_chosen[chosen[i]] = True
        if position[chosen[i]] < 0:
            changed[number] = chosen[i]
            number += 1
    for i in range(base[0]):
        if not is_chosen[base[1 + i]]:
            changed[number] = base[1 + i]
            number += 1
    if base[0] > 0 and number <= min(CHANGED * base[0], BORDERS - GROUP):
        return position, changed[:number]
    position[:] = -1
    renew_base(coupling, chosen)
    for i in range(base[0]):
        position[chosen[i]] = i
    return position, changed[:0]


@compiled
def renew_base(coupling: CouplingArrays, chosen: NDArray) -> None:
    """Factor the influence among elements; the base is empty where it has no factor."""
    size, base = chosen.size, coupling.factored
    system = coupling.factor[: (size + RIGHT + BORDERS) * size].reshape(-1, size)
    places = coupling.place[chosen]
    for i in range(size):
        row, own = coupling.among[places[i]], system[i]
        for j in range(i, size):
            own[j] = row[places[j]]
    coupling.border[0] = 0
    base[0] = 0
    if eliminate(system[: size + RIGHT]):
        base[0], base[1 : 1 + size] = size, chosen


@compiled
def border_rows(
    coupling: CouplingArrays, changed: NDArray, position: NDArray, system: NDArray
) -> NDArray:
    """Rows V' of the changed elements; those that are not kept yet are substituted together.

    Where there is no place for more rows, the kept ones are given up.
    """
    border, size = coupling.border, system.shape[1]
    first, found = size + RIGHT, np.empty((changed.size, size))
    if missing_rows(border, changed) > BORDERS - GROUP - border[0]:
        border[0] = 0
    begin = border[0]
    for n in range(changed.size):
        if row_of(border, changed[n]) < 0:
            fill_border(coupling, changed[n], position, system[first + border[0]])
            border[1 + border[0]] = changed[n]
            border[0] += 1
    last = begin + (border[0] - begin + GROUP - 1) // GROUP * GROUP
    for n in range(border[0], last):
        system[first + n] = 0.0
    if last > begin:
        substitute(system[: first + last], first + begin)
    for n in range(changed.size):
        found[n] = system[first + row_of(border, changed[n])]
    return found


@compiled(inlined=True)
def row_of(border: NDArray, element: int) -> int:
    """Number of the kept row of an element, or -1."""
    for n in range(border[0]):
        if border[1 + n] == element:
            return n
    return -1


@compiled
def missing_rows(border: NDArray, changed: NDArray) -> int:
    """Number of the changed elements without a kept row."""
    missing = 0
    for n in range(changed.size):
        if row_of(border, changed[n]) < 0:
            missing += 1
    return missing


@compiled
def fill_border(coupling: CouplingArrays, element: int, position: NDArray, target: NDArray) -> None:
    """Column of W of an element: its influence if it is added, a one if it is removed."""
    if position[element] >= 0:
        target[:] = 0.0
        target[position[element]] = 1.0
        return
    row = coupling.among[coupling.place[element]]
    for i in range(target.size):
        target[i] = row[coupling.place[coupling.factored[1 + i]]]


@compiled
def solve_border(
    coupling: CouplingArrays,
    changed: NDArray,
    position: NDArray,
    bordered: NDArray,
    right: NDArray,
    more: NDArray,
) -> NDArray:
    """Unknowns of the border (right sides, changed); `more` becomes c - V' U'^-1 b."""
    number = changed.size
    system = np.zeros((number, number))
    for n in range(number):
        for m in range(n + 1):
            own = 0.0
            if position[changed[n]] < 0 and position[changed[m]] < 0:
                own = coupling.among[coupling.place[changed[n]], coupling.place[changed[m]]]
            system[n, m] = own - product(bordered[n], bordered[m])
        for a in range(MOTIONS + 1):
            more[a, n] -= product(bordered[n], right[a])
    solved = more.copy()
    # S = L d L', with L in the lower triangle and d on the diagonal.
    for n in range(number):
        for m in range(n):
            factor = system[n, m] / system[m, m]
            for k in range(m + 1, n + 1):
                # Rows above hold L d until their own column is divided.
                system[n, k] -= factor * system[k, m]
            for a in range(MOTIONS + 1):
                solved[a, n] -= factor * solved[a, m]
    for n in range(number - 1, -1, -1):
        for a in range(MOTIONS + 1):
            solved[a, n] /= system[n, n]
            for m in range(n):
                solved[a, m] -= system[n, m] * solved[a, n]
    return solved


@compiled
def fill_bordered_reaction(
    right: NDArray, more: NDArray, solved: NDArray, reaction: NDArray
) -> None:
    """Stiffness of the pressed elements over the six motions, from the substituted right sides."""
    for a in range(MOTIONS):
        for b in range(MOTIONS):
            reaction[a, b] = product(right[a], right[b]) + product(more[a], solved[b])


@compiled
def find_unsolved(
    coupling: CouplingArrays,
    element: NDArray,
    gap: NDArray,
    pressed: NDArray,
    chosen: NDArray,
    force: NDArray,
    deepest: float,
) -> NDArray:
    """Which candidates are pulled though pressed, or overlap though not pressed."""
    wrong, places = np.empty(gap.size, dtype=np.bool_), coupling.place[chosen]
    i = 0
    for n in range(gap.size):
        if pressed[n]:
            wrong[n] = not force[i] >= 0.0
            i += 1
            continue
        moved = deflection_at(coupling.among[coupling.place[element[n]]], places, force)
        wrong[n] = gap[n] + moved < CLOSED_OVERLAP * deepest
    return wrong


@compiled
def deflection_at(row: NDArray, places: NDArray, force: NDArray) -> float:
    """Deflection by forces at places of a row of influences, of four sums formed side by side."""
    a = b = c = d = 0.0
    j, size = 0, force.size
    while j + 4 <= size:
        a += row[places[j]] * force[j]
        b += row[places[j + 1]] * force[j + 1]
        c += row[places[j + 2]] * force[j + 2]
        d += row[places[j + 3]] * force[j + 3]
        j += 4
    while j < size:
        a += row[places[j]] * force[j]
        j += 1
    return (a + b) + (c + d)
