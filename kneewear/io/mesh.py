"""Triangle meshes from files (STL, PLY, OBJ)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh
from kneewear.io.points import points_mesh

SUFFIXES = (".stl", ".ply", ".obj")
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
    if not path.is_file():
        raise InputDataError(
            path, "no such file", "a mesh file", "Check `data_folder` and the file's name."
        )
    if path.suffix.lower() not in SUFFIXES:
        raise InputDataError(
            path,
            f"a file ending in '{path.suffix}'",
            "a mesh ending in .stl, .ply or .obj",
            "Convert the mesh to one of these formats.",
        )
    if path.stat().st_size == 0:
        raise InputDataError(path, "an empty file", "a mesh", "Copy or export the file again.")
    vertices, faces = _read(path)
    if path.suffix.lower() == ".ply" and not len(faces) and len(vertices) and _is_cloud(path):
        return points_mesh(vertices)
    return _checked(path, vertices, faces)


def _is_cloud(path: Path) -> bool:
    """Whether the head of a PLY declares points and no triangles."""
    with path.open("rb") as file:
        head = file.read(4000).split(b"end_header")[0]
    declared = [line.split() for line in head.splitlines() if line.startswith(b"element face")]
    return all(int(words[2]) == 0 for words in declared)


def _read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a file, by trimesh."""
    import trimesh  # noqa: PLC0415 - half a second that only studies with meshes need

    try:
        mesh: Any = trimesh.load(path, process=False)
        if isinstance(mesh, trimesh.Scene):
            mesh = mesh.to_mesh() if mesh.geometry else trimesh.Trimesh()
    except Exception as error:  # trimesh raises whatever its parsers meet
        raise InputDataError(
            path,
            f"content that cannot be read ({type(error).__name__}: {error})",
            "a complete mesh file",
            "The file is cut off or damaged: copy or export it again.",
        ) from error
    faces = getattr(mesh, "faces", None)  # a point cloud has none
    faces = np.empty((0, 3)) if faces is None else faces
    return np.asarray(mesh.vertices, dtype=float), np.asarray(faces, dtype=np.int64)


def _checked(path: Path, vertices: np.ndarray, faces: np.ndarray) -> TriangleMesh:
    """Drop collapsed triangles; refuse a mesh without usable ones."""
    if faces.size == 0:
        raise InputDataError(
            path,
            "no triangles",
            "a triangle mesh",
            "The file is cut off, damaged or holds points only: export it again.",
        )
    if not np.isfinite(vertices).all():
        row = int(np.flatnonzero(~np.isfinite(vertices).all(axis=1))[0])
        raise InputDataError(
            path,
            "a coordinate that is not a finite number",
            "finite coordinates",
            "Repair the mesh and export it again.",
            f"vertex {row}",
        )
    vertices, faces = _merged(vertices, faces)
    a, b, c = faces.T
    return TriangleMesh(vertices, np.ascontiguousarray(faces[(a != b) & (b != c) & (c != a)]))


def _merged(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unite vertices that coincide within the precision of a binary STL."""
    step = _MERGING * max(float(np.ptp(vertices, axis=0).max()), np.finfo(float).tiny)
    _, first, number = np.unique(
        np.round(vertices / step), axis=0, return_index=True, return_inverse=True
    )
    return vertices[first], number.reshape(-1)[faces]
