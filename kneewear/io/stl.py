"""Triangles of STL files, binary and ASCII."""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kneewear.io.data_file import LARGEST_TEXT, cut_off, decode_text, line_fault

_HEAD = 84
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
# First words of the lines of one facet.
_FACET = ("facet", "outer", "vertex", "vertex", "vertex", "endloop", "endfacet")


def parse_stl(path: Path, content: bytes) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Vertices and triangles of an STL file.

    Parameters
    ----------
    path : Path
        File, for messages.
    content : bytes
        What it holds.

    Returns
    -------
    vertices : array, shape (3 n, 3)
        Corners, three for each triangle.
    faces : int array, shape (n, 3)
        Their numbers.

    Raises
    ------
    InputDataError
        When the length is not that of the triangles announced, or a line is not one of the format.
    """
    count = int.from_bytes(content[80:_HEAD], "little") if len(content) >= _HEAD else 0
    if len(content) >= _HEAD and len(content) == _HEAD + _TRIANGLE.itemsize * count:
        corners = np.frombuffer(content, _TRIANGLE, offset=_HEAD)["corners"]
        with np.errstate(invalid="ignore"):  # garbled bytes may be NaN of an odd kind
            vertices = corners.reshape(-1, 3).astype(np.float64)
    elif content[:400].lstrip().lower().startswith(b"solid") and b"\0" not in content[:400]:
        vertices = _parse_lines(path, content)
    elif len(content) < _HEAD:
        raise cut_off(path, f"{len(content)} bytes", f"the {_HEAD} bytes of an STL head and more")
    else:
        raise cut_off(
            path,
            f"{len(content)} bytes",
            f"the {_HEAD + _TRIANGLE.itemsize * count} bytes of the {count} triangles announced",
        )
    return vertices, np.arange(len(vertices)).reshape(-1, 3)


def _parse_lines(path: Path, content: bytes) -> NDArray[np.float64]:
    """Corners in an ASCII file."""
    if len(content) > LARGEST_TEXT:
        expected = f"at most {LARGEST_TEXT / 1e6:.0f} MB of text; export it as binary STL"
        raise cut_off(path, f"{len(content) / 1e6:.0f} MB of text", expected)
    corners, place, word = array("d"), 0, ""
    for number, line in enumerate(decode_text(path, content).splitlines(), 1):
        words = line.split()
        if not words:
            continue
        word = words[0].lower()
        if place == 0 and word in ("solid", "endsolid"):
            continue
        if word != _FACET[place]:
            raise line_fault(path, number, line, f"a line that starts with '{_FACET[place]}'")
        if word == "vertex":
            corners.extend(_point(path, number, line, words[1:]))
        place = (place + 1) % len(_FACET)
    if place or word != "endsolid":
        raise cut_off(path, f"an end after '{word}'", "'endsolid' in the last line")
    return np.array(corners).reshape(-1, 3)


def _point(path: Path, number: int, line: str, words: list[str]) -> tuple[float, float, float]:
    try:
        x, y, z = map(float, words)
    except ValueError:
        raise line_fault(path, number, line, "'vertex' and three numbers") from None
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        raise line_fault(path, number, line, "'vertex' and three finite numbers")
    return x, y, z
