"""Point clouds from files (CSV, XYZ, PLY without triangles)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh

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
        If the file is missing, empty, or a line holds no three finite numbers.
    """
    path = Path(path)
    if not path.is_file():
        raise InputDataError(
            path, "no such file", "a point file", "Check `data_folder` and the file's name."
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputDataError(
            path, "binary content", "text with three numbers a line", "Export the points as text."
        ) from error
    lines = [(number, _fields(line)) for number, line in enumerate(text.splitlines(), 1)]
    lines = [(number, fields) for number, fields in lines if fields]
    if not lines:
        raise InputDataError(path, "no points", "x, y, z of points", "Export the points again.")
    columns = _columns(lines[0][1])
    rows = lines if columns is None else lines[1:]
    chosen = (0, 1, 2) if columns is None else columns
    return points_mesh(np.array([_point(path, row, chosen) for row in rows]).reshape(-1, 3))


def points_mesh(points: NDArray[np.float64]) -> TriangleMesh:
    """Distinct points as a mesh without triangles."""
    return TriangleMesh(np.unique(points, axis=0), np.empty((0, 3), dtype=np.int64))


def _fields(line: str) -> list[str]:
    """Entries of a line, whatever separates them; none of a comment."""
    if line.lstrip().startswith("#"):
        return []
    for separator in (",", ";"):
        line = line.replace(separator, " ")
    return line.split()


def _columns(first: list[str]) -> tuple[int, int, int] | None:
    """Places of x, y and z when the first line is a head; None when it is data."""
    try:
        [float(field) for field in first[:3]]
    except ValueError:
        names = [field.strip("\"'").lower().split("_")[0].split("(")[0] for field in first]
        if all(name in names for name in "xyz"):
            return names.index("x"), names.index("y"), names.index("z")
        return 0, 1, 2
    return None


def _point(
    path: Path, row: tuple[int, list[str]], columns: tuple[int, int, int]
) -> tuple[float, ...]:
    """Coordinates of one line."""
    number, fields = row
    try:
        point = tuple(float(fields[column]) for column in columns)
    except (ValueError, IndexError):
        point = (np.nan,)
    if not np.isfinite(point).all():
        raise InputDataError(
            path,
            f"'{' '.join(fields)}'",
            "three finite numbers",
            "Correct the line, or start it with # if it is a comment.",
            f"line {number}",
        )
    return point
