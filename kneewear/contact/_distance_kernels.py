"""Compiled distances of elements: which elements are near, and their projections on the indenter.

A search lists elements in slots of the working arrays, each chunk from its own first slot on. All
searches end with the same active elements, each with its point and normal in the frame of the
moving body and the projection of the point: signed distance, its gradient (3) and its second
derivatives xx, yy, zz, xy, xz, yz.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.base.compilation import compiled
from kneewear.geometry._distance_kernels import (
    PROJECTION_VALUES,
    TABLED,
    UNTABLED,
    look_up_distances,
    look_up_projections,
)
from kneewear.geometry._kernels import (
    BORDER,
    FAILED,
    INTERIOR,
    OPEN,
    End,
    PatchArrays,
    Point,
    area_vector,
    closest_point,
    evaluate,
    fill_edge,
    fill_projection,
    fill_tip,
    meet_line,
    minimize_distance,
    offset,
    project,
    unit_normal,
)

MINIMUM_DISTANCE = 0
RAY = 1
ALL = 0
BOUNDS = 1
BREADTH_FIRST = 2
OUTSIDE = -1
UNTRIED = 0
TRIED = 1
ACTIVE = 2

# Smallest cosine between an element's normal and the line of minimum distance at which the element
# faces the indenter: 84 deg, so that side faces of a part pressed straight down never do.
MIN_FACING = 0.1
# Borders of patches of one body join across gaps up to this, mm.
JOINT = 1e-3
# Distance behind the surface at which a ray across several patches ends, mm, and its steps.
RAY_END = 1e-8
RAY_STEPS = 30
# Distance from which on an element is apart for certain, mm: many times what two ways to sum one
# spline differ by.
APART = 1e-9


class Voxels(NamedTuple):
    """Map of the space around a surface, see `Proximity`."""

    planes: NDArray[np.float32]
    starts: NDArray[np.float32]  # of each patch in turn
    origin_x: float
    origin_y: float
    origin_z: float
    size: float
    count_x: int
    count_y: int
    count_z: int


class ElementArrays(NamedTuple):
    """Elements in the order of their tiles, one column per element."""

    centre: NDArray[np.float64]  # (3, n)
    normal: NDArray[np.float64]  # (3, n)
    area: NDArray[np.float64]
    tangent_row: NDArray[np.float64]  # (3, n)
    tangent_column: NDArray[np.float64]  # (3, n)
    order: NDArray[np.int64]  # number of each among the valid elements
    neighbours: NDArray[np.int64]  # (n, 8), -1 where there is none
    box_middle: NDArray[np.float64]  # (3,), of the box around all elements
    box_half: NDArray[np.float64]  # (3,)


class TileArrays(NamedTuple):
    """Tiles of elements, and chunks of tiles."""

    centre: NDArray[np.float64]  # (n, 3)
    normal: NDArray[np.float64]  # (n, 3)
    radius: NDArray[np.float64]  # along the plane of the tile
    depth: NDArray[np.float64]  # half thickness
    first: NDArray[np.int64]  # (n + 1,), first element of each
    chunk_first: NDArray[np.int64]  # (n_chunks + 1,), first tile of each chunk


class WorkArrays(NamedTuple):
    """Working arrays of a pair, one slot per listed element."""

    point: NDArray[np.float64]  # (3, n), in the frame of the moving body
    normal: NDArray[np.float64]  # (3, n), of the element in that frame
    projection: NDArray[np.float64]  # (10, n)
    cell: NDArray[np.float64]  # (4, n), cell of the distance table
    state: NDArray[np.int64]  # whether the distance table has values
    normal_force: NDArray[np.float64]  # pressure times area
    rate: NDArray[np.float64]  # derivative of the normal_force over the penetration
    listed: NDArray[np.int64]  # element of each slot
    voxel: NDArray[np.int64]  # voxel of its point
    mark: NDArray[np.uint8]  # progress of a breadth-first search, one per element
    previous: NDArray[np.int64]  # active elements of the last breadth-first search
    previous_count: NDArray[np.int64]  # (1,)
    sums: NDArray[np.void]  # SUMS of each chunk
    outcome: NDArray[np.void]  # OUTCOME of each slot


class AffineTransform(NamedTuple):
    """Map from the fixed frame into the moving one, counted in voxels from the map's corner."""

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
    rate: float  # one over the edge of a voxel


@compiled
def boxes_meet(pair: Any, rotation: NDArray, translation: NDArray) -> bool:
    """True if the box around the elements and that around the moving surface may overlap.

    Tested along the six directions of their edges.
    """
    voxels, elements = pair.voxels, pair.elements
    corner = (voxels.origin_x, voxels.origin_y, voxels.origin_z)
    count = (voxels.count_x, voxels.count_y, voxels.count_z)
    apart = False
    for a in range(3):
        # Middle of the elements' box and its reach along axis a of the moving body.
        middle = reach = 0.0
        for b in range(3):
            middle += rotation[b, a] * (elements.box_middle[b] - translation[b])
            reach += abs(rotation[b, a]) * elements.box_half[b]
        half = 0.5 * voxels.size * count[a]
        apart |= not abs(middle - corner[a] - half) <= half + reach
    for a in range(3):
        # The same of the moving box along axis a of the fixed body.
        middle, reach = translation[a], 0.0
        for b in range(3):
            half = 0.5 * voxels.size * count[b]
            middle += rotation[a, b] * (corner[b] + half)
            reach += abs(rotation[a, b]) * half
        apart |= not abs(middle - elements.box_middle[a]) <= elements.box_half[a] + reach
    return not apart


@compiled
def locate_listed(pair: Any, rotation: NDArray, translation: NDArray, first: int, last: int) -> int:
    """Points of listed elements and their voxels; returns the end of those that may touch.

    Dropped are elements outside the map and, except in a search of all, those that a lower bound of
    the distance excludes.
    """
    voxels, work = pair.voxels, pair.work
    centre, planes = pair.elements.centre, voxels.planes
    point, listed, held = work.point, work.listed, work.voxel
    bounded = pair.options.search != ALL
    slot = first
    for n in range(first, last):
        element = listed[n]
        rx = centre[0, element] - translation[0]
        ry = centre[1, element] - translation[1]
        rz = centre[2, element] - translation[2]
        x = rotation[0, 0] * rx + rotation[1, 0] * ry + rotation[2, 0] * rz
        y = rotation[0, 1] * rx + rotation[1, 1] * ry + rotation[2, 1] * rz
        z = rotation[0, 2] * rx + rotation[1, 2] * ry + rotation[2, 2] * rz
        a = (x - voxels.origin_x) / voxels.size
        b = (y - voxels.origin_y) / voxels.size
        c = (z - voxels.origin_z) / voxels.size
        if 0.0 <= a < voxels.count_x and 0.0 <= b < voxels.count_y and 0.0 <= c < voxels.count_z:
            voxel = (int(a) * voxels.count_y + int(b)) * voxels.count_z + int(c)
            bound = a * planes[voxel, 0] + b * planes[voxel, 1] + c * planes[voxel, 2]
            if not (bounded and bound + planes[voxel, 3] > 0.0):
                point[0, slot], point[1, slot], point[2, slot] = x, y, z
                listed[slot], held[slot] = element, voxel
                slot += 1
    return slot


@compiled(inlined=True)
def into_voxels(voxels: Voxels, rotation: NDArray, translation: NDArray) -> AffineTransform:
    """Transform of a pose."""
    rate = 1.0 / voxels.size
    r, t = rotation, translation
    return AffineTransform(
        rate * r[0, 0],
        rate * r[1, 0],
        rate * r[2, 0],
        rate * r[0, 1],
        rate * r[1, 1],
        rate * r[2, 1],
        rate * r[0, 2],
        rate * r[1, 2],
        rate * r[2, 2],
        -rate * (r[0, 0] * t[0] + r[1, 0] * t[1] + r[2, 0] * t[2] + voxels.origin_x),
        -rate * (r[0, 1] * t[0] + r[1, 1] * t[1] + r[2, 1] * t[2] + voxels.origin_y),
        -rate * (r[0, 2] * t[0] + r[1, 2] * t[1] + r[2, 2] * t[2] + voxels.origin_z),
        rate,
    )


@compiled(inlined=True)
def tile_is_apart(tiles: TileArrays, tile: int, way: AffineTransform, voxels: Voxels) -> bool:
    """True if a lower bound of the distance excludes contact of a whole tile."""
    x, y, z = tiles.centre[tile, 0], tiles.centre[tile, 1], tiles.centre[tile, 2]
    a = way.xx * x + way.xy * y + way.xz * z + way.x
    b = way.yx * x + way.yy * y + way.yz * z + way.y
    c = way.zx * x + way.zy * y + way.zz * z + way.z
    radius, depth = way.rate * tiles.radius[tile], way.rate * tiles.depth[tile]
    # A tile that reaches in from outside takes the nearest point of the box, and its voxel.
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
    x, y, z = tiles.normal[tile, 0], tiles.normal[tile, 1], tiles.normal[tile, 2]
    along = p * (way.xx * x + way.xy * y + way.xz * z)
    along += q * (way.yx * x + way.yy * y + way.yz * z)
    along += r * (way.zx * x + way.zy * y + way.zz * z)
    along = abs(along) / way.rate
    reach = depth * along + radius * np.sqrt(max(p * p + q * q + r * r - along * along, 0.0))
    return p * a + q * b + r * c + s > reach


@compiled(inlined=True)
def is_beyond(voxels: Voxels, voxel: int, x: float, y: float, z: float) -> bool:
    """True if a lower bound of the distance shows a point in a voxel to be apart."""
    rate = 1.0 / voxels.size
    bound = rate * (x - voxels.origin_x) * voxels.planes[voxel, 0]
    bound += rate * (y - voxels.origin_y) * voxels.planes[voxel, 1]
    bound += rate * (z - voxels.origin_z) * voxels.planes[voxel, 2]
    return bound + voxels.planes[voxel, 3] > 0.0


@compiled
def list_tiles(pair: Any, rotation: NDArray, translation: NDArray, chunk: int) -> int:
    """List the elements of a chunk's tiles that lower bounds of their distance do not exclude."""
    tiles, voxels = pair.tiles, pair.voxels
    listed = pair.work.listed
    way = into_voxels(voxels, rotation, translation)
    slot = tiles.first[tiles.chunk_first[chunk]]
    for tile in range(tiles.chunk_first[chunk], tiles.chunk_first[chunk + 1]):
        if not tile_is_apart(tiles, tile, way, voxels):
            for element in range(tiles.first[tile], tiles.first[tile + 1]):
                listed[slot] = element
                slot += 1
    return slot


@compiled
def drop_apart(pair: Any, first: int, last: int) -> int:
    """Drop listed elements that the distance table alone shows to be apart; returns the new end.

    Of points the table has no values for, those stay that lower bounds do not exclude.
    """
    voxels, work = pair.voxels, pair.work
    point, distance = work.point, work.projection
    look_up_distances(pair.table, point, first, last, work.cell, work.state, distance)
    slot = first
    for n in range(first, last):
        if work.state[n] == UNTABLED:
            stays = not is_beyond(voxels, work.voxel[n], point[0, n], point[1, n], point[2, n])
        else:
            stays = work.state[n] == TABLED and distance[0, n] < APART
        if stays:
            work.listed[slot], work.voxel[slot] = work.listed[n], work.voxel[n]
            for a in range(3):
                point[a, slot] = point[a, n]
            slot += 1
    return slot


@compiled
def search_chunk(
    pair: Any, project: Any, rotation: NDArray, translation: NDArray, chunk: int
) -> None:
    """Find the active elements of a chunk, and their projections; counts them and those tried.

    `project` computes projections of listed elements on the surface, as `project_listed`.
    """
    tiles, listed = pair.tiles, pair.work.listed
    first = tiles.first[tiles.chunk_first[chunk]]
    last = tiles.first[tiles.chunk_first[chunk + 1]]
    if pair.options.search == ALL:
        for element in range(first, last):
            listed[element] = element
    else:
        last = list_tiles(pair, rotation, translation, chunk)
    last = locate_listed(pair, rotation, translation, first, last)
    evaluated = last - first
    if pair.options.search == ALL and pair.options.tabled:
        last = drop_apart(pair, first, last)
    find_projections(pair, project, rotation, first, last)
    last = keep_active(pair, first, last)
    sums = pair.work.sums
    sums[chunk].evaluated, sums[chunk].active = evaluated, last - first


@compiled
def spread_from_active(pair: Any, project: Any, rotation: NDArray, translation: NDArray) -> None:
    """Find the active elements of a pair, starting from those of the last search.

    These are tried; the neighbours of those still active follow, ring by ring, until a ring has no
    active element. New regions are then searched among the rest: lower bounds of the distance
    exclude most of it, and what they leave is tried too.
    """
    mark, listed, neighbours = pair.work.mark, pair.work.listed, pair.elements.neighbours
    previous, projection = pair.work.previous, pair.work.projection
    mark[:] = UNTRIED
    count = pair.work.previous_count[0]
    for n in range(count):
        mark[previous[n]], listed[n] = TRIED, previous[n]
    head = np.int64(0)
    tail = locate_listed(pair, rotation, translation, head, count)
    while tail > head:
        find_projections(pair, project, rotation, head, tail)
        ring = tail
        for slot in range(head, ring):
            if projection[0, slot] < 0.0:
                for direction in range(neighbours.shape[1]):
                    beside = neighbours[listed[slot], direction]
                    if beside >= 0 and mark[beside] == UNTRIED:
                        mark[beside], listed[tail] = TRIED, beside
                        tail += 1
        head, tail = ring, locate_listed(pair, rotation, translation, ring, tail)
    tail = list_untried(pair, rotation, translation, tail)
    tail = locate_listed(pair, rotation, translation, head, tail)
    find_projections(pair, project, rotation, head, tail)
    sort_active(pair, tail)


@compiled
def list_untried(pair: Any, rotation: NDArray, translation: NDArray, slot: int) -> int:
    """List the untried elements of the tiles that lower bounds of their distance do not exclude."""
    tiles, voxels, listed, mark = pair.tiles, pair.voxels, pair.work.listed, pair.work.mark
    way = into_voxels(voxels, rotation, translation)
    for tile in range(tiles.radius.size):
        if not tile_is_apart(tiles, tile, way, voxels):
            for element in range(tiles.first[tile], tiles.first[tile + 1]):
                if mark[element] == UNTRIED:
                    listed[slot] = element
                    slot += 1
    return slot


@compiled
def sort_active(pair: Any, tried: int) -> None:
    """Move the active elements among the tried to the slots that other searches give them."""
    work, tiles = pair.work, pair.tiles
    slot_of = work.state
    for slot in range(tried):
        if work.projection[0, slot] < 0.0:
            work.mark[work.listed[slot]], slot_of[work.listed[slot]] = ACTIVE, slot
    source, target = np.empty(tried, dtype=np.int64), np.empty(tried, dtype=np.int64)
    count = 0
    for chunk in range(work.sums.size):
        first = tiles.first[tiles.chunk_first[chunk]]
        slot = first
        for element in range(first, tiles.first[tiles.chunk_first[chunk + 1]]):
            if work.mark[element] == ACTIVE:
                source[count], target[count] = slot_of[element], slot
                work.previous[count] = element
                slot += 1
                count += 1
        work.sums[chunk].active = slot - first
        work.sums[chunk].evaluated = tried if chunk == 0 else 0
    values = np.empty(tried)
    for rows in (work.point, work.normal, work.projection):
        for row in range(rows.shape[0]):
            for n in range(count):
                values[n] = rows[row, source[n]]
            for n in range(count):
                rows[row, target[n]] = values[n]
    for n in range(count):
        work.listed[target[n]] = work.previous[n]
    work.previous_count[0] = count


@compiled
def find_projections(pair: Any, project: Any, rotation: NDArray, first: int, last: int) -> None:
    """Projections of the listed elements, and their normals in the moving frame.

    From the table, on the surface or along the element normals. The distance is infinite where
    there is no projection and where the element does not face the indenter.
    """
    work = pair.work
    state, projection = work.state, work.projection
    if pair.options.tabled:
        look_up_projections(pair.table, work.point, first, last, work.cell, state, projection)
        for n in range(first, last):
            if state[n] == UNTABLED:
                project(pair, rotation, n, n + 1)
            elif state[n] != TABLED:
                projection[0, n] = np.inf
    else:
        project(pair, rotation, first, last)
    face_indenter(pair, rotation, first, last)


@compiled
def project_listed(pair: Any, rotation: NDArray, first: int, last: int) -> None:
    """Projections of the listed elements on the surface itself."""
    patch, voxels = pair.patch, pair.voxels
    fires_rays, several = pair.options.method == RAY, pair.options.several
    point, held, projections = pair.work.point, pair.work.voxel, pair.work.projection
    found, room = np.empty(PROJECTION_VALUES), np.empty((6, 4))
    for n in range(first, last):
        here = (point[0, n], point[1, n], point[2, n])
        if several:
            u, v, status = project_on_all(pair, held[n], here, found, room)
        else:
            u, v, status = project_near(patch, voxels, held[n], np.int64(0), here, found, room)
        if fires_rays and status == INTERIOR and found[0] < 0.0:
            fire_ray(pair, rotation, n, u, v, found, room)
        projections[0, n] = found[0] if status == INTERIOR else np.inf
        for a in range(1, PROJECTION_VALUES):
            projections[a, n] = found[a]


@compiled
def project_open(pair: Any, rotation: NDArray, first: int, last: int) -> None:
    """Projections as of `project_listed` where the surface is one open patch and fires no rays."""
    patch, voxels = pair.patch, pair.voxels
    point, held, projections = pair.work.point, pair.work.voxel, pair.work.projection
    found, room = np.empty(PROJECTION_VALUES), np.empty((6, 4))
    for n in range(first, last):
        here = (point[0, n], point[1, n], point[2, n])
        status = project_near_open(patch, voxels, held[n], here, found, room)[2]
        projections[0, n] = found[0] if status == INTERIOR else np.inf
        for a in range(1, PROJECTION_VALUES):
            projections[a, n] = found[a]


@compiled
def project_near_open(
    patch: PatchArrays, voxels: Voxels, voxel: int, point: Point, found: NDArray, room: NDArray
) -> End:
    """Projection of a point as `project_near` on one open patch."""
    first_u, first_v, u, v = start_near(voxels, voxel, np.int64(0), point)
    u, v, status = project(patch, point, u, v, found, room)
    if status == INTERIOR:
        return u, v, status
    u = min(max(first_u, patch.breaks_u[0]), patch.breaks_u[-1])
    v = min(max(first_v, patch.breaks_v[0]), patch.breaks_v[-1])
    near_u, near_v, status = minimize_distance(patch, point, u, v, found, room)
    if status != FAILED:
        return near_u, near_v, status
    return settle_at(patch, point, u, v, found, room)


@compiled
def project_near(
    patch: PatchArrays,
    voxels: Voxels,
    voxel: int,
    number: int,
    point: Point,
    found: NDArray,
    room: NDArray,
) -> End:
    """Projection of a point on patch `number`, from the start its voxel stores.

    Returns u, v and a status, never FAILED.

    Deep inside a body, near centres of curvature, a search may not converge. The nearest point of
    the voxel's middle is taken then: a border, or a projection at the point's own distance from it.
    """
    first_u, first_v, u, v = start_near(voxels, voxel, number, point)
    u, v, status = project(patch, point, u, v, found, room)
    if status == INTERIOR:
        return u, v, status
    u = min(max(first_u, patch.breaks_u[0]), patch.breaks_u[-1])
    v = min(max(first_v, patch.breaks_v[0]), patch.breaks_v[-1])
    near_u, near_v, status = closest_point(patch, point, u, v, found, room)
    if status != FAILED:
        return near_u, near_v, status
    if patch.closed != OPEN:
        u, v = near_u, near_v
    return settle_at(patch, point, u, v, found, room)


@compiled(inlined=True)
def start_near(
    voxels: Voxels, voxel: int, number: int, point: Point
) -> tuple[float, float, float, float]:
    """Parameters nearest the middle of a voxel, and nearest a point in it to first order."""
    starts = voxels.starts
    low = voxel // voxels.count_z
    k, j, i = voxel - low * voxels.count_z, low % voxels.count_y, low // voxels.count_y
    away_x = point[0] - (voxels.origin_x + (i + 0.5) * voxels.size)
    away_y = point[1] - (voxels.origin_y + (j + 0.5) * voxels.size)
    away_z = point[2] - (voxels.origin_z + (k + 0.5) * voxels.size)
    row = voxel + number * voxels.planes.shape[0]
    first_u, first_v = np.float64(starts[row, 0]), np.float64(starts[row, 1])
    u = first_u + starts[row, 2] * away_x + starts[row, 3] * away_y
    u += starts[row, 4] * away_z
    v = first_v + starts[row, 5] * away_x + starts[row, 6] * away_y
    v += starts[row, 7] * away_z
    return first_u, first_v, u, v


@compiled
def settle_at(
    patch: PatchArrays, point: Point, u: float, v: float, found: NDArray, room: NDArray
) -> End:
    """Take (u, v) for the nearest point of a point whose search did not converge."""
    inside_u = patch.breaks_u[0] < u < patch.breaks_u[-1]
    if not (inside_u and patch.breaks_v[0] < v < patch.breaks_v[-1]):
        return u, v, BORDER
    fill_from_start(patch, point, u, v, found, room)
    return u, v, INTERIOR


@compiled
def fill_from_start(
    patch: PatchArrays, point: Point, u: float, v: float, found: NDArray, room: NDArray
) -> None:
    """Fill `found` as if (u, v) were the projection of an inner point; apart if it is not."""
    evaluate(patch, u, v, room)
    rx, ry, rz = room[0, 0] - point[0], room[0, 1] - point[1], room[0, 2] - point[2]
    nx, ny, nz = area_vector(room)
    length = np.sqrt(rx * rx + ry * ry + rz * rz)
    found[:] = 0.0
    if length > 0.0 and rx * nx + ry * ny + rz * nz > 0.0:
        found[0], found[1], found[2], found[3] = -length, rx / length, ry / length, rz / length


@compiled
def project_on_all(pair: Any, voxel: int, point: Point, found: NDArray, room: NDArray) -> End:
    """Projection of a point on the nearest of several patches, as `project_near`.

    Borders that meet at the nearest point are an edge of the body, a single border is its end.
    """
    state, least, feet, is_end, row = BORDER, np.inf, 0, False, 1
    tried, outward, edge = np.empty(PROJECTION_VALUES), np.zeros(3), np.empty((6, 4))
    for number in range(len(pair.others) + 1):
        patch = pair.patch if number == 0 else pair.others[number - 1]
        u, v, status = project_near(patch, pair.voxels, voxel, number, point, tried, room)
        if status == INTERIOR:
            if abs(tried[0]) < least + (JOINT if state == BORDER else 0.0):
                state, least, found[:] = INTERIOR, abs(tried[0]), tried
            continue
        evaluate(patch, u, v, room)
        length = np.sqrt((offset(point, room) ** 2).sum())
        if length < least - JOINT:
            state, least, feet, outward[:] = BORDER, length, 0, 0.0
        elif state == INTERIOR or not ((room[0, :3] - edge[0, :3]) ** 2).sum() < JOINT * JOINT:
            continue
        feet += 1
        outward += np.array(unit_normal(room))
        at_u = u <= patch.breaks_u[0] or u >= patch.breaks_u[-1]
        at_v = v <= patch.breaks_v[0] or v >= patch.breaks_v[-1]
        if feet == 1 or (is_end and not (at_u and at_v)):
            edge[:], row, is_end = room, 2 if at_u else 1, at_u and at_v
    if state == BORDER and is_end and feet > 2:
        fill_tip(offset(point, edge), outward, found)
        state = INTERIOR
    elif state == BORDER and feet > 1 and not is_end:
        r = offset(point, edge)
        state = INTERIOR if fill_edge(edge, r, row, outward, found) else BORDER
    return 0.0, 0.0, state


@compiled
def fire_ray(
    pair: Any, rotation: NDArray, slot: int, u: float, v: float, found: NDArray, room: NDArray
) -> None:
    """Fill `found` with length, normal and curvature where the element's normal meets the surface.

    The length along the outward normal is negative inside the body; inf where the line misses.
    """
    element, point, normal = pair.work.listed[slot], pair.work.point, pair.elements.normal
    origin, line = np.empty(3), np.empty(3)
    for a in range(3):
        origin[a], line[a] = point[a, slot], 0.0
        for b in range(3):
            line[a] += rotation[b, a] * normal[b, element]
    if pair.options.several or pair.patch.closed != OPEN:
        trace_ray(pair, pair.work.voxel[slot], origin, line, found, room)
        return
    u, v, length = meet_line(pair.patch, origin, line, u, v, room)
    found[0] = np.inf
    if length < 0.0:
        fill_projection(room, 0.0, unit_normal(room), 0.0, 0.0, found)
        found[0] = length


@compiled
def trace_ray(
    pair: Any, voxel: int, origin: NDArray, line: NDArray, found: NDArray, room: NDArray
) -> None:
    """Fill `found` as `fire_ray` by Newton steps on the distance along the line.

    Unlike parameters, the distance has no seams and poles. `found` has that of the origin.
    """
    length, slope = 0.0, -1.0
    for _ in range(RAY_STEPS):
        # Of a point outside, the distance alone is known.
        if found[0] < 0.0:
            slope = (found[1:4] * line).sum()
            # Along a surface that it does not meet, the ray goes as far as is free for certain.
            slope = slope if slope < -0.5 * MIN_FACING else -1.0
        if abs(found[0] + RAY_END) < 0.5 * RAY_END:
            found[0] = length - found[0] / slope
            return
        length -= (found[0] + RAY_END) / slope
        end = origin + length * line
        here = (end[0], end[1], end[2])
        if pair.options.several:
            _, _, status = project_on_all(pair, voxel, here, found, room)
        else:
            _, _, status = project_near(
                pair.patch, pair.voxels, voxel, np.int64(0), here, found, room
            )
        if status != INTERIOR:
            break
    found[0] = np.inf


@compiled
def face_indenter(pair: Any, rotation: NDArray, first: int, last: int) -> None:
    """Normals of listed elements in the moving frame; those that do not face it count as apart."""
    work, normal = pair.work, pair.elements.normal
    projection = work.projection
    for n in range(first, last):
        if not projection[0, n] < 0.0:
            continue
        element = work.listed[n]
        ex, ey, ez = normal[0, element], normal[1, element], normal[2, element]
        nx = rotation[0, 0] * ex + rotation[1, 0] * ey + rotation[2, 0] * ez
        ny = rotation[0, 1] * ex + rotation[1, 1] * ey + rotation[2, 1] * ez
        nz = rotation[0, 2] * ex + rotation[1, 2] * ey + rotation[2, 2] * ez
        work.normal[0, n], work.normal[1, n], work.normal[2, n] = nx, ny, nz
        facing = nx * projection[1, n]
        facing += ny * projection[2, n] + nz * projection[3, n]
        if not -facing > MIN_FACING:
            projection[0, n] = np.inf


@compiled
def keep_active(pair: Any, first: int, last: int) -> int:
    """Move the elements that penetrate to the front; returns the new end."""
    work = pair.work
    point, normal, projection, listed = work.point, work.normal, work.projection, work.listed
    slot = first
    for n in range(first, last):
        if projection[0, n] < 0.0:
            if n != slot:
                for a in range(3):
                    point[a, slot] = point[a, n]
                    normal[a, slot] = normal[a, n]
                for a in range(PROJECTION_VALUES):
                    projection[a, slot] = projection[a, n]
                listed[slot] = listed[n]
            slot += 1
    return slot


@compiled
def nearest_of_blocks(
    nodes: NDArray,
    of_block: NDArray,
    origin: NDArray,
    size: float,
    shape: tuple[int, int, int],
    chosen: NDArray,
) -> None:
    """Node nearest the middle of every voxel, of those nearest the eight blocks around it."""
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
                    dx, dy, dz = nodes[node, 0] - x, nodes[node, 1] - y, nodes[node, 2] - z
                    distance = dx * dx + dy * dy + dz * dz
                    if distance < least:
                        least, nearest = distance, node
                chosen[(i * shape[1] + j) * shape[2] + k] = nearest


@compiled
def largest_bounds(
    planes: NDArray, points: NDArray, shape: tuple[int, int, int], reach: int, largest: NDArray
) -> None:
    """Raise `largest` to the value that each voxel's bound has at the points near it.

    Points are counted in voxels; all voxels up to `reach` away in each direction are near a point.
    """
    for n in range(points.shape[0]):
        x, y, z = points[n, 0], points[n, 1], points[n, 2]
        for i in range(max(int(x) - reach, 0), min(int(x) + reach + 1, shape[0])):
            for j in range(max(int(y) - reach, 0), min(int(y) + reach + 1, shape[1])):
                for k in range(max(int(z) - reach, 0), min(int(z) + reach + 1, shape[2])):
                    v = (i * shape[1] + j) * shape[2] + k
                    value = planes[v, 0] * x + planes[v, 1] * y + planes[v, 2] * z + planes[v, 3]
                    largest[v] = max(largest[v], value)
