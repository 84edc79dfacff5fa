"""Compiled look-ups in the map of the space round a surface, and projections that start from it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import compiled
from kneewear.contact._record_kernels import Voxels
from kneewear.geometry._kernels import (
    BORDER,
    FAILED,
    INTERIOR,
    PatchArrays,
    closest_point,
    evaluate,
    project,
)

OUTSIDE = -1


@compiled
def find_voxel(voxels: Voxels, x: float, y: float, z: float) -> int:
    """Number of the voxel that holds a point, or OUTSIDE."""
    a = (x - voxels.origin_x) / voxels.size
    b = (y - voxels.origin_y) / voxels.size
    c = (z - voxels.origin_z) / voxels.size
    inside = 0.0 <= a < voxels.count_x and 0.0 <= b < voxels.count_y and 0.0 <= c < voxels.count_z
    if not inside:
        return OUTSIDE
    return (int(a) * voxels.count_y + int(b)) * voxels.count_z + int(c)


@compiled(inlined=True)
def is_beyond(voxels: Voxels, voxel: int, x: float, y: float, z: float) -> bool:
    """Whether a lower bound of the distance shows a point in a voxel to be apart."""
    rate = 1.0 / voxels.size
    bound = rate * (x - voxels.origin_x) * voxels.planes[voxel, 0]
    bound += rate * (y - voxels.origin_y) * voxels.planes[voxel, 1]
    bound += rate * (z - voxels.origin_z) * voxels.planes[voxel, 2]
    return bound + voxels.planes[voxel, 3] > 0.0


@compiled
def project_near(
    patch: PatchArrays,
    voxels: Voxels,
    voxel: int,
    x: float,
    y: float,
    z: float,
    foot: NDArray,
    work: NDArray,
) -> tuple[float, float, int]:
    """Foot of a point, from the start its voxel keeps; u, v and a status that is never FAILED.

    Deep inside a body, near centres of curvature, a search may find no end. What is nearest to the
    voxel's middle serves then: a border, or a foot at the point's own distance from it.
    """
    start = voxels.starts[voxel]
    low = voxel // voxels.count_z
    k, j, i = voxel - low * voxels.count_z, low % voxels.count_y, low // voxels.count_y
    away_x = x - (voxels.origin_x + (i + 0.5) * voxels.size)
    away_y = y - (voxels.origin_y + (j + 0.5) * voxels.size)
    away_z = z - (voxels.origin_z + (k + 0.5) * voxels.size)
    first_u, first_v = np.float64(start[0]), np.float64(start[1])
    u = first_u + start[2] * away_x + start[3] * away_y + start[4] * away_z
    v = first_v + start[5] * away_x + start[6] * away_y + start[7] * away_z
    u, v, status = project(patch, x, y, z, u, v, foot, work)
    if status == INTERIOR:
        return u, v, status
    u = min(max(first_u, patch.breaks_u[0]), patch.breaks_u[-1])
    v = min(max(first_v, patch.breaks_v[0]), patch.breaks_v[-1])
    near_u, near_v, status = closest_point(patch, x, y, z, u, v, foot, work)
    if status != FAILED:
        return near_u, near_v, status
    inside_u = patch.breaks_u[0] < u < patch.breaks_u[-1]
    if not (inside_u and patch.breaks_v[0] < v < patch.breaks_v[-1]):
        return u, v, BORDER
    fill_from_start(patch, x, y, z, u, v, foot, work)
    return u, v, INTERIOR


@compiled
def fill_from_start(
    patch: PatchArrays,
    x: float,
    y: float,
    z: float,
    u: float,
    v: float,
    foot: NDArray,
    work: NDArray,
) -> None:
    """Fill foot as if (u, v) were the foot of a point inside; apart where it is outside."""
    evaluate(patch, u, v, work)
    rx, ry, rz = work[0, 0] - x, work[0, 1] - y, work[0, 2] - z
    nx = work[1, 1] * work[2, 2] - work[1, 2] * work[2, 1]
    ny = work[1, 2] * work[2, 0] - work[1, 0] * work[2, 2]
    nz = work[1, 0] * work[2, 1] - work[1, 1] * work[2, 0]
    length = np.sqrt(rx * rx + ry * ry + rz * rz)
    for a in range(10):
        foot[a] = 0.0
    if length > 0.0 and rx * nx + ry * ny + rz * nz > 0.0:
        foot[0], foot[1], foot[2], foot[3] = -length, rx / length, ry / length, rz / length


@compiled
def nearest_of_blocks(
    nodes: NDArray,
    of_block: NDArray,
    origin: NDArray,
    size: float,
    shape: tuple[int, int, int],
    chosen: NDArray,
) -> None:
    """Node nearest the middle of every voxel, of those nearest the eight blocks round it."""
    for i in range(shape[0]):
        for j in range(shape[1]):
            for k in range(shape[2]):
                x = origin[0] + size * (i + 0.5)
                y = origin[1] + size * (j + 0.5)
                z = origin[2] + size * (k + 0.5)
                least, nearest = np.inf, 0
                for step in range(8):
                    node = of_block[
                        (i + 1) // 2 + (step >> 2),
                        (j + 1) // 2 + (step >> 1 & 1),
                        (k + 1) // 2 + (step & 1),
                    ]
                    away_x, away_y, away_z = (
                        nodes[node, 0] - x,
                        nodes[node, 1] - y,
                        nodes[node, 2] - z,
                    )
                    distance = away_x * away_x + away_y * away_y + away_z * away_z
                    if distance < least:
                        least, nearest = distance, node
                chosen[(i * shape[1] + j) * shape[2] + k] = nearest


@compiled
def raise_to_places(
    planes: NDArray, places: NDArray, shape: tuple[int, int, int], reach: int, most: NDArray
) -> None:
    """Largest value that the bounds of the voxels round places have at them, where above most.

    Places are counted in voxels; all voxels up to so many away in each direction are round a place.
    """
    for n in range(places.shape[0]):
        x, y, z = places[n, 0], places[n, 1], places[n, 2]
        for i in range(max(int(x) - reach, 0), min(int(x) + reach + 1, shape[0])):
            for j in range(max(int(y) - reach, 0), min(int(y) + reach + 1, shape[1])):
                for k in range(max(int(z) - reach, 0), min(int(z) + reach + 1, shape[2])):
                    v = (i * shape[1] + j) * shape[2] + k
                    value = planes[v, 0] * x + planes[v, 1] * y + planes[v, 2] * z + planes[v, 3]
                    most[v] = max(most[v], value)
