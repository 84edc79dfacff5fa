"""Vertices and triangles of Wavefront OBJ files."""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.meshes import polygon_triangles
from kneewear.io.data_file import decode_text, line_fault

# Lines that say nothing about the shape; materials are never looked for.
_IGNORED = {
    "vt", "vn", "vp", "l", "p", "o", "g", "s", "mg", "mtllib", "usemtl", "usemap", "maplib", "lod",
    "bevel", "c_interp", "d_interp", "shadow_obj", "trace_obj",
}  # fmt: skip


def parse_obj(path: Path, content: bytes) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Vertices and triangles of an OBJ file.

    Parameters
    ----------
    path : Path
        File, for messages.
    content : bytes
        What it holds.

    Returns
    -------
    vertices : array, shape (n_vertices, 3)
        Positions.
    faces : int array, shape (n_faces, 3)
        Vertex numbers from 0; polygons are cut into triangles at their first corner.

    Raises
    ------
    InputDataError
        When a line is not one of the format, free-form surfaces among them.
    """
    vertices, faces = array("d"), array("q")
    for number, line in _lines(decode_text(path, content)):
        words = line.split("#", maxsplit=1)[0].split()
        if not words or words[0] in _IGNORED:
            continue
        if words[0] == "v":
            vertices.extend(_position(path, number, line, words[1:]))
        elif words[0] == "f":
            corners = [_vertex(path, number, line, word, len(vertices) // 3) for word in words[1:]]
            if len(corners) < 3:
                raise line_fault(path, number, line, "'f' and at least three vertices")
            faces.extend(polygon_triangles(corners))
        else:
            raise line_fault(path, number, line, "a line of a mesh: 'v', 'f', 'vt', 'vn', 'g'...")
    triangles = np.array(faces, dtype=np.int64).reshape(-1, 3)
    return np.array(vertices).reshape(-1, 3), triangles


def _lines(text: str) -> list[tuple[int, str]]:
    """Numbered lines; one that ends in a backslash goes on in the next."""
    found: list[tuple[int, str]] = []
    begun = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.endswith("\\"):
            begun += line[:-1] + " "
        else:
            found.append((number, begun + line))
            begun = ""
    return [*found, (len(found), begun)] if begun else found


def _position(path: Path, number: int, line: str, words: list[str]) -> list[float]:
    """Coordinates of a vertex; a weight or colour may follow."""
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        numbers = []
    if not 3 <= len(numbers) <= 8 or not all(map(math.isfinite, numbers)):
        raise line_fault(path, number, line, "'v' and three finite numbers")
    return numbers[:3]


def _vertex(path: Path, number: int, line: str, word: str, count: int) -> int:
    """Number from 0 of a face's corner, written as 7, 7/1, 7//3 or -1 (the last so far)."""
    try:
        index = int(word.split("/", maxsplit=1)[0])
    except ValueError:
        index = 0
    if index == 0 or index < -count or index > 2**31:
        raise line_fault(path, number, line, "'f' and numbers of vertices, from 1 on")
    return index - 1 if index > 0 else count + index
