"""Bearing regions of an implant by slope, curvature and extent of its surfaces."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.base.sides import SIDES
from kneewear.errors import InputDataError
from kneewear.geometry.coverage import mesh_coverage
from kneewear.geometry.extraction import extract_condyles
from kneewear.geometry.meshes import FACING_DOWN, TriangleMesh, bearing_axis, circle_centre

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Limits = tuple[float, float]

# Raster of heights and standard deviation of its smoothing, mm.
_CELL = 0.5
_SMOOTH = 0.75
# Rounding of vertices, mm, coarser than errors of other units and formats.
_ROUNDED = 1e-4
# A bearing inclines less, and is nowhere bent outward to a smaller radius, mm: rims and the top of
# the eminence are.
_STEEPEST = np.tan(np.radians(55.0))
_SHARPEST = 20.0
# Distance of the outline from the border of the sheet, mm: of a bearing, and of one that grew.
_MARGIN = 1.0
_GROWN_MARGIN = 0.5
# Part of the distance of a plateau's lowest place from the middle where the eminence's crest is:
# bearings do not grow there.
_CREST = 0.25
# Vertices of an outline may be this far from the border of the raster's region, mm.
_OUTLINE_ERROR = 0.4
# Raster of a condyle's angle, deg; the arc searched for its ends, and the one contact uses.
_ANGLE_STEP = 2.0
_ARC = (-45.0, 140.0)
_USED = (-15.0, 75.0)
_ANTERIOR = -30.0
# Steps of the angle that triangles bridge.
_GAP = 3
# Distance of the window from the posterior end of a condyle's surface, deg, and beyond its outer
# border, mm. At the notch the window ends with the surface: where the edge has turned away from the
# insert, no contact ends at it.
_END = 3.0
_OUTER = 0.2


@dataclass(frozen=True)
class PlateauRegion:
    """Bearing of one side of an insert in knee axes, mm.

    `outline` (n, 2) are corners x, z of the polygon around it, `x` and `z` the box around that;
    `lowest` (3,) is the lowest point of its middle.
    """

    x: Limits
    z: Limits
    outline: Array
    area: float
    lowest: Array


@dataclass(frozen=True)
class CondyleRegion:
    """Bearing of one condyle: width, mm, and angle about the condyles' axis, deg."""

    z: Limits
    angle_deg: Limits


def segment_plateaus(
    sheet: TriangleMesh, beyond: Sequence[float] = (0.0,), sides: Sequence[str] = SIDES
) -> tuple[dict[str, PlateauRegion], ...]:
    """Bearing of each side of an insert's sheet, in mm and knee axes, for each of some growths.

    An insert of one side is its bearing as a whole.

    The part connected with the lowest place of a side that is inclined less than 55 deg and bent
    outward to no radius below 20 mm, 1 mm inside the sheet's border. It is grown by so many mm
    `beyond`, onto rounded rims, where the sheet is inclined less and goes on for 0.5 mm.
    ValueError for a side without a bearing.
    """
    # Cells count from the middle of the box, and rounding errors of an origin or unit do not
    # decide on which side of a limit a vertex is.
    corners = sheet.vertices.min(axis=0), sheet.vertices.max(axis=0)
    base = np.array([0.5, 1.0, 0.5]) * corners[0] + np.array([0.5, 0.0, 0.5]) * corners[1]
    sheet = TriangleMesh(np.round((sheet.vertices - base) / _ROUNDED) * _ROUNDED, sheet.faces)
    low, high = sheet.vertices.min(axis=0), sheet.vertices.max(axis=0)
    x, z = (_raster(low[k], high[k]) for k in (0, 2))
    grid = np.stack(np.meshgrid(x, z, indexing="ij"), axis=-1)
    upward = sheet.vertices[sheet.faces[sheet.face_normals[:, 1] > 0]][:, :, [0, 2]]
    covered = mesh_coverage(upward, (low[0], high[0]), (low[2], high[2]))
    inside = covered.contains(grid[..., 0].ravel(), grid[..., 1].ravel()).reshape(grid.shape[:2])
    height = scipy.interpolate.LinearNDInterpolator(
        sheet.vertices[:, [0, 2]], sheet.vertices[:, 1]
    )(grid)
    inside &= np.isfinite(height)
    smooth = _smoothed(np.where(inside, height, 0.0), inside)
    slope_x, slope_z = np.gradient(smooth, _CELL)
    bent = np.stack([*np.gradient(slope_x, _CELL), *np.gradient(slope_z, _CELL)], axis=-1)
    bent = np.nan_to_num(bent.reshape(*bent.shape[:2], 2, 2))
    steep = np.hypot(slope_x, slope_z)
    outward = np.linalg.eigvalsh(0.5 * (bent + bent.swapaxes(-1, -2)))[..., 0]
    outward /= (1.0 + steep**2) ** 1.5
    depth = scipy.ndimage.distance_transform_edt(np.pad(inside, 1))[1:-1, 1:-1] * _CELL
    # One cell round the border has no second differences.
    bearing = (depth > _MARGIN) & (steep < _STEEPEST) & (outward > -1.0 / _SHARPEST)
    bearing = scipy.ndimage.binary_opening(bearing, iterations=2)
    middle = 0.5 * (z[0] + z[-1])
    found: tuple[dict[str, PlateauRegion], ...] = tuple({} for _ in beyond)
    whole = len(sides) == 1
    for side in sides:
        sign = _SIGNS[side]
        own = sign * (grid[..., 1] - middle) > 0.0
        part = _around_lowest(bearing & (own | whole), smooth)
        column = round(float(np.average(np.arange(z.size), weights=part.sum(axis=0))))
        row = int(np.argmin(np.where(part[:, column], smooth[:, column], np.inf)))
        lowest = np.array([x[row], smooth[row, column], z[column]])
        near = scipy.ndimage.distance_transform_edt(~part) * _CELL
        away = sign * (grid[..., 1] - middle)
        room = (depth > _GROWN_MARGIN) & (steep < _STEEPEST)
        room &= whole | (away > _CREST * sign * (lowest[2] - middle))
        for growth, regions in zip(beyond, found, strict=True):
            grown = _around_lowest(part | (room & (near <= growth)), smooth)
            outline = _outline_of(grown, x, z) + base[[0, 2]]
            (x0, z0), (x1, z1) = outline.min(axis=0), outline.max(axis=0)
            area = float(grown.sum()) * _CELL**2
            regions[side] = PlateauRegion((x0, x1), (z0, z1), outline, area, lowest + base)
    return found


def _raster(low: float, high: float) -> Array:
    """Middles of cells over a length, the same ones of its mirror image."""
    count = int(np.ceil((high - low) / _CELL - _ROUNDED))
    return np.asarray(0.5 * (low + high) + _CELL * (np.arange(count) - 0.5 * (count - 1)))


def segment_condyles(
    sheet: TriangleMesh, sides: Sequence[str] = SIDES
) -> tuple[dict[str, CondyleRegion], Limits]:
    """Bearing of each condyle of a femoral sheet, in mm and knee axes, and the axis of its angles.

    From the border of the notch, where it is widest, to the outer border, and from 30 deg of
    hyperextension, where a flange begins, to 3 deg before the posterior end. A sheet as narrow as
    one condyle has the only side, and no flange.
    """
    reach = float(np.abs(sheet.vertices[:, 2]).max())
    low, high = float(sheet.vertices[:, 2].min()), float(sheet.vertices[:, 2].max())
    single = has_one_condyle(sheet)
    middle = bearing_axis(sheet, [(low, high)] if single else [(0.3 * reach, 0.9 * reach)] * 2)
    axis = middle
    regions: dict[str, CondyleRegion] = {}
    for _ in range(2):  # the axis belongs to the window
        regions = {side: _condyle(sheet, axis, _SIGNS[side], single) for side in sides}
        regions, axis = _beside_groove(sheet, regions, middle, 0.3 * reach)
    return regions, axis


def _beside_groove(
    sheet: TriangleMesh, regions: dict[str, CondyleRegion], middle: Limits, most: float
) -> tuple[dict[str, CondyleRegion], Limits]:
    """Regions that begin where the flank of a groove ends, and the axis of their angles.

    Condyles that a groove without a border joins have no notch. Its flank faces the insert only
    where that is distal, and moves the axis by a centimetre from the axis `middle` of the condyles.
    Inner borders, at most `most` mm from z = 0, move outward until both are the same within 1 mm.
    """
    inner = {side: float(np.abs(region.z).min()) for side, region in regions.items()}
    while True:
        axis = bearing_axis(sheet, [region.z for region in regions.values()])
        aside = float(np.hypot(axis[0] - middle[0], axis[1] - middle[1]))
        if aside < _SAME_AXIS or min(inner.values()) >= most:
            return regions, axis
        inner = {side: near + _GROOVE_STEP for side, near in inner.items()}
        for side, near in inner.items():
            outer = float(np.abs(regions[side].z).max())
            z = (near, outer) if _SIGNS[side] > 0 else (-outer, -near)
            regions[side] = replace(regions[side], z=z)


def check_condyles(regions: Mapping[str, CondyleRegion], source: str) -> None:
    """Refuse condyles that do not share most of their angles: one of them was not recognised."""
    limits = np.array([region.angle_deg for region in regions.values()])
    shared = limits[:, 1].min() - limits[:, 0].max()
    if shared > _SHARED_ANGLES * np.ptp(limits, axis=1).max():
        return
    words = [
        f"{side} {low:.0f} to {high:.0f} deg"
        for side, (low, high) in zip(regions, limits, strict=True)
    ]
    raise InputDataError(
        source,
        f"condyles that do not share most of their angles ({', '.join(words)})",
        "two condyles that reach about as far, from the front to behind",
        "Close holes of the mesh near the notch, or set the regions of config/example_meshes.yaml "
        "by hand.",
        check="new.condyles",
    )


def has_one_condyle(femoral: TriangleMesh) -> bool:
    """True of a femoral component, in mm and knee axes, that is too narrow for two condyles."""
    return bool(femoral.extent[2] < _TWO_CONDYLES)


# Distance of two axes of one condyle, mm, and steps of borders beside a groove, mm.
_SAME_AXIS = 1.0
_GROOVE_STEP = 0.5
_SIGNS = {"medial": 1.0, "lateral": -1.0}
# Part of the angles of the longer condyle that the other one has, at least.
_SHARED_ANGLES = 0.6
# Width of two condyles, mm, at least: of one it is 15 to 28 mm.
_TWO_CONDYLES = 38.0
# Repetitions after which the middle of the condyles' axis moves by less than 0.01 mm.
_CENTRINGS = 2


def middle_of_axis(femoral: TriangleMesh, form: str, source: str = "femoral mesh") -> Array:
    """Point (3,) on the condyles' axis midway between their bearings, in knee axes, mm.

    Parameters
    ----------
    femoral : TriangleMesh
        The component in mm and knee axes, with any origin.
    form : {"solid", "sheet"}
        What the mesh holds; the bearing is cut out of a solid.
    source : str
        File of the mesh, for messages.

    Returns
    -------
    array, shape (3,)
        The same point of the component whatever the origin of its file.

    Raises
    ------
    InputDataError
        If a solid has no bearing.
    """
    # Windows and axis are searched about the origin, which is first put in the middle of the box.
    middle = 0.5 * (femoral.vertices.min(axis=0) + femoral.vertices.max(axis=0))
    for _ in range(_CENTRINGS):
        centred = femoral.moved(-middle)
        sheet = extract_condyles(centred, source).sheet if form == "solid" else centred
        sides = SIDES[:1] if has_one_condyle(sheet) else SIDES
        regions, axis = segment_condyles(sheet, sides)
        middle = middle + _middle_of_regions(sheet, regions.values(), axis)
    return middle


def _middle_of_regions(
    sheet: TriangleMesh, regions: Collection[CondyleRegion], axis: Limits
) -> Array:
    """Middle of the circle that fits, in sagittal view, what faces down of the bearing regions.

    A flange in front of them has a larger radius, about another axis.
    """
    arms = sheet.vertices[:, :2] - np.array(axis)
    angle = np.degrees(np.arctan2(arms[:, 0], -arms[:, 1]))
    across = sheet.vertices[:, 2]
    inside = np.zeros(len(across), dtype=bool)
    for region in regions:
        (near, far), (low, high) = region.z, region.angle_deg
        inside |= (across >= near) & (across <= far) & (angle >= low) & (angle <= high)
    down = inside & (sheet.vertex_normals[:, 1] < FACING_DOWN)
    across_middle = np.mean([region.z for region in regions])
    return np.array([*circle_centre(sheet.vertices[down, :2]), across_middle])


def _condyle(sheet: TriangleMesh, axis: Limits, sign: float, single: bool = False) -> CondyleRegion:
    middle = sheet.vertices[sheet.faces].mean(axis=1)
    arms = middle[:, :2] - np.array(axis)
    normals = sheet.face_normals
    size = np.linalg.norm(normals, axis=1) * np.linalg.norm(arms, axis=1)
    cosine = (normals[:, :2] * arms).sum(axis=1) / np.maximum(size, 1e-300)
    centre = 0.5 * (sheet.vertices[:, 2].min() + sheet.vertices[:, 2].max())
    kept = (cosine > 0.3) & (single | (sign * (middle[:, 2] - centre) > 0.0))
    points = sheet.vertices[sheet.faces[kept]]
    arms = points[..., :2] - np.array(axis)
    edges = np.arange(_ARC[0], _ARC[1] + _ANGLE_STEP, _ANGLE_STEP)
    corners = np.stack([np.degrees(np.arctan2(arms[..., 0], -arms[..., 1])), sign * points[..., 2]])
    crossings = _crossings(corners[0], corners[1], 0.5 * (edges[:-1] + edges[1:]))
    angle, across = np.hstack([corners.reshape(2, -1), crossings])
    inner, outer = np.full((2, edges.size - 1), np.nan)
    number = np.digitize(angle, edges) - 1
    for n in range(edges.size - 1):
        here = across[number == n]
        if here.size:
            inner[n], outer[n] = here.min(), here.max()
    for values in (inner, outer):  # small holes of the mesh
        known = np.flatnonzero(np.isfinite(values))
        nearest = known[np.abs(np.arange(values.size)[:, None] - known).argmin(axis=1)]
        near = np.abs(np.arange(values.size) - nearest) <= _GAP
        values[near] = values[nearest[near]]
    width = outer - inner
    at = 0.5 * (edges[:-1] + edges[1:])
    usual = np.nanmedian(width[(at > _USED[0]) & (at < _USED[1])])
    whole = width > 0.6 * usual
    first = _run_end(whole, at, -1)
    last = _run_end(whole, at, 1)
    low, high = max(_ARC[0] if single else _ANTERIOR, first + _END), last - _END
    used = (at > max(low, _USED[0])) & (at < min(high, _USED[1]))
    # Of coarse triangles the border is met at some angles only.
    known = np.pad(np.nan_to_num(inner, nan=np.inf), _GAP, mode="edge")
    around = np.lib.stride_tricks.sliding_window_view(known, 2 * _GAP + 1)
    start = float(around.min(axis=1)[used].max())
    end = float(np.nanmax(outer[(at > low) & (at < high)])) + _OUTER
    z = (start, end) if sign > 0 else (-end, -start)
    return CondyleRegion(z, (low, high))


def _crossings(angle: Array, across: Array, at: Array) -> Array:
    """Angles and positions across (2, n) where edges of triangles (m, 3) cross even angles, deg.

    A triangle may be wider than the step of the angles, and its corners then miss some of them.
    """
    first, last = angle.ravel(), np.roll(angle, -1, axis=1).ravel()
    start, end = across.ravel(), np.roll(across, -1, axis=1).ravel()
    step = at[1] - at[0]
    low = np.maximum(np.ceil((np.minimum(first, last) - at[0]) / step), 0)
    high = np.minimum(np.floor((np.maximum(first, last) - at[0]) / step), at.size - 1)
    # Edges behind the axis go through 180 deg.
    counts = np.where(np.abs(last - first) < 90.0, np.maximum(high - low + 1, 0), 0).astype(int)
    edge = np.repeat(np.arange(counts.size), counts)
    number = low[edge].astype(int) + np.arange(edge.size) - (np.cumsum(counts) - counts)[edge]
    crossed = at[number]
    part = (crossed - first[edge]) / np.where(first == last, 1.0, last - first)[edge]
    return np.stack([crossed, start[edge] + part * (end - start)[edge]])


def _run_end(whole: Bools, at: Array, direction: int) -> float:
    """Last angle of the run of whole widths that includes 10 deg, in a direction."""
    n = int(np.argmin(np.abs(at - 10.0)))
    while 0 <= n + direction < at.size and whole[n + direction]:
        n += direction
    return float(at[n])


def _smoothed(height: Array, inside: Bools) -> Array:
    weight = scipy.ndimage.gaussian_filter(inside.astype(float), _SMOOTH / _CELL)
    mean = scipy.ndimage.gaussian_filter(height, _SMOOTH / _CELL)
    return np.where(
        inside, np.divide(mean, weight, out=np.zeros_like(mean), where=weight > 0), np.nan
    )


def _around_lowest(bearing: Bools, height: Array) -> Bools:
    """Largest connected part of a bearing, without holes."""
    pieces, count = scipy.ndimage.label(bearing)
    if not count:
        raise ValueError("no bearing")
    size = np.bincount(pieces.ravel())[1:]
    return np.asarray(scipy.ndimage.binary_fill_holes(pieces == 1 + int(size.argmax())))


def _outline_of(part: Bools, x: Array, z: Array) -> Array:
    """Corners (n, 2) of the polygon around the cells of a region, without those not needed."""
    import contourpy  # noqa: PLC0415 - part of matplotlib

    padded = np.pad(part.astype(float), 1)
    step = x[1] - x[0]
    xs, zs = (np.r_[one[0] - step, one, one[-1] + step] for one in (x, z))
    lines = contourpy.contour_generator(zs, xs, padded).lines(0.5)
    longest = np.asarray(max(map(np.asarray, lines), key=len))[:, ::-1]
    return _thinned_line(longest, _OUTLINE_ERROR)


def _thinned_line(line: Array, error: float) -> Array:
    """Corners of a closed line from which it deviates by an error at most (Douglas and Peucker)."""
    half = len(line) // 2
    kept = {0, half, len(line) - 1}
    waiting = [(0, half), (half, len(line) - 1)]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:
            continue
        chord = line[last] - line[first]
        normal = np.array([-chord[1], chord[0]]) / max(np.hypot(*chord), 1e-12)
        away = np.abs((line[first + 1 : last] - line[first]) @ normal)
        if np.hypot(*chord) < 1e-9:
            away = np.hypot(*(line[first + 1 : last] - line[first]).T)
        at = int(away.argmax())
        if away[at] > error:
            kept.add(first + 1 + at)
            waiting += [(first, first + 1 + at), (first + 1 + at, last)]
    return line[sorted(kept)][:-1]


# Planes at heights this close are one, mm; height of a post above the plateaus' lowest place, mm.
_LEVEL = 0.1
_POST_HEIGHT = 12.0
# Height of a lower post, whose sides show that it is no wall of a notch; the eminence of subject DM
# has steep sides, too, and is 9.4 mm high.
_LOW_POST_HEIGHT = 10.0
_WALL = 0.85  # component of the unit normal of a steep wall
# Part of the plan that a flat underside has, and height of the root of a peg below it, mm.
MIN_FLAT = 0.3
_PEG_ROOT = 2.0


def find_underside(insert: TriangleMesh) -> tuple[float, float]:
    """Height of the largest plane of a solid insert that faces down, mm, and its part of the plan.

    The mesh is in mm and knee axes.
    """
    level, area = largest_plane(insert, 1, -1.0)
    return level, area / float(insert.extent[0] * insert.extent[2])


def largest_plane(mesh: TriangleMesh, axis: int, sign: float) -> tuple[float, float]:
    """Position, mm, and area, mm2, of the largest plane that faces one way along an axis.

    The end of the mesh on that side, and 0, where nothing does.
    """
    along = sign * mesh.face_normals[:, axis]
    size = np.linalg.norm(mesh.face_normals, axis=1)
    faces = along > 0.999 * size
    height = mesh.vertices[mesh.faces[faces]].mean(axis=1)[:, axis]
    if not height.size:
        ends = mesh.vertices[:, axis]
        return float(ends.max() if sign > 0.0 else ends.min()), 0.0
    levels, which = np.unique(np.round(height / _LEVEL), return_inverse=True)
    area = np.bincount(which, weights=size[faces], minlength=levels.size)
    largest = which == area.argmax()
    level = float(np.average(height[largest], weights=size[faces][largest]))
    return level, float(area.max())


@dataclass(frozen=True)
class LowerFace:
    """Flat lower face of an insert in knee axes, mm.

    `outline` (n, 2) are corners x, z of the polygon around it, `pivot` (2,) is x and z of the
    middle of a peg or cone below it, of the polygon without one, and `hole` the radius that the peg
    takes from the face, zero without one.
    """

    outline: Array
    pivot: Array
    hole: float


def find_lower_face(insert: TriangleMesh) -> LowerFace | None:
    """Largest plane of a solid insert that faces down, in mm and knee axes; None if it is small.

    Holes of the plane are filled: what is there is below it, or too small to bear.
    """
    height, part = find_underside(insert)
    if part < MIN_FLAT:
        return None
    area = np.linalg.norm(insert.face_normals, axis=1)
    corners = insert.vertices[insert.faces]
    flat = (insert.face_normals[:, 1] < -0.999 * area) & (
        np.abs(corners[..., 1] - height).max(axis=1) < _LEVEL
    )
    plan = corners[flat][..., [0, 2]]
    low, high = plan.min(axis=(0, 1)), plan.max(axis=(0, 1))
    # Cells count up to the border, where the outline is.
    x, z = (_raster(low[k] - 2.0 * _CELL, high[k] + 2.0 * _CELL) for k in (0, 1))
    grid = np.stack(np.meshgrid(x, z, indexing="ij"), axis=-1)
    covered = mesh_coverage(plan, (low[0], high[0]), (low[1], high[1]))
    inside = covered.contains(grid[..., 0].ravel(), grid[..., 1].ravel()).reshape(grid.shape[:2])
    outline = _outline_of(_around_lowest(inside, grid[..., 0]), x, z)
    below = insert.vertices[insert.vertices[:, 1] < height - _LEVEL]
    if not len(below):
        return LowerFace(outline, 0.5 * (outline.min(axis=0) + outline.max(axis=0)), 0.0)
    at = below[:, [0, 2]]
    pivot = 0.5 * (at.min(axis=0) + at.max(axis=0))
    near = at[below[:, 1] > height - _PEG_ROOT]
    near = near if len(near) else at
    return LowerFace(outline, pivot, float(np.hypot(*(near - pivot).T).max()))


def find_post(
    insert: TriangleMesh, plateaus: Mapping[str, PlateauRegion]
) -> tuple[float, tuple[float, float]] | None:
    """Height of a post above the plateaus' lowest place, and its position x, z, mm; None without.

    A post is material between the plateaus 12 mm and more above them, with a steep back; or 10 mm
    and more, with steep sides, too.
    """
    if len(plateaus) < len(SIDES):
        return None
    lowest = min(one.lowest[1] for one in plateaus.values())
    middle = 0.5 * (plateaus["medial"].lowest[2] + plateaus["lateral"].lowest[2])
    gap = 0.3 * abs(plateaus["medial"].lowest[2] - plateaus["lateral"].lowest[2])
    points = insert.vertices[insert.faces].mean(axis=1)
    normals = insert.face_normals / np.linalg.norm(insert.face_normals, axis=1)[:, None].clip(1e-30)
    inside = np.abs(points[:, 2] - middle) < gap
    for height, directions in (
        (_POST_HEIGHT, ((1.0, 0.0),)),
        (_LOW_POST_HEIGHT, ((1.0, 0.0), (0.0, 1.0), (0.0, -1.0))),
    ):
        between = inside & (points[:, 1] > lowest + 0.8 * height)
        walls = [
            between
            & (normals[:, [0, 2]] @ direction > _WALL)
            & (direction[1] * (points[:, 2] - middle) >= 0.0)
            for direction in map(np.array, directions)
        ]
        if all(wall.any() and points[wall, 1].max() >= lowest + height for wall in walls):
            area = np.linalg.norm(insert.face_normals[between], axis=1)
            x, top = np.average(points[between, 0], weights=area), points[between, 1].max()
            return float(top - lowest), (float(x), float(middle))
    return None
