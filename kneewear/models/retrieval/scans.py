"""Scans of inserts from files: unit, axes and form recognised, and heights over the plan."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.errors import Finding, InputDataError, Severity
from kneewear.geometry.coverage import polygon_coverage
from kneewear.geometry.mesh_checks import check_size
from kneewear.geometry.meshes import (
    MM_PER_UNIT,
    TriangleMesh,
    insert_from_points,
    simplified,
    to_knee_axes,
)
from kneewear.geometry.recognition import (
    FrontEvidence,
    Orientation,
    orient_insert,
    outward,
    recognise_form,
    recognise_unit,
    refuse_tray,
    refuse_turned,
)
from kneewear.geometry.refinement import subdivided
from kneewear.geometry.segmentation import segment_plateaus
from kneewear.io.shapes import load_shape
from kneewear.models.retrieval.surfaces import STEP, Raster, normals_of

Array = NDArray[np.float64]

# Points on which unit, axes and form are recognised.
_RECOGNITION_POINTS = 40_000
# What shows the front of an insert, in words, and what is as sure as a notch.
_EVIDENCE: Mapping[FrontEvidence, str] = {
    "notch": "a notch behind",
    "contradicted": "a notch behind, although the border rises more there",
    "border": "no notch, and a border that rises more in front",
    "none": "front and rear look alike",
}
_SEVERITIES: Mapping[FrontEvidence, Severity] = {
    "notch": "note",
    "contradicted": "warn",
    "border": "warn",
    "none": "warn",
}
# Smoothing of heights whose bearing is recognised, mm; every so many points of the raster are used.
_SMOOTHING = 1.0
_COARSE = 2
# A bearing is curved: of an underside more than half of the squares of the middle, mm, are parallel
# within an angle, rad. Those with an edge between levels, further from a plane, mm, do not count.
_SQUARE = 6.0
_PARALLEL = float(np.radians(0.5))
_EDGE = 0.1
# Least area of surface that faces up, mm2.
_MIN_UP = 50.0
# Cosine of the steepest surface that is evaluated, and its distance from borders, mm.
_MIN_UPRIGHT = float(np.cos(np.radians(55.0)))
_BORDER = 0.25
# Smoothing of heights for curvatures, mm, and largest curvatures up and down of a dish, 1/mm. Rims
# are rounded with radii of about 5 mm, dishes have radii above 20 mm.
_CURVATURE_SMOOTHING = 2.0
_MAX_CURVATURE = {1.0: 0.06, -1.0: 0.02}
# Edge of large triangles, mm, whose corners are too few for a position.
_LARGE = 1.5
# Width of rims at most, mm: what is strongly curved further inside is the edge of a scar.
_RIM = 5.0
# Opening that parts a dish from narrow surface beside it, mm.
_OPENING = 1.5


@dataclass(frozen=True)
class Scan:
    """Surface of an insert in mm and the axes of a right knee.

    Parameters
    ----------
    file : str
        Its file.
    mesh : TriangleMesh
    findings : tuple of Finding
        What was recognised.
    sha256 : str
        Digest of the file.
    """

    file: str
    mesh: TriangleMesh
    findings: tuple[Finding, ...]
    sha256: str = ""


def read_scan(
    file: str, knee: str, unit: str | None = None, axes: Mapping[str, str] | None = None
) -> Scan:
    """Read a scan of an insert, whole or its bearing alone.

    Parameters
    ----------
    file : str
        Mesh, CAD part or points.
    knee : {"right", "left"}
        Side of the knee.
    unit : str, optional
        Unit of the file, where its size does not show it.
    axes : mapping, optional
        Anatomical directions of +x, +y and +z of the file, where the shape does not show them.

    Returns
    -------
    Scan

    Raises
    ------
    InputDataError
        When the file cannot be read or holds no bearing of an insert.
    """
    if not Path(file).is_file():
        remedy = "Correct its name after --scan or --reference, or in the table of --pairs."
        raise InputDataError(file, "no such file", "a scan or a reference", remedy)
    mesh = load_shape(file, limited=False)
    if mesh.is_cloud:
        mesh = _triangulated(mesh, file, axes)
    # Points of no triangle, such as those in holes, say nothing of the shape.
    mesh = mesh.part(np.ones(len(mesh.faces), dtype=bool))
    coarse = simplified(mesh, _RECOGNITION_POINTS)
    findings: list[Finding] = []
    if unit is None:
        unit, finding = recognise_unit(coarse, file)
        findings.append(finding)
    factor = MM_PER_UNIT[unit]
    mesh = TriangleMesh(mesh.vertices * factor, mesh.faces)
    coarse = TriangleMesh(coarse.vertices * factor, coarse.faces)
    check_size(coarse, file)
    turned, notes = outward(coarse, file)
    if notes:
        coarse = turned
        mesh = TriangleMesh(mesh.vertices, np.ascontiguousarray(mesh.faces[:, ::-1]))
        findings += notes
    refuse_tray(coarse, file)
    if axes is None:
        refuse_turned(coarse, file)
        orientation, evidence = orient_insert(coarse)
        if evidence == "none":
            orientation = _as_in_file(orientation)
        axes = orientation.words(knee)
        words = ", ".join(f"+{axis} {word}" for axis, word in axes.items())
        result, severity = f"axes {words}: {_EVIDENCE[evidence]}", _SEVERITIES[evidence]
        remedy = "State --axes if front and rear, and with them the sides, are exchanged."
        finding = Finding(
            "retrieval.axes", severity, file, result, "", remedy if severity == "warn" else ""
        )
        findings.append(finding)
    findings.append(recognise_form(coarse, file)[1])
    mesh = to_knee_axes(mesh, "mm", axes, knee, file)
    if _has_large_facets(mesh):
        mesh = subdivided(mesh)
    _refuse_underside(to_knee_axes(coarse, "mm", axes, knee, file), file)
    digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    return Scan(file, mesh, tuple(findings), digest)


def _has_large_facets(mesh: TriangleMesh) -> bool:
    """True of a bearing, in mm, of which more than a hundredth is large triangles, as CAD has."""
    normals = mesh.face_normals
    area = np.linalg.norm(normals, axis=1)
    up = normals[:, 1] > 0.5 * area
    corners = mesh.vertices[mesh.faces[up]]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    return bool(area[up][longest > _LARGE].sum() > 0.01 * area[up].sum())


def _as_in_file(orientation: Orientation) -> Orientation:
    """Of an orientation and its opposite, front for rear, the one with more axes of the file.

    Files of one program then have one orientation.
    """
    opposite = Orientation(orientation.matrix * [[-1.0], [1.0], [-1.0]])
    return max(orientation, opposite, key=lambda item: float(np.trace(item.matrix)))


def _triangulated(cloud: TriangleMesh, file: str, axes: Mapping[str, str] | None) -> TriangleMesh:
    """Points of a bearing sheet as triangles, in the frame of their file."""
    if axes is None:
        remedy = "State them with --axes, or mesh the points in the program that wrote them."
        raise InputDataError(
            file, "points without triangles", "axes of the points", remedy, check="retrieval.axes"
        )
    # In the axes of a right knee and back: triangles need the direction that is up.
    corners = TriangleMesh(np.eye(3), np.array([[0, 1, 2]]))
    knee = "right" if _fits(corners, axes, "right") else "left"
    matrix = to_knee_axes(corners, "mm", axes, knee, file).vertices.T
    sheet = insert_from_points(cloud.vertices @ matrix.T, file)
    faces = sheet.faces if np.linalg.det(matrix) > 0 else sheet.faces[:, ::-1]
    return TriangleMesh(sheet.vertices @ matrix, np.ascontiguousarray(faces))


def _fits(mesh: TriangleMesh, axes: Mapping[str, str], knee: str) -> bool:
    """True if axes are right-handed on a knee."""
    try:
        to_knee_axes(mesh, "mm", axes, knee)
    except InputDataError:
        return False
    return True


def _refuse_underside(mesh: TriangleMesh, file: str) -> None:
    """InputDataError for a surface that faces up and is flat, in one level or several.

    Undersides have pockets, rims and keels: planes that are parallel.
    """
    plan = mesh.vertices[:, [0, 2]]
    raster = Raster.around(plan.min(axis=0), plan.max(axis=0))
    x, z = np.meshgrid(raster.x, raster.z, indexing="ij")
    heights = raster.heights(mesh)
    known = np.isfinite(heights)
    if known.sum() * STEP**2 < _MIN_UP:
        result, remedy = "hardly any surface that faces up", "Name a scan of the bearing."
        raise InputDataError(file, result, "the bearing of an insert", remedy)
    inside = known.copy()
    for values in (x, z):
        low, high = np.quantile(values[known], [0.1, 0.9])
        inside &= (values > low) & (values < high)
    number = (x // _SQUARE) * 1000.0 + z // _SQUARE
    slopes = []
    for square in np.unique(number[inside]):
        own = inside & (number == square)
        if own.sum() < 0.5 * (_SQUARE / STEP) ** 2:
            continue
        terms = np.column_stack([x[own], z[own], np.ones(own.sum())])
        plane = np.linalg.lstsq(terms, heights[own], rcond=None)[0]
        if np.std(heights[own] - terms @ plane) < _EDGE:
            slopes.append(plane[:2])
    if not slopes:
        return
    turned = np.hypot(*(np.array(slopes) - np.median(slopes, axis=0)).T)
    parallel = float(np.mean(turned < _PARALLEL))
    if parallel > 0.5:
        result = f"a flat surface ({100 * parallel:.0f} % of its middle is parallel planes)"
        remedy = "The scan may be of the underside: name one of the bearing, or state --axes."
        raise InputDataError(
            file, result, "the curved bearing of an insert", remedy, check="retrieval.underside"
        )


def plateau_regions(raster: Raster, heights: Array, file: str) -> NDArray[np.int64]:
    """Number of the plateau at each point of a raster, 0 medial and 1 lateral; -1 outside.

    Parameters
    ----------
    raster : Raster
    heights : array, shape (n, m)
        Heights of the bearing, mm; NaN where missing.
    file : str
        File of the bearing, for messages.
    """
    known = np.isfinite(heights)
    sigma = _SMOOTHING / STEP
    weight = scipy.ndimage.gaussian_filter(known.astype(float), sigma)
    smooth = scipy.ndimage.gaussian_filter(np.where(known, heights, 0.0), sigma)
    smooth = np.divide(smooth, weight, out=np.full_like(smooth, np.nan), where=weight > 0.2)
    smooth = np.where(known, smooth, np.nan)[::_COARSE, ::_COARSE]
    try:
        (regions,) = segment_plateaus(sheet_of(raster, smooth, _COARSE))
    except ValueError as error:
        remedy = "Check the axes of the file, or state them with --axes."
        raise InputDataError(file, str(error), "two plateaus", remedy) from None
    numbers = np.full(raster.shape, -1)
    x, z = np.meshgrid(raster.x, raster.z, indexing="ij")
    for number, side in enumerate(regions):
        inside = polygon_coverage(regions[side].outline).contains(x.ravel(), z.ravel())
        numbers[np.reshape(inside, raster.shape)] = number
    return numbers


def bearing_regions(
    raster: Raster, heights: Array, plateaus: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Number of the side at each point of the surface around and between the plateaus.

    A reference shows where surface was that is no bearing, and more of it is unworn: kept is what
    is inclined less than 55 deg, and not at a border.

    Parameters
    ----------
    raster : Raster
    heights : array, shape (n, m)
        Heights of the reference, mm.
    plateaus : array of int, shape (n, m)
        Number of the plateau at each point, -1 outside.
    """
    upright = np.nan_to_num(normals_of(heights)[..., 1])
    kept = scipy.ndimage.binary_opening(upright > _MIN_UPRIGHT, iterations=1)
    kept = scipy.ndimage.binary_erosion(kept, iterations=round(_BORDER / STEP))
    label, _ = scipy.ndimage.label(kept | (plateaus >= 0))
    reached = np.unique(label[plateaus >= 0])
    kept = np.isin(label, reached)
    middles = [float(np.mean(raster.z[np.nonzero(plateaus == n)[1]])) for n in (0, 1)]
    sides = np.broadcast_to((raster.z < 0.5 * sum(middles)).astype(int), raster.shape)
    return np.where(kept, sides, -1)


def dish_regions(raster: Raster, heights: Array, plateaus: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number of the plateau at each point of its dish: plateaus without rims; -1 outside.

    A reconstruction describes a dish, and no rim. Rims are what is strongly curved and reaches the
    border of a plateau; edges of scars inside do not.

    Parameters
    ----------
    raster : Raster
    heights : array, shape (n, m)
        Heights of the scan, mm; NaN where missing.
    plateaus : array of int, shape (n, m)
        Number of the plateau at each point, -1 outside.
    """
    known = np.isfinite(heights)
    nearest = scipy.ndimage.distance_transform_edt(~known, return_indices=True)[1]
    smooth = scipy.ndimage.gaussian_filter(heights[tuple(nearest)], _CURVATURE_SMOOTHING / STEP)
    along, across = np.gradient(smooth, STEP)
    second, mixed = np.gradient(along, STEP)
    middle = 0.5 * (second + np.gradient(across, STEP, axis=1))
    half = np.hypot(second - middle, mixed)
    sharp = (middle + half > _MAX_CURVATURE[1.0]) | (half - middle > _MAX_CURVATURE[-1.0])
    structure = scipy.ndimage.iterate_structure(
        scipy.ndimage.generate_binary_structure(2, 1), round(_OPENING / STEP)
    )
    result = np.full(raster.shape, -1)
    for number in np.unique(plateaus[plateaus >= 0]):
        # Deep scars leave gaps in a plateau.
        own = scipy.ndimage.binary_fill_holes(
            scipy.ndimage.binary_closing(plateaus == number, structure, iterations=2)
        )
        own &= known & ((plateaus < 0) | (plateaus == number))
        near = scipy.ndimage.distance_transform_edt(np.pad(own, 1))[1:-1, 1:-1] * STEP < _RIM
        label, _ = scipy.ndimage.label((sharp & near & own) | ~own)
        rim = np.isin(label, np.unique(label[~own]))
        inside = scipy.ndimage.binary_opening(own & ~rim, structure)
        label, count = scipy.ndimage.label(inside)
        if not count:
            result[own] = number
            continue
        sizes = scipy.ndimage.sum_labels(inside, label, np.arange(1, count + 1))
        result[label == 1 + int(np.argmax(sizes))] = number
    return result


def sheet_of(raster: Raster, heights: Array, every: int = 1) -> TriangleMesh:
    """Mesh of the known heights of a raster, or of every so many points of it.

    Parameters
    ----------
    raster : Raster
    heights : array, shape (n, m)
        Heights of the chosen points, mm; NaN where missing.
    every : int
        Distance of the chosen points, in points of the raster.
    """
    x, z = np.meshgrid(raster.x[::every], raster.z[::every], indexing="ij")
    points = np.stack([x, heights, z], axis=-1)
    number = np.arange(heights.size).reshape(heights.shape)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    # Counter-clockwise seen from above, with z to the right of x.
    faces = np.concatenate([np.stack(item, -1).reshape(-1, 3) for item in ((a, d, c), (a, c, b))])
    known = np.isfinite(heights).ravel()
    whole = TriangleMesh(np.nan_to_num(points.reshape(-1, 3)), faces)
    return whole.part(known[faces].all(axis=1))
