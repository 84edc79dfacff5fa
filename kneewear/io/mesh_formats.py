"""Vertices and triangles of STL, OBJ, PLY and VTP files; faults are reported with their place.

Each parser takes the file (for messages) and its content, and returns vertices (n, 3) and faces
(m, 3), vertex numbers from 0. It raises `InputDataError` when the content is not of its format.
"""

from __future__ import annotations

import io
import re
from array import array
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.io.apart import read_apart
from kneewear.io.data_file import LARGEST_TEXT, cut_off, decode_text, line_fault, parse_numbers
from kneewear.io.polygons import fan, polygon_triangles, triangles_of
from kneewear.io.result_files import atomic_path

Array = NDArray[np.float64]
Faces = NDArray[np.int64]

_STL_HEAD = 84
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
# Signs of comment lines of ASCII STL, of which the format has none but programs write some, and how
# much of a file shows whether it is one.
_COMMENT_SIGNS = ("#", ";", "//")
_COMMENTS = re.compile(rb"^[ \t]*(?:#|;|//).*$", re.MULTILINE)
_BEGINNING = 4000
# First words of the lines of one facet.
_FACET = ("facet", "outer", "vertex", "vertex", "vertex", "endloop", "endfacet")

# Lines of OBJ files that do not change the shape; material files are never opened.
_OBJ_IGNORED = {
    "vt",
    "vn",
    "vp",
    "l",
    "p",
    "o",
    "g",
    "s",
    "mg",
    "mtllib",
    "usemtl",
    "usemap",
    "maplib",
    "lod",
    "bevel",
    "c_interp",
    "d_interp",
    "shadow_obj",
    "trace_obj",
}

# Memory for any VTP, and for each byte of one: compressed connectivity unfolds most.
_VTP_ROOM_BYTES = 500_000_000
_VTP_ROOM_PER_BYTE = 100
_PLY_CORNERS = ("vertex_indices", "vertex_index")


def parse_stl(path: Path, content: bytes) -> tuple[Array, Faces]:
    """Triangles of an STL file, binary or ASCII, with three vertices each."""
    count = int.from_bytes(content[80:_STL_HEAD], "little") if len(content) >= _STL_HEAD else 0
    expected = _STL_HEAD + _TRIANGLE.itemsize * count
    begins = _COMMENTS.sub(b"", content[:_BEGINNING]).lstrip().lower()
    if len(content) > expected >= _STL_HEAD and not content[expected:].strip():
        content = content[:expected]  # a line end that a transfer added
    if len(content) >= _STL_HEAD and len(content) == expected:
        corners = np.frombuffer(content, _TRIANGLE, offset=_STL_HEAD)["corners"]
        with np.errstate(invalid="ignore"):  # damaged bytes may be signalling NaN
            vertices = corners.reshape(-1, 3).astype(np.float64)
    elif begins.startswith(b"solid") and b"\0" not in begins:
        vertices = _parse_facets(path, content)
    else:
        wanted = f"the {expected} bytes of the {count} triangles announced"
        if len(content) > expected > _STL_HEAD:
            found = f"{len(content) - expected} bytes after the {count} triangles announced"
            remedy = "Remove what another program added, or export the mesh again."
            raise InputDataError(path, found, "the end of the file", remedy)
        if len(content) < _STL_HEAD:
            wanted = f"the {_STL_HEAD} bytes of an STL head and more"
        raise cut_off(path, f"{len(content)} bytes", wanted)
    return vertices, np.arange(len(vertices)).reshape(-1, 3)


def _parse_facets(path: Path, content: bytes) -> Array:
    """Corners in an ASCII STL file."""
    if len(content) > LARGEST_TEXT:
        expected = f"at most {LARGEST_TEXT / 1e6:.0f} MB of text; export it as binary STL"
        raise cut_off(path, f"{len(content) / 1e6:.0f} MB of text", expected)
    corners, position, word = array("d"), 0, ""
    for number, line in enumerate(decode_text(path, content).splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith(_COMMENT_SIGNS):
            continue
        word = words[0].lower()
        if position == 0 and word in ("solid", "endsolid"):
            continue
        if word != _FACET[position]:
            raise line_fault(path, number, line, f"a line that starts with '{_FACET[position]}'")
        if word == "vertex":
            wanted = "'vertex' and three numbers, all finite"
            corners.extend(parse_numbers(path, number, line, words[1:], wanted))
        position = (position + 1) % len(_FACET)
    if position or word != "endsolid":
        raise cut_off(path, f"an end after '{word}'", "'endsolid' in the last line")
    return np.array(corners).reshape(-1, 3)


def parse_obj(path: Path, content: bytes) -> tuple[Array, Faces]:
    """Vertices and triangles of an OBJ file; free-form surfaces are refused."""
    vertices, faces, begun = array("d"), array("q"), ""
    larger: list[tuple[int, list[int]]] = []
    lines = decode_text(path, content).splitlines()
    for number, end in enumerate(lines, 1):
        line, begun = begun + end, ""
        if end.endswith("\\") and number < len(lines):
            begun = line[:-1] + " "
            continue
        words = line.split("#", maxsplit=1)[0].split()
        if not words or words[0] in _OBJ_IGNORED:
            continue
        if words[0] == "v":  # a weight or a colour may follow
            wanted = "'v' and three finite numbers"
            vertices.extend(parse_numbers(path, number, line, words[1:], wanted, most=8)[:3])
        elif words[0] == "f":
            corners = [_vertex(path, number, line, word, len(vertices) // 3) for word in words[1:]]
            if len(corners) < 3:
                raise line_fault(path, number, line, "'f' and at least three vertices")
            if len(corners) > 3:  # cut again when all vertices are known
                larger.append((len(faces), corners))
            faces.extend(fan(corners))
        else:
            raise line_fault(path, number, line, "a line of a mesh: 'v', 'f', 'vt', 'vn', 'g'...")
    points = np.array(vertices).reshape(-1, 3)
    for start, corners in larger:
        cut = triangles_of(corners, points)
        faces[start : start + len(cut)] = array("q", cut)
    return points, np.array(faces, dtype=np.int64).reshape(-1, 3)


def _vertex(path: Path, number: int, line: str, word: str, count: int) -> int:
    """Number from 0 of a face's corner, written as 7, 7/1, 7//3 or -1 (the last so far)."""
    try:
        index = int(word.split("/", maxsplit=1)[0])
    except ValueError:
        index = 0
    if index == 0 or index < -count or index > 2**31:
        raise line_fault(path, number, line, "'f' and numbers of vertices, from 1 on")
    return index - 1 if index > 0 else count + index


def parse_ply(path: Path, content: bytes) -> tuple[Array, Faces | None]:
    """Vertices and triangles of a PLY file; None for the latter when it announces no faces."""
    from plyfile import PlyParseError  # noqa: PLC0415 - few jobs read meshes

    content = _without_comments(content)
    head = content[: content.find(b"end_header") + 1]
    rows = sum(int(count) for count in re.findall(rb"^element\s+\S+\s+(\d+)\s*$", head, re.M))
    if rows > len(content):
        raise cut_off(path, f"{len(content)} bytes", f"the {rows} rows announced in the head")
    corners = next((name for name in _PLY_CORNERS if name.encode() in head), "")
    try:
        with np.errstate(invalid="ignore"):  # damaged bytes may be signalling NaN
            vertex, face, strips = _ply_elements(content, corners)
            vertices = np.stack([vertex[axis] for axis in "xyz"], axis=1).astype(np.float64)
            if strips is not None and len(strips.data):
                return vertices, strip_triangles(strips[corners])
            if face is None:
                return vertices, None
            polygons = face[corners]
            if polygons.dtype == object:
                return vertices, polygon_triangles(polygons, vertices)
            return vertices, polygons.astype(np.int64).reshape(-1, 3)
    except (PlyParseError, KeyError, ValueError, OverflowError) as error:
        raise cut_off(path, str(error), "a PLY file of vertices x, y, z and faces") from None


def parse_vtp(path: Path, content: bytes) -> tuple[Array, Faces | None]:
    """Vertices and triangles of a VTK XML file; None for the latter when it has no polygons.

    Strips and larger polygons are cut into triangles; lines, single points and data are left out.
    """
    complete = "a complete VTK XML file of PolyData with points"
    if b"PolyData" not in content:
        raise cut_off(path, "no 'PolyData'", complete)
    room = _VTP_ROOM_BYTES + _VTP_ROOM_PER_BYTE * len(content)
    mesh: tuple[Array, Faces | None] = read_apart(
        path, "kneewear.io.polydata:read_polydata", "VTK", complete, room
    )
    return mesh


def strip_triangles(strips: Any) -> Faces:
    """Triangles of strips of vertex numbers, in which -1 begins a new strip."""
    found: list[tuple[int, int, int]] = []
    for row in strips:
        numbers = np.asarray(row, dtype=np.int64)
        for strip in np.split(numbers, np.flatnonzero(numbers == -1)):
            one = strip[strip != -1].tolist()
            # Every second triangle of a strip turns the other way.
            found += [
                (b, a, c) if number % 2 else (a, b, c)
                for number, (a, b, c) in enumerate(zip(one, one[1:], one[2:], strict=False))
            ]
    return np.array(found, dtype=np.int64).reshape(-1, 3)


def _without_comments(content: bytes) -> bytes:
    """PLY file without blank lines and comments where the format has none of them."""
    head, end, body = content.partition(b"end_header")
    head = b"".join(line for line in head.splitlines(keepends=True) if line.strip())
    if b"format ascii" not in head:
        return head + end + body
    lines = body.splitlines(keepends=True)
    kept = (line for line in lines[1:] if line.strip() and not line.lstrip().startswith(b"#"))
    return b"".join([head, end, *lines[:1], *kept])


def _ply_elements(content: bytes, corners: str) -> tuple[Any, Any, Any]:
    """Rows of the elements vertex, face and tristrips (None without one) of a PLY file."""
    from plyfile import PlyData, PlyElementParseError  # noqa: PLC0415 - as above

    try:  # triangles alone, which are read at once
        known = {"face": {corners: 3}} if corners and b"element face" in content else {}
        parts = PlyData.read(io.BytesIO(content), known_list_len=known)
    except PlyElementParseError:
        parts = PlyData.read(io.BytesIO(content))
    elements = {element.name: element for element in parts}
    return elements["vertex"], elements.get("face"), elements.get("tristrips")


# Properties of a vertex by which programs colour a mesh.
_COLOURS = ("red", "green", "blue")


def save_ply(
    vertices: Array,
    faces: Faces,
    path: str | Path,
    colours: NDArray[np.uint8] | None = None,
    **values: Array,
) -> None:
    """Write a mesh as binary PLY, coordinates in double precision.

    `colours` (n, 3) of vertices and further `values` (n,) of them become properties.
    """
    # plyfile writes lists row by row, which takes minutes for millions of faces.
    rows = np.empty(len(faces), dtype=[("count", "u1"), ("corners", "<i4", (3,))])
    rows["count"], rows["corners"] = 3, faces
    names = [(axis, "<f8") for axis in "xyz"]
    names += [(name, "u1") for name in _COLOURS if colours is not None]
    points = np.empty(len(vertices), dtype=names + [(name, "<f4") for name in values])
    for column, axis in enumerate("xyz"):
        points[axis] = vertices[:, column]
    for column, name in enumerate(_COLOURS if colours is not None else ()):
        points[name] = np.asarray(colours)[:, column]
    for name, value in values.items():
        points[name] = value
    kinds = {"<f8": "double", "u1": "uchar", "<f4": "float"}
    head = ["ply", "format binary_little_endian 1.0", f"element vertex {len(points)}"]
    columns = [*names, *((name, "<f4") for name in values)]
    head += [f"property {kinds[kind]} {name}" for name, kind in columns]
    head += [f"element face {len(rows)}", "property list uchar int vertex_indices", "end_header"]
    with atomic_path(path) as temporary, Path(temporary).open("wb") as file:
        file.write(("\n".join(head) + "\n").encode("ascii"))
        file.write(points.tobytes())
        file.write(rows.tobytes())
