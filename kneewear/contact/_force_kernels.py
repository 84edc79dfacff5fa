"""Compiled pressures and forces of the active elements, their sums, and the result of a pair.

Sums are taken in the frame of the moving body, where an element is a point x with a normal n and
feels the force f; only they are rotated into the frame of the fixed body. A small motion of the
moving body, translation t and rotation s about its origin, moves the point by -t - s x x there and
rotates the normal by -s x n. Names that end in `rate` are derivatives over the six numbers of that
motion: (6,) of a number, (3, 6) of a vector.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.base.compilation import compiled, structured
from kneewear.contact._distance_kernels import MINIMUM_DISTANCE, RAY

ALONG_MINIMUM_DISTANCE = 0
ALONG_ELEMENT_NORMAL = 1
ALONG_MID_SURFACE = 2

# Codes of pressure laws are sums of these.
SMALL_STRAIN = 0
LARGE_STRAIN = 1
THREE_PARAMETER = 2
# Part of its thickness a layer can lose before the logarithm is continued by its tangent.
LARGEST_STRAIN = 0.9
# Newton's method needs at most nine.
MAX_STEPS = 60

# Sums over the active elements of a chunk, in the frame of the moving body.
SUMS = structured(
    ("force", np.float64, 3),
    ("moments", np.float64, (3, 3)),  # x f'
    ("rates", np.float64, (6, 6)),  # of force and moment over a small motion
    ("drags", np.float64, (6, 6)),  # the same over velocity and angular velocity
    ("normal_force", np.float64),  # pressure times area
    ("weighted_centre", np.float64, 3),  # normal_force times centre, in the fixed frame
    ("max_pressure", np.float64),
    ("max_penetration", np.float64),
    ("active", np.int64),
    ("evaluated", np.int64),
)
# One active element, in the fixed frame.
OUTCOME = structured(
    ("element", np.int64),  # number among the valid elements
    ("penetration", np.float64),
    ("pressure", np.float64),
    ("area", np.float64),
    ("direction", np.float64, 3),
    ("slip_velocity", np.float64, 2),
)
# A pair, in the fixed frame.
RESULT = structured(
    ("wrench", np.float64, 6),
    ("stiffness", np.float64, (6, 6)),
    ("damping", np.float64, (6, 6)),
    ("max_pressure", np.float64),
    ("normal_force", np.float64),  # pressure times area
    ("max_penetration", np.float64),
    ("centre_of_pressure", np.float64, 3),
    ("translation", np.float64, 3),
    ("active_elements", np.int64),
    ("evaluated_elements", np.int64),
    ("is_moving", np.bool_),
)


class PressureLawArrays(NamedTuple):
    """Numbers of a `PressureLaw`."""

    code: int
    modulus: float  # at no strain, MPa
    cap: float  # MPa
    scale: float  # of the three-parameter material: p0, MPa, exponent n and weight of the power
    exponent: float
    weight: float


class TractionLaw(NamedTuple):
    """Numbers of `Friction` and `Damping`."""

    static: float
    dynamic: float
    transition: float  # mm/s, positive
    damping: float  # s/mm


@compiled(inlined=True)
def log_strain(strain: float) -> tuple[float, float]:
    """Logarithmic strain -ln(1 - d / h) and its derivative, finite at any depth."""
    if strain <= LARGEST_STRAIN:
        return -np.log1p(-strain), 1.0 / (1.0 - strain)
    slope = 1.0 / (1.0 - LARGEST_STRAIN)
    return np.log(slope) + slope * (strain - LARGEST_STRAIN), slope


@compiled(inlined=True)
def raised(base: float, exponent: float) -> float:
    """Power of a base; a square, the usual case, at a tenth of the cost."""
    return base * base if exponent == 2.0 else base**exponent


@compiled(inlined=True)
def ramberg_osgood_root(right: float, exponent: float, weight: float) -> float:
    """The one root q of q + weight q^exponent = right >= 0, for an exponent of at least one.

    Both terms alone bound the root from above. The left side is convex and rises, so that Newton's
    steps from there descend until rounding stops them.
    """
    root = min(right, (right / weight) ** (1.0 / exponent))
    for _ in range(MAX_STEPS):
        power = weight * raised(root, exponent - 1.0)
        lower = root - (root + power * root - right) / (1.0 + exponent * power)
        if lower >= root:
            break
        root = lower
    return root


@compiled(inlined=True)
def pressure_law(
    law: PressureLawArrays, penetration: float, thickness: float
) -> tuple[float, float]:
    """Pressure and its derivative over the penetration, MPa and MPa/mm, where that is positive."""
    rate = law.modulus / thickness
    pressure = rate * penetration
    if law.code & LARGE_STRAIN:
        strain, slope = log_strain(penetration / thickness)
        pressure, rate = law.modulus * strain, rate * slope
    if law.code & THREE_PARAMETER:
        root = ramberg_osgood_root(pressure / law.scale, law.exponent, law.weight)
        rate /= 1.0 + law.weight * law.exponent * raised(root, law.exponent - 1.0)
        pressure = law.scale * root
    if pressure > law.cap:
        return law.cap, 0.0
    return pressure, rate


@compiled
def element_pressures(
    law: PressureLawArrays,
    penetration: NDArray,
    thickness: NDArray,
    pressure: NDArray,
    rate: NDArray,
) -> None:
    """Pressures and their derivatives, zero where the penetration is not positive."""
    for n in range(penetration.size):
        pressure[n] = rate[n] = 0.0
        if penetration[n] > 0.0:
            pressure[n], rate[n] = pressure_law(law, penetration[n], thickness[n])


@compiled
def friction_coefficient(
    speed: NDArray, static: float, dynamic: float, transition: float
) -> NDArray:
    """Friction over pressure; a number or an array of speeds."""
    ratio = speed / transition
    return (
        dynamic * np.tanh(4.0 * ratio) + (static - dynamic) * ratio / (0.25 * ratio**2 + 0.75) ** 2
    )


@compiled
def friction_slope(speed: NDArray, static: float, dynamic: float, transition: float) -> NDArray:
    """Derivative of `friction_coefficient` over the speed."""
    ratio = speed / transition
    quarter = 0.25 * ratio**2 + 0.75
    falling = (static - dynamic) * (quarter - ratio**2) / quarter**3
    return (4.0 * dynamic * (1.0 - np.tanh(4.0 * ratio) ** 2) + falling) / transition


@compiled
def damping_factor(rate: NDArray, coefficient: float) -> NDArray:
    """Damped over elastic pressure; a number or an array of penetration rates."""
    return np.maximum(1.0 + coefficient * rate, 0.0)


@compiled
def tractions(
    law: TractionLaw,
    normal: NDArray,
    velocity: NDArray,
    traction: NDArray,
    over_velocity: NDArray,
    over_normal: NDArray,
) -> None:
    """Traction on the moving body per elastic pressure, and its derivatives.

    `normal` is the moving surface's outward unit normal N, which points into the layer; `velocity`
    that of the moving body's point at the element. With penetration rate v . N and slip velocity
    v - (v . N) N, fills `traction` (3) with -f (N + mu e), f the damping factor and e the direction
    of slip, and its derivatives (3 x 3) over velocity and unit normal. Multiply all by the elastic
    pressure.
    """
    rate = normal[0] * velocity[0] + normal[1] * velocity[1] + normal[2] * velocity[2]
    factor = damping_factor(rate, law.damping)
    steepness = law.damping if factor > 0.0 else 0.0
    square = 0.0
    for a in range(3):
        square += (velocity[a] - rate * normal[a]) ** 2
    speed = np.sqrt(square)
    along = friction_slope(speed, law.static, law.dynamic, law.transition)
    # Where slip vanishes it has no direction, and friction has the same slope in all of them.
    across, inverse = along, 0.0
    if speed > 1e-9 * law.transition:
        inverse = 1.0 / speed
        across = inverse * friction_coefficient(speed, law.static, law.dynamic, law.transition)
    for a in range(3):
        slip_a = velocity[a] - rate * normal[a]
        direction = normal[a] + across * slip_a
        traction[a] = -factor * direction
        for b in range(3):
            slip_b = velocity[b] - rate * normal[b]
            same = 1.0 if a == b else 0.0
            tangential = same - normal[a] * normal[b]
            turn = across * tangential + (along - across) * slip_a * slip_b * inverse**2
            over_velocity[a, b] = -steepness * direction * normal[b] - factor * turn
            turn = same - across * (normal[a] * velocity[b] + rate * same)
            turn -= (along - across) * slip_a * slip_b * inverse**2 * rate
            over_normal[a, b] = -steepness * direction * velocity[b] - factor * turn


@compiled
def chunk_forces(pair: Any, rotation: NDArray, velocity: NDArray, moving: bool, chunk: int) -> None:
    """Pressures of a chunk's active elements and their sums; `velocity` is in the moving frame."""
    tiles, total = pair.tiles, pair.work.sums[chunk]
    first = tiles.first[tiles.chunk_first[chunk]]
    last = first + total.active
    total.force[:] = 0.0
    total.moments[:] = 0.0
    total.rates[:] = 0.0
    total.drags[:] = 0.0
    total.weighted_centre[:] = 0.0
    total.normal_force = 0.0
    total.max_pressure = total.max_penetration = 0.0
    if first == last:
        return
    # Forces along the line of minimum distance that depend on it alone have a potential.
    options = pair.options
    conservative = options.method == MINIMUM_DISTANCE and not options.corrected
    conservative = conservative and options.direction == ALONG_MINIMUM_DISTANCE
    if conservative and not moving:
        active_forces(pair, rotation, first, last, total)
        add_conservative(pair, first, last, total)
    else:
        add_general(pair, rotation, velocity, moving, first, last, total)
    if moving:
        fill_slip_velocities(pair, rotation, velocity, first, last)


@compiled
def active_forces(pair: Any, rotation: NDArray, first: int, last: int, total: Any) -> None:
    """Pressures of active elements whose penetration is their distance, and sums of them."""
    elements, work = pair.elements, pair.work
    law, thickness = pair.law, pair.thickness
    projection, outcome = work.projection, work.outcome
    for n in range(first, last):
        element = work.listed[n]
        depth, area = -projection[0, n], elements.area[element]
        pressure, rate = pressure_law(law, depth, thickness[elements.order[element]])
        work.normal_force[n], work.rate[n] = pressure * area, rate * area
        add_pressure(elements.centre, element, area, depth, pressure, total)
        nx, ny, nz = projection[1, n], projection[2, n], projection[3, n]
        outcome[n].element = elements.order[element]
        outcome[n].penetration, outcome[n].pressure, outcome[n].area = depth, pressure, area
        for a in range(3):
            outcome[n].direction[a] = (
                rotation[a, 0] * nx + rotation[a, 1] * ny + rotation[a, 2] * nz
            )


@compiled(inlined=True)
def add_pressure(
    centre: NDArray, element: int, area: float, depth: float, pressure: float, total: Any
) -> None:
    """Add one element to the sums that a pair reports."""
    normal_force = pressure * area
    total.normal_force += normal_force
    for a in range(3):
        total.weighted_centre[a] += normal_force * centre[a, element]
    total.max_pressure = max(total.max_pressure, pressure)
    total.max_penetration = max(total.max_penetration, depth)


@compiled
def add_conservative(pair: Any, first: int, last: int, total: Any) -> None:
    """Sums of forces f = -normal_force N along the gradient N of the distance.

    With H its second derivatives, M = rate N N' - normal_force H, symmetric.
    """
    work = pair.work
    point, projection = work.point, work.projection
    fx = fy = fz = xfx = xfy = xfz = yfx = yfy = yfz = zfx = zfy = zfz = 0.0
    m_xx = m_yy = m_zz = m_xy = m_xz = m_yz = 0.0
    b_xx = b_xy = b_xz = b_yx = b_yy = b_yz = b_zx = b_zy = b_zz = 0.0
    c_xx = c_yy = c_zz = c_xy = c_xz = c_yz = 0.0
    for n in range(np.uint64(first), np.uint64(last)):
        x, y, z = point[0, n], point[1, n], point[2, n]
        nx, ny, nz = projection[1, n], projection[2, n], projection[3, n]
        normal_force, rate = work.normal_force[n], work.rate[n]
        gx, gy, gz = -normal_force * nx, -normal_force * ny, -normal_force * nz
        fx, fy, fz = fx + gx, fy + gy, fz + gz
        xfx, xfy, xfz = xfx + x * gx, xfy + x * gy, xfz + x * gz
        yfx, yfy, yfz = yfx + y * gx, yfy + y * gy, yfz + y * gz
        zfx, zfy, zfz = zfx + z * gx, zfy + z * gy, zfz + z * gz
        k_xx = rate * nx * nx - normal_force * projection[4, n]
        k_yy = rate * ny * ny - normal_force * projection[5, n]
        k_zz = rate * nz * nz - normal_force * projection[6, n]
        k_xy = rate * nx * ny - normal_force * projection[7, n]
        k_xz = rate * nx * nz - normal_force * projection[8, n]
        k_yz = rate * ny * nz - normal_force * projection[9, n]
        m_xx, m_yy, m_zz = m_xx + k_xx, m_yy + k_yy, m_zz + k_zz
        m_xy, m_xz, m_yz = m_xy + k_xy, m_xz + k_xz, m_yz + k_yz
        # M X
        d_xx, d_xy, d_xz = k_xy * z - k_xz * y, k_xz * x - k_xx * z, k_xx * y - k_xy * x
        d_yx, d_yy, d_yz = k_yy * z - k_yz * y, k_yz * x - k_xy * z, k_xy * y - k_yy * x
        d_zx, d_zy, d_zz = k_yz * z - k_zz * y, k_zz * x - k_xz * z, k_xz * y - k_yz * x
        b_xx, b_xy, b_xz = b_xx + d_xx, b_xy + d_xy, b_xz + d_xz
        b_yx, b_yy, b_yz = b_yx + d_yx, b_yy + d_yy, b_yz + d_yz
        b_zx, b_zy, b_zz = b_zx + d_zx, b_zy + d_zy, b_zz + d_zz
        # X M X, symmetric
        c_xx, c_xy = c_xx + y * d_zx - z * d_yx, c_xy + y * d_zy - z * d_yy
        c_xz, c_yy = c_xz + y * d_zz - z * d_yz, c_yy + z * d_xy - x * d_zy
        c_yz, c_zz = c_yz + z * d_xz - x * d_zz, c_zz + x * d_yz - y * d_xz
    fill_row(total.force, fx, fy, fz)
    fill_row(total.moments[0], xfx, xfy, xfz)
    fill_row(total.moments[1], yfx, yfy, yfz)
    fill_row(total.moments[2], zfx, zfy, zfz)
    # The point moves by dx = -t + X s: df = -M t + M X s, and x x df with X M = -(M X)'.
    rates = total.rates
    fill_row(rates[0, :3], -m_xx, -m_xy, -m_xz)
    fill_row(rates[0, 3:], b_xx, b_xy, b_xz)
    fill_row(rates[1, :3], -m_xy, -m_yy, -m_yz)
    fill_row(rates[1, 3:], b_yx, b_yy, b_yz)
    fill_row(rates[2, :3], -m_xz, -m_yz, -m_zz)
    fill_row(rates[2, 3:], b_zx, b_zy, b_zz)
    fill_row(rates[3, :3], b_xx, b_yx, b_zx)
    fill_row(rates[3, 3:], c_xx, c_xy, c_xz)
    fill_row(rates[4, :3], b_xy, b_yy, b_zy)
    fill_row(rates[4, 3:], c_xy, c_yy, c_yz)
    fill_row(rates[5, :3], b_xz, b_yz, b_zz)
    fill_row(rates[5, 3:], c_xz, c_yz, c_zz)


@compiled
def fill_row(row: NDArray, a: float, b: float, c: float) -> None:
    row[0], row[1], row[2] = a, b, c


@compiled
def fill_rotation_rate(vector: NDArray, rate: NDArray) -> None:
    """Rate of a vector that rests in the fixed frame: it rotates by -s x vector."""
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        for k in range(3):
            rate[a, k] = 0.0
        rate[a, 3 + a], rate[a, 3 + b], rate[a, 3 + c] = 0.0, -vector[c], vector[b]


@compiled
def add_product(matrix: NDArray, rate: NDArray, factor: float, out: NDArray) -> None:
    for a in range(3):
        for b in range(3):
            f = factor * matrix[a, b]
            for k in range(6):
                out[a, k] += f * rate[b, k]


@compiled
def rate_distance(
    method: int,
    distance: float,
    facing: float,
    n: NDArray,
    normal: NDArray,
    hessian: NDArray,
    point_rate: NDArray,
    n_rate: NDArray,
    distance_rate: NDArray,
    normal_rate: NDArray,
    facing_rate: NDArray,
    hit_rate: NDArray,
) -> None:
    """Rates of the distance, of the surface's normal N and of the cosine c = -N . n.

    The projection of a point moves with it: N changes by H dx. A ray of length s ends at x + s n,
    which stays on the surface: N . (dx + ds n + s dn) = 0.
    """
    for k in range(6):
        distance_rate[k] = 0.0
        for a in range(3):
            hit_rate[a, k] = point_rate[a, k]
            if method == RAY:
                hit_rate[a, k] += distance * n_rate[a, k]
            distance_rate[k] += normal[a] * hit_rate[a, k]
    if method == RAY:
        for k in range(6):
            distance_rate[k] /= facing
            for a in range(3):
                hit_rate[a, k] += n[a] * distance_rate[k]
    normal_rate[:] = 0.0
    add_product(hessian, hit_rate, 1.0, normal_rate)
    for k in range(6):
        facing_rate[k] = 0.0
        for a in range(3):
            facing_rate[k] -= normal_rate[a, k] * n[a] + normal[a] * n_rate[a, k]


@compiled
def correct(method: int, corrected: bool, facing: float) -> tuple[float, float]:
    """Penetration over distance, and its derivative over the cosine of the angle."""
    if not corrected:
        return 1.0, 0.0
    half = np.sqrt(0.5 * (1.0 + facing))
    factor, rate = 1.0 / half, -0.25 / half**3
    if method == RAY:
        return facing * factor, factor + facing * rate
    return factor, rate


@compiled
def pressure_direction(
    direction: int,
    facing: float,
    n: NDArray,
    normal: NDArray,
    n_rate: NDArray,
    normal_rate: NDArray,
    facing_rate: NDArray,
    line: NDArray,
    line_rate: NDArray,
) -> None:
    """Line along which pressure acts on the element, and its rate.

    It is N, -n or, between them, (N - n) / (2 cos(theta / 2)).
    """
    half = np.sqrt(0.5 * (1.0 + facing))
    of_normal, of_n, bend = 1.0, 0.0, 0.0
    if direction == ALONG_ELEMENT_NORMAL:
        of_normal, of_n = 0.0, 1.0
    elif direction == ALONG_MID_SURFACE:
        of_normal = of_n = 0.5 / half
        bend = 0.25 / half**2
    for a in range(3):
        line[a] = of_normal * normal[a] - of_n * n[a]
        for k in range(6):
            line_rate[a, k] = of_normal * normal_rate[a, k] - of_n * n_rate[a, k]
            line_rate[a, k] -= bend * line[a] * facing_rate[k]


@compiled
def rate_velocity(
    velocity: NDArray, x: NDArray, point_rate: NDArray, out: NDArray, out_rate: NDArray
) -> None:
    """Velocity v + w x x of the body's point at the element, and its rate.

    v and w rest in the fixed frame: they rotate against the body.
    """
    v, w = velocity[:3], velocity[3:]
    swept = w[0] * x[0] + w[1] * x[1] + w[2] * x[2]
    fill_rotation_rate(v, out_rate)
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        out[a] = v[a] + w[b] * x[c] - w[c] * x[b]
        for k in range(6):
            out_rate[a, k] += w[b] * point_rate[c, k] - w[c] * point_rate[b, k]
        for k in range(3):
            out_rate[a, 3 + k] -= w[a] * x[k]
        out_rate[a, 3 + a] += swept


@compiled
def add_rates(total: NDArray, x: NDArray, rate: NDArray) -> None:
    """Add a force's rate, and that of its moment about a resting point, to a 6 x 6 sum."""
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        for k in range(6):
            total[a, k] += rate[a, k]
            total[3 + a, k] += x[b] * rate[c, k] - x[c] * rate[b, k]


@compiled
def add_general(
    pair: Any,
    rotation: NDArray,
    velocity: NDArray,
    moving: bool,
    first: int,
    last: int,
    total: Any,
) -> None:
    """Sums for any distance, correction and direction; `velocity` (6) is in the moving frame.

    With the distance s and the correction k the penetration is -s k. The traction t per pressure is
    minus the line without motion; the force is area p t.
    """
    elements, work, options = pair.elements, pair.work, pair.options
    law, thickness, traction_law = pair.law, pair.thickness, pair.traction
    projection, outcome = work.projection, work.outcome
    x, n, normal, line = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    point_velocity, traction = np.empty(3), np.empty(3)
    hessian, over_velocity, over_line = np.empty((3, 3)), np.zeros((3, 3)), np.zeros((3, 3))
    distance_rate, facing_rate = np.empty(6), np.empty(6)
    point_rate, n_rate, normal_rate = np.zeros((3, 6)), np.empty((3, 6)), np.empty((3, 6))
    line_rate, force_rate, hit_rate = np.empty((3, 6)), np.empty((3, 6)), np.empty((3, 6))
    velocity_rate, drag = np.empty((3, 6)), np.empty((3, 6))
    for slot in range(first, last):
        element = work.listed[slot]
        for a in range(3):
            x[a], n[a] = work.point[a, slot], work.normal[a, slot]
            normal[a] = projection[1 + a, slot]
            hessian[a, a] = projection[4 + a, slot]
        hessian[0, 1] = hessian[1, 0] = projection[7, slot]
        hessian[0, 2] = hessian[2, 0] = projection[8, slot]
        hessian[1, 2] = hessian[2, 1] = projection[9, slot]
        fill_rotation_rate(x, point_rate)
        for a in range(3):
            point_rate[a, a] = -1.0
        fill_rotation_rate(n, n_rate)
        distance = projection[0, slot]
        facing = -(normal[0] * n[0] + normal[1] * n[1] + normal[2] * n[2])
        rate_distance(
            options.method,
            distance,
            facing,
            n,
            normal,
            hessian,
            point_rate,
            n_rate,
            distance_rate,
            normal_rate,
            facing_rate,
            hit_rate,
        )
        factor, factor_rate = correct(options.method, options.corrected, facing)
        depth, area = -distance * factor, elements.area[element]
        pressure, rate = pressure_law(law, depth, thickness[elements.order[element]])
        normal_force, rate = pressure * area, rate * area
        pressure_direction(
            options.direction, facing, n, normal, n_rate, normal_rate, facing_rate, line, line_rate
        )
        force_rate[:] = 0.0
        if moving:
            rate_velocity(velocity, x, point_rate, point_velocity, velocity_rate)
            tractions(traction_law, line, point_velocity, traction, over_velocity, over_line)
            add_product(over_line, line_rate, normal_force, force_rate)
            add_product(over_velocity, velocity_rate, normal_force, force_rate)
            # Over velocities the point moves as against a motion of the body.
            drag[:] = 0.0
            add_product(over_velocity, point_rate, -normal_force, drag)
            add_rates(total.drags, x, drag)
        else:
            for a in range(3):
                traction[a] = -line[a]
                for k in range(6):
                    force_rate[a, k] = -normal_force * line_rate[a, k]
        for a in range(3):
            for k in range(6):
                depth_rate = -factor * distance_rate[k] - distance * factor_rate * facing_rate[k]
                force_rate[a, k] += rate * depth_rate * traction[a]
            total.force[a] += normal_force * traction[a]
            for b in range(3):
                total.moments[a, b] += normal_force * x[a] * traction[b]
            outcome[slot].direction[a] = (
                rotation[a, 0] * line[0] + rotation[a, 1] * line[1] + rotation[a, 2] * line[2]
            )
        add_rates(total.rates, x, force_rate)
        add_pressure(elements.centre, element, area, depth, pressure, total)
        outcome[slot].element = elements.order[element]
        outcome[slot].penetration, outcome[slot].pressure = depth, pressure
        outcome[slot].area = area


@compiled
def fill_slip_velocities(
    pair: Any, rotation: NDArray, velocity: NDArray, first: int, last: int
) -> None:
    """Slip velocity of the moving body's points along the two tangents of the active elements."""
    elements, work = pair.elements, pair.work
    for n in range(first, last):
        element = work.listed[n]
        x, y, z = work.point[0, n], work.point[1, n], work.point[2, n]
        vx = velocity[0] + velocity[4] * z - velocity[5] * y
        vy = velocity[1] + velocity[5] * x - velocity[3] * z
        vz = velocity[2] + velocity[3] * y - velocity[4] * x
        along_row = along_column = 0.0
        for a in range(3):
            fixed = rotation[a, 0] * vx + rotation[a, 1] * vy + rotation[a, 2] * vz
            along_row += fixed * elements.tangent_row[a, element]
            along_column += fixed * elements.tangent_column[a, element]
        slip = work.outcome[n].slip_velocity
        slip[0], slip[1] = along_row, along_column


@compiled
def fill_result(
    pair: Any, rotation: NDArray, translation: NDArray, moving: bool, result: Any
) -> None:
    """A pair's result in the fixed frame, from the sums of its chunks in their order."""
    sums = pair.work.sums
    total = np.zeros(1, SUMS)[0]
    for chunk in range(sums.size):
        add_sums(sums[chunk], total)
    result.wrench[:] = 0.0
    result.stiffness[:] = 0.0
    result.damping[:] = 0.0
    result.centre_of_pressure[:] = 0.0
    result.normal_force = total.normal_force
    result.max_pressure, result.max_penetration = total.max_pressure, total.max_penetration
    result.active_elements, result.evaluated_elements = total.active, total.evaluated
    result.is_moving = moving
    for a in range(3):
        result.translation[a] = translation[a]
    if total.active == 0:
        return
    for a in range(3):
        result.centre_of_pressure[a] = total.weighted_centre[a] / total.normal_force
    fill_wrench(rotation, total, result.wrench)
    fill_stiffness(rotation, total, result.stiffness)
    if moving:
        rotate_blocks(rotation, total.drags, result.damping)


@compiled
def add_sums(part: Any, total: Any) -> None:
    """Add the sums of a chunk."""
    for a in range(6):
        for b in range(6):
            total.rates[a, b] += part.rates[a, b]
            total.drags[a, b] += part.drags[a, b]
    for a in range(3):
        total.force[a] += part.force[a]
        total.weighted_centre[a] += part.weighted_centre[a]
        for b in range(3):
            total.moments[a, b] += part.moments[a, b]
    total.normal_force += part.normal_force
    total.active += part.active
    total.evaluated += part.evaluated
    total.max_pressure = max(total.max_pressure, part.max_pressure)
    total.max_penetration = max(total.max_penetration, part.max_penetration)


@compiled
def fill_wrench(rotation: NDArray, total: Any, wrench: NDArray) -> None:
    """Force and moment about the moving body's origin."""
    for a in range(3):
        for b in range(3):
            c, d = (b + 1) % 3, (b + 2) % 3
            moment = total.moments[c, d] - total.moments[d, c]
            wrench[a] += rotation[a, b] * total.force[b]
            wrench[3 + a] += rotation[a, b] * moment


@compiled
def fill_stiffness(rotation: NDArray, total: Any, stiffness: NDArray) -> None:
    """Derivative of the wrench over translation t and rotation s.

    Added to the sums is what moves in addition to the force: the point, whose moment changes by
    (-t + x x s) x f, and the moving frame itself, which rotates force and moment along.
    """
    rates, moments = total.rates, total.moments
    trace = moments[0, 0] + moments[1, 1] + moments[2, 2]
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        force = total.force[a]
        moment = moments[b, c] - moments[c, b]
        # f x t, s x f and s x m, component a of f and m.
        rates[3 + c, b] += force
        rates[3 + b, c] -= force
        rates[c, 3 + b] -= force
        rates[b, 3 + c] += force
        rates[3 + c, 3 + b] -= moment
        rates[3 + b, 3 + c] += moment
        rates[3 + a, 3 + a] += trace
        for k in range(3):
            rates[3 + a, 3 + k] -= moments[a, k]
    rotate_blocks(rotation, rates, stiffness)


@compiled
def rotate_blocks(rotation: NDArray, rates: NDArray, out: NDArray) -> None:
    """Rotate the four 3 x 3 blocks of a 6 x 6 matrix into the fixed frame."""
    half = np.empty((6, 6))
    for block in (0, 3):
        for a in range(6):
            for b in range(3):
                total = 0.0
                for k in range(3):
                    total += rates[a, block + k] * rotation[b, k]
                half[a, block + b] = total
    for block in (0, 3):
        for a in range(3):
            for b in range(6):
                total = 0.0
                for k in range(3):
                    total += rotation[a, k] * half[block + k, b]
                out[block + a, b] = total
