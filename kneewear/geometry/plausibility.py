"""Plausibility of bearings from meshes: holes, layers, noise, slope and size.

Ranges are in the tables `checks.csv`; a value beyond them gives a warning or is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.base.checks import judge
from kneewear.errors import Finding
from kneewear.geometry.mesh_checks import bad_edges
from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.noise import estimate_noise

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Distance of the lines on which layers are counted, mm; each is moved off the mesh's own lines.
_STEP = 1.0
_SHIFT = (0.137, 0.291)
# Heights on one line that differ by less are of triangles that share an edge, mm.
_SAME_HEIGHT = 2e-3
# Half of the length and width of the part of a bearing in which its line is searched, mm; steps
# of the search; least points; and the radius across above which a bearing is flat, mm.
_LINE_STRIP = (5.0, 6.0)
_LINE_STEPS = 3
_MIN_LINE_POINTS = 20
_FLAT_ACROSS = 300.0


class UnrolledBearing(NamedTuple):
    """One side of a bearing sheet, unrolled.

    `sheet` is in knee axes, mm; `plan` (n_vertices, 2) and `height` (n_vertices,) are positions
    along and across the bearing and over it, mm: x, z and y of an insert, the arc, z and the radius
    of a condyle. `window` has the limits of the plan, (2, 2), and `source` names the file.
    """

    sheet: TriangleMesh
    plan: Array
    height: Array
    window: Array
    source: str
    side: str

    @property
    def inside(self) -> Bools:
        """True where a vertex is in the window."""
        return self.holds(self.plan)

    def holds(self, plan: Array) -> Bools:
        """True where positions (n, 2) are in the window."""
        within = (plan >= self.window[:, 0]) & (plan <= self.window[:, 1])
        return np.asarray(within.all(axis=-1))


def plateau_bearing(
    sheet: TriangleMesh, x: tuple[float, float], z: tuple[float, float], source: str, side: str
) -> UnrolledBearing:
    """One plateau of an insert, from above."""
    points = sheet.vertices
    return UnrolledBearing(sheet, points[:, [0, 2]], points[:, 1], np.array([x, z]), source, side)


def condyle_bearing(
    sheet: TriangleMesh,
    axis: tuple[float, float],
    angles: tuple[float, float],
    z: tuple[float, float],
    source: str,
    side: str,
) -> UnrolledBearing:
    """One condyle, unrolled about an axis (x, y), mm; `angles` of its window in rad."""
    arms = sheet.vertices[:, :2] - np.array(axis)
    radius = np.hypot(*arms.T)
    near = (sheet.vertices[:, 2] >= z[0]) & (sheet.vertices[:, 2] <= z[1])
    usual = float(np.median(radius[near])) if near.any() else 1.0
    arc = usual * np.arctan2(arms[:, 0], -arms[:, 1])
    window = np.array([[usual * angles[0], usual * angles[1]], z])
    plan = np.column_stack([arc, sheet.vertices[:, 2]])
    return UnrolledBearing(sheet, plan, radius, window, source, side)


def judge_bearing(bearing: UnrolledBearing) -> tuple[Finding, ...]:
    """Warnings about one side of a bearing.

    InputDataError if it has a hole, several layers or too few triangles.
    """
    return tuple(filter(None, _judged(bearing)))


def judge_edges(mesh: TriangleMesh, source: str) -> Finding | None:
    """Warning about bad edges anywhere on a component, whose bearings `judge_bearing` accepts."""
    bad = bad_edges(mesh)
    remedy = "They are off the bearings, and have no effect."
    return judge("geometry.bad_edges_elsewhere", len(bad), source, remedy, _near(bad))


def _judged(bearing: UnrolledBearing) -> Iterator[Finding | None]:
    faces = bearing.sheet.faces
    inside = bearing.inside[faces].all(axis=1)
    where = f"{bearing.side} side"
    bad = bad_edges(bearing.sheet.part(np.asarray(inside)))
    remedy = "Remove doubled or crossing sheets there, and make the normals consistent."
    yield judge("geometry.bad_edges", len(bad), bearing.source, remedy, f"{where}, {_near(bad)}")
    remedy = "Move the region onto the bearing, or export the component with finer triangles."
    yield judge("geometry.triangles", int(inside.sum()), bearing.source, remedy, where)
    for area, (x, y, z) in _holes(bearing):
        remedy = "Close the hole, or check that the file is whole."
        place = f"{where}, near x {x:.1f}, y {y:.1f}, z {z:.1f} mm"
        yield judge("geometry.hole", area, bearing.source, remedy, place)
    part, (x, y, z) = _layered(bearing)
    remedy = "Remove doubled, hidden or crossing sheets."
    place = f"{where}, near x {x:.1f}, y {y:.1f}, z {z:.1f} mm"
    yield judge("geometry.layers", part, bearing.source, remedy, place if part else where)
    remedy = "Smooth the scan, or raise smoothing_length_mm and the tolerances."
    noise = estimate_noise(bearing.sheet.vertices[bearing.inside])
    yield judge("geometry.noise", noise, bearing.source, remedy, where)


def _near(points: Array) -> str:
    """Text of the first of some points; empty without one."""
    return "near x {:.1f}, y {:.1f}, z {:.1f} mm".format(*points[0]) if len(points) else ""


def _holes(bearing: UnrolledBearing) -> Iterator[tuple[float, Array]]:
    """Yield area, mm2, and middle of each hole of the sheet that reaches into the window."""
    mesh = bearing.sheet
    count = len(mesh.vertices)
    codes, uses = np.unique(mesh.edge_codes, return_counts=True)
    border = np.column_stack(np.divmod(codes[uses == 1], count))
    if not len(border):
        return

    def labels(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        graph = scipy.sparse.coo_array(
            (np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count)
        )
        return np.asarray(scipy.sparse.csgraph.connected_components(graph, directed=False)[1])

    piece, loop = labels(mesh.edges), labels(border)
    length = np.linalg.norm(mesh.vertices[border[:, 0]] - mesh.vertices[border[:, 1]], axis=1)
    perimeter = np.bincount(loop[border[:, 0]], weights=length, minlength=count)
    owners = {int(loop[vertex]): int(piece[vertex]) for vertex in border[:, 0]}
    outer: dict[int, int] = {}
    for number, owner in owners.items():
        if owner not in outer or perimeter[number] > perimeter[outer[owner]]:
            outer[owner] = number
    for number, owner in owners.items():
        around = np.unique(border[loop[border[:, 0]] == number])
        if number != outer[owner] and bearing.inside[around].any():
            area = float(perimeter[number] ** 2 / (4.0 * np.pi))
            yield area, mesh.vertices[around].mean(axis=0)


def _layered(bearing: UnrolledBearing) -> tuple[float, Array]:
    """Part of the lines across the window that meet several layers, and where the first one is."""
    mesh = bearing.sheet
    low, high = bearing.window.T
    axes = [np.arange(low[k] + _SHIFT[k], high[k], _STEP) for k in range(2)]
    lines = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    corners = bearing.plan[mesh.faces]
    middle = corners.mean(axis=1)
    reach = np.linalg.norm(corners - middle[:, None], axis=2).max(axis=1)
    # Triangles across the cut of an unrolled condyle are as long as the whole plan.
    usable = bearing.holds(middle) & (reach < 0.5 * np.ptp(bearing.plan[:, 0]))
    # Most triangles of a fine mesh meet no line.
    step = (corners - (low + _SHIFT)) / _STEP
    usable &= (np.floor(step.max(axis=1)) >= np.ceil(step.min(axis=1))).all(axis=1)
    near = scipy.spatial.cKDTree(lines).query_ball_point(
        middle[usable], reach[usable] * (1.0 + 1e-9)
    )
    counts = np.array([len(found) for found in near], dtype=int)
    if not counts.sum():
        return 0.0, np.zeros(3)
    line = np.concatenate([np.asarray(found, dtype=int) for found in near if found])
    face = np.repeat(np.flatnonzero(usable), counts)
    weights = _barycentric(corners[face], lines[line])
    met = (weights >= -1e-9).all(axis=1)
    line, face, weights = line[met], face[met], weights[met]
    height = (bearing.height[mesh.faces[face]] * weights).sum(axis=1)
    order = np.lexsort((height, line))
    again = (np.diff(line[order]) == 0) & (np.diff(height[order]) > _SAME_HEIGHT)
    several = np.unique(line[order][1:][again])
    if not several.size:
        return 0.0, np.zeros(3)
    first = face[order][1:][again][0]
    place = mesh.vertices[mesh.faces[first]].mean(axis=0)
    return several.size / np.unique(line).size, place


def _barycentric(corners: Array, points: Array) -> Array:
    """Weights (n, 3) of the corners (n, 3, 2) at points (n, 2); NaN of flat triangles."""
    a, b, c = (corners[:, k] for k in range(3))
    ab, ac, ap = b - a, c - a, points - a
    area = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]
    area = np.where(area != 0.0, area, np.nan)
    to_b = (ap[:, 0] * ac[:, 1] - ap[:, 1] * ac[:, 0]) / area
    to_c = (ab[:, 0] * ap[:, 1] - ab[:, 1] * ap[:, 0]) / area
    return np.column_stack([1.0 - to_b - to_c, to_b, to_c])


def judge_pair(
    plateaus: dict[str, UnrolledBearing],
    condyles: dict[str, UnrolledBearing],
    thickness: Callable[[Array], Array],
    nominal: float,
    widths: tuple[float, float],
    is_level: bool = False,
) -> tuple[Finding, ...]:
    """Warnings about slope, thickness and size of an insert, and of its condyles to it.

    `thickness` gives the thickness at points (n, 3) of the insert, mm, `nominal` is that of the
    settings, and `widths` are those of the whole sheets of insert and condyles, mm. `is_level` says
    that the underside is a level plane: a slope is one of the design then, and not of the frame.
    InputDataError if they cannot be those of one implant.
    """
    found, slopes = [], []
    source = next(iter(plateaus.values())).source
    for side, bearing in plateaus.items():
        points = bearing.sheet.vertices[bearing.inside]
        dwell = points[_middle(points)]
        # Raised lips at the ends of a dish are no slope.
        slopes.append(_slope(dwell))
        deepest = dwell[np.argmin(dwell[:, 1])][None]
        local = float(thickness(deepest)[0])
        if np.isfinite(local):
            remedy = (
                "Check the underside (underside_mm is its height in the insert's frame), "
                "insert_region_mm and implant.nominal_thickness_mm."
            )
            where = f"{side} side, at x {deepest[0, 0]:.1f}, z {deepest[0, 2]:.1f} mm"
            place = "Check the underside: underside_mm is its height in the insert's frame."
            found.append(judge("geometry.dwell_least", local, source, place, where))
            excess = local - nominal
            found.append(judge("geometry.dwell_thickness", excess, source, remedy, where))
    remedy = (
        "Check that insert_region_mm is on the plateaus, and the frame of the insert; the load "
        "acts along its superior axis."
    )
    check = "geometry.level_slope" if is_level else "geometry.slope"
    found.append(judge(check, float(np.degrees(np.mean(slopes))), source, remedy))
    if len(plateaus) == 1:
        return tuple(filter(None, found))
    femoral = next(iter(condyles.values())).source
    remedy = "Check that both are of one implant and size, and their unit."
    width = judge("geometry.width", widths[1] / widths[0], femoral, remedy)
    dishes, spacing = _spacing(plateaus, 1.0), _spacing(condyles, -1.0)
    if dishes is None or spacing is None:
        found.append(width)
    else:
        # Dishes are made for the condyles they hold; how far a rim extends is a matter of design.
        found.append(judge("geometry.spacing", dishes / spacing, femoral, remedy))
    remedy = "Check implant.meshes.unit: mm, cm, m or inch."
    found.append(judge("geometry.size", widths[0], source, remedy))
    return tuple(filter(None, found))


def _spacing(bearings: dict[str, UnrolledBearing], sign: float) -> float | None:
    """Distance across of the lines on which condyles bear, mm; None where these are flat across.

    `sign` is 1 of plateaus, whose line is lowest, and -1 of condyles, whose line is outermost.
    """
    lines = [_bearing_line(bearing, sign) for bearing in bearings.values()]
    middles = [line for line in lines if line is not None]
    return abs(middles[0] - middles[1]) if len(middles) == 2 else None


def _bearing_line(bearing: UnrolledBearing, sign: float) -> float | None:
    """Position across of the line on which a condyle bears, mm; None where it is flat across."""
    plan, height = bearing.plan[bearing.inside], sign * bearing.height[bearing.inside]
    middle, width = plan[:, 1].mean(), np.ptp(plan[:, 1])
    along = plan[np.argmin(np.where(np.abs(plan[:, 1] - middle) < 0.25 * width, height, np.inf)), 0]
    for _ in range(_LINE_STEPS):
        near = np.abs(plan - [along, middle]) < _LINE_STRIP
        x, z = (plan[near.all(axis=1)] - [along, middle]).T
        if x.size < _MIN_LINE_POINTS:
            return None
        columns = np.column_stack([z**2, z, x**2, x * z, x, np.ones_like(x)])
        half, slope, *_ = np.linalg.lstsq(columns, height[near.all(axis=1)])[0]
        if 2.0 * half * _FLAT_ACROSS < 1.0:
            return None
        middle -= 0.5 * slope / half
    return float(middle) if plan[:, 1].min() < middle < plan[:, 1].max() else None


def _middle(points: Array) -> Bools:
    """Vertices in the middle half of the length and width of a plateau."""
    plan = points[:, [0, 2]]
    lowest, highest = plan.min(axis=0), plan.max(axis=0)
    quarter = 0.25 * (highest - lowest)
    low, high = lowest + quarter, highest - quarter
    return np.asarray(((plan >= low) & (plan <= high)).all(axis=1))


def _slope(points: Array) -> float:
    """Slope of a plateau along x, rad, positive where it falls towards posterior."""
    x, y = points[:, 0] - points[:, 0].mean(), points[:, 1]
    return float(-np.arctan(np.linalg.lstsq(np.column_stack([x, np.ones_like(x)]), y)[0][0]))
