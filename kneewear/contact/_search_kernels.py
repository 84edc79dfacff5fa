"""Compiled searches for the elements whose distance has to be known.

All end with the same active elements. They differ in what they look at: every element
(`list_all`), those that a lower bound of the distance does not rule out (`list_by_bounds`), or
those and the neighbours of the elements that were active before (`kneewear.contact.search`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import compiled
from kneewear.contact._proximity_kernels import OUTSIDE, find_voxel
from kneewear.contact._record_kernels import (
    CENTRE,
    POINT,
    TILE_DEPTH,
    TILE_NORMAL,
    TILE_NUMBERS,
    TILE_RADIUS,
    Voxels,
    elements_of,
    indices_of,
    rows_of,
    voxels_of,
    work_of,
)


class Mapping(NamedTuple):
    """Map of a point, and one over the edge of a voxel."""

    xx: float
    xy: float
    xz: float
    yx: float
    yy: float
    yz: float
    zx: float
    zy: float
    zz: float
    x: float
    y: float
    z: float
    rate: float


@compiled
def boxes_meet(pair: Any, rotation: NDArray, translation: NDArray) -> bool:
    """Whether the box round the elements and that round the moving surface may overlap.

    Tried are the six directions of their edges.
    """
    apart = False
    for a in range(3):
        # Middle of the elements' box and its reach along axis a of the moving body.
        middle = reach = 0.0
        for b in range(3):
            middle += rotation[b, a] * (pair.middle[b] - translation[b])
            reach += abs(rotation[b, a]) * pair.half[b]
        half = 0.5 * pair.voxel * pair.voxels[a]
        apart |= not abs(middle - pair.origin[a] - half) <= half + reach
    for a in range(3):
        # The same of the moving box along axis a of the fixed body.
        middle, reach = translation[a], 0.0
        for b in range(3):
            half = 0.5 * pair.voxel * pair.voxels[b]
            middle += rotation[a, b] * (pair.origin[b] + half)
            reach += abs(rotation[a, b]) * half
        apart |= not abs(middle - pair.middle[a]) <= pair.half[a] + reach
    return not apart


@compiled
def place_element(
    pair: Any, rotation: NDArray, translation: NDArray, element: int, slot: int
) -> int:
    """Write an element's point in the frame of the moving body to a slot; its voxel or OUTSIDE."""
    elements, work = elements_of(pair), work_of(pair)
    rx = elements[CENTRE, element] - translation[0]
    ry = elements[CENTRE + 1, element] - translation[1]
    rz = elements[CENTRE + 2, element] - translation[2]
    x = rotation[0, 0] * rx + rotation[1, 0] * ry + rotation[2, 0] * rz
    y = rotation[0, 1] * rx + rotation[1, 1] * ry + rotation[2, 1] * rz
    z = rotation[0, 2] * rx + rotation[1, 2] * ry + rotation[2, 2] * rz
    work[POINT, slot], work[POINT + 1, slot], work[POINT + 2, slot] = x, y, z
    return find_voxel(voxels_of(pair), x, y, z)


@compiled
def list_all(pair: Any, rotation: NDArray, translation: NDArray, first: int, last: int) -> int:
    """List all elements first to last that lie in the box round the moving surface."""
    listed, held = indices_of(pair.listed, pair.count), indices_of(pair.held, pair.count)
    slot = first
    for n in range(first, last):
        voxel = place_element(pair, rotation, translation, n, slot)
        if voxel != OUTSIDE:
            listed[slot], held[slot] = n, voxel
            slot += 1
    return slot


@compiled
def into_voxels(pair: Any, rotation: NDArray, translation: NDArray) -> Mapping:
    """Map from the fixed frame into the moving one, counted in voxels from the map's corner."""
    rate = 1.0 / pair.voxel
    r, t, o = rotation, translation, pair.origin
    return Mapping(
        rate * r[0, 0], rate * r[1, 0], rate * r[2, 0],
        rate * r[0, 1], rate * r[1, 1], rate * r[2, 1],
        rate * r[0, 2], rate * r[1, 2], rate * r[2, 2],
        -rate * (r[0, 0] * t[0] + r[1, 0] * t[1] + r[2, 0] * t[2] + o[0]),
        -rate * (r[0, 1] * t[0] + r[1, 1] * t[1] + r[2, 1] * t[2] + o[1]),
        -rate * (r[0, 2] * t[0] + r[1, 2] * t[1] + r[2, 2] * t[2] + o[2]),
        rate,
    )  # fmt: skip


@compiled(inlined=True)
def tile_is_apart(numbers: NDArray, tile: int, way: Mapping, voxels: Voxels) -> bool:
    """Whether a lower bound of the distance rules contact out for a whole tile."""
    x, y, z = numbers[tile, 0], numbers[tile, 1], numbers[tile, 2]
    a = way.xx * x + way.xy * y + way.xz * z + way.x
    b = way.yx * x + way.yy * y + way.yz * z + way.y
    c = way.zx * x + way.zy * y + way.zz * z + way.z
    radius, depth = way.rate * numbers[tile, TILE_RADIUS], way.rate * numbers[tile, TILE_DEPTH]
    # The nearest point of the box, and its voxel, serve a tile that reaches in from outside.
    edge = 1.0 - 1e-9
    near_a = min(max(a, 0.0), voxels.count_x * edge)
    near_b = min(max(b, 0.0), voxels.count_y * edge)
    near_c = min(max(c, 0.0), voxels.count_z * edge)
    away = (a - near_a) ** 2 + (b - near_b) ** 2 + (c - near_c) ** 2
    if not away <= (radius + depth) ** 2:
        return True
    i, j, k = np.uint64(near_a), np.uint64(near_b), np.uint64(near_c)
    voxel = (i * np.uint64(voxels.count_y) + j) * np.uint64(voxels.count_z) + k
    p, q = np.float64(voxels.planes[voxel, 0]), np.float64(voxels.planes[voxel, 1])
    r, s = np.float64(voxels.planes[voxel, 2]), np.float64(voxels.planes[voxel, 3])
    # How far the tile reaches towards the surface: along its normal and along its plane.
    x, y = numbers[tile, TILE_NORMAL], numbers[tile, TILE_NORMAL + 1]
    z = numbers[tile, TILE_NORMAL + 2]
    along = p * (way.xx * x + way.xy * y + way.xz * z)
    along += q * (way.yx * x + way.yy * y + way.yz * z)
    along += r * (way.zx * x + way.zy * y + way.zz * z)
    along = abs(along) / way.rate
    reach = depth * along + radius * np.sqrt(max(p * p + q * q + r * r - along * along, 0.0))
    return p * a + q * b + r * c + s > reach


@compiled(inlined=True)
def element_is_apart(elements: NDArray, element: int, way: Mapping, voxels: Voxels) -> bool:
    """Whether a lower bound of the distance rules contact out for an element."""
    x, y = elements[CENTRE, element], elements[CENTRE + 1, element]
    z = elements[CENTRE + 2, element]
    a = way.xx * x + way.xy * y + way.xz * z + way.x
    b = way.yx * x + way.yy * y + way.yz * z + way.y
    c = way.zx * x + way.zy * y + way.zz * z + way.z
    inside = 0.0 <= a < voxels.count_x and 0.0 <= b < voxels.count_y and 0.0 <= c < voxels.count_z
    if not inside:
        # Let `place_element` decide, whose rounding all searches share.
        return not (-1.0 < a < voxels.count_x + 1.0 and -1.0 < b < voxels.count_y + 1.0)
    i, j, k = np.uint64(a), np.uint64(b), np.uint64(c)
    voxel = (i * np.uint64(voxels.count_y) + j) * np.uint64(voxels.count_z) + k
    bound = a * voxels.planes[voxel, 0] + b * voxels.planes[voxel, 1]
    return bound + c * voxels.planes[voxel, 2] + voxels.planes[voxel, 3] > 0.0


@compiled
def list_by_bounds(
    pair: Any, rotation: NDArray, translation: NDArray, first_tile: int, last_tile: int
) -> int:
    """List the elements of some tiles that lower bounds of their distance leave over."""
    listed, held = indices_of(pair.listed, pair.count), indices_of(pair.held, pair.count)
    tile_first = indices_of(pair.tile_first, pair.tile_count + 1)
    tiles = rows_of(pair.tiles, pair.tile_count, TILE_NUMBERS)
    elements, voxels = elements_of(pair), voxels_of(pair)
    way = into_voxels(pair, rotation, translation)
    slot = tile_first[first_tile]
    for tile in range(first_tile, last_tile):
        if tile_is_apart(tiles, tile, way, voxels):
            continue
        for n in range(tile_first[tile], tile_first[tile + 1]):
            if element_is_apart(elements, n, way, voxels):
                continue
            voxel = place_element(pair, rotation, translation, n, slot)
            if voxel != OUTSIDE:
                listed[slot], held[slot] = n, voxel
                slot += 1
    return slot
