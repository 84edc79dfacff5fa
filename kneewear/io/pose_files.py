"""Poses of registered components as fluoroscopy tools write them: JointTrack and JTML files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.io.data_file import LARGEST_TEXT, decode_text, line_fault, read_data

Array = NDArray[np.float64]

_HEADERS = ("JT_EULER_312", "JTA_EULER_KINEMATICS", "JTA_EULER_POSE")
_COLUMNS = ["x_tran", "y_tran", "z_tran", "z_rot", "x_rot", "y_rot"]
_MISSING = "NOT_OPTIMIZED"


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


def read_both_poses(femoral: str | Path, tibial: str | Path) -> tuple[Array, Array]:
    """Poses of femoral and tibial component, each as of `read_tracked_poses`, from two files.

    InputDataError when the files have different numbers of frames or hold the same poses.
    """
    poses = read_tracked_poses(femoral), read_tracked_poses(tibial)
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
