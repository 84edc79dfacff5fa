"""Triangle meshes of an implant: conversion to the insert's frame and checks at the door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.coverage import Coverage, mesh_coverage

Array = NDArray[np.float64]

MM_PER_UNIT = {"mm": 1.0, "m": 1000.0}
# Axis inside (x posterior, y superior, z medial) and sign of each anatomical direction.
_DIRECTIONS = {
    "posterior": (0, 1.0),
    "anterior": (0, -1.0),
    "superior": (1, 1.0),
    "inferior": (1, -1.0),
    "medial": (2, 1.0),
    "lateral": (2, -1.0),
}
# Width of components on the market is 55-90 mm; the limits only have to tell units apart.
_WIDTH_LIMITS_MM = (20.0, 150.0)
# Height over antero-posterior length: inserts 0.13-0.45, femoral components 0.7-1.0.
_HEIGHT_RATIO_BETWEEN = 0.55
# An insert's plateau is hollow or flat along x; this convex (R 100 mm) it lies upside down.
_CONVEX_LIMIT_PER_MM = -0.01


@dataclass(frozen=True)
class TriangleMesh:
    """A triangle mesh whose normals follow from the order of vertices (counter-clockwise).

    Parameters
    ----------
    vertices : array, shape (n_vertices, 3)
        Positions, in the unit and frame of its file until `to_knee_axes` converts them.
    faces : int array, shape (n_faces, 3)
        Vertex numbers of each triangle. A point cloud has none until it is joined.
    """

    vertices: Array
    faces: NDArray[np.int64]

    @cached_property
    def face_normals(self) -> Array:
        """Normals of the triangles times their area, shape (n_faces, 3)."""
        a, b, c = (self.vertices[self.faces[:, corner]] for corner in range(3))
        return 0.5 * np.cross(b - a, c - a)

    @cached_property
    def vertex_normals(self) -> Array:
        """Area-weighted unit normals at vertices, shape (n_vertices, 3); zero for unused ones."""
        normals = np.zeros_like(self.vertices)
        for corner in range(3):
            np.add.at(normals, self.faces[:, corner], self.face_normals)
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        return np.divide(normals, length, out=np.zeros_like(normals), where=length > 0)

    @cached_property
    def border_vertices(self) -> NDArray[np.int64]:
        """Numbers of the vertices on open edges; none on a closed body."""
        edges = np.sort(_edges(self.faces), axis=1)
        code, uses = np.unique(edges @ np.array([len(self.vertices), 1]), return_counts=True)
        single = code[uses == 1]
        return np.unique(
            np.concatenate([single // len(self.vertices), single % len(self.vertices)])
        )

    @property
    def extent(self) -> Array:
        """Size of the box around the mesh, shape (3,)."""
        return np.ptp(self.vertices, axis=0)


def polygon_triangles(corners: Sequence[int]) -> list[int]:
    """Triangles that share the first corner of a convex polygon.

    Parameters
    ----------
    corners : sequence of int
        Vertex numbers around the polygon, three or more.

    Returns
    -------
    list of int
        Vertex numbers, three for each triangle.
    """
    return [n for pair in pairwise(corners[1:]) for n in (corners[0], *pair)]


def to_knee_axes(
    mesh: TriangleMesh, unit: str, axes: Mapping[str, str], knee: str, source: str = "mesh"
) -> TriangleMesh:
    """Mesh in mm and in the axes of a right knee: x posterior, y superior, z medial.

    Parameters
    ----------
    mesh : TriangleMesh
        As read.
    unit : str
        Unit of the file: "mm" or "m".
    axes : mapping
        Anatomical direction of the file's +x, +y and +z, such as
        {"x": "posterior", "y": "superior", "z": "medial"}.
    knee : str
        "right" or "left". A left knee becomes its mirror image, triangles re-oriented.
    source : str
        Name of the file for messages.

    Returns
    -------
    TriangleMesh

    Raises
    ------
    InputDataError
        If the axes repeat a direction, or do not form a right-handed frame on that knee.

    Notes
    -----
    Posterior x superior is medial on a right knee and lateral on a left one, so the determinant of
    the change of axes is +1 for a right and -1 for a left knee when the file is right-handed.
    """
    columns = [_DIRECTIONS[axes[name]] for name in ("x", "y", "z")]
    matrix = np.zeros((3, 3))
    for column, (row, sign) in enumerate(columns):
        matrix[row, column] = sign
    determinant = round(float(np.linalg.det(matrix)))
    stated = ", ".join(f"+{name} {axes[name]}" for name in ("x", "y", "z"))
    if determinant == 0:
        raise InputDataError(
            source,
            f"axes {stated}",
            "three different directions",
            "Name one of anterior/posterior, superior/inferior and medial/lateral for each axis.",
            "axes",
        )
    if determinant != (1 if knee == "right" else -1):
        raise InputDataError(
            source,
            f"axes {stated} for a {knee} knee, which is a left-handed frame",
            f"a right-handed frame on a {knee} knee",
            "Check `knee`, and the medial/lateral and anterior/posterior words of `axes`.",
            "axes",
        )
    faces = mesh.faces if determinant > 0 else mesh.faces[:, ::-1]
    return TriangleMesh(mesh.vertices @ matrix.T * MM_PER_UNIT[unit], np.ascontiguousarray(faces))


def check_insert(mesh: TriangleMesh, source: str = "insert mesh") -> None:
    """Refuse a mesh that cannot be an insert in mm and knee axes.

    Parameters
    ----------
    mesh : TriangleMesh
        After `to_knee_axes`; an open bearing sheet or a closed solid.
    source : str
        Name of the file for messages.

    Raises
    ------
    InputDataError
        For an empty mesh, a wrong unit, broken topology, a femoral component in its place, normals
        turned inward, or an insert upside down.
    """
    check_size(mesh, source)
    if _height_ratio(mesh) > _HEIGHT_RATIO_BETWEEN:
        raise InputDataError(
            source,
            f"a body {mesh.extent[1]:.0f} mm high and {mesh.extent[0]:.0f} mm long",
            "an insert, much lower than long",
            "The femoral component stands in the insert's place, or `axes` are wrong.",
        )
    _check_topology(mesh, source)
    top = _upper_part(mesh)
    facing_up = _signed_volume(mesh) if is_closed(mesh) else mesh.face_normals[:, 1].sum()
    hollow = _sagittal_curvature(top)
    if hollow < _CONVEX_LIMIT_PER_MM:
        raise InputDataError(
            source,
            f"a bearing convex upwards (curvature {hollow:.3f} per mm along x)",
            "hollow or flat plateaus",
            "The insert lies upside down: check the superior/inferior word of `axes`.",
        )
    if facing_up < 0:
        raise InputDataError(
            source,
            "normals pointing into the polyethylene",
            "outward normals (up on the bearing)",
            "Turn the triangles' orientation round in the program that wrote the mesh.",
        )


def check_femoral(mesh: TriangleMesh, source: str = "femoral mesh") -> None:
    """Refuse a mesh that cannot be a femoral component in mm and knee axes.

    Parameters
    ----------
    mesh : TriangleMesh
        After `to_knee_axes`; an open bearing sheet or a closed solid.
    source : str
        Name of the file for messages.

    Raises
    ------
    InputDataError
        For an empty mesh, a wrong unit, broken topology, an insert in its place, normals turned
        inward, or a component upside down.
    """
    check_size(mesh, source)
    if _height_ratio(mesh) < _HEIGHT_RATIO_BETWEEN:
        raise InputDataError(
            source,
            f"a body {mesh.extent[1]:.0f} mm high and {mesh.extent[0]:.0f} mm long",
            "a femoral component, about as high as long",
            "The insert stands in the femoral component's place, or `axes` are wrong.",
        )
    _check_topology(mesh, source)
    if _outwardness(mesh) < 0:
        raise InputDataError(
            source,
            "normals pointing into the metal",
            "outward normals",
            "Turn the triangles' orientation round in the program that wrote the mesh.",
        )
    if _outer_area_facing_up(mesh) > 0:
        raise InputDataError(
            source,
            "condyles that face up",
            "condyles that face down, towards the insert",
            "The component lies upside down: check the superior/inferior word of `axes`.",
        )


def condyle_axis(mesh: TriangleMesh, window: tuple[float, float]) -> tuple[float, float]:
    """Centre (x, y), mm, of the circle that fits the downward half of a femoral mesh best.

    Parameters
    ----------
    mesh : TriangleMesh
        Femoral component in knee axes.
    window : pair of float
        Range of |z|, mm, taken into account.

    Returns
    -------
    pair of float
        x and y of the medial-lateral axis, mm.
    """
    across = np.abs(mesh.vertices[:, 2])
    kept = (across >= window[0]) & (across <= window[1]) & (mesh.vertex_normals[:, 1] < -0.3)
    return circle_centre(mesh.vertices[kept, :2])


def sheet_coverage(mesh: TriangleMesh, x: tuple[float, float], z: tuple[float, float]) -> Coverage:
    """Where a vertical line meets an upward-facing triangle.

    Parameters
    ----------
    mesh : TriangleMesh
        Insert in knee axes.
    x, z : pair of float
        Window, mm.

    Returns
    -------
    Coverage
        Bounded by the plan of the triangles' outer edges.
    """
    return mesh_coverage(mesh.vertices[mesh.faces[mesh.face_normals[:, 1] > 0]][:, :, [0, 2]], x, z)


def check_size(mesh: TriangleMesh, source: str) -> None:
    """Refuse an empty mesh and a wrong unit.

    Parameters
    ----------
    mesh : TriangleMesh
        After `to_knee_axes`.
    source : str
        Name of the file for messages.

    Raises
    ------
    InputDataError
        If it has no triangles, or is far smaller or larger than a knee.
    """
    if len(mesh.faces) == 0 or len(mesh.vertices) == 0:
        raise InputDataError(
            source,
            "no triangles",
            "a triangle mesh",
            "Export the surface again as a triangle mesh.",
        )
    width = float(mesh.extent.max())
    low, high = _WIDTH_LIMITS_MM
    if not low <= width <= high:
        factor = " (about 1000 times too small)" if width < low / 20 else ""
        factor = " (about 1000 times too large)" if width > high * 20 else factor
        raise InputDataError(
            source,
            f"a width of {width:.4g} mm{factor}",
            f"an implant {low:.0f}-{high:.0f} mm wide",
            "Check `unit`: the file is probably in another unit.",
            "unit",
        )


def _check_topology(mesh: TriangleMesh, source: str) -> None:
    """Refuse edges shared by more than two triangles or run through twice in one direction."""
    edges = _edges(mesh.faces)
    code = np.sort(edges, axis=1) @ np.array([len(mesh.vertices), 1])
    _, uses = np.unique(code, return_counts=True)
    if (uses > 2).any():
        raise InputDataError(
            source,
            f"{int((uses > 2).sum())} edges shared by more than two triangles",
            "a manifold mesh",
            "Repair the mesh (doubled or crossing sheets) and export it again.",
        )
    _, directed = np.unique(edges @ np.array([len(mesh.vertices), 1]), return_counts=True)
    if (directed > 1).any():
        raise InputDataError(
            source,
            f"{int((directed > 1).sum())} edges whose two triangles are oriented differently",
            "consistently oriented triangles",
            "Make the normals consistent and export the mesh again.",
        )


def _edges(faces: NDArray[np.int64]) -> NDArray[np.int64]:
    """Directed edges of triangles, shape (3 n_faces, 2)."""
    return np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])


def _height_ratio(mesh: TriangleMesh) -> float:
    """Height (y) over the smaller horizontal extent."""
    return float(mesh.extent[1] / min(mesh.extent[0], mesh.extent[2]))


def is_closed(mesh: TriangleMesh) -> bool:
    """Whether the vector areas cancel, as on a closed body."""
    total = np.linalg.norm(mesh.face_normals.sum(axis=0))
    return bool(total < 1e-3 * np.linalg.norm(mesh.face_normals, axis=1).sum())


def _signed_volume(mesh: TriangleMesh) -> float:
    """Volume enclosed by a closed mesh, negative when its normals point inward."""
    centroid = mesh.vertices.mean(axis=0)
    return float(((mesh.vertices[mesh.faces[:, 0]] - centroid) * mesh.face_normals).sum() / 3.0)


def _from_axis(mesh: TriangleMesh) -> Array:
    """Area of each triangle times the distance-weighted outwardness of its normal."""
    arms = mesh.vertices[mesh.faces].mean(axis=1) - mesh.vertices.mean(axis=0)
    return (arms[:, :2] * mesh.face_normals[:, :2]).sum(axis=1)


def _outwardness(mesh: TriangleMesh) -> float:
    """Positive if normals point away from the condyles' axis (or out of a closed body)."""
    return _signed_volume(mesh) if is_closed(mesh) else float(_from_axis(mesh).sum())


def _outer_area_facing_up(mesh: TriangleMesh) -> float:
    """Vertical component of the vector area of the outer triangles, without a solid's inside."""
    return float(mesh.face_normals[_from_axis(mesh) > 0, 1].sum())


def _upper_part(mesh: TriangleMesh) -> Array:
    """Vertices of an insert's bearing: the whole sheet, or the upward part of a solid."""
    if not is_closed(mesh):
        return mesh.vertices
    outward = np.sign(_signed_volume(mesh))
    return mesh.vertices[mesh.vertex_normals[:, 1] * outward > 0.5]


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


def circle_centre(points: Array) -> tuple[float, float]:
    """Centre of the algebraic least-squares circle through plane points, shape (n, 2)."""
    terms = np.column_stack([2.0 * points, np.ones(len(points))])
    centre = np.linalg.lstsq(terms, (points**2).sum(axis=1), rcond=None)[0]
    return float(centre[0]), float(centre[1])
