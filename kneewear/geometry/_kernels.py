"""Compiled evaluation and projection of NURBS patches.

A patch is stored as one polynomial (numerator and weight) per pair of knot spans, in local
coordinates between -1/2 and 1/2: evaluation needs a few Horner sums and no basis functions.
Kernels make no checks; they return status codes to the step around them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.base.compilation import compiled

INTERIOR = 1
BORDER = 0
FAILED = -1

MAX_ITERATIONS = 40
# A Newton step this short (mm) leaves no error in the distance and 1e-14 in the normal, 1e-7 where
# curvature jumps.
FINAL_STEP = 1e-6
# The same of `project`, which follows curvature along the last step.
LAST_STEP = 3e-7
# The same of points farther outside than this, mm, of which only the distance is needed: it leaves
# 1e-12 in the distance, 1e-7 where curvature jumps.
OUTSIDE_STEP = 1e-3
# Maximum number of steps of `project`.
QUICK_STEPS = 4
# Maximum distance of the end of the normal from the point, mm; at a border it is much larger.
PROJECTION_MISS = 1e-5
# Maximum distance of a line from the point where it meets a patch, mm.
LINE_MISS = 1e-11

# How a patch closes in itself: opposite borders that join, and borders that shrink to a pole.
OPEN = 0
SEAM_U = 1
SEAM_V = 2
POLE_U0 = 4
POLE_U1 = 8
POLE_V0 = 16
POLE_V1 = 32
POLES = POLE_U0 | POLE_U1 | POLE_V0 | POLE_V1
# A point on a seam is tried from both sides this many times in all.
CROSSINGS = 4
# Longest step round a closed patch, part of a turn.
MAX_TURN = 0.25
# Directions tried round a pole.
TURNS = 24
# Nearer to a pole than this, mm, where parameters lose their digits, the surface is that of its
# curvature at this distance.
POLE_RIM = 1e-3
# Rows and columns of the entries of a Hessian.
FIRST = (0, 1, 2, 0, 0, 1)
SECOND = (0, 1, 2, 1, 2, 2)


Point = tuple[float, float, float]
# Parameters u and v at the end of a projection, and its status.
End = tuple[float, float, int]


class PatchArrays(NamedTuple):
    """Arrays of one surface for kernels."""

    breaks_u: NDArray[np.float64]
    breaks_v: NDArray[np.float64]
    coefficients: NDArray[np.float64]  # span u, span v, power of u, power of v, (x w, y w, z w, w)
    rational: bool
    closed: int = OPEN  # sum of seams and poles


@compiled
def find_span(breaks: NDArray, value: float) -> int:
    low, high = 0, breaks.shape[0] - 2
    while low < high:
        middle = (low + high + 1) // 2
        if breaks[middle] <= value:
            low = middle
        else:
            high = middle - 1
    return low


@compiled(inlined=True)
def evaluate(patch: PatchArrays, u: float, v: float, out: NDArray) -> None:
    """Fill out[0:6, 0:3] with S, Su, Sv, Suu, Suv, Svv; the fourth column is overwritten.

    The four homogeneous coordinates are adjacent, so that they share a register.
    """
    i = find_span(patch.breaks_u, u)
    j = find_span(patch.breaks_v, v)
    rate_u = 1.0 / (patch.breaks_u[i + 1] - patch.breaks_u[i])
    rate_v = 1.0 / (patch.breaks_v[j + 1] - patch.breaks_v[j])
    s = (u - patch.breaks_u[i]) * rate_u - 0.5
    t = (v - patch.breaks_v[j]) * rate_v - 0.5
    block = patch.coefficients[i, j]
    f0 = f1 = f2 = f3 = fu0 = fu1 = fu2 = fu3 = fv0 = fv1 = fv2 = fv3 = 0.0
    fuu0 = fuu1 = fuu2 = fuu3 = fuv0 = fuv1 = fuv2 = fuv3 = fvv0 = fvv1 = fvv2 = fvv3 = 0.0
    for k in range(block.shape[0] - 1, -1, -1):
        g0 = g1 = g2 = g3 = gv0 = gv1 = gv2 = gv3 = gvv0 = gvv1 = gvv2 = gvv3 = 0.0
        for m in range(block.shape[1] - 1, -1, -1):
            gvv0, gvv1, gvv2, gvv3 = gvv0 * t + gv0, gvv1 * t + gv1, gvv2 * t + gv2, gvv3 * t + gv3
            gv0, gv1, gv2, gv3 = gv0 * t + g0, gv1 * t + g1, gv2 * t + g2, gv3 * t + g3
            g0, g1 = g0 * t + block[k, m, 0], g1 * t + block[k, m, 1]
            g2, g3 = g2 * t + block[k, m, 2], g3 * t + block[k, m, 3]
        fuu0, fuu1, fuu2, fuu3 = fuu0 * s + fu0, fuu1 * s + fu1, fuu2 * s + fu2, fuu3 * s + fu3
        fu0, fu1, fu2, fu3 = fu0 * s + f0, fu1 * s + f1, fu2 * s + f2, fu3 * s + f3
        f0, f1, f2, f3 = f0 * s + g0, f1 * s + g1, f2 * s + g2, f3 * s + g3
        fuv0, fuv1, fuv2, fuv3 = fuv0 * s + fv0, fuv1 * s + fv1, fuv2 * s + fv2, fuv3 * s + fv3
        fv0, fv1, fv2, fv3 = fv0 * s + gv0, fv1 * s + gv1, fv2 * s + gv2, fv3 * s + gv3
        fvv0, fvv1, fvv2, fvv3 = fvv0 * s + gvv0, fvv1 * s + gvv1, fvv2 * s + gvv2, fvv3 * s + gvv3
    out[0, 0], out[0, 1], out[0, 2], out[0, 3] = f0, f1, f2, f3
    out[1, 0], out[1, 1], out[1, 2], out[1, 3] = fu0, fu1, fu2, fu3
    out[2, 0], out[2, 1], out[2, 2], out[2, 3] = fv0, fv1, fv2, fv3
    out[3, 0], out[3, 1], out[3, 2], out[3, 3] = fuu0, fuu1, fuu2, fuu3
    out[4, 0], out[4, 1], out[4, 2], out[4, 3] = fuv0, fuv1, fuv2, fuv3
    out[5, 0], out[5, 1], out[5, 2], out[5, 3] = fvv0, fvv1, fvv2, fvv3
    rate_uu, rate_uv, rate_vv = 2.0 * rate_u * rate_u, rate_u * rate_v, 2.0 * rate_v * rate_v
    # Of S = (x w) / w with all derivatives over w; not of a polynomial patch.
    inverse = 1.0 / f3 if patch.rational else 1.0
    along = inverse if patch.rational else 0.0
    wu, wv = out[1, 3] * rate_u * along, out[2, 3] * rate_v * along
    wuu, wuv = out[3, 3] * rate_uu * along, out[4, 3] * rate_uv * along
    wvv = out[5, 3] * rate_vv * along
    rate_u, rate_v, rate_uu = rate_u * inverse, rate_v * inverse, rate_uu * inverse
    rate_uv, rate_vv = rate_uv * inverse, rate_vv * inverse
    for c in range(4):
        point = out[0, c] * inverse
        along_u, along_v = out[1, c] * rate_u - wu * point, out[2, c] * rate_v - wv * point
        out[0, c], out[1, c], out[2, c] = point, along_u, along_v
        out[3, c] = out[3, c] * rate_uu - 2.0 * wu * along_u - wuu * point
        out[4, c] = out[4, c] * rate_uv - wu * along_v - wv * along_u - wuv * point
        out[5, c] = out[5, c] * rate_vv - 2.0 * wv * along_v - wvv * point


@compiled(inlined=True)
def area_vector(work: NDArray) -> Point:
    """Outward normal Su x Sv where `evaluate` filled `work`."""
    nx = work[1, 1] * work[2, 2] - work[1, 2] * work[2, 1]
    ny = work[1, 2] * work[2, 0] - work[1, 0] * work[2, 2]
    nz = work[1, 0] * work[2, 1] - work[1, 1] * work[2, 0]
    return nx, ny, nz


@compiled
def unit_normal(work: NDArray) -> Point:
    """Outward unit normal where `evaluate` filled `work`."""
    nx, ny, nz = area_vector(work)
    area = np.sqrt(nx * nx + ny * ny + nz * nz)
    return nx / area, ny / area, nz / area


@compiled
def offset(point: Point, work: NDArray) -> NDArray:
    """Vector from a point to where `evaluate` filled `work`."""
    return work[0, :3] - np.array(point)


@compiled(inlined=True)
def newton_terms(work: NDArray, rx: float, ry: float, rz: float) -> tuple[float, ...]:
    """Gradient of half the squared distance r (2), metric (3) and Hessian (3) in u and v."""
    ux, uy, uz = work[1, 0], work[1, 1], work[1, 2]
    vx, vy, vz = work[2, 0], work[2, 1], work[2, 2]
    g_u = rx * ux + ry * uy + rz * uz
    g_v = rx * vx + ry * vy + rz * vz
    e = ux * ux + uy * uy + uz * uz
    f = ux * vx + uy * vy + uz * vz
    g = vx * vx + vy * vy + vz * vz
    h_uu = e + rx * work[3, 0] + ry * work[3, 1] + rz * work[3, 2]
    h_uv = f + rx * work[4, 0] + ry * work[4, 1] + rz * work[4, 2]
    h_vv = g + rx * work[5, 0] + ry * work[5, 1] + rz * work[5, 2]
    return g_u, g_v, e, f, g, h_uu, h_uv, h_vv


@compiled
def evaluate_many(patch: PatchArrays, u: NDArray, v: NDArray, out: NDArray) -> None:
    work = np.empty((6, 4))
    for n in range(u.shape[0]):
        evaluate(patch, u[n], v[n], work)
        for k in range(6):
            for c in range(3):
                out[k, n, c] = work[k, c]


@compiled
def closest_point(
    patch: PatchArrays, point: Point, u: float, v: float, projection: NDArray, work: NDArray
) -> End:
    """Project a point onto a patch from (u, v), across the seams and poles of a closed one.

    Fills `projection` with signed distance, normal (3) and the six independent entries of the
    Hessian of the distance (xx, yy, zz, xy, xz, yz). Returns u, v and a status.
    """
    end = minimize_distance(patch, point, u, v, projection, work)
    if patch.closed == OPEN:
        return end
    end = cross_seams(patch, point, end, projection, work)
    if patch.closed & POLES:
        was_found = end[2] == INTERIOR
        end = round_pole(patch, point, end, projection, work)
        if not was_found and end[2] == INTERIOR:
            # A descent never ends farther away than it starts: from a pole it might.
            evaluate(patch, u, v, work)
            if projection[0] ** 2 > (offset(point, work) ** 2).sum() + FINAL_STEP:
                return end[0], end[1], FAILED
    return end


@compiled
def minimize_distance(
    patch: PatchArrays, point: Point, u: float, v: float, projection: NDArray, work: NDArray
) -> End:
    """Project a point as `closest_point` by safeguarded Newton within the borders of the patch."""
    x, y, z = point
    u0, u1 = patch.breaks_u[0], patch.breaks_u[-1]
    v0, v1 = patch.breaks_v[0], patch.breaks_v[-1]
    evaluate(patch, u, v, work)
    rx, ry, rz = work[0, 0] - x, work[0, 1] - y, work[0, 2] - z
    for _ in range(MAX_ITERATIONS):
        ux, uy, uz = work[1, 0], work[1, 1], work[1, 2]
        vx, vy, vz = work[2, 0], work[2, 1], work[2, 2]
        g_u, g_v, e, f, g, h_uu, h_uv, h_vv = newton_terms(work, rx, ry, rz)
        held_u = (u <= u0 and g_u > 0.0) or (u >= u1 and g_u < 0.0)
        held_v = (v <= v0 and g_v > 0.0) or (v >= v1 and g_v < 0.0)
        determinant = h_uu * h_vv - h_uv * h_uv
        if held_u and held_v:
            du = dv = 0.0
        elif held_u:
            du, dv = 0.0, -g_v / (h_vv if h_vv > 0.05 * g else g)
        elif held_v:
            du, dv = -g_u / (h_uu if h_uu > 0.05 * e else e), 0.0
        else:
            # Far inside the metal the Hessian loses its sign; the metric alone still descends.
            if h_uu < 0.05 * e or determinant < 0.05 * (e * g - f * f):
                h_uu, h_uv, h_vv = e, f, g
                determinant = e * g - f * f
            du = -(h_vv * g_u - h_uv * g_v) / determinant
            dv = -(h_uu * g_v - h_uv * g_u) / determinant
        # Near a pole a step may go more than once round.
        if patch.closed & SEAM_U:
            du = min(max(du, MAX_TURN * (u0 - u1)), MAX_TURN * (u1 - u0))
        if patch.closed & SEAM_V:
            dv = min(max(dv, MAX_TURN * (v0 - v1)), MAX_TURN * (v1 - v0))
        # A step truncated at a border is corrected along it; otherwise it may not descend.
        if v + dv < v0 or v + dv > v1:
            dv = (v0 if v + dv < v0 else v1) - v
            if not held_u:
                du = -(g_u + h_uv * dv) / (h_uu if h_uu > 0.05 * e else e)
        if u + du < u0 or u + du > u1:
            du = (u0 if u + du < u0 else u1) - u
            if not held_v:
                dv = -(g_v + h_uv * du) / (h_vv if h_vv > 0.05 * g else g)
        next_u = min(max(u + du, u0), u1)
        next_v = min(max(v + dv, v0), v1)
        du, dv = next_u - u, next_v - v
        step_x, step_y, step_z = ux * du + vx * dv, uy * du + vy * dv, uz * du + vz * dv
        if step_x * step_x + step_y * step_y + step_z * step_z < FINAL_STEP * FINAL_STEP:
            nx, ny, nz = unit_normal(work)
            rx, ry, rz = rx + step_x, ry + step_y, rz + step_z
            distance = -(rx * nx + ry * ny + rz * nz)
            fill_projection(work, distance, (nx, ny, nz), du, dv, projection)
            off_x, off_y = rx + distance * projection[1], ry + distance * projection[2]
            off_z = rz + distance * projection[3]
            sideways = np.sqrt(off_x * off_x + off_y * off_y + off_z * off_z)
            return next_u, next_v, INTERIOR if sideways < PROJECTION_MISS else BORDER
        before = rx * rx + ry * ry + rz * rz
        for _halving in range(12):
            evaluate(patch, next_u, next_v, work)
            rx, ry, rz = work[0, 0] - x, work[0, 1] - y, work[0, 2] - z
            if rx * rx + ry * ry + rz * rz <= before + 1e-14:
                break
            next_u, next_v = 0.5 * (u + next_u), 0.5 * (v + next_v)
        u, v = next_u, next_v
    projection[0] = np.inf
    return u, v, FAILED


@compiled
def cross_seams(
    patch: PatchArrays, point: Point, end: End, projection: NDArray, work: NDArray
) -> End:
    """Continue a projection that ended on a seam from its other side.

    Where both sides rise from it, in a groove or on a ridge, the nearest point is that of the edge.
    """
    low = np.array([patch.breaks_u[0], patch.breaks_v[0]])
    high = np.array([patch.breaks_u[-1], patch.breaks_v[-1]])
    place, status = np.array([end[0], end[1]]), end[2]
    on, axis = np.zeros(2, dtype=np.bool_), 0
    for turn in range(CROSSINGS):
        for a in range(2):
            at_end = place[a] <= low[a] or place[a] >= high[a]
            on[a] = at_end and patch.closed & (SEAM_U << a) != 0
        if status == INTERIOR or not on.any():
            return place[0], place[1], status
        axis = 0 if on[0] and (turn % 2 == 0 or not on[1]) else 1
        place[axis] = high[axis] if place[axis] <= low[axis] else low[axis]
        place[0], place[1], status = minimize_distance(
            patch, point, place[0], place[1], projection, work
        )
    is_edge, outward = status == BORDER, np.zeros(3)
    for _ in range(2):
        evaluate(patch, place[0], place[1], work)
        outward += np.array(unit_normal(work))
        across = work[1 + axis, :3]
        slope = (offset(point, work) * across).sum() / np.sqrt((across * across).sum())
        is_edge &= (-slope if place[axis] >= high[axis] else slope) > -PROJECTION_MISS
        place[axis] = low[axis] if place[axis] >= high[axis] else high[axis]
    if is_edge and fill_edge(work, offset(point, work), 2 - axis, outward, projection):
        status = INTERIOR
    return place[0], place[1], status


@compiled
def fill_edge(work: NDArray, r: NDArray, row: int, outward: NDArray, projection: NDArray) -> bool:
    """Fill `projection` from the nearest point of an edge, r away; False if it is the edge's end.

    `evaluate` filled `work` there, whose `row` is the derivative along the edge; `outward` is the
    sum of the normals that meet. Points nearest to an edge are all inside the body (a groove) or
    all outside (a ridge), where one of the normals alone may see them behind.
    """
    along = work[row, :3]
    square = (along * along).sum()
    if not (r * along).sum() ** 2 < PROJECTION_MISS * PROJECTION_MISS * square:
        return False
    fill_tip(r, outward, projection)
    bend = square + (r * work[2 * row + 1, :3]).sum()
    if projection[0] != 0.0 and bend > 0.0:
        for k in range(6):
            projection[4 + k] -= along[FIRST[k]] * along[SECOND[k]] / (bend * projection[0])
    return True


@compiled
def fill_tip(r: NDArray, outward: NDArray, projection: NDArray) -> None:
    """Fill `projection` with the distance from one point of the surface, r away."""
    distance = np.sqrt((r * r).sum())
    distance = -distance if (r * outward).sum() > 0.0 else distance
    projection[:] = 0.0
    if distance != 0.0:
        normal = -r / distance
        projection[0], projection[1:4] = distance, normal
        for k in range(6):
            a, b = FIRST[k], SECOND[k]
            projection[4 + k] = ((1.0 if a == b else 0.0) - normal[a] * normal[b]) / distance


@compiled
def beside_pole(patch: PatchArrays, side: int, part: float, inward: float) -> tuple[float, float]:
    """Parameters a part of the way round the pole on a side (u0, u1, v0, v1), and inward of it."""
    away = inward if side % 2 == 0 else 1.0 - inward
    a, b = (away, part) if side < 2 else (part, away)
    u, v = patch.breaks_u, patch.breaks_v
    return (1.0 - a) * u[0] + a * u[-1], (1.0 - b) * v[0] + b * v[-1]


@compiled
def leave_pole(
    patch: PatchArrays, side: int, part: float, point: Point, work: NDArray
) -> tuple[float, float]:
    """Rate at which the distance from a point grows on the way off a pole, and mm per domain."""
    u, v = beside_pole(patch, side, part, 0.0)
    evaluate(patch, u, v, work)
    row, breaks = (1, patch.breaks_u) if side < 2 else (2, patch.breaks_v)
    way = work[row, :3] if side % 2 == 0 else -work[row, :3]
    speed = np.sqrt((way * way).sum())
    return (offset(point, work) * way).sum() / speed, speed * (breaks[-1] - breaks[0])


@compiled
def round_pole(
    patch: PatchArrays, point: Point, end: End, projection: NDArray, work: NDArray
) -> End:
    """Project a point once more, off the nearest pole, unless an inner point was found elsewhere.

    From the pole the descent leaves in the direction of the point. At the tip of a cone no
    direction may descend; the tip is the nearest point then.
    """
    nearest, side, tip = np.inf, 0, np.zeros(3)
    for number in range(4):
        if patch.closed & (POLE_U0 << number):
            leave_pole(patch, number, 0.5, point, work)
            length = np.sqrt((offset(point, work) ** 2).sum())
            if length < nearest:
                nearest, side, tip[:] = length, number, work[0, :3]
    nearby = np.array(point) - projection[0] * projection[1:4]
    if end[2] == INTERIOR and ((nearby - tip) ** 2).sum() > POLE_RIM * POLE_RIM:
        return end
    slopes = np.empty(TURNS + 1)
    for turn in range(TURNS + 1):
        slopes[turn] = leave_pole(patch, side, turn / TURNS, point, work)[0]
    best, whole = int(slopes.argmin()), patch.closed & (SEAM_V if side < 2 else SEAM_U) != 0
    part = best / TURNS
    if whole or 0 < best < TURNS - 1:
        # Between three directions the rate is nearly a parabola.
        lower, upper = slopes[(best - 1) % TURNS], slopes[(best + 1) % TURNS]
        bend = lower - 2.0 * slopes[best] + upper
        if bend > 0.0:
            part = (part + 0.5 * (lower - upper) / bend / TURNS) % 1.0
    slope, speed = leave_pole(patch, side, part, point, work)
    if -slope > POLE_RIM:
        u, v = beside_pole(patch, side, part, min(-slope / speed, 0.5))
        end = minimize_distance(patch, point, u, v, projection, work)
        return cross_seams(patch, point, end, projection, work)
    u, v = beside_pole(patch, side, part, POLE_RIM / speed)
    evaluate(patch, u, v, work)
    r, normal = offset(point, work), unit_normal(work)
    if slope > max(PROJECTION_MISS, 1e-9 * nearest):
        fill_tip(tip - np.array(point), np.array(normal), projection)
        return u, v, INTERIOR if whole else BORDER
    g_u, g_v, e, f, g, _, _, _ = newton_terms(work, r[0], r[1], r[2])
    du, dv = -(g * g_u - f * g_v) / (e * g - f * f), -(e * g_v - f * g_u) / (e * g - f * f)
    r = r + 0.5 * du * du * work[3, :3] + du * dv * work[4, :3] + 0.5 * dv * dv * work[5, :3]
    distance = -(r * np.array(normal)).sum()
    fill_projection(work, distance, normal, du, dv, projection)
    return u, v, INTERIOR


@compiled
def fill_projection(
    work: NDArray, distance: float, normal: Point, du: float, dv: float, projection: NDArray
) -> None:
    """Distance, normal carried along the last step (du, dv), and Hessian of the distance.

    With metric G, second form B and rows T = (Su, Sv): Hessian = -T' G^-1 B (G - m B)^-1 T.
    """
    nx, ny, nz = normal
    ux, uy, uz = work[1, 0], work[1, 1], work[1, 2]
    vx, vy, vz = work[2, 0], work[2, 1], work[2, 2]
    e = ux * ux + uy * uy + uz * uz
    f = ux * vx + uy * vy + uz * vz
    g = vx * vx + vy * vy + vz * vz
    b_uu = nx * work[3, 0] + ny * work[3, 1] + nz * work[3, 2]
    b_uv = nx * work[4, 0] + ny * work[4, 1] + nz * work[4, 2]
    b_vv = nx * work[5, 0] + ny * work[5, 1] + nz * work[5, 2]
    det_g = e * g - f * f
    # Shape operator W = G^-1 B.
    w_uu = (g * b_uu - f * b_uv) / det_g
    w_uv = (g * b_uv - f * b_vv) / det_g
    w_vu = (e * b_uv - f * b_uu) / det_g
    w_vv = (e * b_vv - f * b_uv) / det_g
    shift_u = -(w_uu * du + w_uv * dv)
    shift_v = -(w_vu * du + w_vv * dv)
    projection[0] = distance
    projection[1] = nx + shift_u * ux + shift_v * vx
    projection[2] = ny + shift_u * uy + shift_v * vy
    projection[3] = nz + shift_u * uz + shift_v * vz
    m_uu, m_uv, m_vv = e - distance * b_uu, f - distance * b_uv, g - distance * b_vv
    det_m = m_uu * m_vv - m_uv * m_uv
    # In a centre of curvature the second derivatives are infinite and set to zero.
    if abs(det_m) < 1e-6 * det_g:
        for a in range(4, 10):
            projection[a] = 0.0
        return
    # Q = -G^-1 B (G - m B)^-1, symmetric.
    q_uu = -(w_uu * m_vv - w_uv * m_uv) / det_m
    q_uv = -(w_uv * m_uu - w_uu * m_uv) / det_m
    q_vv = -(w_vv * m_uu - w_vu * m_uv) / det_m
    projection[4] = q_uu * ux * ux + 2.0 * q_uv * ux * vx + q_vv * vx * vx
    projection[5] = q_uu * uy * uy + 2.0 * q_uv * uy * vy + q_vv * vy * vy
    projection[6] = q_uu * uz * uz + 2.0 * q_uv * uz * vz + q_vv * vz * vz
    projection[7] = q_uu * ux * uy + q_uv * (ux * vy + vx * uy) + q_vv * vx * vy
    projection[8] = q_uu * ux * uz + q_uv * (ux * vz + vx * uz) + q_vv * vx * vz
    projection[9] = q_uu * uy * uz + q_uv * (uy * vz + vy * uz) + q_vv * vy * vz


@compiled
def project(
    patch: PatchArrays, point: Point, u: float, v: float, projection: NDArray, work: NDArray
) -> End:
    """Project a point from a start (u, v) near its projection by plain Newton steps.

    Fills `projection` as `closest_point`, but of a point outside the body with the distance alone.
    If the status is FAILED (the nearest point is not in the interior, or Newton's method does not
    converge directly), use `closest_point` from a start inside the domain.
    """
    x, y, z = point
    u0, u1 = patch.breaks_u[0], patch.breaks_u[-1]
    v0, v1 = patch.breaks_v[0], patch.breaks_v[-1]
    for _ in range(QUICK_STEPS):
        if not (u0 <= u <= u1 and v0 <= v <= v1):
            break
        evaluate(patch, u, v, work)
        rx, ry, rz = work[0, 0] - x, work[0, 1] - y, work[0, 2] - z
        g_u, g_v, e, f, g, h_uu, h_uv, h_vv = newton_terms(work, rx, ry, rz)
        determinant = h_uu * h_vv - h_uv * h_uv
        if not (h_uu > 0.05 * e and determinant > 0.05 * (e * g - f * f)):
            break
        du = -(h_vv * g_u - h_uv * g_v) / determinant
        dv = -(h_uu * g_v - h_uv * g_u) / determinant
        step = e * du * du + 2.0 * f * du * dv + g * dv * dv
        if step < OUTSIDE_STEP * OUTSIDE_STEP:
            nx, ny, nz = area_vector(work)
            area = 1.0 / np.sqrt(nx * nx + ny * ny + nz * nz)
            nx, ny, nz = nx * area, ny * area, nz * area
            # The step lies in the tangent plane; only its curvature contributes along the normal.
            uu, uv, vv = 0.5 * du * du, du * dv, 0.5 * dv * dv
            rx += uu * work[3, 0] + uv * work[4, 0] + vv * work[5, 0]
            ry += uu * work[3, 1] + uv * work[4, 1] + vv * work[5, 1]
            rz += uu * work[3, 2] + uv * work[4, 2] + vv * work[5, 2]
            distance = -(rx * nx + ry * ny + rz * nz)
            if distance > OUTSIDE_STEP or step < LAST_STEP * LAST_STEP:
                if not (u0 <= u + du <= u1 and v0 <= v + dv <= v1):
                    break
                projection[0] = distance
                if distance < 0.0:
                    fill_projection(work, distance, (nx, ny, nz), du, dv, projection)
                return u + du, v + dv, INTERIOR
        u, v = u + du, v + dv
    projection[0] = np.inf
    return u, v, FAILED


@compiled
def closest_many(
    patch: PatchArrays,
    points: NDArray,
    u: NDArray,
    v: NDArray,
    projections: NDArray,
    status: NDArray,
) -> None:
    """Project points as `closest_point`, each from its u and v."""
    work = np.empty((6, 4))
    for n in range(points.shape[0]):
        point = (points[n, 0], points[n, 1], points[n, 2])
        u[n], v[n], status[n] = closest_point(patch, point, u[n], v[n], projections[n], work)


@compiled
def closest_many_open(
    patch: PatchArrays,
    points: NDArray,
    u: NDArray,
    v: NDArray,
    projections: NDArray,
    status: NDArray,
) -> None:
    """Project points as `closest_many` onto an open patch."""
    work = np.empty((6, 4))
    for n in range(points.shape[0]):
        point = (points[n, 0], points[n, 1], points[n, 2])
        u[n], v[n], status[n] = minimize_distance(patch, point, u[n], v[n], projections[n], work)


def project_many(patch: PatchArrays, *arguments: NDArray) -> None:
    """Call `closest_many`, of an open patch the one that compiles in a fifth of the time."""
    (closest_many_open if patch.closed == OPEN else closest_many)(patch, *arguments)


class BoxTree(NamedTuple):
    """Bounding boxes of the cells of a patch, and of every four of them up to one box."""

    boxes: NDArray[np.float64]  # box, (x0, y0, z0, x1, y1, z1); finest level first
    starts: NDArray[np.int64]  # first box of each level
    rows: NDArray[np.int64]  # cells along u of each level
    columns: NDArray[np.int64]  # cells along v of each level
    u: NDArray[np.float64]  # middle of each finest row
    v: NDArray[np.float64]  # middle of each finest column


@compiled
def enters_box(box: NDArray, origin: NDArray, inverse: NDArray) -> float:
    """Distance at which a ray of an inverse direction enters a box, at least 0; inf if never."""
    near, far = 0.0, np.inf
    for c in range(3):
        low, high = box[c] - origin[c], box[3 + c] - origin[c]
        if np.isinf(inverse[c]):
            if low > 0.0 or high < 0.0:
                return np.inf
        else:
            a, b = low * inverse[c], high * inverse[c]
            near, far = max(near, min(a, b)), min(far, max(a, b))
    return near if near <= far else np.inf


@compiled
def meet_line(
    patch: PatchArrays, origin: NDArray, direction: NDArray, u: float, v: float, work: NDArray
) -> tuple[float, float, float]:
    """Newton from (u, v) to where a line meets a patch: u, v and distance; inf without success."""
    u0, u1 = patch.breaks_u[0], patch.breaks_u[-1]
    v0, v1 = patch.breaks_v[0], patch.breaks_v[-1]
    dx, dy, dz = direction[0], direction[1], direction[2]
    outside = 0
    for _ in range(MAX_ITERATIONS):
        evaluate(patch, u, v, work)
        rx, ry, rz = work[0, 0] - origin[0], work[0, 1] - origin[1], work[0, 2] - origin[2]
        along = rx * dx + ry * dy + rz * dz
        rx, ry, rz = rx - along * dx, ry - along * dy, rz - along * dz
        if rx * rx + ry * ry + rz * rz < LINE_MISS * LINE_MISS:
            return u, v, along
        # r + Su du + Sv dv = m d: eliminate m by the normals n x d of the two planes.
        ux, uy, uz = work[1, 0], work[1, 1], work[1, 2]
        vx, vy, vz = work[2, 0], work[2, 1], work[2, 2]
        volume = dx * (uy * vz - uz * vy) + dy * (uz * vx - ux * vz) + dz * (ux * vy - uy * vx)
        size = np.sqrt((ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz))
        if abs(volume) <= 1e-9 * size:
            return u, v, np.inf
        px, py, pz = vy * dz - vz * dy, vz * dx - vx * dz, vx * dy - vy * dx
        qx, qy, qz = dy * uz - dz * uy, dz * ux - dx * uz, dx * uy - dy * ux
        du, dv = -(rx * px + ry * py + rz * pz) / volume, -(rx * qx + ry * qy + rz * qz) / volume
        next_u, next_v = min(max(u + du, u0), u1), min(max(v + dv, v0), v1)
        # Held at a border and pushed outward repeatedly: the line passes beside the patch.
        if next_u == u and next_v == v:
            return u, v, np.inf
        outside = outside + 1 if (next_u != u + du or next_v != v + dv) else 0
        if outside > 6:
            return u, v, np.inf
        u, v = next_u, next_v
    return u, v, np.inf


@compiled
def meet_many(
    patch: PatchArrays, origins: NDArray, directions: NDArray, u: NDArray, v: NDArray, met: NDArray
) -> None:
    """Move each (u, v) to where its line meets a patch, or to the border it leaves the patch by."""
    work = np.empty((6, 4))
    for n in range(origins.shape[0]):
        u[n], v[n], along = meet_line(patch, origins[n], directions[n], u[n], v[n], work)
        met[n] = np.isfinite(along)


@compiled
def ray_many(
    patch: PatchArrays,
    tree: BoxTree,
    origins: NDArray,
    directions: NDArray,
    u: NDArray,
    v: NDArray,
    distance: NDArray,
) -> None:
    """First point of a patch on each ray; distance inf where there is none."""
    work = np.empty((6, 4))
    stack = np.empty((256, 3), dtype=np.int64)
    entry, inverse = np.empty(256), np.empty(3)
    top_level = tree.starts.shape[0] - 1
    for n in range(origins.shape[0]):
        for c in range(3):
            inverse[c] = 1.0 / directions[n, c] if directions[n, c] != 0.0 else np.inf
        best = np.inf
        depth = 0
        first = enters_box(tree.boxes[tree.starts[top_level]], origins[n], inverse)
        if first < np.inf:
            stack[0, 0], stack[0, 1], stack[0, 2] = top_level, 0, 0
            entry[0] = first
            depth = 1
        while depth > 0:
            depth -= 1
            if entry[depth] > best:
                continue
            level, i, j = stack[depth, 0], stack[depth, 1], stack[depth, 2]
            if level == 0:
                at_u, at_v, found = meet_line(
                    patch, origins[n], directions[n], tree.u[i], tree.v[j], work
                )
                if -LINE_MISS <= found < best:
                    best, u[n], v[n] = found, at_u, at_v
                continue
            base = depth
            for a in range(2 * i, min(2 * i + 2, tree.rows[level - 1])):
                for b in range(2 * j, min(2 * j + 2, tree.columns[level - 1])):
                    box = tree.boxes[tree.starts[level - 1] + a * tree.columns[level - 1] + b]
                    near = enters_box(box, origins[n], inverse)
                    if near <= best and near < np.inf:
                        # The nearest child ends on top of the stack.
                        slot = depth
                        while slot > base and entry[slot - 1] < near:
                            entry[slot] = entry[slot - 1]
                            for c in range(3):
                                stack[slot, c] = stack[slot - 1, c]
                            slot -= 1
                        entry[slot] = near
                        stack[slot, 0], stack[slot, 1], stack[slot, 2] = level - 1, a, b
                        depth += 1
        distance[n] = best
