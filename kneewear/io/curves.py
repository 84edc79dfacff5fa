"""Named columns of a file of curves over one cycle: motion, load or both."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.activity.conventions import femoral_pose, registered_motion
from kneewear.activity.settings import (
    FileActivity,
    MotionSettings,
    ParametricActivity,
    RegisteredMotion,
)
from kneewear.activity.sources import build_activity
from kneewear.errors import InputDataError
from kneewear.io.data_file import decode_text, read_data
from kneewear.io.pose_files import read_both_poses
from kneewear.io.text_tables import TextTable

ANGLES = ("flexion", "varus", "rotation")
POSITIONS = ("anterior_posterior", "superior_inferior", "medial_lateral")
_OPENSIM = (".sto", ".mot")
# Text of a measuring system, such as an export of OrthoLoad: lines about it come before the table.
_EXPORTS = (".txt", ".akf", ".dat", ".tsv")
_MIN_ROWS = 4
# Titles in percent of body weight, whose values are read in body weights.
_PERCENT_WEIGHT = re.compile(r"%\s*BW\b", re.IGNORECASE)
# A cycle of a hundred columns at 1000 Hz is 2 MB; cells as text take ten times their size.
_MAX_BYTES = 50_000_000
_KIND = "a table of curves"
# A cycle's flexion spans 0.3 to 2.5 rad; in degrees it spans far more.
_FLEXION_SPAN_RAD = (0.3, 2.5)
# No joint turns by more than this in radians; in degrees it turns by more.
_MAX_ANGLE_RAD = 2.0 * np.pi
# Positions vary by millimetres within a cycle: when all are below 0.5 they are in metres.
_MIN_REACH_MM = 0.5
# They never exceed 2 m: beyond that they are in millimetres.
_MAX_POSITION_M = 2.0
# An interval this many times the usual one, and this part of the cycle, is a gap in the samples.
_GAP_INTERVALS = 5.0
_GAP_PART = 0.05
# Percent at which a cycle without a last sample at 100 may end.
_MIN_END_PERCENT = 90.0
# Inserts that take up fluid seem to gain this part of what they lose, at most.
_NEGATIVE_LOSS = 0.2
# No simulator ran for as long.
_MAX_MILLION_CYCLES = 1000.0
# Keys of the counts in the header of an OpenSim storage.
_COUNTS = {"rows": ("nRows", "datarows"), "columns": ("nColumns", "datacolumns")}
# From this version on OpenSim itself no longer writes the counts.
_VERSION_WITHOUT_COUNTS = 2


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
    motion = settings.motion if isinstance(settings, FileActivity) else None
    if isinstance(motion, RegisteredMotion):
        poses = read_both_poses(files["motion"], files["tibial"], motion.convention)
        curves["motion"] = registered_motion(*poses, motion, knee)
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
    .mot), which states whether angles are in degrees and holds positions in m; or an exported text
    (.txt, .akf, .dat, .tsv) with any lines before the titles. `columns` maps each quantity wanted,
    "percent" or "time_s" among them, to its name in the header, after a minus where its sign is
    reversed. Columns whose title has the unit %BW are in body weights. Returned are the
    quantities in their order: angles (flexion, varus, rotation) in deg, positions in mm, everything
    else as in the file. InputDataError if the file is missing, damaged or lacks a column or value;
    if percent does not increase from 0 to at most 100, or time does not increase; if samples are
    missing in between; or if the values contradict their units.
    """
    cells, in_degrees = _read_cells(Path(path), any(name in ANGLES for name in columns))
    signed = {name: _signed(cells, column) for name, column in columns.items()}
    cells.require(column for column, _ in signed.values())
    table = pd.DataFrame(
        {name: sign * cells.numbers(column) for name, (column, sign) in signed.items()}
    )
    clock = "percent" if "percent" in columns else "time_s"
    _check_clock(cells.path, columns[clock], table[clock].to_numpy(), clock)
    _check_units(cells.path, in_degrees, columns, table)
    return table if in_degrees is None else _converted(table, in_degrees)


def read_columns(path: str | Path) -> pd.DataFrame:
    """All columns of a file of curves as numbers, in its units; cells that hold none are NaN.

    Formats and InputDataError as of `read_curves`, before columns are chosen.
    """
    cells, _ = _read_cells(Path(path), False)
    table = cells.text.apply(pd.to_numeric, errors="coerce")
    return table * [_signed(cells, column)[1] for column in table]


def _signed(cells: TextTable, column: str) -> tuple[str, float]:
    """Column of a table that a name means, and the factor of its values."""
    sign = 1.0
    if column not in cells.text and column.startswith("-"):
        column, sign = column[1:].strip(), -1.0
    return column, 0.01 * sign if _PERCENT_WEIGHT.search(column) else sign


def read_simulator_test(
    path: str | Path, columns: Mapping[str, str | None], mm3_per_unit: float
) -> pd.DataFrame:
    """Measured wear: `million_cycles`, `wear_mm3` and `error_mm3` (NaN where it is not given).

    A CSV file as of `read_curves`, of which `columns` names the columns million_cycles, loss and
    error (None without one). InputDataError if it is damaged or lacks a column or value, if cycles
    do not increase or look like single ones, or if an error is negative.
    """
    table, _ = _read_cells(Path(path), has_angles=False)
    given = {name: column for name, column in columns.items() if column is not None}
    table.require(given.values())
    found = {name: table.numbers(column) for name, column in given.items()}
    cycles, error = found["million_cycles"], found.get("error", np.full(len(table.text), np.nan))
    where = f"column '{given['million_cycles']}'"
    if (np.diff(cycles) <= 0.0).any() or cycles[0] < 0.0:
        remedy = "Sort the rows, one per weighing, and remove repeated ones."
        raise InputDataError(path, "cycles that do not increase", "cycles from 0 on", remedy, where)
    if cycles[-1] > _MAX_MILLION_CYCLES:
        remedy = "These look like single cycles: divide them by a million."
        raise InputDataError(path, f"{cycles[-1]:g}", "million cycles", remedy, where)
    if (error < 0.0).any():
        where, remedy = f"column '{given['error']}'", "Give the half-width of the error."
        raise InputDataError(
            path, f"an error of {error.min():g}", "errors from 0 on", remedy, where
        )
    loss = found["loss"]
    where = f"column '{given['loss']}'"
    if loss.min() < -_NEGATIVE_LOSS * np.abs(loss).max():
        remedy = "Give the material lost, positive, not the change of mass."
        expected = "losses from 0 on"
        raise InputDataError(path, f"a loss of {loss.min():g}", expected, remedy, where)
    if loss.size > 1 and loss[-1] < (1.0 - _NEGATIVE_LOSS) * loss[0]:
        remedy = "Give the material lost so far, not the mass of the insert."
        found_text = f"{loss[0]:g} at first and {loss[-1]:g} at last"
        raise InputDataError(path, found_text, "a loss that grows", remedy, where)
    wear = loss * mm3_per_unit
    return pd.DataFrame(
        {"million_cycles": cycles, "wear_mm3": wear, "error_mm3": error * mm3_per_unit}
    )


def _read_cells(path: Path, has_angles: bool) -> tuple[TextTable, bool | None]:
    """Cells of a file, and whether an OpenSim header states angles in degrees.

    The header need not state it where no angle is read.
    """
    suffix = path.suffix.lower()
    if suffix not in (".csv", *_OPENSIM, *_EXPORTS):
        found, expected = f"a file ending in '{suffix}'", ".csv, .sto, .mot, .txt, .akf or .dat"
        raise InputDataError(path, found, expected, "Export it as one of these.")
    if suffix == ".csv":
        return TextTable.read(path, _KIND, _MAX_BYTES), None
    content = decode_text(path, read_data(path, _KIND, _MAX_BYTES))
    if suffix in _EXPORTS:
        return _parse_export(path, content), None
    text, in_degrees = _parse_storage(path, content, has_angles)
    return TextTable(path, text), in_degrees


def _parse_export(path: Path, content: str) -> TextTable:
    """Cells of a text whose table, a line of titles and rows of numbers, ends the file.

    Titles may be followed by a line of units in brackets, which become part of them. Columns are
    separated by tabs, semicolons, commas or blanks, where blanks before a bracket do not count.
    """
    lines = [line.strip() for line in content.splitlines()]
    last = max((n for n, line in enumerate(lines) if line), default=-1)
    for separator in ("\t", ";", ",", None):
        first, count = last + 1, 0
        while first > 0 and lines[first - 1]:
            cells = _export_cells(lines[first - 1], separator)
            if not all(map(_is_number, cells)) or len(cells) < 2 or count not in (0, len(cells)):
                break
            first, count = first - 1, len(cells)
        above = [n for n in range(first) if lines[n]][-2:]
        if last + 1 - first < _MIN_ROWS or not above:
            continue
        titles = _export_cells(lines[above[-1]], separator)
        if len(above) == 2 and all(title[:1] + title[-1:] in ("[]", "()") for title in titles):
            names = _export_cells(lines[above[0]], separator)
            titles = [f"{name} {unit}" for name, unit in zip(names, titles, strict=False)]
        twice = len(set(titles)) < len(titles)
        if len(titles) != count or twice:
            found = f"{'a title twice' if twice else f'{len(titles)} titles'}"
            expected = f"{count} different titles, one for each column"
            remedy = "Correct the line above the first row of numbers."
            raise InputDataError(path, found, expected, remedy, f"line {above[-1] + 1}")
        before = [_export_cells(line, separator) for line in lines[: above[0]]]
        known = [len(one) == count and all(map(_is_number, one)) for one in before]
        if sum(known) >= _MIN_ROWS:
            found, expected = f"{sum(known)} rows of another table", "one table, to the end"
            remedy = "Keep one trial in the file: the first table would not be read."
            raise InputDataError(path, found, expected, remedy, f"line {known.index(True) + 1}")
        rows = [_export_cells(line, separator) for line in lines[first : last + 1]]
        text = pd.DataFrame(rows, columns=titles, dtype=str)
        return TextTable(path, text, range(first + 1, last + 2))
    expected = "a line of titles and rows of numbers, at least four, to the end of the file"
    remedy = "Export the table again, complete; or save it as .csv."
    raise InputDataError(path, "no such table", expected, remedy)


def _export_cells(line: str, separator: str | None) -> list[str]:
    """Cells of a line; decimal commas become points where commas do not separate."""
    if separator is None:
        line = re.sub(r"\s+(?=[\[(])", "\0", line)
    cells = [cell.replace("\0", " ").strip() for cell in line.split(separator)]
    if separator == ",":
        return cells
    return [re.sub(r"^([+-]?\d*),(\d+)", r"\1.\2", cell) for cell in cells]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _parse_storage(path: Path, text: str, has_angles: bool) -> tuple[pd.DataFrame, bool]:
    """Cells of an OpenSim storage as text, and whether its angles are in degrees.

    An optional name, lines of `key=value` up to `endheader`, a line of labels that starts with
    `time`, and rows of numbers, all separated by tabs or spaces.
    """
    lines = text.splitlines()
    header, start = _parse_storage_header(path, lines)
    in_degrees = _in_degrees(path, header, has_angles)
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


def _in_degrees(path: Path, header: dict[str, str], has_angles: bool) -> bool:
    stated = header.get("inDegrees", None if has_angles else "no")
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


def _check_units(
    path: Path, in_degrees: bool | None, columns: Mapping[str, str], table: pd.DataFrame
) -> None:
    """Refuse angles and positions that contradict the unit of the file."""
    angles, positions = ([name for name in names if name in table] for names in (ANGLES, POSITIONS))
    largest_angle = float(np.abs(table[angles].to_numpy()).max(initial=0.0))
    largest_position = float(np.abs(table[positions].to_numpy()).max(initial=0.0))
    span = float(np.ptp(table["flexion"])) if "flexion" in table else 0.0
    angle_names, position_names = (
        ", ".join(columns[name] for name in names) for names in (angles, positions)
    )
    storage = in_degrees is not None
    stated = f"inDegrees={'yes' if in_degrees else 'no'} but " if storage else ""
    if in_degrees is not False and _FLEXION_SPAN_RAD[0] < span < _FLEXION_SPAN_RAD[1]:
        expected = "degrees" if storage else f"degrees ({angle_names})"
        remedy = "correct the header (inDegrees=no) or the values" if storage else "convert them"
        found = f"{stated}flexion over a range of {span:.2f}"
        remedy, where = f"These look like radians: {remedy}.", f"column '{columns['flexion']}'"
        raise InputDataError(path, found, expected, remedy, where)
    if in_degrees is False and largest_angle > _MAX_ANGLE_RAD:
        found, expected = f"{stated}an angle of {largest_angle:g}", f"radians ({angle_names})"
        remedy = "These look like degrees: correct the header (inDegrees=yes) or the values."
        raise InputDataError(path, found, expected, remedy, "header")
    found = f"positions up to {largest_position:g}"
    if storage and largest_position > _MAX_POSITION_M:
        expected = f"metres, OpenSim's unit of length ({position_names})"
        remedy = "These look like millimetres: convert them to metres."
        raise InputDataError(path, found, expected, remedy)
    if not storage and 0.0 < largest_position < _MIN_REACH_MM:
        remedy = "These look like metres: convert them to millimetres."
        raise InputDataError(path, found, f"millimetres ({position_names})", remedy)


def _converted(table: pd.DataFrame, in_degrees: bool) -> pd.DataFrame:
    """Angles in deg and positions in mm."""
    for name in table.columns:
        if name in ANGLES and not in_degrees:
            table[name] = np.degrees(table[name])
        elif name in POSITIONS:
            table[name] *= 1000.0
    return table
