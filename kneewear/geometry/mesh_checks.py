"""Checks that a mesh is of the component, knee, unit and axes that the settings state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh

Array = NDArray[np.float64]

# Width of components on the market is 55-90 mm; the limits only have to distinguish units.
_WIDTH_LIMITS_MM = (20.0, 150.0)
# Height over antero-posterior length beside the middle, where posts, pegs and cones are not,
# between the heights below which these two fractions of the area are: inserts 0.13-0.45, femoral
# components 0.6-1.0, and 0.48-0.54 where the anterior flange is short or leans forward. Below the
# first limit a body is no femoral component, above the second no insert.
_HEIGHT_RATIOS = (0.46, 0.5)
_HEIGHT_FRACTIONS = (0.05, 0.95)
_BESIDE_MIDDLE = 0.2
# Fraction of the area that faces along one axis: inserts 0.63 and more, with any post; femoral
# components at most 0.59.
_PLATE_FRACTION = 0.61
# Fraction of the area of bodies of another kind that may be posts, pegs, markers and screws.
_SMALL_BODIES = 0.22
_NAMED_BODIES = 4
# Fraction of bad edges beyond which the orientation of the triangles is not known.
_MAX_BAD_EDGES = 0.01
# An insert's plateau is concave or flat along x; this convex (R 100 mm) it is upside down.
_CONVEX_LIMIT_PER_MM = -0.01
# An anterior flange leans 4-8 mm to the lateral side where it leans at all.
_FLANGE_LEAN_MM = 2.0
# Asymmetric tibial components are longer on the medial side, by 2-8 mm.
_LONGER_PLATEAU_MM = 2.0
# The notch for the posterior cruciate ligament is 8-15 mm deep.
_NOTCH_MM = 4.0
# Part of the width about the middle that belongs to neither condyle.
_MIDDLE = 0.06
_OTHER_KNEE = (
    "Either the component is of the other knee (correct `knee` and `axes`), or the medial/lateral "
    "or anterior/posterior words of `axes` are reversed."
)


def check_insert(mesh: TriangleMesh, source: str = "insert mesh") -> None:
    """Refuse a mesh (after `to_knee_axes`) that cannot be an insert, as an open sheet or a solid.

    Unit, bodies, proportions and the directions of bearing and normals are checked; `source` names
    the file in messages.
    """
    check_size(mesh, source)
    refuse_mixed_bodies(mesh, source)
    if _height_ratio(mesh) > _HEIGHT_RATIOS[1]:
        found = f"a body {mesh.extent[1]:.0f} mm high and {mesh.extent[0]:.0f} mm long"
        remedy = "The femoral component is in the insert's place, or `axes` are wrong."
        raise InputDataError(source, found, "an insert, much lower than long", remedy)
    _check_topology(mesh, source)
    top, facing_up = mesh.vertices, mesh.face_normals[:, 1].sum()
    if mesh.is_closed:
        facing_up = _signed_volume(mesh)
        top = top[mesh.vertex_normals[:, 1] * np.sign(facing_up) > 0.5]
    curvature = _sagittal_curvature(top)
    if curvature < _CONVEX_LIMIT_PER_MM:
        found = f"a bearing convex upwards (curvature {curvature:.3f} per mm along x)"
        remedy = "The insert is upside down: check the superior/inferior word of `axes`."
        raise InputDataError(source, found, "concave or flat plateaus", remedy)
    if facing_up < 0:
        found = "normals pointing into the polyethylene"
        remedy = "Reverse the triangles' orientation in the program that wrote the mesh."
        raise InputDataError(source, found, "outward normals (up on the bearing)", remedy)


def check_femoral(mesh: TriangleMesh, source: str = "femoral mesh") -> None:
    """Refuse a mesh that cannot be a femoral component in mm and knee axes; see `check_insert`."""
    check_size(mesh, source)
    refuse_mixed_bodies(mesh, source)
    if _height_ratio(mesh) < _HEIGHT_RATIOS[0]:
        found = f"a body {mesh.extent[1]:.0f} mm high and {mesh.extent[0]:.0f} mm long"
        remedy = "The insert is in the femoral component's place, or `axes` are wrong."
        raise InputDataError(source, found, "a femoral component, about as high as long", remedy)
    _check_topology(mesh, source)
    # Area of each triangle times the distance-weighted outwardness of its normal.
    arms = mesh.vertices[mesh.faces].mean(axis=1) - mesh.vertices.mean(axis=0)
    outward = (arms[:, :2] * mesh.face_normals[:, :2]).sum(axis=1)
    if (_signed_volume(mesh) if mesh.is_closed else outward.sum()) < 0:
        remedy = "Reverse the triangles' orientation in the program that wrote the mesh."
        raise InputDataError(source, "normals pointing into the metal", "outward normals", remedy)
    # Of the outer triangles, without a solid's inside.
    if mesh.face_normals[outward > 0, 1].sum() > 0:
        expected = "condyles that face down, towards the insert"
        remedy = "The component is upside down: check the superior/inferior word of `axes`."
        raise InputDataError(source, "condyles that face up", expected, remedy)


def check_size(mesh: TriangleMesh, source: str) -> None:
    """Refuse a mesh (after `to_knee_axes`) without triangles or far from the size of a knee."""
    if len(mesh.faces) == 0 or len(mesh.vertices) == 0:
        remedy = "Export the surface again as a triangle mesh."
        raise InputDataError(source, "no triangles", "a triangle mesh", remedy)
    width = float(mesh.extent.max())
    low, high = _WIDTH_LIMITS_MM
    if not low <= width <= high:
        factor = " (about 1000 times too small)" if width < low / 20 else ""
        factor = " (about 1000 times too large)" if width > high * 20 else factor
        expected = f"an implant {low:.0f}-{high:.0f} mm wide"
        remedy = "Check `unit` (mm, cm, m or inch): the file is probably in another unit."
        raise InputDataError(source, f"a width of {width:.4g} mm{factor}", expected, remedy, "unit")


def check_femoral_side(mesh: TriangleMesh, knee: str, source: str = "femoral mesh") -> None:
    """Refuse a femoral component whose shape is that of the other knee, or reversed.

    The mesh (after `to_knee_axes`) is a right knee's if the settings are true; `knee` is the stated
    one. Symmetric components, and sheets without a flange, fit both knees and pass.
    """
    middle = mesh.vertices[mesh.faces].mean(axis=1)
    area = np.linalg.norm(mesh.face_normals, axis=1)
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    length, height, width = high - low
    below = middle[:, 1] < low[1] + 0.5 * height
    mid_plane = 0.5 * (middle[below, 2].min() + middle[below, 2].max())
    between = np.abs(middle[:, 2] - mid_plane) < _MIDDLE * width
    if between.any():
        bridge = np.average(middle[between, 0], weights=area[between])
        if bridge > low[0] + 0.65 * length:
            found = "condyles joined behind and open in front"
            expected = f"condyles joined in front, on the {knee} knee stated"
            raise InputDataError(source, found, expected, _OTHER_KNEE, "knee")
    flange = (middle[:, 0] < low[0] + 0.3 * length) & (middle[:, 1] > low[1] + 0.65 * height)
    if flange.any():
        lean = float(np.average(middle[flange, 2], weights=area[flange]) - mid_plane)
        if lean > _FLANGE_LEAN_MM and between.any():
            found = f"an anterior flange that leans {lean:.1f} mm to the medial side"
            expected = f"one that leans to the lateral side, on the {knee} knee stated"
            raise InputDataError(source, found, expected, _OTHER_KNEE, "knee")


def check_insert_side(mesh: TriangleMesh, knee: str, source: str = "insert mesh") -> None:
    """Refuse an insert whose notch is in front, or whose lateral plateau is the longer one.

    Arguments and error as for `check_femoral_side`; symmetric inserts without a notch pass.
    """
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    across = mesh.vertices[:, 2] - 0.5 * (low[2] + high[2])
    x = mesh.vertices[:, 0]
    between = np.abs(across) < _MIDDLE * (high[2] - low[2])
    if between.any():
        front, behind = float(x[between].min() - low[0]), float(high[0] - x[between].max())
        if front > behind + _NOTCH_MM:
            found = f"a notch {front:.1f} mm deep in front and {behind:.1f} mm behind"
            expected = f"the notch behind, on the {knee} knee stated"
            raise InputDataError(source, found, expected, _OTHER_KNEE, "knee")
    check_plateau_lengths(mesh, knee, source)


def check_plateau_lengths(mesh: TriangleMesh, knee: str, source: str) -> None:
    """Refuse a tibial surface, of an insert or of cartilage, that is longer on its lateral side."""
    x, z = mesh.vertices[:, 0], mesh.vertices[:, 2]
    width = float(np.ptp(z))
    across = z - 0.5 * (z.min() + z.max())
    medial, lateral = (
        float(np.ptp(x[side])) if side.any() else 0.0
        for side in (across > 0.15 * width, across < -0.15 * width)
    )
    if lateral > medial + _LONGER_PLATEAU_MM and medial > 0.0:
        found = f"a lateral plateau {lateral - medial:.1f} mm longer than the medial one"
        expected = f"the medial one as long or longer, on the {knee} knee stated"
        raise InputDataError(source, found, expected, _OTHER_KNEE, "knee")


def bad_edges(mesh: TriangleMesh) -> Array:
    """Middles (n, 3) of edges of more than two triangles, or of two oriented differently."""
    count = len(mesh.vertices)
    edges, uses = np.unique(mesh.edge_codes, return_counts=True)
    directed, repeats = np.unique(mesh.edges @ np.array([count, 1]), return_counts=True)
    twice = np.sort(np.column_stack(np.divmod(directed[repeats > 1], count)), axis=1)
    bad = np.union1d(edges[uses > 2], twice @ np.array([count, 1]))
    return np.asarray(mesh.vertices[np.column_stack(np.divmod(bad, count))].mean(axis=1))


def refuse_mixed_bodies(mesh: TriangleMesh, source: str) -> None:
    """Refuse a mesh, in any axes, that holds parts of different components.

    InputDataError with the size of each body.
    """
    bodies = mesh.bodies
    plates = np.array([_is_plate(body) for body in bodies])
    area = np.array([np.linalg.norm(body.face_normals, axis=1).sum() for body in bodies])
    if min(area[plates].sum(), area[~plates].sum()) < _SMALL_BODIES * area.sum():
        return
    words = [
        f"{'an insert or a plate' if plates[n] else 'a femoral component'} of "
        f"{body_size(bodies[n])}"
        for n in np.argsort(-area)[:_NAMED_BODIES]
    ]
    found = f"{len(bodies)} bodies of different components: {', '.join(words)}"
    remedy = "Export each component to a file of its own, and name that."
    raise InputDataError(source, found, "one component", remedy, check="geometry.bodies")


def body_size(mesh: TriangleMesh) -> str:
    """Text of the extents of a body in mm."""
    return " x ".join(f"{length:.0f}" for length in mesh.extent) + " mm"


def _is_plate(mesh: TriangleMesh) -> bool:
    """True if most of the area faces along one axis, as on an insert."""
    area = np.linalg.norm(mesh.face_normals, axis=1).sum()
    facing = np.abs(mesh.face_normals).sum(axis=0)
    return bool(facing.max() > _PLATE_FRACTION * area)


def _check_topology(mesh: TriangleMesh, source: str) -> None:
    """Refuse a mesh with so many bad edges that its orientation is not known."""
    bad = bad_edges(mesh)
    if len(bad) > _MAX_BAD_EDGES * 1.5 * len(mesh.faces):
        found = (
            f"{len(bad)} edges of more than two triangles, or of two that are oriented differently"
        )
        remedy = "Make the normals consistent, remove doubled sheets, and export the mesh again."
        raise InputDataError(source, found, "consistently oriented triangles", remedy)


def _height_ratio(mesh: TriangleMesh) -> float:
    """Height (y) of both sides over the smaller horizontal extent."""
    middle = mesh.vertices[mesh.faces].mean(axis=1)
    area = np.linalg.norm(mesh.face_normals, axis=1)
    low, high = mesh.vertices[:, 2].min(), mesh.vertices[:, 2].max()
    beside = np.abs(middle[:, 2] - 0.5 * (low + high)) > _BESIDE_MIDDLE * (high - low)
    beside = beside if beside.any() else np.ones_like(beside)
    order = np.argsort(middle[beside, 1])
    reached = np.cumsum(area[beside][order])
    rows = np.searchsorted(reached, np.array(_HEIGHT_FRACTIONS) * reached[-1])
    bottom, top = middle[beside, 1][order][np.minimum(rows, order.size - 1)]
    return float((top - bottom) / min(mesh.extent[0], mesh.extent[2]))


def _signed_volume(mesh: TriangleMesh) -> float:
    """Volume enclosed by a closed mesh, negative when its normals point inward."""
    centroid = mesh.vertices.mean(axis=0)
    return float(((mesh.vertices[mesh.faces[:, 0]] - centroid) * mesh.face_normals).sum() / 3.0)


def _sagittal_curvature(points: Array) -> float:
    """Second derivative of height along x, 1/mm, in the middle of both plateaus."""
    x, height, z = points.T
    middle, reach = np.median(x), 0.3 * np.ptp(x)
    across = np.abs(z - np.median(z)) / (0.5 * np.ptp(z))
    kept = (np.abs(x - middle) < reach) & (across > 0.45) & (across < 0.85)
    if kept.sum() < 12:
        return 0.0
    x, height, z = x[kept] - middle, height[kept], z[kept]
    side = np.sign(z)
    terms = np.column_stack([x**2 / 2, x, x * side, z, z**2, np.ones_like(x), side])
    return float(np.linalg.lstsq(terms, height, rcond=None)[0][0])
