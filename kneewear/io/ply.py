"""Vertices and triangles of PLY files, ASCII and binary."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import polygon_triangles
from kneewear.io.data_file import cut_off, decode_text, line_fault

_TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1",
    "short": "i2", "int16": "i2", "ushort": "u2", "uint16": "u2",
    "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4",
    "float": "f4", "float32": "f4", "double": "f8", "float64": "f8",
}  # fmt: skip
_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_CORNERS = ("vertex_indices", "vertex_index")
_LONGEST_HEAD = 100_000
# A list of more entries is damage.
_LONGEST_LIST = 1000


@dataclass(frozen=True)
class _Property:
    """A number of an element, or a list of them with the type of its length."""

    name: str
    kind: str
    length_kind: str = ""


@dataclass(frozen=True)
class _Element:
    """A kind of rows: vertices, faces or others."""

    name: str
    count: int
    properties: tuple[_Property, ...]


@dataclass
class _Columns:
    """Numbers and triangles of all rows of an element, by the name of the property."""

    numbers: dict[str, Any]
    triangles: dict[str, Any]


def parse_ply(path: Path, content: bytes) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    """Vertices and triangles of a PLY file.

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
    faces : int array, shape (n_faces, 3), or None
        Vertex numbers from 0; polygons are cut into triangles at their first corner. None when the
        head announces no faces: a point cloud.

    Raises
    ------
    InputDataError
        When the head is not one of the format, announces more rows than the file holds, or a row
        is not what it says.
    """
    order, elements, start = _head(path, content)
    rows: _TextRows | _BinaryRows = (
        _BinaryRows(path, content, start, order) if order else _TextRows(path, content[start:])
    )
    found = {one.name: rows.columns(one) for one in elements if one.count and one.properties}
    numbers = found["vertex"].numbers if "vertex" in found else {}
    if not {"x", "y", "z"} <= set(numbers):
        raise cut_off(path, "no vertices with x, y and z", "an element 'vertex' that has them")
    with np.errstate(invalid="ignore"):  # garbled bytes may be NaN of an odd kind
        vertices = np.stack([np.asarray(numbers[axis], dtype=float) for axis in "xyz"], axis=1)
    if "face" not in found:
        return vertices, None
    triangles = [found["face"].triangles[n] for n in _CORNERS if n in found["face"].triangles]
    if not triangles:
        raise cut_off(path, "faces without vertex_indices", "a list of that name")
    return vertices, np.asarray(triangles[0], dtype=np.int64).reshape(-1, 3)


def _head(path: Path, content: bytes) -> tuple[str, list[_Element], int]:
    """Byte order ("" for text), elements and place of the first row."""
    place = content.find(b"end_header", 0, _LONGEST_HEAD)
    end = content.find(b"\n", place) + 1
    if not content.startswith(b"ply") or place < 0 or end == 0:
        raise cut_off(path, "no head of a PLY file", "lines from 'ply' to 'end_header'")
    order, elements = None, list[_Element]()
    for number, line in enumerate(decode_text(path, content[:place]).splitlines()[1:], 2):
        words = line.split()
        match words:
            case [] | ["comment" | "obj_info", *_]:
                continue
            case ["format", name, "1.0"] if name in _ORDERS:
                order = _ORDERS[name]
            case ["element", name, count] if count.isdecimal() and len(count) < 19:
                elements.append(_Element(name, int(count), ()))
            case ["property", *rest] if elements and (made := _property(rest)):
                last = elements.pop()
                elements.append(_Element(last.name, last.count, (*last.properties, made)))
            case _:
                raise line_fault(path, number, line, "a line of a PLY head")
    if order is None:
        raise cut_off(path, "a head without format", "ascii or binary, 1.0")
    return order, elements, end


def _property(words: list[str]) -> _Property | None:
    match words:
        case [kind, name] if kind in _TYPES:
            return _Property(name, _TYPES[kind])
        case ["list", length, kind, name] if kind in _TYPES and _TYPES.get(length, "f")[0] != "f":
            return _Property(name, _TYPES[kind], _TYPES[length])
    return None


class _TextRows:
    """Rows of an ASCII file, one a line."""

    def __init__(self, path: Path, body: bytes) -> None:
        self.path = path
        self.lines = [line for line in decode_text(path, body).splitlines() if line.strip()]
        self.first = 0

    def columns(self, element: _Element) -> _Columns:
        """Columns of the next element."""
        last = self.first + element.count
        if last > len(self.lines):
            raise _too_few(self.path, element, len(self.lines) - self.first)
        columns = _empty(element)
        for number in range(self.first, last):
            words = iter(self.lines[number].split())
            try:
                for one in element.properties:
                    length = int(next(words)) if one.length_kind else 1
                    values = [float(next(words)) for _ in range(_checked_length(length))]
                    _put(columns, one, values)
                complete = next(words, None) is None
            except (ValueError, OverflowError, StopIteration):
                complete = False
            if not complete:
                names = ", ".join(one.name for one in element.properties)
                wanted = f"a row of '{element.name}': {names}"
                raise line_fault(self.path, number + 1, self.lines[number], wanted, "body line")
        self.first = last
        return columns


class _BinaryRows:
    """Rows of a binary file."""

    def __init__(self, path: Path, content: bytes, start: int, order: str) -> None:
        self.path, self.content, self.place, self.order = path, content, start, order

    def columns(self, element: _Element) -> _Columns:
        """Columns of the next element."""
        least = sum(np.dtype(one.length_kind or one.kind).itemsize for one in element.properties)
        room = (len(self.content) - self.place) // least
        if element.count > room:
            raise _too_few(self.path, element, room)
        return self._equal_rows(element) or self._single_rows(element)

    def _equal_rows(self, element: _Element) -> _Columns | None:
        """All rows at once where they are equally long: numbers, and lists of three."""
        fields: list[tuple[Any, ...]] = []
        for number, one in enumerate(element.properties):
            if one.length_kind:
                fields.append((f"length {number}", self.order + one.length_kind))
            shape = (3,) if one.length_kind else ()
            fields.append((f"value {number}", self.order + one.kind, shape))
        kind = np.dtype(fields)
        if self.place + element.count * kind.itemsize > len(self.content):
            return None
        rows = np.frombuffer(self.content, kind, element.count, self.place)
        columns = _Columns({}, {})
        for number, one in enumerate(element.properties):
            if one.length_kind and (rows[f"length {number}"] != 3).any():
                return None
            into = columns.triangles if one.length_kind else columns.numbers
            into[one.name] = rows[f"value {number}"]
        self.place += rows.nbytes
        return columns

    def _single_rows(self, element: _Element) -> _Columns:
        """One row after the other, lists of any length among them."""
        columns = _empty(element)
        for row in range(element.count):
            try:
                for one in element.properties:
                    length = int(self._take(one.length_kind, 1)[0]) if one.length_kind else 1
                    _put(columns, one, self._take(one.kind, _checked_length(length)))
            except (ValueError, OverflowError) as error:
                raise cut_off(
                    self.path, f"row {row} of '{element.name}' with {error}", "a row of its kind"
                ) from None
        return columns

    def _take(self, kind: str, count: int) -> list[Any]:
        values = np.frombuffer(self.content, self.order + kind, count, self.place)
        self.place += values.nbytes
        return values.tolist()


def _empty(element: _Element) -> _Columns:
    return _Columns(
        {one.name: array("d") for one in element.properties if not one.length_kind},
        {one.name: array("q") for one in element.properties if one.length_kind},
    )


def _put(columns: _Columns, one: _Property, values: list[Any]) -> None:
    """Add a number, or a list as the triangles that share its first entry."""
    if not one.length_kind:
        columns.numbers[one.name].append(values[0])
    elif one.name in _CORNERS:
        if len(values) < 3:
            raise ValueError(f"{len(values)} corners")
        columns.triangles[one.name].extend(polygon_triangles([int(value) for value in values]))


def _checked_length(length: int) -> int:
    if not 0 <= length <= _LONGEST_LIST:
        raise ValueError(f"a list of {length}")
    return length


def _too_few(path: Path, element: _Element, found: int) -> InputDataError:
    return cut_off(
        path, f"room for {found} rows of '{element.name}'", f"the {element.count} announced"
    )
