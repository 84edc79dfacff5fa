"""Named columns of a file of curves over one cycle: motion, load or both."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
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
from kneewear.io import workbooks
from kneewear.io.column_names import ANGLES, DIMENSIONS, POSITIONS, Unit, unit_of
from kneewear.io.data_file import decode_text, read_data
from kneewear.io.exports import (
    has_lines_before,
    plain_notes,
    read_export,
    stated_mass,
    stated_rate,
)
from kneewear.io.numerals import plain_columns
from kneewear.io.pose_files import read_both_poses
from kneewear.io.text_tables import TextTable, is_comment, separator_of

_OPENSIM = (".sto", ".mot")
# Text of a measuring system, such as an export of OrthoLoad: lines about it come before the table.
_EXPORTS = (".txt", ".akf", ".dat", ".tsv")
# A title, and the unit in brackets that the settings add to it.
_STATED_UNIT = re.compile(r"(.*?)\s*\[([^\[\]]+)\]")
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

    The file is a table of separated columns (.csv), where lines that start with '#' are comments; a
    workbook (.xlsx) with one sheet of numbers; an OpenSim storage (.sto, .mot), which states
    whether angles are in degrees and holds positions in m; or an exported text (.txt, .akf, .dat,
    .tsv). Lines about the recording may come before the titles, and a line of units after them.
    `columns` maps each quantity wanted, "percent" or "time_s" among them, to its title, after a
    minus where its sign is reversed, and before a unit in brackets where the title does not state
    it: `-knee [rad]`, `Frame [100 Hz]`. Returned are the quantities in their order in deg, mm, N or
    body weights, N m and s, converted from the unit that the title states; without one, angles are
    in degrees and positions in mm. InputDataError if the file is missing, damaged or lacks a column
    or value; if the unit of a column is none of its quantity; if percent does not increase from 0
    to at most 100, or time does not increase; if samples are missing in between; or if the values
    contradict their units.
    """
    read = read_table(path, any(name in ANGLES for name in columns))
    read.cells.require(read.column(column).title for column in columns.values())
    for name, column in columns.items():
        _check_dimension(read, name, column)
    table = pd.DataFrame({name: read.numbers(column) for name, column in columns.items()})
    clock = "percent" if "percent" in columns else "time_s"
    _check_clock(read.cells.path, columns[clock], table[clock].to_numpy(), clock)
    _check_units(read.cells.path, read.in_degrees, columns, table)
    return table if read.in_degrees is None else _converted(table, read.in_degrees)


def read_simulator_test(
    path: str | Path, columns: Mapping[str, str | None], mm3_per_unit: float
) -> pd.DataFrame:
    """Measured wear: `million_cycles`, `wear_mm3` and `error_mm3` (NaN where it is not given).

    A CSV file as of `read_curves`, of which `columns` names the columns million_cycles, loss and
    error (None without one). InputDataError if it is damaged or lacks a column or value, if cycles
    do not increase or look like single ones, or if an error is negative.
    """
    table = read_table(path).cells
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


@dataclass(frozen=True)
class NamedColumn:
    """Column of a file as a name in the settings means it: title, sign and unit."""

    title: str
    sign: float
    unit: Unit | None


@dataclass(frozen=True)
class CurveTable:
    """Cells of a file of curves, and what its header states.

    Parameters
    ----------
    cells : TextTable
        Titles and rows.
    in_degrees : bool, optional
        True or False of an OpenSim storage, whose header says it; None of other files.
    rate_hz : float, optional
        Samples per second, where lines before the titles state it.
    body_mass_kg : float, optional
        Body mass of the subject, where lines before the titles state it.
    notes : tuple of str
        Lines before the titles.
    """

    cells: TextTable
    in_degrees: bool | None = None
    rate_hz: float | None = None
    body_mass_kg: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def titles(self) -> tuple[str, ...]:
        """Titles of the columns."""
        return tuple(self.cells.text.columns)

    @property
    def y_up(self) -> bool:
        """True if y is vertical in the axes of the file, as in OpenSim."""
        return self.in_degrees is not None

    def column(self, key: str) -> NamedColumn:
        """Column that a name in the settings means.

        The name is a title, after a minus where the sign is reversed, and before a unit in brackets
        where the title has another one or none.
        """
        title, sign = key, 1.0
        unit = None
        if title not in self.cells.text and title.startswith("-"):
            title, sign = title[1:].strip(), -1.0
        if title not in self.cells.text and (stated := _STATED_UNIT.fullmatch(title)):
            title, unit = stated[1], unit_of(stated[2])
        if title not in self.cells.text:
            # A line of units below the titles was joined to them.
            with_unit = [own for own in self.titles if _title_without_unit(own) == title]
            title = with_unit[0] if len(with_unit) == 1 else title
        return NamedColumn(title, sign, unit or unit_of(title))

    def numbers(self, key: str, may_be_empty: bool = False) -> NDArray[np.float64]:
        """Numbers of a column in this project's units; NaN where a cell may be and is empty."""
        named = self.column(key)
        factor, unit = named.sign, named.unit
        # The header of a storage, not its titles, states the units of angles and lengths.
        stated = self.in_degrees is not None and unit and unit.dimension in ("angle", "length")
        if unit and unit.factor is not None and not stated:
            factor *= unit.factor
        return scaled(self.cells.numbers(named.title, may_be_empty), factor)


def _title_without_unit(title: str) -> str | None:
    """Text of a title before its unit in brackets; None without one."""
    stated = _STATED_UNIT.fullmatch(title)
    return stated[1] if stated else None


def scaled(values: NDArray[np.float64], factor: float) -> NDArray[np.float64]:
    """Values times a factor; divided by its inverse where that is rounded less."""
    return values / (1.0 / factor) if abs(factor) < 1.0 else values * factor


def read_table(path: str | Path, has_angles: bool = False) -> CurveTable:
    """Cells of a file of curves; the header of a storage must state degrees where angles are read.

    Formats and InputDataError as of `read_curves`, before columns are chosen.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (".csv", *_OPENSIM, *_EXPORTS, *workbooks.SUFFIXES):
        ending = f"a file ending in '{suffix}'"
        expected = ".csv, .xlsx, .sto, .mot, .txt, .tsv, .akf or .dat"
        raise InputDataError(path, ending, expected, "Export it as one of these.")
    data = read_data(path, _KIND, _MAX_BYTES, workbooks.SUFFIXES)
    if suffix in workbooks.SUFFIXES:
        content = _one_line_cells(workbooks.sheet_text(path, data))
    else:
        content = _one_line_cells(decode_text(path, data, "cp1252"))
    if suffix in _OPENSIM:
        text, in_degrees = _parse_storage(path, content, has_angles)
        return CurveTable(TextTable(path, text), in_degrees)
    if suffix in _EXPORTS or has_lines_before(content):
        separators = ("\t", ";", ",", None) if suffix in _EXPORTS else (separator_of(content),)
        exported = read_export(path, content, separators)
        stated = exported.rate_hz, exported.body_mass_kg, exported.notes
        return CurveTable(exported.cells, None, *stated)
    lines = content.splitlines()
    header = next((n for n, line in enumerate(lines) if line.strip() and not is_comment(line)), 0)
    rate = stated_rate(["", "", *lines[: header + 1]])
    before = lines[:header]
    notes = plain_notes(before)
    return CurveTable(TextTable.parse(path, content), None, rate, stated_mass(before), notes)


def _one_line_cells(content: str) -> str:
    """Text whose quoted cells have no line ends, as titles of spreadsheets may have."""
    parts = content.split('"')
    if len(parts) % 2 == 0:
        return content
    parts[1::2] = [" ".join(part.splitlines()) for part in parts[1::2]]
    return '"'.join(parts)


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
    return pd.DataFrame(plain_columns(rows), columns=labels, dtype=str), in_degrees


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
    """Compare a count in the header, which may lack it, with what the file has."""
    key = next((name for name in _COUNTS[kind] if name in header), None)
    if key is not None and header[key] != str(count):
        found, expected = f"{key}={header[key]} but {count} {kind}", f"{count} {kind}, as counted"
        remedy = "The file was cut off or edited: export it again."
        raise InputDataError(path, found, expected, remedy, "header")


def _check_dimension(read: CurveTable, quantity: str, key: str) -> None:
    """Refuse a column whose unit is none of its quantity."""
    named, possible = read.column(key), DIMENSIONS.get(quantity)
    if possible is None or named.unit is None or named.unit.dimension in possible:
        return
    text = f"{quantity} in {named.unit.name}"
    remedy = "Name another column, or correct the unit in its title."
    expected = f"a column of {' or '.join(possible)}"
    raise InputDataError(read.cells.path, text, expected, remedy, f"column '{key}'")


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
        own = f"name the column '{columns['flexion']} [rad]'"
        remedy = "correct the header (inDegrees=no) or the values" if storage else own
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
        own = columns[positions[0]]
        remedy = f"These look like metres: name the columns with their unit, '{own} [m]'."
        raise InputDataError(path, found, f"millimetres ({position_names})", remedy)


def _converted(table: pd.DataFrame, in_degrees: bool) -> pd.DataFrame:
    """Angles in deg and positions in mm."""
    for name in table.columns:
        if name in ANGLES and not in_degrees:
            table[name] = np.degrees(table[name])
        elif name in POSITIONS:
            table[name] *= 1000.0
    return table
