"""Compiled cycle of condyles of revolution, whose distance from any point is a closed form.

The pose of every frame is found by the steps of the general engine
(`kneewear.simulation._equilibrium_kernels`); only what an element feels is computed here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import compiled
from kneewear.contact._record_kernels import DEPTH, NUMBERS, STIFFNESS
from kneewear.mechanics._kernels import orient
from kneewear.simulation._equilibrium_kernels import (
    FIRST_TOUCH,
    LoadingArrays,
    step_sides,
    unbalance,
)

# Elements nearer to the middle of a condyle than this, mm along x, are looked at: contact reaches
# sqrt(2 x 40 x 0.4) = 5.7 mm where the sagittal radius is 40 mm and the penetration 0.4 mm.
REACH = 6.0
ITERATIONS = 60
# Peak and mean pressure follow the numbers an equilibrium needs.
PEAK_PRESSURE, MEAN_PRESSURE = 78, 79
NORMAL, AREA, LAYER = 3, 6, 7


class CondyleArrays(NamedTuple):
    """Coronal outline of a condyle: an arc between rims, revolved about the femoral z axis."""

    middle: float
    crest: float  # radius about the axis at the middle
    arc: float
    half_width: float
    rim: float
    sine: float  # of the arc's half angle
    cosine: float


class MotionArrays(NamedTuple):
    """Prescribed motion and load of every frame."""

    posterior: NDArray[np.float64]
    second_angle: NDArray[np.float64]
    third_angle: NDArray[np.float64]
    load: NDArray[np.float64]


@compiled
def indentation(
    along: float, radius: float, condyle: CondyleArrays
) -> tuple[float, float, float, float]:
    """Depth in the condyle of a point at (z, distance from the axis), and what it rises with.

    The normal's components along z and outwards, and the distance from the centre of its arc.
    """
    away = abs(along - condyle.middle)
    outward = 1.0 if along >= condyle.middle else -1.0
    height = radius - (condyle.crest - condyle.arc)
    size, place = condyle.arc, away
    if away * condyle.cosine > height * condyle.sine:
        size = condyle.rim
        place = away - (condyle.half_width - condyle.rim * condyle.sine)
        height -= (condyle.arc - condyle.rim) * condyle.cosine
    reach = np.sqrt(place * place + height * height) + 1e-300
    return size - reach, outward * place / reach, height / reach, reach


@compiled
def press_side(
    elements: NDArray,
    condyle: CondyleArrays,
    rotation: NDArray,
    place: NDArray,
    rows: tuple[int, int],
    numbers: NDArray,
) -> None:
    """Force on the femur, its moment about x, and rates of Fy and Fz over (y, z, turn about x).

    With n the condyle's normal, p A the element's push and R the radius of its arc, the force is
    -p A n, and a displacement t of the condyle changes p by n . t modulus / thickness and turns n
    by -(t - n (n . t)) / R (its sagittal part, of no weight here, is left out).
    """
    numbers[:] = 0.0
    pressures, active = 0.0, 0
    crest = condyle.crest * condyle.crest
    for i in range(rows[0], rows[1]):
        for j in range(elements.shape[1]):
            x = elements[i, j, 0] - place[0]
            y = elements[i, j, 1] - place[1]
            z = elements[i, j, 2] - place[2]
            a = rotation[0, 0] * x + rotation[1, 0] * y + rotation[2, 0] * z
            b = rotation[0, 1] * x + rotation[1, 1] * y + rotation[2, 1] * z
            square = a * a + b * b
            if square >= crest:
                continue
            along = rotation[0, 2] * x + rotation[1, 2] * y + rotation[2, 2] * z
            radius = np.sqrt(square)
            depth, n_z, n_out, reach = indentation(along, radius, condyle)
            if depth <= 0.0:
                continue
            n_a, n_b = n_out * a / radius, n_out * b / radius
            up = rotation[1, 0] * n_a + rotation[1, 1] * n_b + rotation[1, 2] * n_z
            side = rotation[2, 0] * n_a + rotation[2, 1] * n_b + rotation[2, 2] * n_z
            pressure = elements[i, j, LAYER] * depth
            push = pressure * elements[i, j, AREA]
            soft = elements[i, j, LAYER] * elements[i, j, AREA]
            bend = push / reach
            active += 1
            pressures += pressure
            numbers[PEAK_PRESSURE] = max(numbers[PEAK_PRESSURE], pressure)
            numbers[DEPTH] = max(numbers[DEPTH], depth)
            numbers[1] -= push * up
            numbers[2] -= push * side
            numbers[3] -= push * (side * y - up * z)
            for k in range(3):
                t_y = 1.0 if k == 0 else (0.0 if k == 1 else -z)
                t_z = 0.0 if k == 0 else (1.0 if k == 1 else y)
                rise = up * t_y + side * t_z
                numbers[STIFFNESS + 7 + k] += bend * (t_y - up * rise) - soft * rise * up
                numbers[STIFFNESS + 13 + k] += bend * (t_z - side * rise) - soft * rise * side
            # A turn takes the normal with it.
            numbers[STIFFNESS + 9] += push * side
            numbers[STIFFNESS + 15] -= push * up
    numbers[MEAN_PRESSURE] = pressures / max(active, 1)


@compiled
def near_rows(
    elements: NDArray, condyle: CondyleArrays, rotation: NDArray, place: NDArray
) -> tuple[int, int]:
    """First row of elements near the condyle, and the first one beyond."""
    spacing = elements[1, 0, 0] - elements[0, 0, 0]
    middle = place[0] + rotation[0, 2] * condyle.middle - elements[0, 0, 0]
    first = int(max(0.0, (middle - REACH) / spacing))
    last = int(max(0.0, (middle + REACH) / spacing + 2.0))
    return min(first, elements.shape[0]), min(last, elements.shape[0])


@compiled
def balance(
    elements: NDArray,
    condyles: tuple[CondyleArrays, CondyleArrays],
    place: NDArray,
    loading: LoadingArrays,
    tolerance: float,
    rotation: NDArray,
    numbers: NDArray,
) -> float:
    """Move a place (6) until both sides balance the load; returns the residual that is left."""
    axes, residual, rates = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    bracket = np.array([-np.inf, np.inf])
    lever = condyles[0].middle - condyles[1].middle
    worst = np.inf
    for _ in range(ITERATIONS):
        orient(place[3:], rotation, axes)
        for n in range(2):
            rows = near_rows(elements[n], condyles[n], rotation, place)
            press_side(elements[n], condyles[n], rotation, place, rows, numbers[n])
        first = FIRST_TOUCH if numbers[0, 1] < 1e-6 * loading.force else 0.0
        second = FIRST_TOUCH if numbers[1, 1] < 1e-6 * loading.force else 0.0
        if first + second > 0.0:
            # Bring down the side that carries nothing, turning about the other one.
            place[1] += (first * condyles[1].middle - second * condyles[0].middle) / lever
            place[3] += (first - second) / lever
            continue
        unbalance(numbers, place, loading, residual, rates)
        worst = max(abs(residual[0]), abs(residual[1]), abs(residual[2])) / loading.force
        if worst < tolerance:
            break
        step_sides(numbers, place, loading, residual, rates, bracket)
    return worst


@compiled
def follow_cycle(
    elements: NDArray,
    condyles: tuple[CondyleArrays, CondyleArrays],
    motion: MotionArrays,
    medial_share: float,
    tolerance: float,
    places: NDArray,
    turns: NDArray,
    avg_pressure: NDArray,
) -> float:
    """Equilibrium at every frame, from that of largest load on; returns the largest residual."""
    frames = motion.load.shape[0]
    numbers, worst = np.zeros((2, NUMBERS)), 0.0
    first = int(np.argmax(motion.load))
    for step in range(frames):
        frame = (first + step) % frames
        place = places[frame]
        if step == 0:
            top = 0.5 * (elements[0, :, :, 1].min() + elements[1, :, :, 1].min())
            place[1] = top + condyles[0].crest - FIRST_TOUCH
        else:
            place[:] = places[frame - 1]
            if step > 1:
                place[1] += places[frame - 1, 1] - places[frame - 2, 1]
                place[3] += places[frame - 1, 3] - places[frame - 2, 3]
        place[0], place[4], place[5] = (
            motion.posterior[frame],
            motion.second_angle[frame],
            motion.third_angle[frame],
        )
        loading = LoadingArrays(motion.load[frame], medial_share, True, 0.0, 0.0, 0.0, False)
        left = balance(elements, condyles, place, loading, tolerance, turns[frame], numbers)
        worst = max(worst, left)
        avg_pressure[0] = max(avg_pressure[0], numbers[0, MEAN_PRESSURE])
        avg_pressure[1] = max(avg_pressure[1], numbers[1, MEAN_PRESSURE])
    return worst


@compiled
def add_damage(
    elements: NDArray,
    condyle: CondyleArrays,
    places: NDArray,
    turns: NDArray,
    max_pressure: NDArray,
    sliding: NDArray,
) -> None:
    """Largest pressure, MPa, and sum of pressure times sliding, MPa mm, of one side's elements.

    An element slides by half the way its point of the condyle moves from the frame before to the
    frame after, along its surface.
    """
    frames = places.shape[0]
    way = np.empty((3, 3))
    for frame in range(frames):
        before, after, rotation = frame - 1, (frame + 1) % frames, turns[frame]
        for a in range(3):
            for b in range(3):
                way[a, b] = 0.0
                for c in range(3):
                    way[a, b] += (turns[after, a, c] - turns[before, a, c]) * rotation[b, c]
        rows = near_rows(elements, condyle, rotation, places[frame])
        for i in range(rows[0], rows[1]):
            for j in range(elements.shape[1]):
                x = elements[i, j, 0] - places[frame, 0]
                y = elements[i, j, 1] - places[frame, 1]
                z = elements[i, j, 2] - places[frame, 2]
                a = rotation[0, 0] * x + rotation[1, 0] * y + rotation[2, 0] * z
                b = rotation[0, 1] * x + rotation[1, 1] * y + rotation[2, 1] * z
                square = a * a + b * b
                if square >= condyle.crest * condyle.crest:
                    continue
                along = rotation[0, 2] * x + rotation[1, 2] * y + rotation[2, 2] * z
                depth = indentation(along, np.sqrt(square), condyle)[0]
                if depth <= 0.0:
                    continue
                pressure = elements[i, j, LAYER] * depth
                max_pressure[i, j] = max(max_pressure[i, j], pressure)
                length, normal = 0.0, 0.0
                for k in range(3):
                    moved = places[after, k] - places[before, k]
                    moved += way[k, 0] * x + way[k, 1] * y + way[k, 2] * z
                    length += moved * moved
                    normal += moved * elements[i, j, NORMAL + k]
                sliding[i, j] += 0.5 * pressure * np.sqrt(max(length - normal * normal, 0.0))
