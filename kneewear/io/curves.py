"""Named columns of a file of curves over one cycle: motion, load or both."""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.activity.conventions import femoral_pose, registered_motion
from kneewear.activity.sources import build_activity
from kneewear.errors import InputDataError
from kneewear.io.data_file import decode_text, read_data
from kneewear.io.pose_files import read_both_poses
from kneewear.settings.activity import FileActivity, MotionSettings, ParametricActivity

ANGLES = ("flexion", "varus", "rotation")
POSITIONS = ("anterior_posterior", "superior_inferior", "medial_lateral")
_OPENSIM = (".sto", ".mot")
# A cycle of a hundred columns at 1000 Hz is 2 MB; cells as text take ten times their size.
_MAX_BYTES = 50_000_000
# A cycle's flexion spans 0.3 to 2.5 rad; in degrees it spans far more.
_FLEXION_SPAN_RAD = (0.3, 2.5)
# No joint turns by more than this in radians; in degrees it turns by more.
_MAX_ANGLE_RAD = 2.0 * np.pi
# Positions vary by millimetres within a cycle: when all are below 0.5 they are in metres.
_MIN_REACH_MM = 0.5
# They never exceed 2 m: beyond that they are in millimetres.
_MAX_POSITION_M = 2.0
# An interval this many times the usual one, and this part of the cycle, is a gap in the samples.
_GAP_INTERVALS, _GAP_PART = 5.0, 0.05
# Percent at which a cycle without a last sample at 100 may end.
_MIN_END_PERCENT = 90.0
# No simulator ran for as long.
_MOST_MILLION_CYCLES = 1000.0
# Keys of the counts in the header of an OpenSim storage.
_COUNTS = {"rows": ("nRows", "datarows"), "columns": ("nColumns", "datacolumns")}
# From this version on OpenSim itself no longer writes the counts.
_VERSION_WITHOUT_COUNTS = 2


@dataclass(frozen=True)
class _Cells:
    """Cells of a file as text, and whether an OpenSim header states angles in degrees."""

    path: Path
    text: pd.DataFrame
    in_degrees: bool | None = None


def read_activity(
    name: str,
    settings: ParametricActivity | FileActivity,
    files: Mapping[str, str | Path],
    frames: int,
    knee: str,
) -> Activity:
    """Build an activity from its settings and the paths of its curve files `motion` and `load`.

    A motion of registered components has a file `tibial` too. `files` is empty for a built-in
    activity; `frames` is the number of frames of the cycle and `knee` "right" or "left". Raises as
    `read_curves`, `read_both_poses` and `build_activity`.
    """
    curves = {
        part: read_curves(files[part], getattr(settings, part).columns.given())
        for part in ("motion", "load")
        if part in files and not (part == "motion" and "tibial" in files)
    }
    if "tibial" in files and isinstance(settings, FileActivity):
        poses = read_both_poses(files["motion"], files["tibial"])
        curves["motion"] = registered_motion(*poses, settings.motion, knee)
    return build_activity(name, settings, frames, **curves, knee=knee)


def read_poses(path: str | Path, settings: MotionSettings) -> NDArray[np.float64]:
    """Poses of a file, one per row, shape (n, 6): mm and body-three 1-2-3 angles, rad.

    Raises as `read_curves`.
    """
    table = read_curves(path, settings.columns.given())
    return np.hstack(femoral_pose(table, settings))


def read_curves(path: str | Path, columns: Mapping[str, str]) -> pd.DataFrame:
    """Columns of a file of curves, renamed, checked and in this project's units.

    The file is comma-separated UTF-8 text (.csv) with one header line, angles in degrees and
    positions in mm, where lines that start with '#' are comments; or an OpenSim storage (.sto,
    .mot), which states whether angles are in degrees and holds positions in m. `columns` maps each
    quantity wanted, "percent" or "time_s" among them, to its name in the header. Returned are the
    quantities in their order: angles (flexion, varus, rotation) in deg, positions in mm, everything
    else as in the file. InputDataError if the file is missing, damaged or lacks a column or value;
    if percent does not increase from 0 to at most 100, or time does not increase; if samples are
    missing in between; or if the values contradict their units.
    """
    path = Path(path)
    cells = _read_cells(path)
    _check_header(path, columns, list(cells.text.columns))
    table = pd.DataFrame(
        {name: _numbers(path, cells.text, column) for name, column in columns.items()}
    )
    clock = "percent" if "percent" in columns else "time_s"
    _check_clock(path, columns[clock], table[clock].to_numpy(), clock)
    _check_units(cells, columns, table)
    return table if cells.in_degrees is None else _converted(table, cells.in_degrees)


def read_simulator_test(
    path: str | Path, columns: Mapping[str, str | None], mm3_per_unit: float
) -> pd.DataFrame:
    """Measured wear: `million_cycles`, `wear_mm3` and `error_mm3` (NaN where it is not given).

    A CSV file as of `read_curves`, of which `columns` names the columns million_cycles, loss and
    error (None without one). InputDataError if it is damaged or lacks a column or value, if cycles
    do not increase or look like single ones, or if an error is negative.
    """
    path = Path(path)
    text = _read_cells(path).text
    given = {name: column for name, column in columns.items() if column is not None}
    _check_header(path, given, list(text.columns))
    found = {name: _numbers(path, text, column) for name, column in given.items()}
    cycles, error = found["million_cycles"], found.get("error", np.full(len(text), np.nan))
    where = f"column '{given['million_cycles']}'"
    if (np.diff(cycles) <= 0.0).any() or cycles[0] < 0.0:
        remedy = "Sort the rows, one per weighing, and remove repeated ones."
        raise InputDataError(path, "cycles that do not increase", "cycles from 0 on", remedy, where)
    if cycles[-1] > _MOST_MILLION_CYCLES:
        remedy = "These look like single cycles: divide them by a million."
        raise InputDataError(path, f"{cycles[-1]:g}", "million cycles", remedy, where)
    if (error < 0.0).any():
        where, remedy = f"column '{given['error']}'", "Give the half-width of the error."
        raise InputDataError(
            path, f"an error of {error.min():g}", "errors from 0 on", remedy, where
        )
    wear = found["loss"] * mm3_per_unit
    return pd.DataFrame(
        {"million_cycles": cycles, "wear_mm3": wear, "error_mm3": error * mm3_per_unit}
    )


def _read_cells(path: Path) -> _Cells:
    content = read_data(path, "a table of curves", _MAX_BYTES)
    suffix = path.suffix.lower()
    if suffix not in (".csv", *_OPENSIM):
        found, expected = f"a file ending in '{suffix}'", ".csv, .sto or .mot"
        raise InputDataError(path, found, expected, "Export it as one of these.")
    text = decode_text(path, content)
    if suffix in _OPENSIM:
        return _Cells(path, *_parse_storage(path, text))
    return _Cells(path, parse_csv(path, text))


def parse_csv(path: Path, text: str) -> pd.DataFrame:
    """All cells of a CSV file as text."""
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    names = [name.strip() for name in next(csv.reader(lines), [])]
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        found, remedy = f"more than one column '{twice}'", "Rename or remove one."
        raise InputDataError(path, found, "each name once", remedy, "header")
    try:
        # As text: pandas would turn "NaN" or "n/a" into empty cells.
        return pd.read_csv(
            StringIO(text), comment="#", dtype=str, skipinitialspace=True, keep_default_na=False
        )
    except pd.errors.EmptyDataError as error:
        expected, remedy = "a header line and rows", "Export the table again."
        raise InputDataError(path, "an empty file", expected, remedy) from error
    except pd.errors.ParserError as error:
        found, expected = f"rows of unequal length ({error})", "as many commas in every row"
        remedy = "Export the table as comma-separated values again."
        raise InputDataError(path, found, expected, remedy) from error


def _parse_storage(path: Path, text: str) -> tuple[pd.DataFrame, bool]:
    """Cells of an OpenSim storage as text, and whether its angles are in degrees.

    An optional name, lines of `key=value` up to `endheader`, a line of labels that starts with
    `time`, and rows of numbers, all separated by tabs or spaces.
    """
    lines = text.splitlines()
    header, start = _parse_storage_header(path, lines)
    in_degrees = _in_degrees(path, header)
    labels, rows = _parse_storage_body(path, lines, start)
    for kind, found in (("rows", len(rows)), ("columns", len(labels))):
        _check_count(path, header, kind, found)
    return pd.DataFrame(rows, columns=labels, dtype=str), in_degrees


def _parse_storage_header(path: Path, lines: list[str]) -> tuple[dict[str, str], int]:
    """Keys of the header, and the index of the line after it."""
    header: dict[str, str] = {}
    for number, line in enumerate(lines):
        if line.strip().lower() == "endheader":
            return header, number + 1
        key, equals, value = line.partition("=")
        if not equals:
            # Old motion files write `datarows 101`.
            key, _, value = line.strip().partition(" ")
        header[key.strip()] = value.strip()
    expected = "a storage file of OpenSim: a header, 'endheader', labels and rows"
    remedy = "Export the motion from OpenSim again."
    raise InputDataError(path, "no line 'endheader'", expected, remedy, "header")


def _in_degrees(path: Path, header: dict[str, str]) -> bool:
    stated = header.get("inDegrees")
    if stated is None or stated.lower() not in ("yes", "no"):
        found = "no key inDegrees" if stated is None else f"inDegrees={stated}"
        remedy = "Write into the header which unit the angles have."
        raise InputDataError(path, found, "inDegrees=yes or inDegrees=no", remedy, "header")
    kind = header.get("DataType", "double")
    if kind.lower() != "double":
        found, expected = f"DataType={kind}", "DataType=double, plain numbers"
        remedy = "Export the coordinates of the joint, one per column."
        raise InputDataError(path, found, expected, remedy, "header")
    return stated.lower() == "yes"


def _parse_storage_body(
    path: Path, lines: list[str], start: int
) -> tuple[list[str], list[list[str]]]:
    """Labels, and the cells of every row."""
    body = [(number, line) for number, line in enumerate(lines, 1) if number > start]
    body = [(number, line) for number, line in body if line.strip()]
    if not body:
        remedy = "Export the motion again."
        raise InputDataError(path, "nothing after 'endheader'", "labels and rows", remedy)
    number, line = body[0]
    # Labels may hold spaces where tabs separate them.
    labels = [label.strip() for label in line.strip().split("\t" if "\t" in line else None)]
    where = f"line {number}"
    if labels[0].lower() != "time":
        expected = "the label 'time' first"
        raise InputDataError(path, f"'{labels[0]}'", expected, "Export it again.", where)
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        found, remedy = f"more than one '{twice[0]}'", "Rename or remove one."
        raise InputDataError(path, found, "each label once", remedy, where)
    rows = [(number, line.split()) for number, line in body[1:]]
    for number, row in rows:
        if len(row) != len(labels):
            found, expected = f"{len(row)} cells", f"{len(labels)}, one for each label"
            remedy = "Fill in the missing cells; the file may have been cut off."
            raise InputDataError(path, found, expected, remedy, f"line {number}")
    return labels, [row for _, row in rows]


def _check_count(path: Path, header: dict[str, str], kind: str, count: int) -> None:
    """Compare a count in the header with what the file has."""
    key = next((name for name in _COUNTS[kind] if name in header), None)
    if key is None:
        version = header.get("version", "1")
        # Only ASCII digits: "²" is a digit to Python as well, but no number.
        if not re.fullmatch(r"[0-9]{1,9}", version) or int(version) < _VERSION_WITHOUT_COUNTS:
            key = _COUNTS[kind][0]
            found = f"no key {key} in a file of version {version}"
            remedy = "Complete the header, or export the file with OpenSim 4 or later."
            raise InputDataError(path, found, f"{key}={count}", remedy, "header")
    elif header[key] != str(count):
        found, expected = f"{key}={header[key]} but {count} {kind}", f"{count} {kind}, as counted"
        remedy = "The file was cut off or edited: export it again."
        raise InputDataError(path, found, expected, remedy, "header")


def _check_header(path: Path, columns: Mapping[str, str], header: list[str]) -> None:
    """Refuse a file without one of the wanted columns."""
    for name, column in columns.items():
        if column in header:
            continue
        close = difflib.get_close_matches(column, header, n=1)
        hint = f"Did you mean '{close[0]}'?" if close else f"Name the file's column of {name}."
        shown = header if len(header) <= 12 else [*header[:12], f"... ({len(header)} in all)"]
        found, expected = f"columns {', '.join(shown)}", f"a column '{column}' ({name})"
        raise InputDataError(path, found, expected, hint, "header")


def _numbers(path: Path, text: pd.DataFrame, column: str) -> np.ndarray:
    """One column as numbers."""
    values = pd.to_numeric(text[column], errors="coerce").to_numpy(dtype=float)
    if values.size == 0:
        raise InputDataError(path, "no rows", "one row per sample", "Export the table again.")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        cell = text[column].iloc[bad[0]]
        found = "an empty cell" if pd.isna(cell) or not cell.strip() else f"'{cell}'"
        remedy = "Fill in or remove the row; use a point as decimal sign."
        where = f"column '{column}', data row {bad[0] + 1}"
        raise InputDataError(path, found, "a finite number", remedy, where)
    return values


def _check_clock(path: Path, column: str, clock: np.ndarray, kind: str) -> None:
    """Refuse percent or time that does not increase, has a gap or is not one cycle."""
    where, word = f"column '{column}'", "percent" if kind == "percent" else "time"
    steps = np.diff(clock)
    falls = np.flatnonzero(steps <= 0)
    if falls.size:
        row = falls[0] + 1
        found, expected = f"{clock[row]:g} after {clock[row - 1]:g}", f"{word} that increases"
        remedy = "Sort the rows and remove repeated ones."
        raise InputDataError(path, found, expected, remedy, f"{where}, data row {row + 1}")
    if clock.size < 4:
        remedy = "Give the whole cycle."
        raise InputDataError(path, f"{clock.size} rows", "at least 4 samples", remedy, where)
    if kind == "percent":
        _check_percent(path, where, clock)
    widest = int(np.argmax(steps))
    limit = max(_GAP_INTERVALS * float(np.median(steps)), _GAP_PART * (clock[-1] - clock[0]))
    if steps[widest] > limit:
        found = f"no sample between {clock[widest]:g} and {clock[widest + 1]:g}"
        expected = f"samples about every {np.median(steps):.3g}, as elsewhere in the file"
        remedy = "Fill the gap; a spline across it would not be a measurement."
        rows = f"{where}, data rows {widest + 1} and {widest + 2}"
        raise InputDataError(path, found, expected, remedy, rows)


def _check_percent(path: Path, where: str, percent: np.ndarray) -> None:
    """Refuse percent that is not one whole cycle."""
    if percent[-1] <= 1.0:
        found, expected = f"percent up to {percent[-1]:g}", "percent of the cycle, 0 to 100"
        remedy = "These look like fractions: multiply by 100."
        raise InputDataError(path, found, expected, remedy, where)
    whole = abs(percent[0]) <= 1e-9 and _MIN_END_PERCENT <= percent[-1] <= 100.0 + 1e-9
    if not whole:
        found = f"percent from {percent[0]:g} to {percent[-1]:g}"
        expected = "a whole cycle, from 0 to 100 (or to the last sample before 100)"
        remedy = "Cut or shift the cycle so that it starts at 0 percent."
        raise InputDataError(path, found, expected, remedy, where)


def _check_units(cells: _Cells, columns: Mapping[str, str], table: pd.DataFrame) -> None:
    """Refuse angles and positions that contradict the unit of the file."""
    angles, positions = ([name for name in names if name in table] for names in (ANGLES, POSITIONS))
    largest_angle = float(np.abs(table[angles].to_numpy()).max(initial=0.0))
    largest_position = float(np.abs(table[positions].to_numpy()).max(initial=0.0))
    span = float(np.ptp(table["flexion"])) if "flexion" in table else 0.0
    angle_names, position_names = (
        ", ".join(columns[name] for name in names) for names in (angles, positions)
    )
    storage = cells.in_degrees is not None
    stated = f"inDegrees={'yes' if cells.in_degrees else 'no'} but " if storage else ""
    if cells.in_degrees is not False and _FLEXION_SPAN_RAD[0] < span < _FLEXION_SPAN_RAD[1]:
        expected = "degrees" if storage else f"degrees ({angle_names})"
        remedy = "correct the header (inDegrees=no) or the values" if storage else "convert them"
        found = f"{stated}flexion over a range of {span:.2f}"
        remedy, where = f"These look like radians: {remedy}.", f"column '{columns['flexion']}'"
        raise InputDataError(cells.path, found, expected, remedy, where)
    if cells.in_degrees is False and largest_angle > _MAX_ANGLE_RAD:
        found, expected = f"{stated}an angle of {largest_angle:g}", f"radians ({angle_names})"
        remedy = "These look like degrees: correct the header (inDegrees=yes) or the values."
        raise InputDataError(cells.path, found, expected, remedy, "header")
    found = f"positions up to {largest_position:g}"
    if storage and largest_position > _MAX_POSITION_M:
        expected = f"metres, OpenSim's unit of length ({position_names})"
        remedy = "These look like millimetres: convert them to metres."
        raise InputDataError(cells.path, found, expected, remedy)
    if not storage and 0.0 < largest_position < _MIN_REACH_MM:
        remedy = "These look like metres: convert them to millimetres."
        raise InputDataError(cells.path, found, f"millimetres ({position_names})", remedy)


def _converted(table: pd.DataFrame, in_degrees: bool) -> pd.DataFrame:
    """Angles in deg and positions in mm."""
    for name in table.columns:
        if name in ANGLES and not in_degrees:
            table[name] = np.degrees(table[name])
        elif name in POSITIONS:
            table[name] *= 1000.0
    return table
