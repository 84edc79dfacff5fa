"""Shapes of components from files: triangle meshes, point clouds and CAD parts."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kneewear.base.checks import judge
from kneewear.errors import InputDataError
from kneewear.geometry.meshes import FEWER_TRIANGLES, TriangleMesh, merge_vertices
from kneewear.geometry.refinement import subdivided
from kneewear.io import cad
from kneewear.io.data_file import (
    LARGEST_COORDINATE,
    LARGEST_TEXT,
    decode_text,
    parse_numbers,
    read_data,
)
from kneewear.io.mesh_formats import parse_obj, parse_ply, parse_stl, parse_vtp
from kneewear.io.numerals import is_number
from kneewear.io.text_tables import number_rows

_PARSERS = {".stl": parse_stl, ".ply": parse_ply, ".obj": parse_obj, ".vtp": parse_vtp}
MESH_SUFFIXES = tuple(_PARSERS)
POINT_SUFFIXES = (".csv", ".xyz", ".txt")
# Endings that browsers give to downloads before these end.
_UNFINISHED = (".part", ".crdownload", ".download", ".partial", ".opdownload")
# Six whole numbers between commas, of which every second has no sign.
_SIX_WHOLE = re.compile(r"[+-]?\d+,\d+,[+-]?\d+,\d+,[+-]?\d+,\d+")
# A number with a decimal comma among numbers, as no format of meshes has.
_DECIMAL_COMMA = re.compile(rb"(?<=[\s>])[+-]?\d+,\d+(?:[eE][+-]?\d+)?(?=\s+[+-]?\d)")
# Part of the mesh's width within which vertices are merged; single precision is 6e-8.
_MERGING = 1e-7
_ROUNDING = 4.0


def load_shape(path: str | Path, limited: bool = True) -> TriangleMesh:
    """Mesh, point cloud or CAD part by the ending of its file, in the unit and axes of the file.

    Endings are .stl, .ply, .obj, .vtp; .csv, .xyz, .txt; .step, .stp, .iges, .igs. A point cloud (a
    PLY or VTP without triangles is one) has no faces. Meshes with more triangles than contact needs
    are refused if `limited`. InputDataError for any other ending, or a file that cannot be read.
    """
    ending = Path(path).suffix.lower()
    if ending in cad.SUFFIXES:
        return cad.load_cad(path)
    if ending in POINT_SUFFIXES:
        return _load_points(path)
    if ending in _PARSERS:
        return _load_mesh(path, limited)
    known = ", ".join((*_PARSERS, *POINT_SUFFIXES, *cad.SUFFIXES))
    found = f"a file ending in '{ending}'"
    ended = "Convert the file."
    remedy = "Let its download end, or repeat it." if ending in _UNFINISHED else ended
    raise InputDataError(path, found, f"one ending in {known}", remedy)


def load_component(path: str | Path) -> TriangleMesh:
    """Component of an implant by `load_shape`, with its long exact triangles subdivided.

    A file that has not changed is read once: checks before a run and the run need it each.
    """
    path = Path(path)
    if not path.is_file():
        return subdivided(load_shape(path))
    state = path.stat()
    return _read_component(path, path.resolve(), state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _read_component(path: Path, place: Path, changed: int, size: int) -> TriangleMesh:
    """Component of a file, as a path names it, at a place and in a state."""
    return subdivided(load_shape(path))


def _load_mesh(path: str | Path, limited: bool = True) -> TriangleMesh:
    """Triangle mesh, or points of a file without triangles, with coincident vertices merged."""
    path = Path(path)
    content = read_data(path, "a mesh")
    try:
        vertices, faces = _PARSERS[path.suffix.lower()](path, content)
    except InputDataError as error:
        comma = _DECIMAL_COMMA.search(content[:LARGEST_TEXT])
        if comma is None:
            raise
        finding = replace(
            error.finding,
            found=f"{error.finding.found}, and a decimal comma in '{comma[0].decode()}'",
            expected=f"{error.finding.expected}, with decimal points",
            remedy="Export the file with decimal points, or replace the commas by points.",
        )
        raise InputDataError.of(finding) from None
    _check_vertices(path, vertices)
    if faces is None:
        return _point_cloud(vertices)
    if limited:
        judge("geometry.mesh_triangles", len(faces), str(path), FEWER_TRIANGLES)
    outside = np.flatnonzero(((faces < 0) | (faces >= len(vertices))).any(axis=1))
    if outside.size:
        found = f"vertices {', '.join(str(n) for n in faces[outside[0]])}"
        expected = f"numbers from 0 to {len(vertices) - 1}"
        remedy = "The file is cut off or damaged: copy or export it again."
        raise InputDataError(path, found, expected, remedy, f"triangle {outside[0] + 1}")
    if faces.size:
        used = vertices[np.unique(faces)]
        width = max(float(np.ptp(used, axis=0).max()), np.finfo(float).tiny)
        # Vertices off by one step of single precision in each coordinate are within four.
        rounding = _ROUNDING * float(np.spacing(np.float32(np.abs(used).max())))
        step = max(_MERGING * width, rounding)
        vertices, faces = merge_vertices(vertices, faces, step)
    if faces.size == 0:
        remedy = "The file is cut off, damaged or holds points only: export it again."
        raise InputDataError(path, "no triangles", "a triangle mesh", remedy)
    return TriangleMesh(vertices, faces)


def _check_vertices(path: Path, vertices: NDArray[np.float64]) -> None:
    """Refuse coordinates that no implant has, in any unit."""
    odd = np.flatnonzero(~(np.abs(vertices) < LARGEST_COORDINATE).all(axis=1))
    if odd.size:
        largest = np.abs(vertices[odd[0]]).max()
        shown = f"of {largest:.3g}" if np.isfinite(largest) else "that is not a finite number"
        found, expected = f"a coordinate {shown}", "coordinates of an implant"
        remedy = "Repair the mesh and export it again."
        raise InputDataError(path, found, expected, remedy, f"vertex {odd[0] + 1}")


def _load_points(path: str | Path) -> TriangleMesh:
    """Distinct points of a text file, as a mesh without triangles.

    The columns named x, y and z are read, or the first three, separated by commas, semicolons or
    blanks; lines that start with # are comments.
    """
    text = decode_text(path, read_data(path, "a point", LARGEST_TEXT))
    numbers, columns = array("d"), None
    rows = number_rows(text)
    _refuse_halves(path, rows)
    for number, line, fields in rows:
        if columns is None:
            head = _columns(fields)
            columns = head or (0, 1, 2)
            if head:
                continue
        wanted = "three finite numbers (comments start with #)"
        chosen = [fields[c] for c in columns if c < len(fields)]
        numbers.extend(parse_numbers(path, number, line, chosen, wanted))
    if not numbers:
        raise InputDataError(path, "no points", "x, y, z of points", "Export the points again.")
    return _point_cloud(np.array(numbers).reshape(-1, 3))


def _refuse_halves(path: str | Path, rows: Sequence[tuple[int, str, list[str]]]) -> None:
    """Refuse rows that may be three numbers with decimal commas between commas.

    They have six cells of digits: measured points have decimals, colours and normals or not.
    """
    six = [(number, line) for number, line, _ in rows if _SIX_WHOLE.fullmatch(line.strip())]
    if six and len(six) >= len(rows) - 1:
        number, line = six[0]
        expected = "three finite numbers with decimal points"
        remedy = "These look like decimal commas between commas: separate columns by semicolons."
        raise InputDataError(path, f"'{line.strip()[:60]}'", expected, remedy, f"line {number}")


def _point_cloud(points: NDArray[np.float64]) -> TriangleMesh:
    return TriangleMesh(np.unique(points, axis=0), np.empty((0, 3), dtype=np.int64))


def _columns(first: list[str]) -> tuple[int, int, int] | None:
    """Columns of x, y and z when the first line is a head; None when it is data."""
    if all(map(is_number, first[:3])):
        return None
    names = [field.strip("\"'").lower().split("_")[0].split("(")[0].strip() for field in first]
    if all(name in names for name in "xyz"):
        return names.index("x"), names.index("y"), names.index("z")
    return 0, 1, 2
