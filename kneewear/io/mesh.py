"""Triangle meshes from files (STL, PLY, OBJ)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh
from kneewear.io.data_file import LARGEST_COORDINATE, read_data
from kneewear.io.mesh_formats import parse_obj, parse_ply, parse_stl
from kneewear.io.points import points_mesh

_PARSERS = {".stl": parse_stl, ".ply": parse_ply, ".obj": parse_obj}
SUFFIXES = tuple(_PARSERS)
# Part of the mesh's width within which vertices are merged; single precision is 6e-8.
_MERGING = 1e-7


def load_mesh(path: str | Path) -> TriangleMesh:
    """Triangle mesh of a file, coincident vertices merged.

    Parameters
    ----------
    path : str or Path
        STL, PLY or OBJ file.

    Returns
    -------
    TriangleMesh
        In the unit and axes of the file. A PLY that declares no triangles is a point cloud.

    Raises
    ------
    InputDataError
        If the file is missing, empty, not one of these formats, unreadable, without triangles or
        holds a coordinate that is not a finite number.
    """
    path = Path(path)
    if path.suffix.lower() not in _PARSERS and path.is_file():
        expected = "a mesh ending in .stl, .ply or .obj"
        remedy = "Convert the mesh to one of these formats."
        raise InputDataError(path, f"a file ending in '{path.suffix}'", expected, remedy)
    content = read_data(path, "a mesh")
    vertices, faces = _PARSERS[path.suffix.lower()](path, content)
    _check_vertices(path, vertices)
    return points_mesh(vertices) if faces is None else _checked(path, vertices, faces)


def _check_vertices(path: Path, vertices: np.ndarray) -> None:
    """Refuse coordinates that no implant has, in any unit."""
    odd = np.flatnonzero(~(np.abs(vertices) < LARGEST_COORDINATE).all(axis=1))
    if odd.size:
        finite = np.isfinite(vertices[odd[0]]).all()
        raise InputDataError(
            path,
            f"a coordinate of {np.abs(vertices[odd[0]]).max():.3g}"
            if finite
            else "a coordinate that is not a finite number",
            "coordinates of an implant",
            "Repair the mesh and export it again.",
            f"vertex {odd[0] + 1}",
        )


def _checked(path: Path, vertices: np.ndarray, faces: np.ndarray) -> TriangleMesh:
    """Drop collapsed triangles; refuse a mesh without usable ones."""
    outside = np.flatnonzero(((faces < 0) | (faces >= len(vertices))).any(axis=1))
    if outside.size:
        found = f"vertices {', '.join(str(n) for n in faces[outside[0]])}"
        expected = f"numbers from 0 to {len(vertices) - 1}"
        remedy = "The file is cut off or damaged: copy or export it again."
        raise InputDataError(path, found, expected, remedy, f"triangle {outside[0] + 1}")
    if faces.size:
        step = _MERGING * max(float(np.ptp(vertices, axis=0).max()), np.finfo(float).tiny)
        vertices, faces = merge_vertices(vertices, faces, step)
    if faces.size == 0:
        remedy = "The file is cut off, damaged or holds points only: export it again."
        raise InputDataError(path, "no triangles", "a triangle mesh", remedy)
    return TriangleMesh(vertices, faces)


def merge_vertices(
    vertices: np.ndarray, faces: np.ndarray, step: float
) -> tuple[np.ndarray, np.ndarray]:
    """Merge vertices that round to the same multiple of `step`; drop collapsed triangles."""
    _, first, number = np.unique(
        np.round(vertices / step), axis=0, return_index=True, return_inverse=True
    )
    faces = number.reshape(-1)[faces]
    a, b, c = faces.T
    return vertices[first], np.ascontiguousarray(faces[(a != b) & (b != c) & (c != a)])
