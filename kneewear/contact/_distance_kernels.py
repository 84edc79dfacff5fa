"""Compiled distances of listed elements, and the choice of those that are active."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import compiled
from kneewear.contact._proximity_kernels import is_beyond, project_near
from kneewear.contact._record_kernels import (
    FACE,
    FOOT_ROWS,
    NORMAL,
    PLACE,
    POINT,
    RAY,
    elements_of,
    indices_of,
    patch_of,
    table_of,
    voxels_of,
    work_of,
)
from kneewear.geometry._distance_kernels import (
    PROJECTION_VALUES,
    TABLED,
    UNTABLED,
    look_up_distances,
    look_up_projections,
)
from kneewear.geometry._kernels import INTERIOR, PatchArrays, fill_projection, meet_line

# Cosine of the angle between an element's normal and the line of minimum distance at which it
# faces the indenter: 84 deg, so that side faces of a part pressed straight down never do.
LEAST_FACING = 0.1
# Distance from which on an element is surely apart, mm: what two ways to add up one spline differ
# by, many times over.
SURELY_APART = 1e-9


@compiled
def drop_apart(pair: Any, first: int, last: int) -> int:
    """Drop listed elements that the distance table alone shows to be apart; returns the new end.

    Of places the table has no values for, those stay that lower bounds leave over.
    """
    table, voxels, work = table_of(pair), voxels_of(pair), work_of(pair)
    listed, held = indices_of(pair.listed, pair.count), indices_of(pair.held, pair.count)
    state = indices_of(pair.state, pair.count)
    points, place, feet = work[POINT:], work[PLACE:], work[FOOT_ROWS:]
    look_up_distances(table, points, first, last, place, state, feet)
    slot = first
    for n in range(first, last):
        if state[n] == UNTABLED:
            stays = not is_beyond(voxels, held[n], points[0, n], points[1, n], points[2, n])
        else:
            stays = state[n] == TABLED and feet[0, n] < SURELY_APART
        if stays:
            listed[slot], held[slot] = listed[n], held[n]
            for a in range(3):
                points[a, slot] = points[a, n]
            slot += 1
    return slot


@compiled
def find_feet(pair: Any, rotation: NDArray, first: int, last: int) -> None:
    """Feet of the listed elements: from the table, from the surface or along the element normals.

    The distance is set to inf where there is no foot.
    """
    work, state = work_of(pair), indices_of(pair.state, pair.count)
    points, feet = work[POINT:], work[FOOT_ROWS:]
    if pair.tabled == 1:
        look_up_projections(table_of(pair), points, first, last, work[PLACE:], state, feet)
        for n in range(first, last):
            if state[n] == UNTABLED:
                project_listed(pair, rotation, n, n + 1)
            elif state[n] != TABLED:
                feet[0, n] = np.inf
    else:
        project_listed(pair, rotation, first, last)


@compiled
def project_listed(pair: Any, rotation: NDArray, first: int, last: int) -> None:
    """Feet of the listed elements on the surface itself."""
    work, held = work_of(pair), indices_of(pair.held, pair.count)
    patch, voxels = patch_of(pair), voxels_of(pair)
    foot, room = np.empty(PROJECTION_VALUES), np.empty((6, 4))
    for n in range(first, last):
        x, y, z = work[POINT, n], work[POINT + 1, n], work[POINT + 2, n]
        u, v, status = project_near(patch, voxels, held[n], x, y, z, foot, room)
        if pair.method == RAY and status == INTERIOR and foot[0] < 0.0:
            fire_ray(pair, rotation, n, patch, u, v, foot, room)
        work[FOOT_ROWS, n] = foot[0] if status == INTERIOR else np.inf
        for a in range(1, PROJECTION_VALUES):
            work[FOOT_ROWS + a, n] = foot[a]


@compiled
def fire_ray(
    pair: Any,
    rotation: NDArray,
    slot: int,
    patch: PatchArrays,
    u: float,
    v: float,
    foot: NDArray,
    room: NDArray,
) -> None:
    """Fill foot with way, normal and curvature where the element's normal meets the surface.

    The way along the outward normal is negative inside the body; inf where the line passes by.
    """
    element = indices_of(pair.listed, pair.count)[slot]
    work, elements = work_of(pair), elements_of(pair)
    origin, line = np.empty(3), np.empty(3)
    for a in range(3):
        origin[a], line[a] = work[POINT + a, slot], 0.0
        for b in range(3):
            line[a] += rotation[b, a] * elements[NORMAL + b, element]
    u, v, way = meet_line(patch, origin, line, u, v, room)
    foot[0] = np.inf
    if way < 0.0:
        nx = room[1, 1] * room[2, 2] - room[1, 2] * room[2, 1]
        ny = room[1, 2] * room[2, 0] - room[1, 0] * room[2, 2]
        nz = room[1, 0] * room[2, 1] - room[1, 1] * room[2, 0]
        size = np.sqrt(nx * nx + ny * ny + nz * nz)
        fill_projection(room, 0.0, nx / size, ny / size, nz / size, 0.0, 0.0, foot)
        foot[0] = way


@compiled
def face_indenter(pair: Any, rotation: NDArray, first: int, last: int) -> None:
    """Normals of listed elements in the moving frame; those that do not face it count as apart."""
    listed = indices_of(pair.listed, pair.count)
    elements, work = elements_of(pair), work_of(pair)
    for n in range(first, last):
        if not work[FOOT_ROWS, n] < 0.0:
            continue
        element = listed[n]
        ex = elements[NORMAL, element]
        ey, ez = elements[NORMAL + 1, element], elements[NORMAL + 2, element]
        nx = rotation[0, 0] * ex + rotation[1, 0] * ey + rotation[2, 0] * ez
        ny = rotation[0, 1] * ex + rotation[1, 1] * ey + rotation[2, 1] * ez
        nz = rotation[0, 2] * ex + rotation[1, 2] * ey + rotation[2, 2] * ez
        work[FACE, n], work[FACE + 1, n], work[FACE + 2, n] = nx, ny, nz
        facing = nx * work[FOOT_ROWS + 1, n]
        facing += ny * work[FOOT_ROWS + 2, n] + nz * work[FOOT_ROWS + 3, n]
        if not -facing > LEAST_FACING:
            work[FOOT_ROWS, n] = np.inf


@compiled
def keep_active(pair: Any, first: int, last: int) -> int:
    """Move the elements that penetrate to the front; returns the new end."""
    listed, work = indices_of(pair.listed, pair.count), work_of(pair)
    slot = first
    for n in range(first, last):
        if work[FOOT_ROWS, n] < 0.0:
            move_column(pair, n, slot)
            listed[slot] = listed[n]
            slot += 1
    return slot


@compiled
def move_column(pair: Any, source: int, target: int) -> None:
    """Copy what is known of one listed element."""
    work = work_of(pair)
    if source != target:
        for a in range(3):
            work[POINT + a, target] = work[POINT + a, source]
            work[FACE + a, target] = work[FACE + a, source]
        for a in range(PROJECTION_VALUES):
            work[FOOT_ROWS + a, target] = work[FOOT_ROWS + a, source]
