"""Point clouds from text files (CSV, XYZ, TXT)."""

from __future__ import annotations

from array import array
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh
from kneewear.io.data_file import LARGEST_TEXT, decode_text, line_fault, parse_numbers, read_data

SUFFIXES = (".csv", ".xyz", ".txt")


def load_points(path: str | Path) -> TriangleMesh:
    """Point cloud of a file, as a mesh without triangles.

    Parameters
    ----------
    path : str or Path
        Text with x, y, z in the columns so named, or in the first three; separated by commas,
        semicolons or blanks. Lines that start with # are comments; further columns are ignored.

    Returns
    -------
    TriangleMesh
        Distinct points in the unit and axes of the file; no faces.

    Raises
    ------
    InputDataError
        If the file is missing, empty, not text, or a line holds no three finite numbers.
    """
    path = Path(path)
    text = decode_text(path, read_data(path, "a point", LARGEST_TEXT))
    numbers, columns = array("d"), None
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#"):
            continue
        fields = line.replace(",", " ").replace(";", " ").split()
        if fields and columns is None:
            head = _columns(fields)
            columns = head or (0, 1, 2)
            fields = [] if head else fields
        if fields and columns:
            if ";" in line and "," in line:
                wanted = "numbers with decimal points, or one separator"
                raise line_fault(path, number, line, wanted)
            wanted = "three finite numbers (comments start with #)"
            chosen = [fields[c] for c in columns if c < len(fields)]
            numbers.extend(parse_numbers(path, number, line, chosen, wanted))
    if not numbers:
        raise InputDataError(path, "no points", "x, y, z of points", "Export the points again.")
    return points_mesh(np.array(numbers).reshape(-1, 3))


def points_mesh(points: NDArray[np.float64]) -> TriangleMesh:
    """Distinct points as a mesh without triangles."""
    return TriangleMesh(np.unique(points, axis=0), np.empty((0, 3), dtype=np.int64))


def _columns(first: list[str]) -> tuple[int, int, int] | None:
    """Columns of x, y and z when the first line is a head; None when it is data."""
    try:
        [float(field) for field in first[:3]]
    except ValueError:
        names = [field.strip("\"'").lower().split("_")[0].split("(")[0] for field in first]
        if all(name in names for name in "xyz"):
            return names.index("x"), names.index("y"), names.index("z")
        return 0, 1, 2
    return None
