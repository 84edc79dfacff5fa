"""Compiled shortest paths around cylinders, spheres and ellipsoids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kneewear.base.compilation import compiled

CYLINDER, SPHERE, ELLIPSOID = range(3)
# What was found: paths of the first two are valid.
STRAIGHT, WRAPPED, INSIDE, WRONG_SIDE, NOT_CONVERGED = range(5)

MAX_ITERATIONS = 40
# Largest sine between a straight part and the surface, or the geodesic, at the tangent points.
TANGENCY = 1e-12
# Largest turn of a geodesic in one integration step, rad: lengths err by less than 1e-8.
TURN = 0.07
# Longest Newton step, rad and parts of the smallest semi-axis.
MAX_STEP = 0.2
# Longest geodesic tried, in largest semi-axes.
MAX_GEODESIC = 12.0
# Chain that replaces a start from which Newton's method did not converge.
NODES = 32
SWEEPS = 400
# Plane sections from which the shortest path around an ellipsoid is sought, and how much longer
# than the shortest one a section may be to be refined, too.
DIRECTIONS = 12
WORTH_TRYING = 1.1
# A path beside a cylinder winds at most by this before it counts as passing on the other side.
MAX_TURNED = 1.5 * np.pi


@compiled
def around_obstacle(
    kind: int,
    size: NDArray,
    side: NDArray,
    start: NDArray,
    end: NDArray,
    points: NDArray,
    pulls: NDArray,
) -> tuple[int, float]:
    """Status and length of the path in the frame of the wrap object.

    `points` and `pulls` (2, 3) become the tangent points and the unit vectors along which the
    tension acts on the bodies at either end.
    """
    if kind == CYLINDER:
        status, bent = _around_cylinder(size[0], side, start, end, points)
    elif kind == SPHERE:
        status, bent = _around_sphere(size[0], side, start, end, points)
    else:
        status, bent = _around_ellipsoid(size, side, start, end, points)
    if status in (STRAIGHT, INSIDE):
        points[0], points[1] = start, end
        length = _aim(start, end, pulls[0])
        pulls[1] = -pulls[0]
        return status, length
    return status, _aim(start, points[0], pulls[0]) + bent + _aim(end, points[1], pulls[1])


@compiled
def placed_path(
    kind: int,
    size: NDArray,
    side: NDArray,
    rotation: NDArray,
    origin: NDArray,
    start: NDArray,
    end: NDArray,
    points: NDArray,
    pulls: NDArray,
) -> tuple[int, float]:
    """`around_obstacle` in another frame, in which the wrap object has a rotation and an origin."""
    first, last = np.zeros(3), np.zeros(3)
    for i in range(3):
        for j in range(3):
            first[i] += rotation[j, i] * (start[j] - origin[j])
            last[i] += rotation[j, i] * (end[j] - origin[j])
    local = np.empty((2, 3)), np.empty((2, 3))
    status, length = around_obstacle(kind, size, side, first, last, local[0], local[1])
    for n in range(2):
        for i in range(3):
            points[n, i], pulls[n, i] = origin[i], 0.0
            for j in range(3):
                points[n, i] += rotation[i, j] * local[0][n, j]
                pulls[n, i] += rotation[i, j] * local[1][n, j]
    return status, length


@compiled
def _aim(start: NDArray, end: NDArray, direction: NDArray) -> float:
    """Distance, and the unit direction from start to end (zero where they coincide)."""
    distance = np.sqrt(((end - start) ** 2).sum())
    for i in range(3):
        direction[i] = (end[i] - start[i]) / distance if distance > 0.0 else 0.0
    return distance


@compiled
def _around_cylinder(
    radius: float, side: NDArray, start: NDArray, end: NDArray, points: NDArray
) -> tuple[int, float]:
    """Path around an endless cylinder about z: a helix between two tangents."""
    status, sense, first, arc = _around_circle(
        radius, start[0], start[1], end[0], end[1], side[0], side[1]
    )
    if arc <= 0.0:
        points[0], points[1] = start, end
        return status, 0.0
    before = np.sqrt(start[0] ** 2 + start[1] ** 2 - radius**2)
    after = np.sqrt(end[0] ** 2 + end[1] ** 2 - radius**2)
    rise = (end[2] - start[2]) / (before + radius * arc + after)
    last = first + sense * arc
    points[0, 0], points[0, 1] = radius * np.cos(first), radius * np.sin(first)
    points[1, 0], points[1, 1] = radius * np.cos(last), radius * np.sin(last)
    points[0, 2] = start[2] + rise * before
    points[1, 2] = end[2] - rise * after
    return status, radius * arc * np.sqrt(1.0 + rise**2)


@compiled
def _around_circle(
    radius: float, ax: float, ay: float, bx: float, by: float, sx: float, sy: float
) -> tuple[int, float, float, float]:
    """Status, sense of winding, angle of the first tangent point, and arc, in a plane."""
    a, b = np.hypot(ax, ay), np.hypot(bx, by)
    if a <= radius or b <= radius:
        return INSIDE, 1.0, 0.0, -1.0
    turn = np.arctan2(ax * by - ay * bx, ax * bx + ay * by)
    sense = 1.0 if turn >= 0.0 else -1.0
    sided = sx != 0.0 or sy != 0.0
    if sided:
        sense = 1.0 if sx * (by - ay) - sy * (bx - ax) >= 0.0 else -1.0
    swept = sense * turn
    if swept < MAX_TURNED - 2.0 * np.pi:
        swept += 2.0 * np.pi
    lead, trail = np.arccos(radius / a), np.arccos(radius / b)
    arc = swept - lead - trail
    first = np.arctan2(ay, ax) + sense * lead
    if arc <= 0.0:
        return (WRONG_SIDE if -swept > lead + trail else STRAIGHT), sense, first, arc
    middle = first + 0.5 * sense * arc
    if sided and sx * np.cos(middle) + sy * np.sin(middle) < 0.0:
        return WRONG_SIDE, sense, first, arc
    return WRAPPED, sense, first, arc


@compiled
def _around_sphere(
    radius: float, side: NDArray, start: NDArray, end: NDArray, points: NDArray
) -> tuple[int, float]:
    """Path in the plane of the ends and the centre: the only shortest one."""
    a, b = np.sqrt((start**2).sum()), np.sqrt((end**2).sum())
    if a <= radius or b <= radius:
        return INSIDE, 0.0
    axis = np.cross(start, end)
    turn = np.arctan2(np.sqrt((axis**2).sum()), (start * end).sum())
    lead, trail = np.arccos(radius / a), np.arccos(radius / b)
    arc = turn - lead - trail
    if arc <= 0.0:
        return STRAIGHT, 0.0
    if (axis**2).sum() < 1e-24 * (a * b) ** 2:  # a line through the centre
        axis = np.cross(start, _across(start, side))
    along = start / a
    across = np.cross(axis, along)
    across /= np.sqrt((across**2).sum())
    last = turn - trail
    middle = 0.5 * (lead + last)
    for i in range(3):
        points[0, i] = radius * (np.cos(lead) * along[i] + np.sin(lead) * across[i])
        points[1, i] = radius * (np.cos(last) * along[i] + np.sin(last) * across[i])
    toward = ((np.cos(middle) * along + np.sin(middle) * across) * side).sum()
    return (WRONG_SIDE if toward < 0.0 else WRAPPED), radius * arc


@compiled
def _across(line: NDArray, side: NDArray) -> NDArray:
    """Unit vector normal to a line, towards a side; without one, any."""
    unit = line / np.sqrt((line**2).sum())
    across = side - (side * unit).sum() * unit
    if (across**2).sum() <= 1e-24 * max((side**2).sum(), 1e-300):
        across = np.zeros(3)
        across[np.argmin(np.abs(unit))] = 1.0
        across -= (across * unit).sum() * unit
    return across / np.sqrt((across**2).sum())


@compiled
def _around_ellipsoid(
    size: NDArray, side: NDArray, start: NDArray, end: NDArray, points: NDArray
) -> tuple[int, float]:
    """Geodesic that continues both straight parts, by Newton's method from plane sections.

    With a side it is the one found from the section towards it, else the shortest one: of sections
    through both ends, the shortest ones compared with their neighbours are refined.
    """
    if ((start / size) ** 2).sum() <= 1.0 or ((end / size) ** 2).sum() <= 1.0:
        return INSIDE, 0.0
    a, line = start / size, (end - start) / size
    nearest = a - min(max((a * line).sum() / (line**2).sum(), -1.0), 0.0) * line
    if (nearest**2).sum() >= 1.0:
        return STRAIGHT, 0.0
    if (side**2).sum() > 0.0:
        status, bent = _from_section(size, _across(line, side / size), start, end, points)
        if status == WRAPPED:
            there, onward, spread = np.empty(3), np.empty(3), np.empty(4)
            _aim(start, points[0], onward)
            follow_geodesic(size, points[0], onward.copy(), 0.5 * bent, there, onward, spread)
            status = WRAPPED if (there * side).sum() >= 0.0 else WRONG_SIDE
        return status, bent
    towards = np.empty((DIRECTIONS, 3))
    sections, lengths = np.empty(DIRECTIONS), np.empty(2)
    one = _across(line, nearest)
    other = np.cross(line, one) / np.sqrt((line**2).sum())
    here, along = np.empty(3), np.empty(3)
    for n in range(DIRECTIONS):
        angle = 2.0 * np.pi * n / DIRECTIONS
        towards[n] = np.cos(angle) * one + np.sin(angle) * other
        _plane_section(size, towards[n], start, end, here, along, lengths)
        sections[n] = lengths[0]
    status, bent, best = NOT_CONVERGED, 0.0, np.inf
    tried, ends = np.empty((2, 3)), np.empty(3)
    for n in range(DIRECTIONS):
        if sections[n] > min(sections[n - 1], sections[(n + 1) % DIRECTIONS]):
            continue
        if sections[n] > WORTH_TRYING * sections.min():
            continue
        found, arc = _from_section(size, towards[n], start, end, tried)
        total = _aim(start, tried[0], ends) + arc + _aim(end, tried[1], ends)
        if found in (STRAIGHT, WRAPPED) and total < best:
            status, bent, best = found, arc, total
            points[:] = tried
    return status, bent


@compiled
def _from_section(
    size: NDArray, across: NDArray, start: NDArray, end: NDArray, points: NDArray
) -> tuple[int, float]:
    """Status and arc of the geodesic found from the section towards a direction."""
    here, along, lengths = np.empty(3), np.empty(3), np.empty(2)
    _plane_section(size, across, start, end, here, along, lengths)
    if lengths[1] <= 0.0:
        return STRAIGHT, 0.0
    found = here.copy(), along.copy()
    status, bent = _refine(size, start, end, here, along, lengths[1], points)
    if status == NOT_CONVERGED:
        length = _relax(size, start, end, found[0], found[1], lengths[1])
        status, bent = _refine(size, start, end, found[0], found[1], length, points)
    return status, bent


@compiled
def _refine(
    size: NDArray,
    start: NDArray,
    end: NDArray,
    here: NDArray,
    along: NDArray,
    length: float,
    points: NDArray,
) -> tuple[int, float]:
    """Status and length of the geodesic near a first tangent point, direction and length."""
    there, onward, spread = np.empty(3), np.empty(3), np.empty(4)
    smallest = size.min()
    frames = np.empty((2, 3, 3))
    worst = np.inf
    for _ in range(MAX_ITERATIONS):
        follow_geodesic(size, here, along, length, there, onward, spread)
        _set_frame(size, here, along, frames[0])
        _set_frame(size, there, onward, frames[1])
        residual, matrix = _tangency(size, start, end, here, there, frames, spread)
        worst = np.abs(residual).max()
        if worst < TANGENCY:
            break
        step = _solve(matrix, -residual)
        largest = abs(step[2])
        for i in (0, 1, 3):
            largest = max(largest, abs(step[i]) / smallest)
        if largest > MAX_STEP:
            step *= MAX_STEP / largest
        here += step[0] * frames[0, 0] + step[1] * frames[0, 1]
        along += step[2] * frames[0, 1]
        length += step[3]
        if abs(length) > MAX_GEODESIC * size.max():
            break
        _project(size, here, along)
    points[0], points[1] = here, there
    if worst > 1e3 * TANGENCY or not _is_shortest(start, end, points, spread):
        return NOT_CONVERGED, length
    return (STRAIGHT if length <= 0.0 else WRAPPED), length


@compiled
def _is_shortest(start: NDArray, end: NDArray, points: NDArray, spread: NDArray) -> bool:
    """True if paths that start in a slightly rotated direction have not met again.

    Jacobi's condition: beyond such a point a geodesic is not the shortest of its neighbours.
    """
    first = np.sqrt(((points[0] - start) ** 2).sum())
    last = np.sqrt(((points[1] - end) ** 2).sum())
    apart, turn = spread[0] * first + spread[2], spread[1] * first + spread[3]
    return apart + turn * last > 0.0


@compiled
def _relax(
    size: NDArray, start: NDArray, end: NDArray, here: NDArray, along: NDArray, length: float
) -> float:
    """Improve a first tangent point, direction and length by shortening a chain of nodes.

    Each node moves between its neighbours, and back to the surface where it is inside.
    """
    there, onward, spread = np.empty(3), np.empty(3), np.empty(4)
    nodes = np.empty((NODES, 3))
    nodes[0], nodes[-1] = start, end
    for n in range(1, NODES - 1):
        follow_geodesic(size, here, along, length * (n - 1) / (NODES - 3), there, onward, spread)
        nodes[n] = there
    held = np.zeros(NODES, dtype=np.bool_)
    for _ in range(SWEEPS):
        for n in range(1, NODES - 1):
            middle = 0.5 * (nodes[n - 1] + nodes[n + 1])
            held[n] = ((middle / size) ** 2).sum() < 1.0
            if held[n]:
                for _ in range(3):
                    slope = middle / size**2
                    excess = (middle * slope).sum() - 1.0
                    middle -= 0.5 * excess / (slope**2).sum() * slope
            nodes[n] = middle
    first = last = 0
    for n in range(1, NODES - 1):
        if held[n]:
            first, last = (n if first == 0 else first), n
    if first == 0:
        return length
    here[:] = nodes[first]
    along[:] = nodes[first + 1] - nodes[first]
    _project(size, here, along)
    length = 0.0
    for n in range(first, last):
        length += np.sqrt(((nodes[n + 1] - nodes[n]) ** 2).sum())
    return length


@compiled
def _plane_section(
    size: NDArray,
    across: NDArray,
    start: NDArray,
    end: NDArray,
    here: NDArray,
    along: NDArray,
    lengths: NDArray,
) -> None:
    """First tangent point and direction there of the path in a plane through both ends.

    Scaled to the unit sphere the plane cuts a circle; `across` is the unit vector in it that is
    perpendicular to the scaled line of the ends. `lengths` becomes that of the path and of its arc.
    """
    a, b = start / size, end / size
    u = (b - a) / np.sqrt(((b - a) ** 2).sum())
    n = np.cross(u, across)
    centre = (n * a).sum() * n
    radius = np.sqrt(1.0 - (centre**2).sum())
    ends = a - centre, b - centre
    _, sense, first, arc = _around_circle(
        radius,
        (ends[0] * u).sum(),
        (ends[0] * across).sum(),
        (ends[1] * u).sum(),
        (ends[1] * across).sum(),
        0.0,
        1.0,
    )
    parts = 16
    length = 0.0
    for i in range(parts):
        middle = first + sense * arc * (i + 0.5) / parts
        turned = np.cos(middle) * across - np.sin(middle) * u
        length += np.sqrt(((turned * size) ** 2).sum())
    last = first + sense * arc
    there = (centre + radius * (np.cos(last) * u + np.sin(last) * across)) * size
    here[:] = (centre + radius * (np.cos(first) * u + np.sin(first) * across)) * size
    along[:] = sense * (np.cos(first) * across - np.sin(first) * u) * size
    lengths[1] = max(length * radius * arc / parts, 0.0)
    lengths[0] = lengths[1]
    lengths[0] += np.sqrt(((here - start) ** 2).sum()) + np.sqrt(((there - end) ** 2).sum())
    _project(size, here, along)


@compiled
def _project(size: NDArray, point: NDArray, along: NDArray) -> None:
    """Return a point to the ellipsoid, and a direction to its tangent plane with length one."""
    point /= np.sqrt(((point / size) ** 2).sum())
    normal = point / size**2
    along -= (along * normal).sum() / (normal**2).sum() * normal
    along /= np.sqrt((along**2).sum())


@compiled
def _geodesic_slope(size: NDArray, state: NDArray, slope: NDArray) -> None:
    """Derivative of point, direction and the two spreads of neighbouring geodesics.

    A geodesic bends along the normal only; the distance between two of them obeys a'' = -K a with
    Gaussian curvature K.
    """
    steep = bend = 0.0
    for i in range(3):
        steep += (state[i] / size[i] ** 2) ** 2
        bend += (state[3 + i] / size[i]) ** 2
    for i in range(3):
        slope[i] = state[3 + i]
        slope[3 + i] = -bend / steep * state[i] / size[i] ** 2
    gauss = 1.0 / (size[0] * size[1] * size[2] * steep) ** 2
    slope[6], slope[7] = state[7], -gauss * state[6]
    slope[8], slope[9] = state[9], -gauss * state[8]


@compiled
def follow_geodesic(
    size: NDArray,
    point: NDArray,
    along: NDArray,
    length: float,
    there: NDArray,
    onward: NDArray,
    spread: NDArray,
) -> None:
    """End point and direction of a geodesic, and the spreads of shifted and of turned ones.

    `spread` becomes the distance and turn of a geodesic shifted by one across, then of one turned
    by one. Runge-Kutta steps of the fourth order, short where the surface is strongly curved.
    """
    state, tried = np.empty(10), np.empty(10)
    slopes = np.empty((4, 10))
    for i in range(3):
        state[i], state[3 + i] = point[i], along[i]
    state[6], state[7], state[8], state[9] = 1.0, 0.0, 0.0, 1.0
    left, smallest = length, size.min()
    while left != 0.0:
        _geodesic_slope(size, state, slopes[0])
        longest = TURN * smallest**2 * np.sqrt(((state[:3] / size**2) ** 2).sum())
        step = left if abs(left) <= longest else np.copysign(longest, left)
        for k in range(1, 4):
            part = step if k == 3 else 0.5 * step
            for i in range(10):
                tried[i] = state[i] + part * slopes[k - 1, i]
            _geodesic_slope(size, tried, slopes[k])
        for i in range(10):
            state[i] += (
                step * (slopes[0, i] + 2.0 * slopes[1, i] + 2.0 * slopes[2, i] + slopes[3, i]) / 6.0
            )
        _project(size, state[:3], state[3:6])
        left -= step
    for i in range(3):
        there[i], onward[i] = state[i], state[3 + i]
    for i in range(4):
        spread[i] = state[6 + i]


@compiled
def _set_frame(size: NDArray, point: NDArray, along: NDArray, frame: NDArray) -> None:
    """Rows: direction, across, outward normal."""
    normal = point / size**2
    normal /= np.sqrt((normal**2).sum())
    frame[0], frame[1], frame[2] = along, np.cross(normal, along), normal


@compiled
def _tangency(
    size: NDArray,
    start: NDArray,
    end: NDArray,
    here: NDArray,
    there: NDArray,
    frames: NDArray,
    spread: NDArray,
) -> tuple[NDArray, NDArray]:
    """Residuals (4), and their derivative over the shifts along and across, turn and length.

    Variations of geodesics as in Scholz, A. et al. (2016), Multibody Syst Dyn 36:195-219,
    doi:10.1007/s11044-015-9451-1.
    """
    residual, matrix = np.zeros(4), np.zeros((4, 4))
    for n in range(2):
        point, target = (here, start) if n == 0 else (there, end)
        line = (point - target) if n == 0 else (target - point)
        distance = np.sqrt((line**2).sum())
        line /= distance
        sign = 1.0 if n == 0 else -1.0
        along, across, normal = frames[n, 0], frames[n, 1], frames[n, 2]
        residual[2 * n] = (line * normal).sum()
        residual[2 * n + 1] = (line * across).sum()
        steep = np.sqrt(((point / size**2) ** 2).sum())
        for column in range(4):
            # Shift along and across, and turn, of this end's frame.
            s = c = turn = 0.0
            if column == 0 or (column == 3 and n == 1):
                s = 1.0
            elif column == 1:
                c, turn = (1.0, 0.0) if n == 0 else (spread[0], spread[1])
            elif column == 2:
                c, turn = (0.0, 1.0) if n == 0 else (spread[2], spread[3])
            shift = s * along + c * across
            tilt = shift / size**2 / steep
            tilt -= (tilt * normal).sum() * normal
            swing = sign * (shift - (shift * line).sum() * line) / distance
            matrix[2 * n, column] = (swing * normal).sum() + (line * tilt).sum()
            matrix[2 * n + 1, column] = (
                (swing * across).sum()
                - (across * tilt).sum() * residual[2 * n]
                - turn * (line * along).sum()
            )
    return residual, matrix


@compiled
def bend_arc(
    size: NDArray,
    start: NDArray,
    end: NDArray,
    length: float,
    points: NDArray,
    pulls: NDArray,
    frames: NDArray,
    across: NDArray,
) -> NDArray:
    """Lengths of both straight parts of a path around an ellipsoid, in its own axes.

    `frames` (2, 3, 3) becomes direction, across and normal at the tangent points, and `across`
    (2, 6) the derivative over both ends of the pulls along the directions across, 1/mm: that of the
    tangency conditions, which hold at all ends.
    """
    spans = np.empty(2)
    for e in range(2):
        spans[e] = max(np.sqrt(((points[e] - (end if e else start)) ** 2).sum()), 1e-6)
    there, onward, spread = np.empty(3), np.empty(3), np.empty(4)
    arc = max(length - spans.sum(), 0.0)
    follow_geodesic(size, points[0], pulls[0], arc, there, onward, spread)
    _set_frame(size, points[0], pulls[0], frames[0])
    _set_frame(size, there, onward, frames[1])
    _, matrix = _tangency(size, start, end, points[0], there, frames, spread)
    for e in range(2):
        sign = -1.0 if e == 0 else 1.0
        for i in range(3):
            right = np.zeros(4)
            right[2 * e] = -sign * frames[e, 2, i] / spans[e]
            right[2 * e + 1] = -sign * frames[e, 1, i] / spans[e]
            change = _solve(matrix.copy(), right)
            shifts = change[1], spread[0] * change[1] + spread[2] * change[2]
            for n in range(2):
                across[n, 3 * e + i] = shifts[n] / spans[n]
                if n == e:
                    across[n, 3 * e + i] -= frames[e, 1, i] / spans[e]
    return spans


@compiled
def _solve(matrix: NDArray, right: NDArray) -> NDArray:
    """Solution of a small linear system by elimination with row pivots; changes its arguments."""
    n = right.size
    for i in range(n):
        best = i + np.argmax(np.abs(matrix[i:, i]))
        for j in range(n):
            matrix[i, j], matrix[best, j] = matrix[best, j], matrix[i, j]
        right[i], right[best] = right[best], right[i]
        pivot = matrix[i, i] if matrix[i, i] != 0.0 else 1e-300
        for k in range(i + 1, n):
            factor = matrix[k, i] / pivot
            for j in range(i, n):
                matrix[k, j] -= factor * matrix[i, j]
            right[k] -= factor * right[i]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            right[i] -= matrix[i, j] * right[j]
        right[i] /= matrix[i, i] if matrix[i, i] != 0.0 else 1e-300
    return right
