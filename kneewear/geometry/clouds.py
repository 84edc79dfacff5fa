"""Point clouds of bearing sheets: joined to triangles so that they go the way of meshes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh, circle_centre

Array = NDArray[np.float64]

# Triangles with an edge this many times the usual one bridge holes and bays of the outline.
_LONGEST_EDGE = 4.0
_EDGE_ON = 0.15
_LEAST_POINTS = 100


def is_cloud(mesh: TriangleMesh) -> bool:
    """Whether a mesh holds points and no triangles."""
    return len(mesh.faces) == 0 and len(mesh.vertices) > 0


def insert_from_points(points: Array, source: str = "insert points") -> TriangleMesh:
    """Bearing sheet of an insert through a cloud of points, normals up.

    Parameters
    ----------
    points : array, shape (n, 3)
        Points of the bearing surface in mm and knee axes; one height over each place.
    source : str
        Name of the file for messages.

    Returns
    -------
    TriangleMesh
        Delaunay triangles over the horizontal plane; long ones, over holes and bays, are left out.

    Raises
    ------
    InputDataError
        If there are too few points, or they lie on a line.
    """
    return _joined(points, points[:, [2, 0]], source)


def femoral_from_points(points: Array, source: str = "femoral points") -> TriangleMesh:
    """Bearing sheet of a femoral component through a cloud of points, normals outward.

    Parameters
    ----------
    points : array, shape (n, 3)
        Points of the bearing surface in mm and knee axes; one radius about the condyles' axis in
        each direction.
    source : str
        Name of the file for messages.

    Returns
    -------
    TriangleMesh
        Delaunay triangles over angle and width about the circle that fits the lower part best.

    Raises
    ------
    InputDataError
        If there are too few points, or they lie on a line.
    """
    _check_count(points, source)
    low = points[points[:, 1] < np.median(points[:, 1])]
    offset = points[:, :2] - np.array(circle_centre(low[:, :2]))
    arc = np.arctan2(offset[:, 0], -offset[:, 1]) * np.median(np.hypot(*offset.T))
    return _joined(points, np.column_stack([arc, points[:, 2]]), source)


def _joined(points: Array, plane: Array, source: str) -> TriangleMesh:
    """Delaunay triangles over a plane, counter-clockwise there, without the long ones."""
    from scipy.spatial import Delaunay, QhullError  # noqa: PLC0415 - see kneewear.geometry.surface

    _check_count(points, source)
    try:
        faces = Delaunay(plane).simplices.astype(np.int64)
    except QhullError as error:
        raise InputDataError(
            source,
            "points along one line",
            "points spread over a bearing surface",
            "Check the columns of the file, and `axes`.",
        ) from error
    a, b, c = (plane[faces[:, corner]] for corner in range(3))
    (ab, ac) = b - a, c - a
    area = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]
    faces[area < 0] = faces[area < 0][:, ::-1]
    corners = points[faces]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=-1)
    mesh = TriangleMesh(points, faces)
    # Rows of points along the outline leave triangles without area, or seen edge-on.
    seen = np.abs(area) / np.maximum(2.0 * np.linalg.norm(mesh.face_normals, axis=1), 1e-300)
    kept = (edges.max(axis=1) < _LONGEST_EDGE * np.median(edges)) & (seen > _EDGE_ON)
    return TriangleMesh(points, np.ascontiguousarray(faces[kept]))


def _check_count(points: Array, source: str) -> None:
    """Refuse a handful of points."""
    if len(points) < _LEAST_POINTS:
        raise InputDataError(
            source,
            f"{len(points)} points",
            f"at least {_LEAST_POINTS}",
            "Export more points, about one a millimetre.",
        )
