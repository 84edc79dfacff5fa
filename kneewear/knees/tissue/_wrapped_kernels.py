"""Compiled forces of bundles whose segments wrap on smooth bodies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.base.compilation import compiled
from kneewear.knees.tissue._wrapping_kernels import (
    CYLINDER,
    ELLIPSOID,
    WRAPPED,
    bend_arc,
    placed_path,
)
from kneewear.mechanics._kernels import add_cross_matrix, add_double_cross, cross
from kneewear.mechanics._tissue_kernels import PathArrays, TensionLawArrays, elastic, muscular


class ObstacleArrays(NamedTuple):
    """Wrap objects, each in the frame of a body."""

    kind: NDArray[np.int64]
    body: NDArray[np.int64]
    size: NDArray[np.float64]  # (m, 3)
    side: NDArray[np.float64]  # (m, 3)
    rotation: NDArray[np.float64]  # (m, 3, 3)
    origin: NDArray[np.float64]  # (m, 3)


@compiled
def wrap(
    obstacles: ObstacleArrays,
    number: int,
    start: NDArray,
    end: NDArray,
    points: NDArray,
    pulls: NDArray,
) -> tuple[float, int]:
    """Length of a segment in the frame of an obstacle's body, and its status.

    Fills where it touches, and unit pulls (2, 3). Straight where there is no obstacle, or none can
    be wrapped.
    """
    status, length = -1, 0.0
    if number >= 0:
        status, length = placed_path(
            obstacles.kind[number],
            obstacles.size[number],
            obstacles.side[number],
            obstacles.rotation[number],
            obstacles.origin[number],
            start,
            end,
            points,
            pulls,
        )
    if status != WRAPPED:
        length = 0.0
        for i in range(3):
            length += (end[i] - start[i]) ** 2
        length = np.sqrt(length)
        for i in range(3):
            pulls[0, i] = (end[i] - start[i]) / max(length, 1e-300)
            pulls[1, i] = -pulls[0, i]
    return length, status


@compiled
def bend(
    obstacles: ObstacleArrays,
    number: int,
    status: int,
    start: NDArray,
    end: NDArray,
    length: float,
    points: NDArray,
    pulls: NDArray,
    hessian: NDArray,
) -> None:
    """Derivative of the pulls (6) over both ends (6)."""
    if status != WRAPPED:
        for i in range(3):
            for j in range(3):
                part = pulls[0, i] * pulls[0, j] - (1.0 if i == j else 0.0)
                part /= max(length, 1e-300)
                hessian[i, j] = hessian[3 + i, 3 + j] = part
                hessian[i, 3 + j] = hessian[3 + i, j] = -part
        return
    if obstacles.kind[number] == ELLIPSOID:
        bend_geodesic(obstacles, number, start, end, length, points, pulls, hessian)
        return
    axes, origin = obstacles.rotation[number], obstacles.origin[number]
    if obstacles.kind[number] == CYLINDER:
        bend_helix(axes[:, 2].copy(), start, end, length, points, pulls, hessian)
    else:
        bend_great_circle(
            obstacles.size[number, 0], start - origin, end - origin, points - origin, pulls, hessian
        )


@compiled
def bend_helix(
    axis: NDArray,
    start: NDArray,
    end: NDArray,
    length: float,
    points: NDArray,
    pulls: NDArray,
    hessian: NDArray,
) -> None:
    """Derivative of the pulls (6) over both ends (6) for a path around a cylinder.

    Its length L is that of the unrolled path, L^2 = l^2 + h^2, with l in the cross-section and h
    along the axis. In the cross-section each end turns about the point where its tangent touches:
    the second derivative of l is n n' / s, with the normal n and the length s of the tangent.
    """
    ends = (start, end)
    plane, rise = np.empty(6), np.empty(6)  # derivatives of l and h
    hessian[:] = 0.0
    for e in range(2):
        along = pulls[e] @ axis
        across = pulls[e] - along * axis
        part = np.sqrt(across @ across)  # l / L
        tangent = points[e] - ends[e]
        tangent = tangent - (tangent @ axis) * axis
        span = max(np.sqrt(tangent @ tangent), 1e-9)
        normal = np.empty(3)
        cross(axis, across / part, normal)
        for i in range(3):
            plane[3 * e + i] = -across[i] / part
            rise[3 * e + i] = (2.0 * e - 1.0) * axis[i]
            for j in range(3):
                hessian[3 * e + i, 3 * e + j] = -part * normal[i] * normal[j] / span
    for i in range(6):
        for j in range(6):
            change = plane[i] * plane[j] + rise[i] * rise[j]
            change -= pulls[i // 3, i % 3] * pulls[j // 3, j % 3]
            hessian[i, j] -= change / length


@compiled
def bend_great_circle(
    radius: float,
    start: NDArray,
    end: NDArray,
    points: NDArray,
    pulls: NDArray,
    hessian: NDArray,
) -> None:
    """Derivative of the pulls (6) over both ends (6) for a path around a sphere at the origin.

    With the distances a and b of the ends from the centre, the length s of the tangent of the first
    end and the angle w between the ends, the length is f(a) + f(b) + R w with f'(a) = s / a. In the
    plane of the path its second derivative is n n' / s, as around a circle; across the plane it is
    (s + R cot w) / a^2, and -R / (a b sin w) for motions of both ends.
    """
    ends = (start, end)
    normal, sideways = np.empty(3), np.empty(3)
    cross(start, pulls[0], sideways)
    sideways /= np.sqrt(sideways @ sideways)
    reach = (np.sqrt(start @ start), np.sqrt(end @ end))
    cross(start, end, normal)
    sine, cosine = normal @ sideways / (reach[0] * reach[1]), start @ end / (reach[0] * reach[1])
    hessian[:] = 0.0
    for e in range(2):
        tangent = points[e] - ends[e]
        span = np.sqrt(tangent @ tangent)
        cross(sideways, pulls[e], normal)
        same = (span + radius * cosine / sine) / reach[e] ** 2
        for i in range(3):
            for j in range(3):
                hessian[3 * e + i, 3 * e + j] = -(
                    normal[i] * normal[j] / max(span, 1e-9) + same * sideways[i] * sideways[j]
                )
                hessian[3 * e + i, 3 - 3 * e + j] = (
                    radius / (reach[0] * reach[1] * sine) * sideways[i] * sideways[j]
                )


@compiled
def bend_geodesic(
    obstacles: ObstacleArrays,
    number: int,
    start: NDArray,
    end: NDArray,
    length: float,
    points: NDArray,
    pulls: NDArray,
    hessian: NDArray,
) -> None:
    """Derivative of the pulls (6) over both ends (6) for a geodesic of an ellipsoid.

    In the plane of curvature each end rotates about the point where its tangent touches. Across it
    the tangent points shift so that the straight parts stay tangents of the geodesic.
    """
    axes, origin = obstacles.rotation[number], obstacles.origin[number]
    frames, across = np.empty((2, 3, 3)), np.empty((2, 6))
    spans = bend_arc(
        obstacles.size[number],
        (start - origin) @ axes,
        (end - origin) @ axes,
        length,
        (points - origin) @ axes,
        pulls @ axes,
        frames,
        across,
    )
    hessian[:] = 0.0
    for e in range(2):
        sideways, normal = axes @ frames[e, 1], axes @ frames[e, 2]
        for i in range(3):
            for j in range(3):
                hessian[3 * e + i, 3 * e + j] -= normal[i] * normal[j] / spans[e]
                for other in range(2):
                    part = 0.0
                    for k in range(3):
                        part += across[e, 3 * other + k] * axes[j, k]
                    hessian[3 * e + i, 3 * other + j] += sideways[i] * part


@compiled
def add_wrapped(
    paths: PathArrays,
    obstacle: NDArray,
    obstacles: ObstacleArrays,
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
    status: NDArray,
) -> None:
    """As `add_bundles`, with an `obstacle` (-1: none) for each point, on which its segment wraps.

    The length of a segment depends on both ends in the frame of the obstacle's body, which feels
    the reaction to the pulls on them. Of damping the derivative over poses is left out.
    """
    size = wrench.shape[0]
    most = 2
    for n in range(paths.first.shape[0] - 1):
        most = max(most, paths.first[n + 1] - paths.first[n])
    arm, lever = np.empty((most, 2, 3)), np.empty((most, 2, 3))
    local, pulls = np.empty((most, 2, 3)), np.empty((most, 2, 3))
    points = np.empty((most, 2, 3))
    pull = np.zeros(size)
    spans, found = np.empty(most), np.empty(most, dtype=np.int64)
    about = np.empty(3)
    for n in range(paths.first.shape[0] - 1):
        start, count = paths.first[n], paths.first[n + 1] - paths.first[n]
        total = 0.0
        status[n] = 0
        pull[:] = 0.0
        for s in range(count - 1):
            number = obstacle[start + s]
            frame = obstacles.body[number] if number >= 0 else 0
            for end in range(2):
                p = start + s + end
                b = paths.body[p]
                for i in range(3):
                    arm[s, end, i] = 0.0
                    for j in range(3):
                        arm[s, end, i] += rotation[b, i, j] * paths.point[p, j]
                    lever[s, end, i] = arm[s, end, i] + translation[b, i] - translation[frame, i]
                for i in range(3):
                    local[s, end, i] = 0.0
                    for j in range(3):
                        local[s, end, i] += rotation[frame, j, i] * lever[s, end, j]
            spans[s], found[s] = wrap(
                obstacles, number, local[s, 0], local[s, 1], points[s], pulls[s]
            )
            total += spans[s]
            if found[s] >= 0:
                status[n] = max(status[n], found[s])
            for end in range(2):
                row, base = 6 * paths.body[start + s + end], 6 * frame
                force = rotation[frame] @ pulls[s, end]
                for i in range(3):
                    pull[row + i] += force[i]
                    pull[base + i] -= force[i]
                cross(arm[s, end], force, about)
                for i in range(3):
                    pull[row + 3 + i] += about[i]
                cross(lever[s, end], force, about)
                for i in range(3):
                    pull[base + 3 + i] -= about[i]
        rate = 0.0
        for b in range(size // 6):
            for i in range(6):
                rate -= pull[6 * b + i] * velocity[b, i]
        stored, force_, slope, _ = elastic(
            total - law.slack_length[n], law.curvature[n], law.transition[n], law.slope[n]
        )
        resisting = law.damping_time[n] * slope
        contracted, pulled, stiffer = muscular(law, n, total)
        force_ += resisting * rate + pulled
        slope += stiffer
        length[n], energy[n] = total, stored + contracted
        tension[n] = max(force_, 0.0)
        if force_ <= 0.0:
            continue
        for i in range(size):
            if pull[i] != 0.0:
                wrench[i] += force_ * pull[i]
                for j in range(size):
                    stiffness[i, j] -= slope * pull[i] * pull[j]
                    damping[i, j] -= resisting * pull[i] * pull[j]
        for s in range(count - 1):
            number = obstacle[start + s]
            frame = obstacles.body[number] if number >= 0 else 0
            add_segment(
                obstacles,
                number,
                found[s],
                rotation[frame],
                local[s],
                spans[s],
                points[s],
                pulls[s],
                arm[s],
                lever[s],
                force_,
                6 * paths.body[start + s],
                6 * paths.body[start + s + 1],
                6 * frame,
                stiffness,
            )


@compiled
def add_segment(
    obstacles: ObstacleArrays,
    number: int,
    status: int,
    frame: NDArray,
    local: NDArray,
    length: float,
    points: NDArray,
    pulls: NDArray,
    arm: NDArray,
    lever: NDArray,
    force: float,
    one: int,
    other: int,
    base: int,
    stiffness: NDArray,
) -> None:
    """Stiffness of a segment's directions at constant tension."""
    hessian = np.empty((6, 6))
    bend(obstacles, number, status, local[0], local[1], length, points, pulls, hessian)
    rows = (one, other)
    # Both pulls over motions of the two end bodies and of the obstacle's body, in its axes.
    moves = np.zeros((2, 3, 3, 6))  # end, component, body, motion
    for end in range(2):
        for i in range(3):
            for k in range(3):
                moves[end, i, end, k] = frame[k, i]
                moves[end, i, 2, k] = -frame[k, i]
                a, b = (k + 1) % 3, (k + 2) % 3
                # e_k x r
                moves[end, i, end, 3 + k] = frame[b, i] * arm[end, a] - frame[a, i] * arm[end, b]
                moves[end, i, 2, 3 + k] = frame[a, i] * lever[end, b] - frame[b, i] * lever[end, a]
    columns = (one, other, base)
    turned = np.empty((3, 6))
    pulled, moment = np.empty(3), np.empty(3)
    for end in range(2):
        for i in range(3):
            pulled[i] = 0.0
            for j in range(3):
                pulled[i] += force * frame[i, j] * pulls[end, j]
        row = rows[end]
        for part in range(3):
            turned[:] = 0.0
            for i in range(3):
                for m in range(3):
                    for e in range(2):
                        for q in range(3):
                            bent = force * hessian[3 * end + m, 3 * e + q]
                            for k in range(6):
                                turned[i, k] += frame[i, m] * bent * moves[e, q, part, k]
            if part == 2:
                # The pull turns with the obstacle's body.
                add_cross_matrix(turned[:, 3:], pulled, -1.0)
            column = columns[part]
            for k in range(6):
                for i in range(3):
                    stiffness[row + i, column + k] += turned[i, k]
                    stiffness[base + i, column + k] -= turned[i, k]
                cross(arm[end], turned[:, k], moment)
                for i in range(3):
                    stiffness[row + 3 + i, column + k] += moment[i]
                cross(lever[end], turned[:, k], moment)
                for i in range(3):
                    stiffness[base + 3 + i, column + k] -= moment[i]
        # Arms turn with the end's body, and the lever changes by its motion less that of the base.
        add_double_cross(stiffness[row + 3 : row + 6, row + 3 : row + 6], pulled, arm[end], 1.0)
        add_double_cross(stiffness[base + 3 : base + 6, row + 3 : row + 6], pulled, arm[end], -1.0)
        add_cross_matrix(stiffness[base + 3 : base + 6, row : row + 3], pulled, 1.0)
        add_cross_matrix(stiffness[base + 3 : base + 6, base : base + 3], pulled, -1.0)
