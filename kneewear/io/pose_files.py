"""Poses of registered components as fluoroscopy tools write them.

Read are files of JointTrack and JTML, and 4x4 matrices, such as `.tra` files of Autoscoper.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.io.data_file import LARGEST_TEXT, decode_text, line_fault, read_data
from kneewear.io.text_tables import number_rows
from kneewear.mechanics.rotations import angles_312

Array = NDArray[np.float64]

_HEADERS = ("JT_EULER_312", "JTA_EULER_KINEMATICS", "JTA_EULER_POSE")
_COLUMNS = ["x_tran", "y_tran", "z_tran", "z_rot", "x_rot", "y_rot"]
_MISSING = "NOT_OPTIMIZED"
# Axes of a matrix may miss unit length and right angles by this much: files have few digits.
_RIGID = 2e-3
# Positions in the frame of x-ray views are centimetres and more; in metres they are below, mm.
_MIN_REACH_MM = 2.0


def read_tracked_poses(path: str | Path) -> Array:
    """Pose of one component in the frame of the camera, one row per x-ray frame.

    Columns are the position x, y, z, mm, and the turns z, x, y, deg, of R = Rz Rx Ry; the z axis is
    the beam. A frame that was not registered (`NOT_OPTIMIZED`) is a row of not-a-numbers, so that
    two components stay in step. Read are `.jts` files of JointTrack, and `.jtak` files and single
    poses of JTML. InputDataError with the line when the file is of another form or cut off.
    """
    path = Path(path)
    lines = decode_text(path, read_data(path, "a pose file", LARGEST_TEXT)).splitlines()
    rows = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    header = rows[0][1].strip() if rows else ""
    if header not in _HEADERS:
        expected = f"one of {', '.join(_HEADERS)}"
        remedy = "Name a pose file of JointTrack or JTML (.jts, .jtak)."
        raise InputDataError(path, f"'{header[:60]}'", expected, remedy, "line 1")
    if len(rows) < 2 or _cells(rows[1][1].lower()) != _COLUMNS:
        number, line = rows[1] if len(rows) > 1 else (2, "")
        raise line_fault(path, number, line, f"columns {', '.join(_COLUMNS)}")
    if len(rows) == 2:
        remedy = "Export the kinematics again."
        raise InputDataError(path, "no rows", "one row per frame", remedy)
    return np.array([_pose(path, number, line) for number, line in rows[2:]])


def read_matrix_poses(path: str | Path) -> Array:
    """Pose of one component, one row per frame as of `read_tracked_poses`, from 4x4 matrices.

    A frame is one line of 16 numbers, or four lines of four, separated by commas, blanks or tabs;
    the matrix maps points of the component's mesh, mm, to the frame of the x-ray views. Row and
    column major matrices differ in the place of the row 0, 0, 0, 1. Frames of not-a-numbers
    were not registered. InputDataError when the file is of another form, its axes are no rotation,
    or its positions are not in mm.
    """
    path = Path(path)
    text = decode_text(path, read_data(path, "a file of matrices", LARGEST_TEXT))
    rows = [(number, row) for number, _, row in number_rows(text)]
    width = len(rows[0][1]) if rows else 0
    if width not in (4, 16):
        remedy = "Export one 4x4 matrix per frame (in Autoscoper: matrix, not xyzypr)."
        expected = "16 numbers in a line, or four lines of four"
        number = rows[0][0] if rows else 1
        raise InputDataError(path, f"{width} cells", expected, remedy, f"line {number}")
    values = np.array([_numbers(path, number, cells, width) for number, cells in rows])
    if values.size % 16:
        found, remedy = f"{len(rows)} lines of four", "The file was cut off: export it again."
        raise InputDataError(path, found, "four lines for each frame", remedy)
    matrices = _row_major(path, values.reshape(-1, 4, 4))
    known = ~np.isnan(matrices).any(axis=(1, 2))
    turns, positions = matrices[:, :3, :3], matrices[:, :3, 3]
    off = np.abs(turns[known].swapaxes(1, 2) @ turns[known] - np.eye(3)).max(axis=(1, 2))
    bad = (off > _RIGID) | (np.linalg.det(turns[known]) < 0.0)
    if bad.any():
        frame = int(np.flatnonzero(known)[bad.argmax()]) + 1
        found, expected = f"axes that miss a rotation by {off[bad.argmax()]:.2g}", "a rotation"
        remedy = "Export matrices without scale or mirroring, with more digits."
        raise InputDataError(path, found, expected, remedy, f"frame {frame}")
    if np.abs(positions[known]).max(initial=0.0) < _MIN_REACH_MM:
        found = f"positions up to {np.abs(positions[known]).max(initial=0.0):.3g}"
        remedy = "These look like metres: export millimetres."
        raise InputDataError(path, found, "positions in mm", remedy)
    poses = np.full((len(matrices), 6), np.nan)
    poses[known, :3], poses[known, 3:] = positions[known], np.degrees(angles_312(turns[known]))
    return poses


def _row_major(path: Path, matrices: Array) -> Array:
    """Matrices with the row 0, 0, 0, 1 last, of files that have it there or as a column."""
    known = ~np.isnan(matrices).any(axis=(1, 2))
    last = np.array([0.0, 0.0, 0.0, 1.0])
    is_row, is_column = (
        bool((np.abs(one[known] - last) < 1e-6).all())
        for one in (matrices[:, 3], matrices[:, :, 3])
    )
    if is_row == is_column or not known.any():
        found = "matrices without positions" if is_row else "no row or column of 0, 0, 0, 1"
        found = found if known.any() else "no frame that was registered"
        remedy = "Export rigid transforms of both components in one frame."
        raise InputDataError(path, found, "rigid transforms, row or column major", remedy)
    return matrices if is_row else matrices.swapaxes(1, 2)


def _numbers(path: Path, number: int, cells: list[str], count: int) -> list[float]:
    """Numbers of a line; all or none are not-a-number."""
    try:
        values = [float(cell) for cell in cells]
    except ValueError:
        values = []
    known = np.isfinite(values)
    if len(values) != count or (known.any() and not known.all()):
        raise line_fault(path, number, " ".join(cells), f"{count} finite numbers, or NaN in all")
    return values


_READERS = {"jointtrack": read_tracked_poses, "matrices": read_matrix_poses}


def read_both_poses(
    femoral: str | Path, tibial: str | Path, convention: str = "jointtrack"
) -> tuple[Array, Array]:
    """Poses of femoral and tibial component, each as of `read_tracked_poses`, from two files.

    The convention is that of the settings, "jointtrack" or "matrices". InputDataError when the
    files have different numbers of frames or hold the same poses.
    """
    read = _READERS[convention]
    poses = read(femoral), read(tibial)
    if len(poses[0]) != len(poses[1]):
        raise InputDataError(
            tibial,
            f"{len(poses[1])} frames, and {len(poses[0])} in {femoral}",
            "the same frames of both components",
            "Export both from the same session, with the frames that were not registered.",
        )
    if np.array_equal(*poses, equal_nan=True):
        raise InputDataError(
            tibial,
            f"the same poses as in {femoral}",
            "the poses of the other component",
            "One component was exported twice: export both again.",
        )
    return poses


def _cells(line: str) -> list[str]:
    """Cells of a line, separated by commas, blanks or tabs; a trailing comma adds none."""
    return line.replace(",", " ").split()


def _pose(path: Path, number: int, line: str) -> list[float]:
    cells = _cells(line)
    if cells[0].upper() == _MISSING:
        return [np.nan] * 6
    try:
        values = [float(cell) for cell in cells]
    except ValueError:
        values = []
    if len(values) != 6 or not np.isfinite(values).all():
        raise line_fault(path, number, line, f"six finite numbers, or {_MISSING}")
    return values
