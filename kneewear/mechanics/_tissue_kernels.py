"""Compiled tension of bundles and springs, and the forces and stiffness they exert on bodies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.base.compilation import compiled


class TensionLawArrays(NamedTuple):
    """Numbers of a `TensionLaw`, one of each per bundle."""

    slack_length: NDArray[np.float64]
    curvature: NDArray[np.float64]
    transition: NDArray[np.float64]
    slope: NDArray[np.float64]
    damping_time: NDArray[np.float64]
    active: NDArray[np.float64]
    knots: NDArray[np.float64]  # (n, m + 1), lengths
    pieces: NDArray[np.float64]  # (n, m, 5), energy from each knot on, in powers of the length


class PathArrays(NamedTuple):
    """Points of bundles: those of bundle i are numbered `first[i]` to below `first[i + 1]`."""

    first: NDArray[np.int64]
    body: NDArray[np.int64]
    point: NDArray[np.float64]  # in the frame of the body


class SpringArrays(NamedTuple):
    """Springs and dampers, each along one coordinate."""

    coordinate: NDArray[np.int64]
    stiffness: NDArray[np.float64]
    rest: NDArray[np.float64]
    gap: NDArray[np.float64]
    damping: NDArray[np.float64]


@compiled(inlined=True)
def elastic(
    stretch: float, curvature: float, transition: float, slope: float
) -> tuple[float, float, float, float]:
    """Energy, tension and its first two derivatives over the stretch, zero when slack."""
    if stretch <= 0.0:
        return 0.0, 0.0, 0.0, 0.0
    if stretch <= transition:
        square = curvature * stretch * stretch
        return square * stretch / 3.0, square, 2.0 * curvature * stretch, 2.0 * curvature
    beyond = stretch - 0.5 * transition
    energy = 0.5 * slope * (beyond * beyond + transition * transition / 12.0)
    return energy, slope * beyond, slope, 0.0


@compiled(inlined=True)
def muscular(law: TensionLawArrays, n: int, length: float) -> tuple[float, float, float]:
    """Energy, tension and its derivative of muscle n; beyond its knots the tension is constant."""
    energy, force, slope = law.active[n] * length, law.active[n], 0.0
    last = law.pieces.shape[1] - 1
    if last >= 0:
        inside = min(max(length, law.knots[n, 0]), law.knots[n, last + 1])
        k = 0
        while k < last and inside > law.knots[n, k + 1]:
            k += 1
        x = inside - law.knots[n, k]
        a, b, c, d, e = law.pieces[n, k]
        pull = b + x * (2.0 * c + x * (3.0 * d + x * 4.0 * e))
        energy += a + x * (b + x * (c + x * (d + x * e))) + pull * (length - inside)
        force += pull
        if inside == length:
            slope = 2.0 * c + x * (6.0 * d + x * 12.0 * e)
    return energy, force, slope


@compiled
def elastic_many(law: TensionLawArrays, length: NDArray, out: NDArray) -> None:
    """Energy, tension and derivatives (4, n) of bundles of given lengths."""
    for n in range(length.shape[0]):
        found = elastic(
            length[n] - law.slack_length[n], law.curvature[n], law.transition[n], law.slope[n]
        )
        for k in range(4):
            out[k, n] = found[k]
        stored, force, slope = muscular(law, n, length[n])
        out[0, n] += stored
        out[1, n] += force
        out[2, n] += slope


@compiled
def add_bundles(
    paths: PathArrays,
    law: TensionLawArrays,
    rotation: NDArray,
    translation: NDArray,
    velocity: NDArray,
    wrench: NDArray,
    stiffness: NDArray,
    damping: NDArray,
    length: NDArray,
    tension: NDArray,
    energy: NDArray,
) -> None:
    """Add wrench and derivatives of all bundles, and fill length, tension and energy of each.

    With the unit vectors e of the segments, a point i of a path feels the tension T along
    g_i = e_i - e_(i - 1). The rate of length is -sum g_i . v_i, and T = F(l) + tau F'(l) l' plus
    that of a muscle, never negative. `pull` gathers, per body, g and r x g: the derivative of -l
    over its small motions.
    """
    size = wrench.shape[0]
    most = 2
    for n in range(paths.first.shape[0] - 1):
        most = max(most, paths.first[n + 1] - paths.first[n])
    arm, place, speed = np.empty((most, 3)), np.empty((most, 3)), np.empty((most, 3))
    unit, span = np.empty((most, 3)), np.empty(most)
    pull, swing = np.zeros(size), np.zeros(size)
    for n in range(paths.first.shape[0] - 1):
        start, count = paths.first[n], paths.first[n + 1] - paths.first[n]
        for i in range(count):
            b = paths.body[start + i]
            for j in range(3):
                arm[i, j] = 0.0
                for k in range(3):
                    arm[i, j] += rotation[b, j, k] * paths.point[start + i, k]
                place[i, j] = translation[b, j] + arm[i, j]
            for j in range(3):
                k, m = (j + 1) % 3, (j + 2) % 3
                speed[i, j] = velocity[b, j]
                speed[i, j] += velocity[b, 3 + k] * arm[i, m] - velocity[b, 3 + m] * arm[i, k]
        total = rate = 0.0
        for i in range(count - 1):
            square = 0.0
            for j in range(3):
                unit[i, j] = place[i + 1, j] - place[i, j]
                square += unit[i, j] ** 2
            span[i] = np.sqrt(square)
            total += span[i]
            for j in range(3):
                unit[i, j] = unit[i, j] / span[i] if span[i] > 0.0 else 0.0
                rate += unit[i, j] * (speed[i + 1, j] - speed[i, j])
        stored, force, slope, bend = elastic(
            total - law.slack_length[n], law.curvature[n], law.transition[n], law.slope[n]
        )
        delay = law.damping_time[n]
        resisting = delay * slope
        contracted, pulled, stiffer = muscular(law, n, total)
        force += resisting * rate + pulled
        length[n], energy[n] = total, stored + contracted
        tension[n] = max(force, 0.0)
        if force <= 0.0:
            continue
        slope += delay * bend * rate + stiffer
        add_segments(
            start,
            count,
            paths.body,
            arm,
            speed,
            unit,
            span,
            force,
            resisting,
            velocity,
            wrench,
            stiffness,
            pull,
            swing,
        )
        for i in range(count):
            row = 6 * paths.body[start + i]
            if i > 0 and repeated(paths.body, start, i):
                continue
            for a in range(row, row + 6):
                for k in range(count):
                    column = 6 * paths.body[start + k]
                    if k > 0 and repeated(paths.body, start, k):
                        continue
                    for c in range(column, column + 6):
                        stiffness[a, c] += pull[a] * (swing[c] - slope * pull[c])
                        damping[a, c] -= pull[a] * resisting * pull[c]
        for i in range(count):
            row = 6 * paths.body[start + i]
            for a in range(row, row + 6):
                pull[a] = swing[a] = 0.0


@compiled
def repeated(body: NDArray, start: int, i: int) -> bool:
    """True if the body of point i of a path is that of an earlier point."""
    found = False
    for k in range(i):
        found = found or body[start + k] == body[start + i]
    return found


@compiled
def add_segments(
    start: int,
    count: int,
    body: NDArray,
    arm: NDArray,
    speed: NDArray,
    unit: NDArray,
    span: NDArray,
    force: float,
    resisting: float,
    velocity: NDArray,
    wrench: NDArray,
    stiffness: NDArray,
    pull: NDArray,
    swing: NDArray,
) -> None:
    """Add wrenches of a path and what its stiffness has from segments that change direction.

    `swing` gathers the derivative of the damping force, `resisting` times the rate of length, over
    small motions at constant velocities.
    """
    turn = np.empty((3, 3))
    lag, spin = np.empty(3), np.empty(3)
    for i in range(count - 1):
        if span[i] == 0.0:
            continue
        along = 0.0
        for j in range(3):
            along += unit[i, j] * (speed[i + 1, j] - speed[i, j])
        for j in range(3):
            lag[j] = speed[i + 1, j] - speed[i, j] - along * unit[i, j]
            lag[j] *= resisting / span[i]
            for k in range(3):
                turn[j, k] = -unit[i, j] * unit[i, k]
            turn[j, j] += 1.0
            for k in range(3):
                turn[j, k] *= force / span[i]
        # The first end of a segment is pulled along it, the last one against it.
        for end in range(2):
            p, sign = i + end, 1.0 - 2.0 * end
            b = body[start + p]
            row = 6 * b
            for j in range(3):
                k, m = (j + 1) % 3, (j + 2) % 3
                about = arm[p, k] * unit[i, m] - arm[p, m] * unit[i, k]
                wrench[row + j] += sign * force * unit[i, j]
                wrench[row + 3 + j] += sign * force * about
                pull[row + j] += sign * unit[i, j]
                pull[row + 3 + j] += sign * about
                swing[row + j] -= sign * lag[j]
                swing[row + 3 + j] -= sign * (arm[p, k] * lag[m] - arm[p, m] * lag[k])
                spin[j] = unit[i, k] * velocity[b, 3 + m] - unit[i, m] * velocity[b, 3 + k]
            for j in range(3):
                k, m = (j + 1) % 3, (j + 2) % 3
                about = arm[p, k] * spin[m] - arm[p, m] * spin[k]
                swing[row + 3 + j] -= sign * resisting * about
            # The arm turns with its body: (s x r) x F.
            dot = 0.0
            for j in range(3):
                dot += arm[p, j] * unit[i, j]
            for j in range(3):
                for k in range(3):
                    stiffness[row + 3 + j, row + 3 + k] += sign * force * arm[p, j] * unit[i, k]
                stiffness[row + 3 + j, row + 3 + j] -= sign * force * dot
            for other in range(2):
                q = i + other
                part = -sign * (1.0 - 2.0 * other)
                add_turn(turn, arm[p], arm[q], part, row, 6 * body[start + q], stiffness)


@compiled
def add_turn(
    turn: NDArray,
    arm: NDArray,
    other: NDArray,
    factor: float,
    row: int,
    column: int,
    stiffness: NDArray,
) -> None:
    """Add factor times (I, [r]x)' P (I, -[q]x): wrench at arm r over a small motion at arm q."""
    half = np.empty((3, 6))
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        for k in range(3):
            half[k, a] = factor * turn[k, a]
        # Column a of -[q]x is the motion e_a x q.
        for k in range(3):
            half[k, 3 + a] = factor * (turn[k, c] * other[b] - turn[k, b] * other[c])
    for k in range(6):
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            stiffness[row + a, column + k] += half[a, k]
            stiffness[row + 3 + a, column + k] += arm[b] * half[c, k] - arm[c] * half[b, k]


@compiled
def add_spring_forces(
    springs: SpringArrays,
    coordinates: NDArray,
    rates: NDArray,
    pulls: NDArray,
    force: NDArray,
    derivative: NDArray,
    resistance: NDArray,
) -> float:
    """Add forces of springs and dampers along the coordinates, and their derivatives.

    Fills the force of each spring without damping; returns the stored energy.
    """
    energy = 0.0
    for n in range(springs.coordinate.shape[0]):
        i = springs.coordinate[n]
        stretch, gap = coordinates[i] - springs.rest[n], springs.gap[n]
        force[i] -= springs.damping[n] * rates[i]
        resistance[i, i] -= springs.damping[n]
        pulls[n] = 0.0
        if abs(stretch) >= gap:
            beyond = stretch - np.copysign(gap, stretch)
            pulls[n] = -springs.stiffness[n] * beyond
            energy += 0.5 * springs.stiffness[n] * beyond * beyond
            force[i] += pulls[n]
            derivative[i, i] -= springs.stiffness[n]
    return energy
