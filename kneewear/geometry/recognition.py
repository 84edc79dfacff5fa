"""Recognition of an implant's files: unit, form, axes and side, from the shapes alone.

Functions take meshes as they are in their files. Each guess is a `Finding` with its evidence; what
shapes cannot tell is a warning that states what was assumed.
"""

from __future__ import annotations

from itertools import permutations, product
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.errors import Finding, InputDataError
from kneewear.geometry.meshes import MM_PER_UNIT, TriangleMesh
from kneewear.geometry.segmentation import largest_plane

Array = NDArray[np.float64]

# Components are 50 to 100 mm wide, trays with stems up to 150 mm long.
_WIDTHS = (45.0, 160.0)
# Components of one side, from front to back; the femoral one may have both condyles.
_LENGTHS = {"insert": (25.0, 75.0), "femoral": (30.0, 160.0)}
_WORDS = (("anterior", "posterior"), ("inferior", "superior"), ("lateral", "medial"))
# Distance from the outline of a projection within which a triangle is on it, mm.
_ON_OUTLINE = 3.0
# Part of the width about the middle that belongs to neither condyle.
_MIDDLE = 0.08
# Position of the material between the condyles, from the middle, that distinguishes front and
# rear, mm.
_BRIDGE = 5.0
# Mean component of the outer normals that shows where a component is open.
_OPEN = 0.1
# Score that separate axes of both files must gain over common ones.
_CONTRADICTION = 1.2
# Part of the box that each plane of a tray covers.
_PLATE = 0.3
# Inserts of total knees are 38 mm and more from front to back, those of single plateaus 20 to 32 mm
# wide (from memory).
_NARROWEST = 34.0
# Area of the smallest rectangle about the plan of an insert over that of its box, at least: 0.84 at
# 5 deg between the axes of both.
_SQUARE = 0.9
# Height of a keel or stem below a tray, mm, at least; rounding of a plane, mm.
_KEEL = 12.0
_FLAT = 0.05
# Area of the largest plane of an underside over the area of planes of the bearing's side that
# face up.
_LARGER_PLANE = 2.0
# Differences of shape below which the side, or front and rear, cannot be distinguished, mm.
_TELLING = 1.5
# Lines along which the outline of an insert is read, and part of the width about the middle in
# which its notch is.
_LINES = 61
_NOTCHED = 0.15


# What shows the front of an insert: a notch behind, a notch behind a border that rises more behind,
# a border that rises more in front, or nothing.
FrontEvidence = Literal["notch", "contradicted", "border", "none"]


class Orientation(NamedTuple):
    """Rows posterior, superior and medial of a right knee over the axes of a file."""

    matrix: Array

    @property
    def axes(self) -> tuple[int, int, int]:
        """File axes along posterior, superior and medial."""
        along, up, across = (int(one) for one in np.abs(self.matrix).argmax(axis=1))
        return along, up, across

    def words(self, knee: str) -> dict[str, str]:
        """Anatomical direction of the file's +x, +y and +z in a knee of a side."""
        matrix = self.matrix * [[1.0], [1.0], [1.0 if knee == "right" else -1.0]]
        rows = np.abs(matrix).argmax(axis=0)
        return {
            name: _WORDS[row][int(matrix[row, column] > 0)]
            for column, (name, row) in enumerate(zip("xyz", rows, strict=True))
        }


def recognise_unit(
    mesh: TriangleMesh, source: str, one_side: bool = False, part: str = "insert"
) -> tuple[str, Finding]:
    """Unit in which the mesh has the width of a component, or the length of one plateau or condyle.

    InputDataError if it has that in no unit.
    """
    width = float(mesh.extent.max())
    low, high = _LENGTHS[part] if one_side else _WIDTHS
    fitting = [unit for unit, factor in MM_PER_UNIT.items() if low < width * factor < high]
    if not fitting:
        found = f"a shape {width:.4g} long"
        expected = f"{low:g} to {high:g} mm in one of the units {', '.join(MM_PER_UNIT)}"
        single = "; name the side of a single plateau with --side medial or --side lateral"
        remedy = f"Check that the file holds one component alone{'' if one_side else single}."
        raise InputDataError(source, found, expected, remedy, check="new.unit")
    others = f" ({' or '.join(fitting[1:])} also possible)" if fitting[1:] else ""
    found = f"unit {fitting[0]}: {width:.4g} long, {width * MM_PER_UNIT[fitting[0]]:.1f} mm{others}"
    severity = "warn" if fitting[1:] else "note"
    remedy = f"Correct implant.meshes.unit if it is {fitting[1]}." if fitting[1:] else ""
    return fitting[0], Finding("new.unit", severity, source, found, "", remedy)  # type: ignore[arg-type]


def recognise_form(mesh: TriangleMesh, source: str) -> tuple[str, Finding]:
    """`solid` for a closed or two-sided mesh, `sheet` for a bearing alone."""
    if mesh.is_cloud:
        return "sheet", Finding("new.form", "note", source, "a point cloud: sheet", "", "")
    area = np.linalg.norm(mesh.face_normals, axis=1).sum()
    rest = float(np.linalg.norm(mesh.face_normals.sum(axis=0)) / area)
    form = "solid" if rest < 0.1 else "sheet"
    found = (
        f"{form}: the faces of a closed body cancel; here {100 * rest:.1f} % of the area remains"
    )
    return form, Finding("new.form", "note", source, found, "", "")


def outward(mesh: TriangleMesh, source: str) -> tuple[TriangleMesh, tuple[Finding, ...]]:
    """A closed mesh with normals out of the material; other meshes as they are."""
    middle = mesh.vertices.mean(axis=0)
    volume = ((mesh.vertices[mesh.faces[:, 0]] - middle) * mesh.face_normals).sum()
    if not mesh.is_closed or volume > 0:
        return mesh, ()
    found = "triangles of a solid oriented inward; turned round"
    turned = TriangleMesh(mesh.vertices, np.ascontiguousarray(mesh.faces[:, ::-1]))
    return turned, (Finding("new.normals", "note", source, found, "", ""),)


def refuse_tray(mesh: TriangleMesh, source: str) -> None:
    """InputDataError for a plate between two planes with a keel: a tray without polyethylene.

    `mesh` is in mm. The bearing of an insert is no plane over a third of its box.
    """
    area = np.linalg.norm(mesh.face_normals, axis=1)
    middle = mesh.vertices[mesh.faces].mean(axis=1)
    for axis in range(3):
        box = float(np.prod(np.delete(mesh.extent, axis)))
        levels = []
        for sign in (1.0, -1.0):
            facing = sign * mesh.face_normals[:, axis] > 0.999 * area
            number = np.floor(middle[facing, axis] / (4 * _FLAT)).astype(np.int64)
            planes, which = np.unique(number, return_inverse=True)
            part = np.bincount(which, weights=area[facing], minlength=planes.size) / box
            levels.append(planes[part > _PLATE] * 4 * _FLAT)
        thickness = np.subtract.outer(*levels).ravel() if levels[0].size else np.empty(0)
        plate = thickness[(np.abs(thickness) > 1.0) & (np.abs(thickness) < _KEEL)]
        if plate.size and mesh.extent[axis] > _KEEL + np.abs(plate).min():
            found = (
                f"a plate {np.abs(plate).min():.1f} mm thick between two planes, on a body "
                f"{mesh.extent[axis]:.0f} mm high: a tray without polyethylene"
            )
            remedy = "Name the file of the polyethylene insert."
            raise InputDataError(source, found, "an insert", remedy, check="new.tray")


def refuse_single_plateau(mesh: TriangleMesh, source: str) -> None:
    """InputDataError for an insert of one compartment; `mesh` is in mm."""
    width, length = sorted(np.delete(mesh.extent, _plate_axis(mesh)))
    if width < _NARROWEST:
        raise InputDataError(
            source,
            f"an insert of {length:.0f} by {width:.0f} mm: one of a single plateau",
            f"an insert of a total knee, {_NARROWEST:g} mm wide and more",
            "Name the side of a single plateau with --side medial or --side lateral.",
            check="new.plateaus",
        )


def refuse_turned(mesh: TriangleMesh, source: str) -> None:
    """InputDataError for an insert turned in its plan against the axes of its file.

    The plan is seen along the axis that most area faces; the smallest rectangle about it has the
    sides of the insert.
    """
    thin = _plate_axis(mesh)
    plan = np.delete(mesh.vertices, thin, axis=1)
    outline = plan[scipy.spatial.ConvexHull(plan).vertices]
    sides = np.roll(outline, -1, axis=0) - outline
    angles = np.arctan2(sides[:, 1], sides[:, 0])
    turns = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    along = outline @ turns.T
    across = outline @ np.stack([-turns[:, 1], turns[:, 0]])
    areas = np.ptp(along, axis=0) * np.ptp(across, axis=0)
    best = int(areas.argmin())
    if areas[best] < _SQUARE * float(np.prod(np.ptp(outline, axis=0))):
        angle = (np.degrees(angles[best]) + 45.0) % 90.0 - 45.0
        found = f"an insert turned by {abs(angle):.0f} deg about {'xyz'[thin]} in its file"
        expected = "the axes of the insert along those of the file"
        remedy = "Rotate it, and the femoral component with it, in the program that wrote it."
        raise InputDataError(source, found, expected, remedy, check="new.turned")


def orient_implant(
    insert: TriangleMesh, femoral: TriangleMesh, one_side: bool = False
) -> tuple[Orientation, Orientation]:
    """Axes of insert and femoral component, meshes in mm, turned into a right knee.

    Axes of both files are those that suit both best, and differ only where that contradicts one of
    the shapes. Of an insert the axis that most area faces is superior and the longest other one is
    medial; its bearing faces up, the notch is behind. A femoral component mirrors across its medial
    axis, is open above, and has material between its condyles in front only. The longest axis of a
    single plateau is posterior.
    """
    candidates = all_orientations()
    of_insert = _insert_scores(insert, candidates, one_side)
    of_femoral = _femoral_scores(femoral, candidates)
    joint = int(np.argmax(of_insert + of_femoral))
    apart = [int(np.argmax(of_insert)), int(np.argmax(of_femoral))]
    loss = of_insert[apart[0]] + of_femoral[apart[1]] - of_insert[joint] - of_femoral[joint]
    chosen = apart if loss > _CONTRADICTION else [joint, joint]
    return candidates[chosen[0]], candidates[chosen[1]]


def orient_insert(insert: TriangleMesh) -> tuple[Orientation, FrontEvidence]:
    """Axes of an insert alone, a mesh in mm, for a right knee, and what shows its front.

    See `orient_implant`. Without a femoral component only a notch shows the rear. That a border
    rises more in front is a habit of designs: it is no evidence alone, and contradicts a notch at
    the higher end.
    """
    candidates = all_orientations()
    best = candidates[int(np.argmax(_insert_scores(insert, candidates)))]
    along, thin, across = best.axes
    drop = _drop(insert, thin, _up_of_insert(insert, insert.face_normals, thin), along)
    notch = _notch(insert, across, along)
    if abs(notch) > _TELLING:
        contradicted = abs(drop) > _TELLING and drop * notch < 0.0
        return best, "contradicted" if contradicted else "notch"
    return best, "border" if abs(drop) > _TELLING else "none"


def _plate_axis(mesh: TriangleMesh) -> int:
    """Axis that most area of an insert faces, whatever rises above its plateaus."""
    return int(np.abs(mesh.face_normals).sum(axis=0).argmax())


def all_orientations() -> list[Orientation]:
    """The 24 right-handed orientations of axes."""
    found = []
    for along, up in permutations(range(3), 2):
        for signs in product((1.0, -1.0), repeat=2):
            matrix = np.zeros((3, 3))
            matrix[0, along], matrix[1, up] = signs
            matrix[2] = np.cross(matrix[0], matrix[1])
            found.append(Orientation(matrix))
    return found


def _insert_scores(
    mesh: TriangleMesh, candidates: list[Orientation], one_side: bool = False
) -> Array:
    """Agreement of an insert with each orientation, at most 4."""
    thin = _plate_axis(mesh)
    plan = np.where(np.arange(3) == thin, 0.0, mesh.extent)
    long = int(np.argmax(plan))
    up = _up_of_insert(mesh, mesh.face_normals, thin)
    scores = []
    for candidate in candidates:
        along, above, across = candidate.axes
        score = 1.0 * (above == thin) + 1.0 * ((along if one_side else across) == long)
        if above == thin:
            score += up * candidate.matrix[1, thin]
            rear = _rear_of_insert(mesh, thin, up, across, along)
            score += 0.5 * candidate.matrix[0, along] * np.tanh(rear / _TELLING)
        scores.append(score)
    return np.array(scores)


def _femoral_scores(mesh: TriangleMesh, candidates: list[Orientation]) -> Array:
    """Agreement of a femoral component with each orientation, at most 5."""
    arms = mesh.vertices[mesh.faces].mean(axis=1) - mesh.vertices.mean(axis=0)
    outer = mesh.face_normals[(arms * mesh.face_normals).sum(axis=1) > 0.0]
    facing = outer.sum(axis=0) / np.linalg.norm(outer, axis=1).sum()
    spread = np.array([_asymmetry(mesh, axis) for axis in range(3)])
    scores = []
    for candidate in candidates:
        along, above, across = candidate.axes
        score = 2.0 * float(spread[across] <= spread.min())
        faced = _faced(mesh, [along, above])
        most = max(faced.values()) or 1.0
        up, back = candidate.matrix[1, above], candidate.matrix[0, along]
        score += (faced[above, -up] - faced[above, up]) / most
        # Of all outer surface more faces the insert than away from it, as the component is open.
        score += float(np.clip(-up * facing[above] / _OPEN, -1.0, 1.0))
        bridge = _bridge(mesh, across, along)
        if abs(bridge) > _BRIDGE:
            score -= back * np.sign(bridge)
        else:
            score += 0.7 * (faced[along, back] - faced[along, -back]) / most
        scores.append(score)
    return np.array(scores)


def _asymmetry(mesh: TriangleMesh, axis: int) -> float:
    """Mean distance of the mirror image across an axis from the shape, mm."""
    points = mesh.vertices[:: 1 + len(mesh.vertices) // 4000]
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    mirrored = points.copy()
    mirrored[:, axis] = low[axis] + high[axis] - mirrored[:, axis]
    return float(scipy.spatial.cKDTree(points).query(mirrored)[0].mean())


def _up_of_insert(mesh: TriangleMesh, normals: Array, axis: int) -> float:
    """Sign of the direction along an axis into which the bearing faces."""
    along = normals[:, axis]
    if abs(along.sum()) > 0.2 * np.abs(along).sum():
        return float(np.sign(along.sum()))
    # Pegs below an underside end lower than its plane, and a post may end in a plane as well.
    planes = {sign: largest_plane(mesh, axis, sign)[1] for sign in (1.0, -1.0)}
    for sign, area in planes.items():
        if area > _LARGER_PLANE * planes[-sign]:
            return -sign
    size = np.linalg.norm(normals, axis=1)
    height = mesh.vertices[mesh.faces].mean(axis=1)[:, axis]
    flat = {
        sign: size[
            (sign * along > 0.999 * size) & (np.abs(height - _end(height, sign)) < 10 * _FLAT)
        ].sum()
        for sign in (1.0, -1.0)
    }
    return -1.0 if flat[1.0] > flat[-1.0] else 1.0


def _end(values: Array, sign: float) -> float:
    return float(values.max() if sign > 0 else values.min())


def _rear_of_insert(mesh: TriangleMesh, thin: int, up: float, across: int, along: int) -> float:
    """Notch depth, or drop of the border, at the positive end of an axis minus the other, mm."""
    notch = _notch(mesh, across, along)
    return notch if abs(notch) > _TELLING else _drop(mesh, thin, up, along)


def _notch(mesh: TriangleMesh, across: int, along: int) -> float:
    """Depth of a notch in the middle of an outline, positive end of an axis minus the other, mm.

    Triangles are cut along lines of the plan. Their corners do not show it: CAD has few of them,
    and a notch may be narrower than the middle.
    """
    low, high = mesh.vertices[:, across].min(), mesh.vertices[:, across].max()
    lines = np.linspace(low, high, _LINES + 2)[1:-1]
    ends = np.full((2, _LINES), -np.inf)
    start, stop = (mesh.vertices[mesh.faces[:, order].ravel()] for order in ([0, 1, 2], [1, 2, 0]))
    for number, line in enumerate(lines):
        crossed = (start[:, across] > line) != (stop[:, across] > line)
        if crossed.any():
            a, b = start[crossed], stop[crossed]
            part = (line - a[:, across]) / (b[:, across] - a[:, across])
            x = a[:, along] + part * (b[:, along] - a[:, along])
            ends[:, number] = x.max(), -x.min()
    middle = np.abs(lines - 0.5 * (low + high)) < _NOTCHED * (high - low)
    # What is narrower than three lines is a hole in the border of a scan.
    inner = scipy.ndimage.maximum_filter1d(ends, 3, axis=1)[:, middle]
    if not np.isfinite(inner).all():
        return 0.0
    behind, front = ends.max(axis=1) - inner.min(axis=1)
    return float(behind - front)


def _drop(mesh: TriangleMesh, thin: int, up: float, along: int) -> float:
    """Height of the border at the negative end of an axis above the other, mm.

    Dishes of most designs rise more in front.
    """
    height, ends = up * mesh.vertices[:, thin], []
    for sign in (1.0, -1.0):
        x = sign * mesh.vertices[:, along]
        ends.append(float(np.percentile(height[x > x.max() - 0.1 * np.ptp(x)], 90)))
    return ends[1] - ends[0]


def _faced(mesh: TriangleMesh, plane: list[int]) -> dict[tuple[int, float], float]:
    """Part of each side of the box in a plane that surface near it faces, by axis and sign."""
    middle = mesh.vertices[mesh.faces].mean(axis=1)
    normals = mesh.face_normals
    faced = {}
    for axis, other in (plane, plane[::-1]):
        for sign in (1.0, -1.0):
            level = sign * middle[:, axis]
            near = level > _end(sign * mesh.vertices[:, axis], 1.0) - 2 * _ON_OUTLINE
            outward = np.maximum(sign * normals[near, axis], 0.0)
            faced[axis, sign] = float(outward.sum() / np.ptp(mesh.vertices[:, other]))
    return faced


def _bridge(mesh: TriangleMesh, across: int, along: int) -> float:
    """Mean position along an axis of the material between the condyles, from the box's middle."""
    middle = mesh.vertices[mesh.faces].mean(axis=1)
    area = np.linalg.norm(mesh.face_normals, axis=1)
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    centre = 0.5 * (low + high)
    between = np.abs(middle[:, across] - centre[across]) < _MIDDLE * (high - low)[across]
    if not between.any():
        return 0.0
    return float(np.average(middle[between, along], weights=area[between]) - centre[along])
