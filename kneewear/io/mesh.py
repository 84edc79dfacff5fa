"""Triangle meshes from files (STL, PLY, OBJ)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh
from kneewear.io.data_file import read_data
from kneewear.io.obj import parse_obj
from kneewear.io.ply import parse_ply
from kneewear.io.points import points_mesh
from kneewear.io.stl import parse_stl

_PARSERS = {".stl": parse_stl, ".ply": parse_ply, ".obj": parse_obj}
SUFFIXES = tuple(_PARSERS)
# No implant is as large in any unit: garbled numbers are.
_LARGEST = 1e9
# Part of the mesh's width within which vertices are one; single precision is 6e-8.
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
        raise InputDataError(
            path,
            f"a file ending in '{path.suffix}'",
            "a mesh ending in .stl, .ply or .obj",
            "Convert the mesh to one of these formats.",
        )
    content = read_data(path, "a mesh")
    vertices, faces = _PARSERS[path.suffix.lower()](path, content)
    _check_vertices(path, vertices)
    return points_mesh(vertices) if faces is None else _checked(path, vertices, faces)


def _check_vertices(path: Path, vertices: np.ndarray) -> None:
    """Refuse coordinates that are no places on an implant, in any unit."""
    odd = np.flatnonzero(~(np.abs(vertices) < _LARGEST).all(axis=1))
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
        raise InputDataError(
            path,
            f"vertices {', '.join(str(n) for n in faces[outside[0]])}",
            f"numbers from 0 to {len(vertices) - 1}",
            "The file is cut off or damaged: copy or export it again.",
            f"triangle {outside[0] + 1}",
        )
    if faces.size:
        vertices, faces = _merged(vertices, faces)
        a, b, c = faces.T
        faces = np.ascontiguousarray(faces[(a != b) & (b != c) & (c != a)])
    if faces.size == 0:
        raise InputDataError(
            path,
            "no triangles",
            "a triangle mesh",
            "The file is cut off, damaged or holds points only: export it again.",
        )
    return TriangleMesh(vertices, faces)


def _merged(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unite vertices that coincide within the precision of a binary STL."""
    step = _MERGING * max(float(np.ptp(vertices, axis=0).max()), np.finfo(float).tiny)
    _, first, number = np.unique(
        np.round(vertices / step), axis=0, return_index=True, return_inverse=True
    )
    return vertices[first], number.reshape(-1)[faces]
