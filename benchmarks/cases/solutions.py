"""Cases of the benchmark set and two independent solutions of each quantity.

`python benchmarks/cases/solutions.py` writes a JSON file for each case beside this one. It needs
NumPy and SciPy, and no other program. The first solution of a quantity is the reference.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq, minimize
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import splu
from scipy.spatial import cKDTree
from scipy.special import beta, ellipe, ellipk, j0, j1, roots_legendre

FOLDER = Path(__file__).parent
# Elastic foundation: pressure is stiffness times overlap, MPa/mm.
MODULUS = 2140.0
THICKNESS = 8.0
STIFFNESS = MODULUS / THICKNESS
RADIUS = 30.0
DEPTH = 0.2
FACTOR = 1.0e-9  # mm3/(N mm)

Quantity = dict[str, Any]


def quantity(name: str, unit: str, tolerance: float, *solutions: tuple[float, str]) -> Quantity:
    """One result of a case: its tolerance, per cent, and values with their methods."""
    return {
        "name": name,
        "unit": unit,
        "tolerance_percent": tolerance,
        "solutions": [{"value": float(value), "method": method} for value, method in solutions],
    }


def case(
    field: str, title: str, description: str, inputs: dict[str, tuple[float, str]], *found: Quantity
) -> dict[str, Any]:
    """A case as its JSON file states it."""
    return {
        "title": title,
        "field": field,
        "description": description,
        "inputs": {name: {"value": value, "unit": unit} for name, (value, unit) in inputs.items()},
        "quantities": list(found),
    }


LAYER = {"foundation_modulus": (MODULUS, "MPa"), "thickness": (THICKNESS, "mm")}
SPHERE = LAYER | {"radius": (RADIUS, "mm"), "depth": (DEPTH, "mm")}
WINKLER = (
    "A rigid body overlaps an elastic foundation: p = foundation_modulus * d / thickness at each "
    "point, with d the overlap along the foundation's normal. "
)


def polar_sum(pressure: Callable[[np.ndarray], np.ndarray], reach: float, count: int) -> float:
    """Integral of a pressure over a disc by midpoints of squares."""
    step = 2.0 * reach / count
    at = -reach + step * (np.arange(count) + 0.5)
    x, z = np.meshgrid(at, at)
    return float(pressure(np.hypot(x, z)).sum() * step**2)


def sphere_half_space() -> dict[str, Any]:
    """Case of this name."""
    modulus, force = 463.0 / (1.0 - 0.46**2), 100.0
    hertz = (3.0 * force * RADIUS / (4.0 * modulus)) ** (1.0 / 3.0)

    def slope(r: float) -> float:
        return r / math.sqrt(RADIUS**2 - r**2)

    def load(a: float) -> float:
        # r = a sin t removes the root of the integrand.
        return (
            2.0
            * modulus
            * quad(lambda t: (a * math.sin(t)) ** 2 * slope(a * math.sin(t)), 0, math.pi / 2)[0]
        )

    a = brentq(lambda a: load(a) - force, 0.1, 10.0)
    approach = a * quad(lambda t: slope(a * math.sin(t)), 0.0, math.pi / 2)[0]
    return case(
        "contact",
        "Rigid sphere on an elastic half-space",
        "Frictionless, small strain, under a given force.",
        {
            "radius": (RADIUS, "mm"),
            "youngs_modulus": (463.0, "MPa"),
            "poisson_ratio": (0.46, "1"),
            "force": (force, "N"),
        },
        quantity(
            "contact_radius",
            "mm",
            1.0,
            (hertz, "Hertz"),
            (a, "Galin and Sneddon, exact sphere, quadrature"),
        ),
        quantity(
            "approach",
            "mm",
            1.0,
            (hertz**2 / RADIUS, "Hertz"),
            (approach, "Galin and Sneddon, exact sphere, quadrature"),
        ),
    )


def sphere_foundation() -> dict[str, Any]:
    """Case of this name."""
    centre = RADIUS - DEPTH
    reach = math.sqrt(RADIUS**2 - centre**2)
    exact = 2.0 * math.pi * STIFFNESS * ((RADIUS**3 - centre**3) / 3.0 - centre * reach**2 / 2.0)

    def pressure(rho: np.ndarray) -> np.ndarray:
        return STIFFNESS * np.maximum(np.sqrt(np.maximum(RADIUS**2 - rho**2, 0.0)) - centre, 0.0)

    return case(
        "contact",
        "Sphere on an elastic foundation",
        WINKLER,
        SPHERE,
        quantity(
            "force",
            "N",
            1.0,
            (exact, "closed form"),
            (polar_sum(pressure, reach, 1500), "midpoint sum over squares"),
        ),
        quantity(
            "contact_area",
            "mm2",
            1.0,
            (math.pi * reach**2, "closed form"),
            (polar_sum(lambda rho: (pressure(rho) > 0.0) * 1.0, reach, 1500), "count of squares"),
        ),
        quantity(
            "peak_pressure",
            "MPa",
            1.0,
            (STIFFNESS * DEPTH, "closed form"),
            (float(pressure(np.array([0.0]))[0]), "pressure below the pole"),
        ),
    )


def cylinder_foundation() -> dict[str, Any]:
    """Case of this name."""
    length, centre = 10.0, RADIUS - DEPTH
    reach = math.sqrt(RADIUS**2 - centre**2)
    exact = STIFFNESS * length * (RADIUS**2 * math.asin(reach / RADIUS) - centre * reach)
    x = -reach + 2.0 * reach * (np.arange(20_000) + 0.5) / 20_000
    summed = STIFFNESS * length * np.mean(np.sqrt(RADIUS**2 - x**2) - centre) * 2.0 * reach
    return case(
        "contact",
        "Cylinder across an elastic foundation",
        WINKLER,
        SPHERE | {"length": (length, "mm")},
        quantity("force", "N", 1.0, (exact, "closed form"), (summed, "midpoint sum")),
    )


# Bonded elastic layer: Young's modulus, MPa, and Poisson's ratio; approach of the paraboloid, mm.
ELASTIC = 463.0
POISSON = 0.46
APPROACH = 0.1
THICK = 8.0
THIN = 2.0
RINGS = 160
ALONG = 120
BELOW = 80


def disc_deflection(r: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Deflection of a half-space under unit pressure on a disc, over (1 - nu^2) / E."""
    r, radius = np.broadcast_arrays(r, radius)
    inner, outer = np.minimum(r, radius), np.maximum(r, radius)
    square = (inner / outer) ** 2
    found = outer * ellipe(square)
    beyond = r > radius
    found[beyond] -= (outer * (1.0 - square) * ellipk(square))[beyond]
    return 4.0 / math.pi * found


def layer_by_rings(thickness: float) -> tuple[float, float, float]:
    """Force, largest pressure and area of a paraboloid on a bonded layer, by rings of pressure.

    A pressure of wave number k deflects the layer by L(k h) of what it deflects a half-space; L
    follows from an Airy function with no displacement at the base. The radius of the contact is
    that at which the pressure of the outermost ring vanishes.
    """
    x, weight = (15.0 * one for one in roots_legendre(600))
    x += 15.0
    kappa = 3.0 - 4.0 * POISSON
    over = 2.0 * kappa * np.sinh(2.0 * x) - 4.0 * x
    under = 2.0 * kappa * np.cosh(2.0 * x) + 4.0 * x**2 + 1.0 + kappa**2
    wave, weight = x / thickness, 2.0 / thickness * weight * (over / under - 1.0)

    def pressures(reach: float) -> tuple[np.ndarray, np.ndarray]:
        edge = reach * np.sin(0.5 * math.pi * np.arange(RINGS + 1) / RINGS)
        at = 0.5 * (edge[1:] + edge[:-1])
        of_disc = disc_deflection(at[:, None], edge[None, :])
        waves = edge * j1(np.outer(wave, edge)) / wave[:, None]
        of_disc += (weight * j0(np.outer(at, wave))) @ waves
        ring = (1.0 - POISSON**2) / ELASTIC * np.diff(of_disc, axis=1)
        return edge, np.linalg.solve(ring, APPROACH - at**2 / (2.0 * RADIUS))

    top = math.sqrt(2.0 * RADIUS * APPROACH)
    reach = brentq(lambda a: pressures(a)[1][-1], 0.4 * top, top)
    edge, pressure = pressures(reach)
    force = math.pi * float(pressure @ np.diff(edge**2))
    return force, float(pressure[0]), math.pi * reach**2


def ring_stiffness(r: np.ndarray, z: np.ndarray, number: np.ndarray) -> Any:
    """Stiffness of bilinear elements of revolution on a grid; z descends with its index."""
    i, j = (index.ravel() for index in np.indices((r.size - 1, z.size - 1)))
    nodes = np.stack([number[i, j], number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]], 1)
    radii = np.stack([r[i], r[i + 1], r[i + 1], r[i]], 1)
    heights = np.stack([z[j], z[j], z[j + 1], z[j + 1]], 1)
    shear = ELASTIC / (2.0 * (1.0 + POISSON))
    material = np.zeros((4, 4))
    material[:3, :3] = 2.0 * shear * POISSON / (1.0 - 2.0 * POISSON)
    material += np.diag([2.0 * shear, 2.0 * shear, 2.0 * shear, shear])
    stiffness = np.zeros((i.size, 8, 8))
    corner = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    for point in corner / math.sqrt(3.0):
        shape = 0.25 * (1.0 + corner * point).prod(axis=1)
        slopes = 0.25 * corner * (1.0 + corner * point)[:, ::-1]
        jr, jz, at = radii @ slopes[:, 0], heights @ slopes[:, 1], radii @ shape
        strain = np.zeros((i.size, 4, 8))
        strain[:, 0, 0::2] = strain[:, 3, 1::2] = slopes[:, 0] / jr[:, None]
        strain[:, 1, 1::2] = strain[:, 3, 0::2] = slopes[:, 1] / jz[:, None]
        strain[:, 2, 0::2] = shape / at[:, None]
        size = 2.0 * math.pi * at * np.abs(jr * jz)
        stiffness += np.einsum("eki,kl,elj,e->eij", strain, material, strain, size)
    unknown = np.stack([2 * nodes, 2 * nodes + 1], 2).reshape(-1, 8)
    places = np.repeat(unknown, 8, 1).ravel(), np.tile(unknown, (1, 8)).ravel()
    return coo_matrix((stiffness.ravel(), places)).tocsc()


def layer_by_elements(thickness: float) -> tuple[float, float, float]:
    """Force, largest pressure and area of a paraboloid on a bonded layer, by finite elements.

    The layer ends where it is at rest, six thicknesses outside the contact. Nodes that would be
    pulled are released. Pressure is force over the tributary area of a node; that in the middle is
    extrapolated, and the radius of the contact is where the square of the pressure vanishes.
    """
    inner = np.linspace(0.0, 1.05 * math.sqrt(2.0 * RADIUS * APPROACH), ALONG + 1)
    step = inner[1]
    outer = inner[-1] + np.cumsum(step * 1.15 ** np.arange(1, 60))
    r = np.concatenate([inner, outer[outer < inner[-1] + 6.0 * thickness]])
    level = np.linspace(0.0, 1.0, BELOW + 1)
    z = -0.5 * thickness * (level + level**2)
    number = np.arange(r.size * z.size).reshape(r.size, z.size)
    matrix = ring_stiffness(r, z, number)
    fixed = np.concatenate([2 * number[:, -1], 2 * number[:, -1] + 1, 2 * number[0]])
    free = np.setdiff1d(np.arange(matrix.shape[0]), fixed)
    top = np.searchsorted(free, 2 * number[: inner.size, 0] + 1)
    unit = np.zeros((free.size, top.size))
    unit[top, np.arange(top.size)] = 1.0
    soft = splu(matrix[free][:, free]).solve(unit)[top]
    overlap = APPROACH - inner**2 / (2.0 * RADIUS)
    on, force = overlap > 0.0, np.zeros(inner.size)
    while True:
        force[:] = 0.0
        force[on] = np.linalg.solve(soft[np.ix_(on, on)], overlap[on])
        if not (force < 0.0).any():
            break
        on &= force >= 0.0
    area = 2.0 * math.pi * step * inner
    area[0] = math.pi * step**2 / 3.0
    pressure, last = force / area, int(np.flatnonzero(on)[-1])
    near, far = slice(1, max(6, last // 5)), slice(last - last // 8, last)
    peak = np.polyfit(inner[near] ** 2, pressure[near], 1)[1]
    slope, start = np.polyfit(inner[far] ** 2, pressure[far] ** 2, 1)
    return float(force.sum()), float(peak), -math.pi * float(start / slope)


def sphere_on_layer() -> dict[str, Any]:
    """Sphere on layers bonded to a rigid base, thick and thin against the contact."""
    methods = "rings of pressure, Hankel transform", "finite elements of revolution"
    found = []
    for word, thickness in (("thick", THICK), ("thin", THIN)):
        values = zip(layer_by_rings(thickness), layer_by_elements(thickness), strict=True)
        names = (("force", "N", 4.0), ("peak_pressure", "MPa", 4.0), ("contact_area", "mm2", 6.0))
        for (name, unit, tolerance), pair in zip(names, values, strict=True):
            both = zip(pair, methods, strict=True)
            found.append(quantity(f"{name}_{word}", unit, tolerance, *both))
    return case(
        "contact",
        "Sphere on a bonded elastic layer",
        "A rigid sphere, as the paraboloid y = r^2 / (2 radius), approaches a flat, linear elastic "
        "layer without friction. The layer is endless, and bonded to a rigid base; approach is "
        "the overlap in the middle without deformation. Thickness is thickness_thick or "
        "thickness_thin.",
        {
            "youngs_modulus": (ELASTIC, "MPa"),
            "poisson_ratio": (POISSON, "1"),
            "thickness_thick": (THICK, "mm"),
            "thickness_thin": (THIN, "mm"),
            "radius": (RADIUS, "mm"),
            "approach": (APPROACH, "mm"),
        },
        *found,
    )


def sphere_large_strain() -> dict[str, Any]:
    """Case of this name."""
    depth, centre = 1.0, RADIUS - 1.0
    reach = math.sqrt(RADIUS**2 - centre**2)

    def pressure(rho: np.ndarray) -> np.ndarray:
        overlap = np.maximum(np.sqrt(np.maximum(RADIUS**2 - rho**2, 0.0)) - centre, 0.0)
        return -MODULUS * np.log1p(-overlap / THICKNESS)

    exact = 2.0 * math.pi * quad(lambda r: float(pressure(np.array(r))) * r, 0.0, reach)[0]
    return case(
        "contact",
        "Sphere on a foundation at large strain",
        "As the sphere on an elastic foundation, with p = -foundation_modulus ln(1 - d / "
        "thickness).",
        SPHERE | {"depth": (depth, "mm")},
        quantity(
            "force",
            "N",
            1.0,
            (exact, "adaptive quadrature"),
            (polar_sum(pressure, reach, 1500), "midpoint sum over squares"),
        ),
    )


def ball_in_cup() -> dict[str, Any]:
    """Case of this name."""
    cup, clearance = 31.0, 1.0
    # Over the distance s to the ball's centre the integrand is a polynomial.
    off = DEPTH + clearance
    square = cup**2 + off**2

    def antiderivative(s: float) -> float:
        return RADIUS * (square * s**2 / 2.0 - s**4 / 4.0) - square * s**3 / 3.0 + s**5 / 5.0

    span = antiderivative(RADIUS) - antiderivative(cup - off)
    exact = 2.0 * math.pi * STIFFNESS * span / (2.0 * off**2)
    rim = (square - RADIUS**2) / (2.0 * cup * off)
    polar = math.acos(rim) * (np.arange(20_000) + 0.5) / 20_000
    centre = np.stack([np.zeros_like(polar), DEPTH + clearance + 0.0 * polar])
    point = cup * np.stack([np.sin(polar), np.cos(polar)])
    overlap = np.maximum(RADIUS - np.linalg.norm(point - centre, axis=0), 0.0)
    ring = 2.0 * math.pi * cup**2 * np.sin(polar) * np.cos(polar) * math.acos(rim) / 20_000
    return case(
        "contact",
        "Ball in a cup lined with an elastic foundation",
        "Ball of `radius` in a cup of `cup_radius`, pressed `depth` beyond touching. p = "
        "foundation_modulus * d / "
        "thickness, with d the least distance of a point of the cup within the ball.",
        SPHERE | {"cup_radius": (cup, "mm")},
        quantity(
            "force",
            "N",
            1.0,
            (exact, "closed form"),
            (float(np.sum(STIFFNESS * overlap * ring)), "least distances, midpoint sum"),
        ),
    )


def tilted_plane() -> dict[str, Any]:
    """Case of this name."""
    tilt, width, reach = math.radians(2.0), 10.0, 6.0
    exact = STIFFNESS * width * reach**2 * math.tan(tilt) / 2.0
    x = reach * (np.arange(1000) + 0.5) / 1000
    summed = float(np.mean(STIFFNESS * x * math.tan(tilt)) * width * reach)
    return case(
        "contact",
        "Tilted plane on an elastic foundation",
        WINKLER,
        LAYER | {"tilt": (2.0, "deg"), "width": (width, "mm"), "length_in_contact": (reach, "mm")},
        quantity("force", "N", 1.0, (exact, "closed form"), (summed, "midpoint sum")),
    )


# Radii of the condyle and of the plateau, sagittal and coronal, mm; the reach of their patches, mm;
# and the edges of their triangles, mm.
CONDYLE = (32.0, 20.0)
PLATEAU = (60.0, 30.0)
REACH = (12.0, 9.0)
EDGE = 0.4
# Translation, mm, and angles of flexion, varus and rotation, deg, of each pose.
POSES = (
    ((0.0, 31.75, 0.0), (0.0, 0.0, 0.0)),
    ((1.5, 31.80, 0.0), (6.0, 0.0, 0.0)),
    ((-2.0, 31.85, 1.0), (-6.0, 0.0, 5.0)),
    ((0.5, 31.80, 0.5), (3.0, 2.0, -8.0)),
)


def ring(x: np.ndarray, z: np.ndarray, sagittal: float, coronal: float) -> np.ndarray:
    """Height over its lowest point of a ring surface about a medial-lateral axis, mm."""
    return sagittal - np.sqrt((sagittal - coronal + np.sqrt(coronal**2 - z**2)) ** 2 - x**2)


def turned(angles: tuple[float, float, float]) -> np.ndarray:
    """Rotation by flexion about z, then varus about the turned x, then rotation about y."""
    z, x, y = np.radians(angles)
    about_z = [[math.cos(z), -math.sin(z), 0.0], [math.sin(z), math.cos(z), 0.0], [0.0, 0.0, 1.0]]
    about_x = [[1.0, 0.0, 0.0], [0.0, math.cos(x), -math.sin(x)], [0.0, math.sin(x), math.cos(x)]]
    about_y = [[math.cos(y), 0.0, math.sin(y)], [0.0, 1.0, 0.0], [-math.sin(y), 0.0, math.cos(y)]]
    return np.array(about_z) @ np.array(about_x) @ np.array(about_y)


def triangulated(sagittal: float, coronal: float, below: bool) -> np.ndarray:
    """Triangles of a ring surface, mm: of a condyle about its axis, or of a plateau."""
    x, z = (np.linspace(-one, one, 2 * math.ceil(one / EDGE) + 1) for one in REACH)
    at = np.stack(np.meshgrid(x, z, indexing="ij"), axis=-1)
    height = ring(at[..., 0], at[..., 1], sagittal, coronal) - (sagittal if below else 0.0)
    points = np.stack([at[..., 0], height, at[..., 1]], axis=-1)
    first, second = points[:-1, :-1], points[:-1, 1:]
    third, fourth = points[1:, 1:], points[1:, :-1]
    triangles = np.concatenate(
        [
            np.stack(three, axis=-2).reshape(-1, 3, 3)
            for three in ((first, second, third), (first, third, fourth))
        ]
    )
    return triangles[:, ::-1] if below else triangles


def save_stl(triangles: np.ndarray, path: Path) -> None:
    """Write triangles as binary STL."""
    record = np.zeros(len(triangles), dtype=[("normal", "<3f4"), ("at", "<9f4"), ("end", "<u2")])
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    record["normal"] = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    record["at"] = triangles.reshape(-1, 9)
    path.write_bytes(bytes(80) + np.uint32(len(triangles)).tobytes() + record.tobytes())


def exact_poses() -> list[tuple[float, float, float]]:
    """Vertical force, N, largest pressure, MPa, and area, mm2, of each pose on the exact surfaces.

    Midpoints of squares on the plateau; overlap by steps along its normal to the condyle, whose
    signed distance is known.
    """
    step = 0.05
    x, z = np.meshgrid(*(np.arange(-one, one, step) + 0.5 * step for one in REACH))
    sagittal, coronal = PLATEAU
    across = np.sqrt(coronal**2 - z**2)
    along = np.sqrt((sagittal - coronal + across) ** 2 - x**2)
    slope_x, slope_z = x / along, (sagittal - coronal + across) / along * z / across
    area = np.sqrt(1.0 + slope_x**2 + slope_z**2)
    normal = np.stack([-slope_x, np.ones_like(x), -slope_z], axis=-1) / area[..., None]
    at = np.stack([x, ring(x, z, *PLATEAU), z], axis=-1)
    large, small = CONDYLE
    found = []
    for translation, angles in POSES:
        matrix = turned(angles)
        own, down = (at - np.array(translation)) @ matrix, -normal @ matrix
        depth = np.zeros_like(x)
        for _ in range(30):
            point = own + depth[..., None] * down
            radial = np.hypot(point[..., 0], point[..., 1])
            distance = np.hypot(radial - (large - small), point[..., 2]) - small
            depth = np.maximum(depth - distance, 0.0)
        pressure = STIFFNESS * depth
        touched = depth > 0.0
        found.append(
            (
                float((pressure * area * normal[..., 1]).sum() * step**2),
                float(pressure.max()),
                float(area[touched].sum() * step**2),
            )
        )
    return found


def triangle_poses() -> list[tuple[float, float, float]]:
    """The same as `exact_poses` of the triangles of the files, each split into four."""
    plateau, condyle = triangulated(*PLATEAU, False), triangulated(*CONDYLE, True)
    middles = 0.5 * (plateau + np.roll(plateau, -1, axis=1))
    corners = [
        np.stack([plateau[:, n], middles[:, n], middles[:, n - 1]], axis=1) for n in range(3)
    ]
    plateau = np.concatenate([*corners, middles])
    normal = np.cross(plateau[:, 1] - plateau[:, 0], plateau[:, 2] - plateau[:, 0])
    double = np.linalg.norm(normal, axis=1)
    normal, at = normal / double[:, None], plateau.mean(axis=1)
    found = []
    for translation, angles in POSES:
        posed = condyle @ turned(angles).T + np.array(translation)
        depth = np.zeros(len(at))
        # A point that is overlapped by less than a millimetre has its triangle that near.
        near = cKDTree(posed.mean(axis=1)).query_ball_point(at, 1.0)
        for point in np.flatnonzero([bool(some) for some in near]):
            depth[point] = along_ray(at[point], -normal[point], posed[near[point]])
        pressure = STIFFNESS * depth
        found.append(
            (
                float((pressure * 0.5 * double * normal[:, 1]).sum()),
                float(pressure.max()),
                float(0.5 * double[depth > 0.0].sum()),
            )
        )
    return found


def along_ray(point: np.ndarray, direction: np.ndarray, triangles: np.ndarray) -> float:
    """Distance along a ray from a point to the first of some triangles, 0 without any; mm."""
    first, second = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    across = np.cross(direction, second)
    scale = (first * across).sum(axis=1)
    offset = point - triangles[:, 0]
    u = (offset * across).sum(axis=1) / scale
    turn = np.cross(offset, first)
    v, distance = turn @ direction / scale, (turn * second).sum(axis=1) / scale
    hit = (u >= -1e-9) & (v >= -1e-9) & (u + v <= 1.0 + 1e-9) & (distance > 0.0)
    return float(distance[hit].min()) if hit.any() else 0.0


def save_poses(folder: Path) -> None:
    """Write the surfaces and poses of `condyle_on_plateau`."""
    folder.mkdir(exist_ok=True)
    save_stl(triangulated(*CONDYLE, True), folder / "condyle.stl")
    save_stl(triangulated(*PLATEAU, False), folder / "plateau.stl")
    names = ["x", "y", "z", *(f"r{row}{column}" for row in "123" for column in "123")]
    rows = [
        [number, *translation, *turned(angles).ravel()]
        for number, (translation, angles) in enumerate(POSES, 1)
    ]
    lines = [",".join(map(repr, row)) for row in np.array(rows).tolist()]
    text = "\n".join([",".join(["pose", *names]), *lines]) + "\n"
    (folder / "poses.csv").write_text(text, encoding="utf-8")


def condyle_on_plateau() -> dict[str, Any]:
    """Case of this name."""
    exact, cut = exact_poses(), triangle_poses()
    kinds = (("vertical_force", "N", 4.0), ("peak_pressure", "MPa", 4.0), ("area", "mm2", 6.0))
    files = [f"condyle_on_plateau/{name}" for name in ("condyle.stl", "plateau.stl", "poses.csv")]
    return {"files": files} | case(
        "contact",
        "Condyle on a dished plateau in four poses",
        WINKLER + "Surfaces are in condyle.stl, about its medial-lateral axis z, and plateau.stl, "
        "mm, y up; poses.csv has the translation, mm, and rotation matrix of the condyle. Both are "
        "parts of ring surfaces of the given radii. Area is that of the plateau in contact.",
        LAYER
        | {
            f"{body}_{radius}_radius": (value, "mm")
            for body, radii in (("condyle", CONDYLE), ("plateau", PLATEAU))
            for radius, value in zip(("sagittal", "coronal"), radii, strict=True)
        },
        *(
            quantity(
                f"{name}_{number}",
                unit,
                tolerance,
                (one[place], "ring surfaces, midpoint sum"),
                (two[place], "triangles of the files"),
            )
            for number, (one, two) in enumerate(zip(exact, cut, strict=True), 1)
            for place, (name, unit, tolerance) in enumerate(kinds)
        ),
    )


def impact_on_foundation() -> dict[str, Any]:
    """Case of this name."""
    mass, speed = 5.0e-4, 200.0
    stiffness = math.pi * STIFFNESS * RADIUS  # F = pi R (K/h) d^2 under a paraboloid
    deepest = (1.5 * mass * speed**2 / stiffness) ** (1.0 / 3.0)
    time = 2.0 * deepest / speed * beta(1.0 / 3.0, 0.5) / 3.0

    def out(_: float, y: np.ndarray) -> float:
        return y[0]

    out.terminal, out.direction = True, -1.0  # type: ignore[attr-defined]
    found = solve_ivp(
        lambda _, y: [y[1], -stiffness * max(y[0], 0.0) ** 2 / mass],
        (0.0, 10.0 * time),
        [1e-12, speed],
        events=out,
        rtol=1e-10,
        atol=1e-12,
        max_step=time / 200,
    )
    return case(
        "dynamics",
        "Impact of a sphere on an elastic foundation",
        "Force pi radius (foundation_modulus / thickness) d^2 on a mass (tonnes, so that N "
        "and mm/s2 match) "
        "without gravity and damping.",
        LAYER | {"radius": (RADIUS, "mm"), "mass": (mass, "t"), "speed": (speed, "mm/s")},
        quantity(
            "largest_depth", "mm", 1.0, (deepest, "energy"), (found.y[0].max(), "Runge-Kutta")
        ),
        quantity(
            "time_in_contact",
            "s",
            1.0,
            (time, "beta function"),
            (found.t_events[0][-1], "Runge-Kutta"),
        ),
    )


def damped_impact() -> dict[str, Any]:
    """Case of this name."""
    mass, stiffness, ratio = 5.0e-4, 1000.0, 0.1
    frequency = math.sqrt(stiffness / mass)
    damping = 2.0 * ratio * math.sqrt(stiffness * mass)
    exact = math.exp(-math.pi * ratio / math.sqrt(1.0 - ratio**2))

    def out(_: float, y: np.ndarray) -> float:
        return y[0]

    out.terminal, out.direction = True, -1.0  # type: ignore[attr-defined]
    found = solve_ivp(
        lambda _, y: [y[1], -(stiffness * y[0] + damping * y[1]) / mass],
        (0.0, 10.0 / frequency),
        [1e-12, 100.0],
        events=out,
        rtol=1e-10,
        atol=1e-12,
    )
    return case(
        "dynamics",
        "Impact on a spring and a damper",
        "Linear spring and damper in parallel; contact ends where the spring is released. "
        "Damping is a part of the "
        "critical one.",
        {"mass": (mass, "t"), "stiffness": (stiffness, "N/mm"), "damping_ratio": (ratio, "1")},
        quantity(
            "restitution",
            "1",
            1.0,
            (exact, "closed form"),
            (abs(found.y_events[0][-1][1]) / 100.0, "Runge-Kutta"),
        ),
    )


def ligament_bundle() -> dict[str, Any]:
    """Case of this name."""
    stiffness, half = 2000.0, 0.03

    def exact(strain: float) -> float:
        if strain <= 0.0:
            return 0.0
        return (
            stiffness * strain**2 / (4.0 * half)
            if strain < 2.0 * half
            else stiffness * (strain - half)
        )

    def summed(strain: float) -> float:
        at = strain * (np.arange(100_000) + 0.5) / 100_000
        return float(np.mean(stiffness * np.minimum(at / (2.0 * half), 1.0)) * strain)

    return case(
        "ligaments",
        "Tension of a ligament bundle",
        "Quadratic up to twice the reference strain, linear beyond: k e^2 / (4 e_l), k (e - e_l).",
        {"stiffness": (stiffness, "N per unit strain"), "reference_strain": (half, "1")},
        *(
            quantity(
                f"tension_at_{name}",
                "N",
                1.0,
                (exact(strain), "closed form"),
                (summed(strain), "integral of the tangent stiffness"),
            )
            for name, strain in (("0.04", 0.04), ("0.10", 0.10))
        ),
    )


def wrapped_bundle() -> dict[str, Any]:
    """Case of this name."""
    radius, start, end = 8.0, np.array([-20.0, 2.0, 0.0]), np.array([15.0, -3.0, 12.0])
    planar = []
    for point in (start, end):
        away = math.hypot(*point[:2])
        planar.append(
            (
                math.sqrt(away**2 - radius**2),
                math.acos(radius / away),
                math.atan2(point[1], point[0]),
            )
        )
    (first, open1, at1), (last, open2, at2) = planar
    # Over the top: from the start's side clockwise to the end's.
    turn = (at1 - open1) - (at2 + open2)
    turn = turn % (2.0 * math.pi)
    flat = first + radius * turn + last
    exact = math.hypot(flat, end[2] - start[2])

    def length(v: np.ndarray) -> float:
        a, b, z1, z2 = v
        one = np.array([radius * math.cos(a), radius * math.sin(a), z1])
        two = np.array([radius * math.cos(b), radius * math.sin(b), z2])
        around = math.hypot(radius * (a - b), z2 - z1)
        return float(np.linalg.norm(one - start) + around + np.linalg.norm(end - two))

    # Touching points found from afar; lines that cut the cylinder are shorter and excluded.
    def outside(v: np.ndarray) -> np.ndarray:
        a, b = v[:2]
        return np.array(
            [
                start[0] * math.cos(a) + start[1] * math.sin(a) - radius,
                end[0] * math.cos(b) + end[1] * math.sin(b) - radius,
                a - b,
            ]
        )

    guess = np.array([2.2, 0.9, 4.0, 8.0])
    found = minimize(
        length,
        guess,
        constraints={"type": "ineq", "fun": outside},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    return case(
        "ligaments",
        "Shortest path over a cylinder",
        "From (-20, 2, 0) to (15, -3, 12) mm over the side y > 0 of a cylinder about z.",
        {"radius": (radius, "mm")},
        quantity(
            "length", "mm", 0.5, (exact, "tangents and helix"), (found.fun, "constrained minimum")
        ),
    )


def plate_under_cylinder() -> dict[str, Any]:
    """Case of this name."""
    load, strokes, stroke, reach = 25.0, 2.0e6, 12.0, 1.2
    exact = FACTOR * load * strokes
    peak = 0.75 * load / reach
    centres = np.linspace(-stroke / 2.0, stroke / 2.0, 4001)
    pressure = peak * np.maximum(1.0 - (centres / reach) ** 2, 0.0)
    summed = FACTOR * strokes * float(np.trapezoid(pressure, centres))
    return case(
        "wear",
        "Plate under a reciprocating cylinder",
        "Archard's law, depth = factor * integral of pressure over sliding; force per "
        "length of a rigid cylinder that "
        "slides over a plate; depth in the middle of the stroke.",
        {
            "wear_factor": (1e3 * FACTOR, "mm3/(N m)"),
            "force_per_length": (load, "N/mm"),
            "strokes": (strokes, "1"),
            "stroke": (stroke, "mm"),
        },
        quantity("depth", "mm", 1.0, (exact, "closed form"), (summed, "sum over the path")),
    )


def worn_ring() -> dict[str, Any]:
    """Case of this name."""
    inner, outer, load, turns = 5.0, 8.0, 100.0, 1.0e6
    fresh = FACTOR * load * 4.0 * math.pi / 3.0 * (outer**3 - inner**3) / (outer**2 - inner**2)
    r = inner + (outer - inner) * (np.arange(400) + 0.5) / 400
    area = 2.0 * math.pi * r * (outer - inner) / 400
    depth, before = np.zeros_like(r), np.zeros_like(r)
    steps = 2000
    for step in range(2 * steps):
        if step == steps:
            before = depth.copy()
        # Pressure c (D - depth) carries the load.
        level = (load / STIFFNESS + np.sum(depth * area)) / area.sum()
        depth = depth + FACTOR * STIFFNESS * (level - depth) * 2.0 * math.pi * r * turns / steps
    first = FACTOR * load / area.sum() * float(np.sum(2.0 * math.pi * r * area))
    return case(
        "wear",
        "Ring that turns on a plate",
        "Archard's law on an elastic foundation; the wearing ring turns about its axis. "
        "Volume of a turn while fresh, and depth of "
        "a million turns when worn in.",
        LAYER
        | {
            "wear_factor": (1e3 * FACTOR, "mm3/(N m)"),
            "inner_radius": (inner, "mm"),
            "outer_radius": (outer, "mm"),
            "load": (load, "N"),
        },
        quantity(
            "fresh_volume_per_million_turns",
            "mm3",
            1.0,
            (1e6 * fresh, "closed form"),
            (1e6 * first, "sum over rings"),
        ),
        quantity(
            "worn_depth_per_million_turns",
            "mm",
            1.0,
            (FACTOR * load / (outer - inner) * 1e6, "closed form"),
            (float((depth - before).mean()), "time steps of rings"),
        ),
    )


def worn_sphere() -> dict[str, Any]:
    """Case of this name."""
    radius, load, way = 28.0, 60.0, math.pi * 10.0 * 4.0e5
    volume = FACTOR * load * way
    exact = (4.0 * radius * (volume + load / STIFFNESS) / math.pi) ** 0.25
    r = 4.0 * (np.arange(2000) + 0.5) / 2000
    area = 2.0 * math.pi * r * 4.0 / 2000
    depth, steps, level = np.zeros_like(r), 1500, 0.0
    for _ in range(steps + 1):
        surface = r**2 / (2.0 * radius) + depth
        level = brentq(
            lambda d, s=surface: STIFFNESS * np.sum(np.maximum(d - s, 0.0) * area) - load, 0.0, 2.0
        )
        pressure = STIFFNESS * np.maximum(level - surface, 0.0)
        depth = depth + FACTOR * pressure * way / steps
    touching = r[pressure > 0.0].max()
    return case(
        "wear",
        "Sphere that wears on a plate",
        "Archard's law on an elastic foundation; the sphere wears, and its contact slides a"
        " given way. Radius of the contact at "
        "the end.",
        LAYER
        | {
            "wear_factor": (1e3 * FACTOR, "mm3/(N m)"),
            "radius": (radius, "mm"),
            "load": (load, "N"),
            "sliding": (way, "mm"),
        },
        quantity(
            "contact_radius",
            "mm",
            1.0,
            (exact, "volume of the overlap"),
            (touching, "time steps of rings"),
        ),
        quantity(
            "volume",
            "mm3",
            1.0,
            (volume, "closed form"),
            (FACTOR * load * way, "factor times load times sliding"),
        ),
    )


def groove() -> dict[str, Any]:
    """Case of this name."""
    radius, load, strokes = 28.0, 73.0, 2.4e7
    exact = (1.5 * radius * FACTOR * load * strokes) ** (1.0 / 3.0)
    stiff = 50.0 * STIFFNESS
    z = np.linspace(-1.3, 1.3, 1201) * exact
    line = stiff * 4.0 / 3.0 * math.sqrt(2.0 * radius)
    depth, steps = np.zeros_like(z), 4000
    for _ in range(steps):
        surface = z**2 / (2.0 * radius) + depth
        low, high = surface.min(), surface.max()
        for _ in range(60):
            middle = 0.5 * (low + high)
            pressed = line * np.maximum(middle - surface, 0.0) ** 1.5
            low, high = (middle, high) if np.trapezoid(pressed, z) < load else (low, middle)
        depth = depth + FACTOR * strokes / steps * pressed
    width = math.sqrt(5.0 * np.trapezoid(depth * z**2, z) / np.trapezoid(depth, z))
    return case(
        "wear",
        "Groove of a sphere that reciprocates on a plate",
        "Archard's law, the plate wears; the middle of the stroke, much deeper than the "
        "elastic deformation.",
        {
            "wear_factor": (1e3 * FACTOR, "mm3/(N m)"),
            "radius": (radius, "mm"),
            "load": (load, "N"),
            "strokes": (strokes, "1"),
        },
        quantity(
            "half_width",
            "mm",
            1.0,
            (exact, "self-similar solution"),
            (width, "time steps of an elastic section"),
        ),
        quantity(
            "depth",
            "mm",
            2.0,
            (exact**2 / (2.0 * radius), "self-similar solution"),
            (float(depth.max()), "time steps of an elastic section"),
        ),
    )


def cross_shear() -> dict[str, Any]:
    """Case of this name."""
    a, b = 4.0, 2.0
    way = 4.0 * a * ellipe(1.0 - (b / a) ** 2)
    aligned = quad(
        lambda t: (
            (a**2 * math.sin(t) ** 2 - b**2 * math.cos(t) ** 2)
            / math.hypot(a * math.sin(t), b * math.cos(t))
        ),
        0.0,
        2.0 * math.pi,
    )[0]

    def polygon(points: np.ndarray) -> float:
        step = np.roll(points, -1, axis=0) - points
        length = np.hypot(*step.T)
        double = np.sum(length * np.exp(2j * np.arctan2(step[:, 1], step[:, 0])))
        return float(0.5 * (1.0 - abs(double) / length.sum()))

    t = 2.0 * math.pi * np.arange(20_000) / 20_000
    ellipse = np.stack([a * np.cos(t), b * np.sin(t)], axis=1)
    sides = np.array([[-3.5, -1.5], [3.5, -1.5], [3.5, 1.5], [-3.5, 1.5]])
    return case(
        "wear",
        "Cross-shear of an ellipse and of a rectangle",
        "Part of the frictional work, under constant load, that is done across the "
        "direction in which most is done, of a closed "
        "path: an ellipse of semi-axes 4 and 2 mm, and a rectangle of 7 by 3 mm.",
        {
            "semi_axis_a": (a, "mm"),
            "semi_axis_b": (b, "mm"),
            "side_a": (7.0, "mm"),
            "side_b": (3.0, "mm"),
        },
        quantity(
            "ellipse",
            "1",
            1.0,
            (0.5 * (1.0 - abs(aligned) / way), "elliptic integral and quadrature"),
            (polygon(ellipse), "polygon"),
        ),
        quantity("rectangle", "1", 1.0, (3.0 / 10.0, "closed form"), (polygon(sides), "polygon")),
    )


def socket() -> dict[str, Any]:
    """Case of this name."""
    radius, load, turned = 14.0, 800.0, 4.0 * math.radians(15.0) * 1.0e6
    exact = 4.0 / math.pi * FACTOR * load * radius * turned
    polar = 0.5 * math.pi * (np.arange(600) + 0.5) / 600
    around = 2.0 * math.pi * (np.arange(1200) + 0.5) / 1200
    f, b = np.meshgrid(polar, around, indexing="ij")
    weight = np.cos(f) * np.sin(f)
    lever = np.sqrt(1.0 - (np.sin(f) * np.cos(b)) ** 2)
    summed = FACTOR * load * radius * turned * np.sum(weight * lever) / np.sum(weight * np.cos(f))
    return case(
        "wear",
        "Socket under a turning ball",
        "Archard's law; pressure proportional to the cosine of the angle from the load over"
        " the hemisphere; the ball turns about an "
        "axis perpendicular to the load by angles of the given sum.",
        {
            "wear_factor": (1e3 * FACTOR, "mm3/(N m)"),
            "radius": (radius, "mm"),
            "load": (load, "N"),
            "turned": (turned, "rad"),
        },
        quantity("volume", "mm3", 1.0, (exact, "closed form"), (float(summed), "midpoint sum")),
    )


CASES = (
    sphere_half_space,
    sphere_foundation,
    cylinder_foundation,
    sphere_on_layer,
    sphere_large_strain,
    ball_in_cup,
    tilted_plane,
    condyle_on_plateau,
    impact_on_foundation,
    damped_impact,
    ligament_bundle,
    wrapped_bundle,
    plate_under_cylinder,
    worn_ring,
    worn_sphere,
    groove,
    cross_shear,
    socket,
)


def main() -> None:
    """Write the files of all cases."""
    save_poses(FOLDER / "condyle_on_plateau")
    for build in CASES:
        text = json.dumps({"name": build.__name__, **build()}, indent=2)
        (FOLDER / f"{build.__name__}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
