"""Vertices and triangles of STL, OBJ and PLY files; faults are reported with their line.

Each parser takes the file (for messages) and its content, and returns vertices (n, 3) and faces
(m, 3), vertex numbers from 0. It raises `InputDataError` when the content is not of its format.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.io.data_file import LARGEST_TEXT, cut_off, decode_text, line_fault, parse_numbers

Array = NDArray[np.float64]
Faces = NDArray[np.int64]

_STL_HEAD = 84
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
# First words of the lines of one facet.
_FACET = ("facet", "outer", "vertex", "vertex", "vertex", "endloop", "endfacet")

# Lines of OBJ files that do not change the shape; material files are never opened.
_OBJ_IGNORED = {
    "vt", "vn", "vp", "l", "p", "o", "g", "s", "mg", "mtllib", "usemtl", "usemap", "maplib", "lod",
    "bevel", "c_interp", "d_interp", "shadow_obj", "trace_obj"
}  # fmt: skip

_PLY_TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1",
    "short": "i2", "int16": "i2", "ushort": "u2", "uint16": "u2",
    "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4",
    "float": "f4", "float32": "f4", "double": "f8", "float64": "f8"
}  # fmt: skip
_PLY_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_PLY_CORNERS = ("vertex_indices", "vertex_index")
_LONGEST_HEAD = 100_000
_LONGEST_LIST = 1000  # longer lists are damage


def parse_stl(path: Path, content: bytes) -> tuple[Array, Faces]:
    """Triangles of an STL file, binary or ASCII, with three vertices each."""
    count = int.from_bytes(content[80:_STL_HEAD], "little") if len(content) >= _STL_HEAD else 0
    expected = _STL_HEAD + _TRIANGLE.itemsize * count
    if len(content) >= _STL_HEAD and len(content) == expected:
        corners = np.frombuffer(content, _TRIANGLE, offset=_STL_HEAD)["corners"]
        with np.errstate(invalid="ignore"):  # damaged bytes may be signalling NaN
            vertices = corners.reshape(-1, 3).astype(np.float64)
    elif content[:400].lstrip().lower().startswith(b"solid") and b"\0" not in content[:400]:
        vertices = _parse_facets(path, content)
    else:
        wanted = f"the {expected} bytes of the {count} triangles announced"
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
        if not words:
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
            faces.extend(_triangles(corners))
        else:
            raise line_fault(path, number, line, "a line of a mesh: 'v', 'f', 'vt', 'vn', 'g'...")
    triangles = np.array(faces, dtype=np.int64).reshape(-1, 3)
    return np.array(vertices).reshape(-1, 3), triangles


def _vertex(path: Path, number: int, line: str, word: str, count: int) -> int:
    """Number from 0 of a face's corner, written as 7, 7/1, 7//3 or -1 (the last so far)."""
    try:
        index = int(word.split("/", maxsplit=1)[0])
    except ValueError:
        index = 0
    if index == 0 or index < -count or index > 2**31:
        raise line_fault(path, number, line, "'f' and numbers of vertices, from 1 on")
    return index - 1 if index > 0 else count + index


def _triangles(corners: Sequence[int]) -> list[int]:
    """Vertex numbers of the triangles that share the first corner of a convex polygon."""
    return [n for pair in pairwise(corners[1:]) for n in (corners[0], *pair)]


@dataclass(frozen=True)
class _Property:
    """A number of an element of a PLY file, or a list of them with the type of its length."""

    name: str
    kind: str
    length_kind: str = ""

    def length(self, found: float) -> int:
        """Length of a list, within what is accepted."""
        if not 0 <= found <= _LONGEST_LIST:
            raise ValueError(f"a list of {found}")
        if self.name in _PLY_CORNERS and found < 3:
            raise ValueError(f"{found} corners")
        return int(found)


@dataclass(frozen=True)
class _Element:
    """A kind of rows: vertices, faces or others."""

    name: str
    count: int
    properties: tuple[_Property, ...]


def parse_ply(path: Path, content: bytes) -> tuple[Array, Faces | None]:
    """Vertices and triangles of a PLY file; None for the latter when it announces no faces."""
    order, elements, start = _ply_head(path, content)
    rows: _TextRows | _BinaryRows = (
        _BinaryRows(path, content, start, order) if order else _TextRows(path, content[start:])
    )
    found = {
        one.name: _columns(path, rows, one) for one in elements if one.count and one.properties
    }
    numbers = found.get("vertex", {})
    if not {"x", "y", "z"} <= set(numbers):
        raise cut_off(path, "no vertices with x, y and z", "an element 'vertex' that has them")
    with np.errstate(invalid="ignore"):  # damaged bytes may be signalling NaN
        vertices = np.stack([np.asarray(numbers[axis], dtype=float) for axis in "xyz"], axis=1)
    if "face" not in found:
        return vertices, None
    triangles = [found["face"][name] for name in _PLY_CORNERS if name in found["face"]]
    if not triangles:
        raise cut_off(path, "faces without vertex_indices", "a list of that name")
    return vertices, np.asarray(triangles[0], dtype=np.int64).reshape(-1, 3)


def _ply_head(path: Path, content: bytes) -> tuple[str, list[_Element], int]:
    """Byte order ("" for text), elements and position of the first row."""
    last = content.find(b"end_header", 0, _LONGEST_HEAD)
    end = content.find(b"\n", last) + 1
    if not content.startswith(b"ply") or last < 0 or end == 0:
        raise cut_off(path, "no head of a PLY file", "lines from 'ply' to 'end_header'")
    order, elements = None, list[_Element]()
    for number, line in enumerate(decode_text(path, content[:last]).splitlines()[1:], 2):
        match line.split():
            case [] | ["comment" | "obj_info", *_]:
                continue
            case ["format", name, "1.0"] if name in _PLY_ORDERS:
                order = _PLY_ORDERS[name]
            case ["element", name, count] if count.isdecimal() and len(count) < 19:
                elements.append(_Element(name, int(count), ()))
            case ["property", *rest] if elements and (made := _property(rest)):
                last_one = elements.pop()
                properties = (*last_one.properties, made)
                elements.append(_Element(last_one.name, last_one.count, properties))
            case _:
                raise line_fault(path, number, line, "a line of a PLY head")
    if order is None:
        raise cut_off(path, "a head without format", "ascii or binary, 1.0")
    return order, elements, end


def _property(words: list[str]) -> _Property | None:
    match words:
        case [kind, name] if kind in _PLY_TYPES:
            return _Property(name, _PLY_TYPES[kind])
        case ["list", length, kind, name] if (
            kind in _PLY_TYPES and _PLY_TYPES.get(length, "f")[0] != "f"
        ):
            return _Property(name, _PLY_TYPES[kind], _PLY_TYPES[length])
    return None


def _columns(path: Path, rows: _TextRows | _BinaryRows, element: _Element) -> dict[str, Any]:
    """Numbers, and triangles of the lists of corners, of all rows of the next element."""
    room = rows.room(element)
    if element.count > room:
        found = f"room for {room} rows of '{element.name}'"
        raise cut_off(path, found, f"the {element.count} announced")
    equal = rows.equal_rows(element) if isinstance(rows, _BinaryRows) else None
    if equal is not None:
        return equal
    columns: dict[str, array[Any]] = {
        one.name: array("q" if one.length_kind else "d") for one in element.properties
    }
    for row in rows.read(element):
        for one, values in zip(element.properties, row, strict=True):
            if not one.length_kind:
                columns[one.name].append(values[0])
            elif one.name in _PLY_CORNERS:
                columns[one.name].extend(_triangles([int(value) for value in values]))
    return columns


class _TextRows:
    """Rows of an ASCII PLY file, one per line."""

    def __init__(self, path: Path, body: bytes) -> None:
        self.path = path
        self.lines = [line for line in decode_text(path, body).splitlines() if line.strip()]
        self.first = 0

    def room(self, element: _Element) -> int:
        """Number of rows left, at most."""
        return len(self.lines) - self.first

    def read(self, element: _Element) -> Iterator[list[list[float]]]:
        """Values of every property, row by row."""
        start, self.first = self.first, self.first + element.count
        for number, line in enumerate(self.lines[start : self.first], start + 1):
            words, row = iter(line.split()), []
            try:
                for one in element.properties:
                    length = one.length(int(next(words))) if one.length_kind else 1
                    row.append([float(next(words)) for _ in range(length)])
                    if one.length_kind:
                        [int(value) for value in row[-1]]  # refuses numbers that are not finite
                complete = next(words, None) is None
            except (ValueError, OverflowError, StopIteration):
                complete = False
            if not complete:
                names = ", ".join(one.name for one in element.properties)
                wanted = f"a row of '{element.name}': {names}"
                raise line_fault(self.path, number, line, wanted, "body line")
            yield row


class _BinaryRows:
    """Rows of a binary PLY file."""

    def __init__(self, path: Path, content: bytes, start: int, order: str) -> None:
        self.path, self.content, self.start, self.order = path, content, start, order

    def room(self, element: _Element) -> int:
        """Number of rows left, at most."""
        least = sum(np.dtype(one.length_kind or one.kind).itemsize for one in element.properties)
        return (len(self.content) - self.start) // least

    def equal_rows(self, element: _Element) -> dict[str, Any] | None:
        """All rows at once where they are equally long: numbers, and lists of three."""
        fields: list[tuple[Any, ...]] = []
        for number, one in enumerate(element.properties):
            if one.length_kind:
                fields.append((f"length {number}", self.order + one.length_kind))
            shape = (3,) if one.length_kind else ()
            fields.append((f"value {number}", self.order + one.kind, shape))
        kind = np.dtype(fields)
        if self.start + element.count * kind.itemsize > len(self.content):
            return None
        rows = np.frombuffer(self.content, kind, element.count, self.start)
        for number, one in enumerate(element.properties):
            if one.length_kind and (rows[f"length {number}"] != 3).any():
                return None
        self.start += rows.nbytes
        return {one.name: rows[f"value {n}"] for n, one in enumerate(element.properties)}

    def read(self, element: _Element) -> Iterator[list[list[float]]]:
        """Values of every property, row by row, with lists of any length."""
        for number in range(element.count):
            row = []
            try:
                for one in element.properties:
                    length = 1
                    if one.length_kind:
                        length = one.length(self._take(one.length_kind, 1)[0])
                    row.append(self._take(one.kind, length))
                    if one.length_kind:
                        [int(value) for value in row[-1]]
            except (ValueError, OverflowError) as error:
                found = f"row {number} of '{element.name}' with {error}"
                raise cut_off(self.path, found, "a row of its kind") from None
            yield row

    def _take(self, kind: str, count: int) -> list[Any]:
        values = np.frombuffer(self.content, self.order + kind, count, self.start)
        self.start += values.nbytes
        return values.tolist()
