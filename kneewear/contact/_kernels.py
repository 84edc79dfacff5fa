"""Compiled contact between the elements of one surface and one patch of the moving body."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import compiled
from kneewear.contact._law_kernels import press_law
from kneewear.geometry._kernels import (
    APART,
    FAILED,
    FOOT,
    TABLED,
    DistanceArrays,
    PatchArrays,
    closest_point,
    look_up,
)

FAR = -1
TOO_DEEP = -2

ALONG_MINIMUM_DISTANCE = 0
ALONG_MID_SURFACE = 1


class StartArrays(NamedTuple):
    """Voxel map from places in the frame of the moving body to table nodes."""

    origin: NDArray[np.float64]
    spacing: float
    node: NDArray[np.int32]  # table node nearest each voxel, or FAR or TOO_DEEP
    u: NDArray[np.float64]
    v: NDArray[np.float64]


class Workspace(NamedTuple):
    """Room for what is found of each listed element."""

    element: NDArray[np.int64]
    u: NDArray[np.float64]  # parameters of its foot, or where to search for it
    v: NDArray[np.float64]
    point: NDArray[np.float64]  # its centre in the frame of the moving body
    foot: NDArray[np.float64]  # as the distance table gives it
    state: NDArray[np.int64]
    penetration: NDArray[np.float64]
    pressure: NDArray[np.float64]


class ElementArrays(NamedTuple):
    """The valid elements of one side, as flat arrays."""

    centre: NDArray[np.float64]
    normal: NDArray[np.float64]
    area: NDArray[np.float64]


@compiled
def find_candidates(
    elements: ElementArrays,
    patch: PatchArrays,
    table: DistanceArrays,
    start: StartArrays,
    rotation: NDArray,
    translation: NDArray,
    margin: float,
    listed: Workspace,
) -> tuple[int, int]:  # pragma: no cover
    """List the elements nearer than `margin`, each looked up or projected from its table node.

    Returns their number, and that of elements so deep inside the metal that no table node is kept
    for them.
    """
    work = np.empty((6, 4))
    foot = np.empty(10)
    near = 0
    buried = 0
    n_x, n_y, n_z = start.node.shape
    for n in range(elements.area.shape[0]):
        rx = elements.centre[n, 0] - translation[0]
        ry = elements.centre[n, 1] - translation[1]
        rz = elements.centre[n, 2] - translation[2]
        x = rotation[0, 0] * rx + rotation[1, 0] * ry + rotation[2, 0] * rz
        y = rotation[0, 1] * rx + rotation[1, 1] * ry + rotation[2, 1] * rz
        z = rotation[0, 2] * rx + rotation[1, 2] * ry + rotation[2, 2] * rz
        i = int(np.floor((x - start.origin[0]) / start.spacing))
        j = int(np.floor((y - start.origin[1]) / start.spacing))
        k = int(np.floor((z - start.origin[2]) / start.spacing))
        if i < 0 or j < 0 or k < 0 or i >= n_x or j >= n_y or k >= n_z:
            continue
        node = start.node[i, j, k]
        if node == TOO_DEEP:
            buried += 1
        if node < 0:
            continue
        listed.element[near], listed.u[near], listed.v[near] = n, start.u[node], start.v[node]
        listed.point[near, 0], listed.point[near, 1], listed.point[near, 2] = x, y, z
        near += 1

    look_up(table, listed.point, near, -np.inf, listed.foot, listed.state)
    count = 0
    for n in range(near):
        u, v, distance = listed.u[n], listed.v[n], listed.foot[n, 0]
        if listed.state[n] == APART:
            continue
        if listed.state[n] != TABLED:
            x, y, z = listed.point[n, 0], listed.point[n, 1], listed.point[n, 2]
            u, v, status = closest_point(patch, x, y, z, u, v, foot, work)
            # One at a border stays listed: the next pose may give it a foot.
            distance = foot[0] if status != FAILED else np.inf
        if distance < margin:
            listed.element[count], listed.u[count], listed.v[count] = listed.element[n], u, v
            count += 1
    return count, buried


@compiled
def add_curvature(
    stiffness: NDArray,
    hessian: NDArray,
    lever: NDArray,
    spin: NDArray,
    push: float,
    nx: float,
    ny: float,
    nz: float,
    rx: float,
    ry: float,
    rz: float,
) -> None:  # pragma: no cover
    """Add push times the second derivative of the signed distance over the twist.

    With a displacement J q of the element seen from the moving body, J = (-I, [r]x), it is J' H J
    plus N . (turn x translation) and N . (turn x (turn x r)) / 2. Only the upper blocks are
    filled; `lever` and `spin` are zero matrices to work in.
    """
    lever[0, 1], lever[0, 2], lever[1, 2] = -rz, ry, -rx
    lever[1, 0], lever[2, 0], lever[2, 1] = rz, -ry, rx
    spin[0, 1], spin[0, 2], spin[1, 2] = -nz, ny, -nx
    spin[1, 0], spin[2, 0], spin[2, 1] = nz, -ny, nx
    along = nx * rx + ny * ry + nz * rz
    n = (nx, ny, nz)
    r = (rx, ry, rz)
    for a in range(3):
        for b in range(3):
            stiffness[a, b] += push * hessian[a, b]
            coupled = spin[a, b]
            turn = 0.5 * (n[a] * r[b] + r[a] * n[b]) - (along if a == b else 0.0)
            for k in range(3):
                coupled -= hessian[a, k] * lever[k, b]
                for m in range(3):
                    turn -= lever[a, k] * hessian[k, m] * lever[m, b]
            stiffness[a, 3 + b] += push * coupled
            stiffness[3 + a, 3 + b] += push * turn


@compiled
def press(
    elements: ElementArrays,
    patch: PatchArrays,
    table: DistanceArrays,
    law: int,
    parameters: NDArray,
    thickness: NDArray,
    rotation: NDArray,
    translation: NDArray,
    direction: int,
    count: int,
    listed: Workspace,
    wrench: NDArray,
    stiffness: NDArray,
) -> int:  # pragma: no cover
    """Pressures' resultant on the moving body about its origin, and its derivative.

    `law` and `parameters` are those of `press_law`. The derivative is exact for forces along the
    line of minimum distance; for the mid-surface direction it is that of the former, good enough
    to converge with. Returns the number of projections that failed.
    """
    work = np.empty((6, 4))
    foot = np.empty(10)
    hessian = np.empty((3, 3))
    turned = np.empty((3, 3))
    gradient = np.empty(6)
    lever, spin = np.zeros((3, 3)), np.zeros((3, 3))
    failed = 0
    wrench[:] = 0.0
    stiffness[:] = 0.0
    for c in range(count):
        n = listed.element[c]
        rx = elements.centre[n, 0] - translation[0]
        ry = elements.centre[n, 1] - translation[1]
        rz = elements.centre[n, 2] - translation[2]
        listed.point[c, 0] = rotation[0, 0] * rx + rotation[1, 0] * ry + rotation[2, 0] * rz
        listed.point[c, 1] = rotation[0, 1] * rx + rotation[1, 1] * ry + rotation[2, 1] * rz
        listed.point[c, 2] = rotation[0, 2] * rx + rotation[1, 2] * ry + rotation[2, 2] * rz
    look_up(table, listed.point, count, 0.0, listed.foot, listed.state)
    for c in range(count):
        n = listed.element[c]
        listed.penetration[c] = listed.pressure[c] = 0.0
        if listed.state[c] == APART or (listed.state[c] == TABLED and listed.foot[c, 0] >= 0.0):
            continue
        if listed.state[c] == TABLED:
            for a in range(10):
                foot[a] = listed.foot[c, a]
        else:
            x, y, z = listed.point[c, 0], listed.point[c, 1], listed.point[c, 2]
            listed.u[c], listed.v[c], status = closest_point(
                patch, x, y, z, listed.u[c], listed.v[c], foot, work
            )
            if status != FOOT:
                failed += status == FAILED
                continue
            if foot[0] >= 0.0:
                continue
        rx = elements.centre[n, 0] - translation[0]
        ry = elements.centre[n, 1] - translation[1]
        rz = elements.centre[n, 2] - translation[2]
        nx = rotation[0, 0] * foot[1] + rotation[0, 1] * foot[2] + rotation[0, 2] * foot[3]
        ny = rotation[1, 0] * foot[1] + rotation[1, 1] * foot[2] + rotation[1, 2] * foot[3]
        nz = rotation[2, 0] * foot[1] + rotation[2, 1] * foot[2] + rotation[2, 2] * foot[3]
        # cos(theta) between the minimum distance and the inward normal of the element.
        facing = -(
            nx * elements.normal[n, 0] + ny * elements.normal[n, 1] + nz * elements.normal[n, 2]
        )
        if facing <= 0.0:
            continue
        depth = -foot[0]
        px, py, pz = nx, ny, nz
        if direction == ALONG_MID_SURFACE:
            half = np.sqrt(0.5 * (1.0 + facing))
            depth /= half
            px = (nx - elements.normal[n, 0]) / (2.0 * half)
            py = (ny - elements.normal[n, 1]) / (2.0 * half)
            pz = (nz - elements.normal[n, 2]) / (2.0 * half)
        pressure, slope = press_law(law, parameters, depth, thickness[n])
        listed.penetration[c], listed.pressure[c] = depth, pressure
        push, rate = pressure * elements.area[n], slope * elements.area[n]
        wrench[0] -= push * px
        wrench[1] -= push * py
        wrench[2] -= push * pz
        wrench[3] -= push * (ry * pz - rz * py)
        wrench[4] -= push * (rz * px - rx * pz)
        wrench[5] -= push * (rx * py - ry * px)

        # Signed distance over the twist (translation, turn about its origin): gradient
        # -(N, r x N); its second derivative follows below.
        gradient[0], gradient[1], gradient[2] = nx, ny, nz
        gradient[3] = ry * nz - rz * ny
        gradient[4] = rz * nx - rx * nz
        gradient[5] = rx * ny - ry * nx
        for a in range(6):
            for b in range(6):
                stiffness[a, b] -= rate * gradient[a] * gradient[b]
        hessian[0, 0], hessian[1, 1], hessian[2, 2] = foot[4], foot[5], foot[6]
        hessian[0, 1] = hessian[1, 0] = foot[7]
        hessian[0, 2] = hessian[2, 0] = foot[8]
        hessian[1, 2] = hessian[2, 1] = foot[9]
        for a in range(3):
            for b in range(3):
                total = 0.0
                for p in range(3):
                    for q in range(3):
                        total += rotation[a, p] * hessian[p, q] * rotation[b, q]
                turned[a, b] = total
        add_curvature(stiffness, turned, lever, spin, push, nx, ny, nz, rx, ry, rz)
    for a in range(3):
        for b in range(3):
            stiffness[3 + a, b] = stiffness[b, 3 + a]
    return failed


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
) -> None:  # pragma: no cover
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
