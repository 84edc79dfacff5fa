"""Named columns of a file of curves over one cycle: motion, load or both."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd

from kneewear.errors import InputDataError
from kneewear.io.data_file import decode_text, read_data
from kneewear.io.opensim import parse_storage

ANGLES = ("flexion", "varus", "rotation")
POSITIONS = ("anterior_posterior", "superior_inferior", "medial_lateral")
_OPENSIM = (".sto", ".mot")
# A cycle of a hundred columns at 1000 Hz is 2 MB; cells kept as text take ten times their size.
_LARGEST = 50_000_000
# A cycle's flexion spans 0.3 to 2.5 rad; in degrees it spans far more.
_FLEXION_SPAN_RAD = (0.3, 2.5)
# No joint turns by more than this in radians; in degrees it turns by more.
_LARGEST_ANGLE_RAD = 2.0 * np.pi
# Positions within a cycle reach millimetres: all under 0.5 they are in metres.
_LEAST_REACH_MM = 0.5
# Nor do they reach metres: beyond 2 they are in millimetres.
_LARGEST_REACH_M = 2.0
# An interval this many times the usual one, and this part of the cycle, is a gap in the samples.
_GAP_INTERVALS, _GAP_PART = 5.0, 0.05
# Percent at which a cycle without a last sample at 100 may end.
_LEAST_END_PERCENT = 90.0


@dataclass(frozen=True)
class _Cells:
    """Cells of a file as text, and whether an OpenSim header says that angles are in degrees."""

    path: Path
    text: pd.DataFrame
    in_degrees: bool | None = None


def read_curves(path: str | Path, columns: Mapping[str, str]) -> pd.DataFrame:
    """Columns of a file of curves, renamed, checked and in this project's units.

    Parameters
    ----------
    path : str or Path
        A comma-separated UTF-8 file (.csv) with one header line, angles in degrees and positions
        in mm; lines that start with '#' are comments. Or an OpenSim storage (.sto, .mot), which
        says whether angles are in degrees and holds positions in m.
    columns : mapping
        Quantity wanted -> name in the file's header. "percent" or "time_s" must be among them.

    Returns
    -------
    DataFrame
        The quantities as columns, in their order, all floating-point: angles (flexion, varus,
        rotation) in deg, positions in mm, everything else as in the file.

    Raises
    ------
    InputDataError
        If the file is missing, empty, damaged or lacks a column; if a value is missing or not a
        finite number; if percent does not increase from 0 to at most 100, or time does not
        increase; if samples are missing in between; or if the values contradict their units.
    """
    path = Path(path)
    cells = _read_cells(path)
    _check_header(path, columns, list(cells.text.columns))
    table = pd.DataFrame(
        {name: _numbers(path, cells.text, column) for name, column in columns.items()}
    )
    clock = "percent" if "percent" in columns else "time_s"
    _check_clock(path, columns[clock], table[clock].to_numpy(), clock)
    if cells.in_degrees is None:
        _check_units(path, columns, table)
        return table
    _check_storage_units(cells, columns, table)
    return _converted(table, cells.in_degrees)


def _read_cells(path: Path) -> _Cells:
    content = read_data(path, "a table of curves", _LARGEST)
    suffix = path.suffix.lower()
    if suffix not in (".csv", *_OPENSIM):
        raise InputDataError(
            path, f"a file ending in '{suffix}'", ".csv, .sto or .mot", "Export it as one of these."
        )
    text = decode_text(path, content)
    if suffix in _OPENSIM:
        return _Cells(path, *parse_storage(path, text))
    return _Cells(path, _parse_csv(path, text))


def _parse_csv(path: Path, text: str) -> pd.DataFrame:
    """All cells of a CSV file as text."""
    try:
        # Cells stay as they are written: pandas would turn "NaN" or "n/a" into empty ones.
        return pd.read_csv(
            StringIO(text), comment="#", dtype=str, skipinitialspace=True, keep_default_na=False
        )
    except pd.errors.EmptyDataError as error:
        raise InputDataError(
            path, "an empty file", "a header line and rows", "Export the table again."
        ) from error
    except pd.errors.ParserError as error:
        raise InputDataError(
            path,
            f"rows of unequal length ({error})",
            "the same number of commas in every row",
            "Export the table as comma-separated values again.",
        ) from error


def _check_header(path: Path, columns: Mapping[str, str], header: list[str]) -> None:
    """Refuse a file without one of the wanted columns."""
    for name, column in columns.items():
        if column in header:
            continue
        close = difflib.get_close_matches(column, header, n=1)
        hint = f"Did you mean '{close[0]}'?" if close else f"Name the file's column of {name}."
        shown = header if len(header) <= 12 else [*header[:12], f"... ({len(header)} in all)"]
        raise InputDataError(
            path, f"columns {', '.join(shown)}", f"a column '{column}' ({name})", hint, "header"
        )


def _numbers(path: Path, text: pd.DataFrame, column: str) -> np.ndarray:
    """One column as numbers."""
    values = pd.to_numeric(text[column], errors="coerce").to_numpy(dtype=float)
    if values.size == 0:
        raise InputDataError(path, "no rows", "one row per sample", "Export the table again.")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        cell = text[column].iloc[bad[0]]
        raise InputDataError(
            path,
            "an empty cell" if pd.isna(cell) or not cell.strip() else f"'{cell}'",
            "a finite number",
            "Fill in or remove the row; use a point as decimal sign.",
            f"column '{column}', data row {bad[0] + 1}",
        )
    return values


def _check_clock(path: Path, column: str, clock: np.ndarray, kind: str) -> None:
    """Refuse a clock that runs backwards, stands still, leaves a gap or is not one cycle."""
    where, word = f"column '{column}'", "percent" if kind == "percent" else "time"
    steps = np.diff(clock)
    falls = np.flatnonzero(steps <= 0)
    if falls.size:
        row = falls[0] + 1
        raise InputDataError(
            path,
            f"{clock[row]:g} after {clock[row - 1]:g}",
            f"{word} that increases from row to row",
            "Sort the rows and remove repeated ones.",
            f"{where}, data row {row + 1}",
        )
    if clock.size < 4:
        raise InputDataError(
            path, f"{clock.size} rows", "at least 4 samples", "Give the whole cycle.", where
        )
    if kind == "percent":
        _check_percent(path, where, clock)
    widest = int(np.argmax(steps))
    limit = max(_GAP_INTERVALS * float(np.median(steps)), _GAP_PART * (clock[-1] - clock[0]))
    if steps[widest] > limit:
        raise InputDataError(
            path,
            f"no sample between {clock[widest]:g} and {clock[widest + 1]:g}",
            f"samples about every {np.median(steps):.3g}, as elsewhere in the file",
            "Fill the gap in; a spline through it would invent what was not measured.",
            f"{where}, data rows {widest + 1} and {widest + 2}",
        )


def _check_percent(path: Path, where: str, percent: np.ndarray) -> None:
    """Refuse percent that is not one whole cycle."""
    if percent[-1] <= 1.0:
        raise InputDataError(
            path,
            f"percent up to {percent[-1]:g}",
            "percent of the cycle, 0 to 100",
            "These look like fractions: multiply by 100.",
            where,
        )
    whole = abs(percent[0]) <= 1e-9 and _LEAST_END_PERCENT <= percent[-1] <= 100.0 + 1e-9
    if not whole:
        raise InputDataError(
            path,
            f"percent from {percent[0]:g} to {percent[-1]:g}",
            "a whole cycle, from 0 to 100 (or to the last sample before 100)",
            "Cut or shift the cycle so that it starts at 0 percent.",
            where,
        )


def _looks_like_radians(table: pd.DataFrame) -> bool:
    span = float(np.ptp(table["flexion"])) if "flexion" in table else 0.0
    return _FLEXION_SPAN_RAD[0] < span < _FLEXION_SPAN_RAD[1]


def _reach(table: pd.DataFrame) -> float:
    """Largest position, in the unit of the file; zero when there is none."""
    names = [name for name in POSITIONS if name in table]
    return float(np.abs(table[names].to_numpy()).max()) if names else 0.0


def _named(columns: Mapping[str, str], names: tuple[str, ...]) -> str:
    return ", ".join(columns[name] for name in names if name in columns)


def _check_units(path: Path, columns: Mapping[str, str], table: pd.DataFrame) -> None:
    """Refuse angles that look like radians and positions that look like metres."""
    if _looks_like_radians(table):
        raise InputDataError(
            path,
            f"flexion over a range of {float(np.ptp(table['flexion'])):.2f}",
            f"degrees ({_named(columns, ANGLES)})",
            "These look like radians: convert them to degrees.",
            f"column '{columns['flexion']}'",
        )
    reach = _reach(table)
    if 0.0 < reach < _LEAST_REACH_MM:
        raise InputDataError(
            path,
            f"positions up to {reach:g}",
            f"millimetres ({_named(columns, POSITIONS)})",
            "These look like metres: convert them to millimetres.",
        )


def _check_storage_units(cells: _Cells, columns: Mapping[str, str], table: pd.DataFrame) -> None:
    """Refuse angles that contradict inDegrees, and positions that are not in metres."""
    names = [name for name in ANGLES if name in table]
    largest = float(np.abs(table[names].to_numpy()).max()) if names else 0.0
    said = f"inDegrees={'yes' if cells.in_degrees else 'no'}"
    if cells.in_degrees and _looks_like_radians(table):
        raise InputDataError(
            cells.path,
            f"{said} but flexion over a range of {float(np.ptp(table['flexion'])):.2f}",
            "degrees",
            "These look like radians: correct the header (inDegrees=no) or the values.",
            f"column '{columns['flexion']}'",
        )
    if cells.in_degrees is False and largest > _LARGEST_ANGLE_RAD:
        raise InputDataError(
            cells.path,
            f"{said} but an angle of {largest:g}",
            f"radians ({_named(columns, ANGLES)})",
            "These look like degrees: correct the header (inDegrees=yes) or the values.",
            "header",
        )
    reach = _reach(table)
    if reach > _LARGEST_REACH_M:
        raise InputDataError(
            cells.path,
            f"positions up to {reach:g}",
            f"metres, OpenSim's unit of length ({_named(columns, POSITIONS)})",
            "These look like millimetres: convert them to metres.",
        )


def _converted(table: pd.DataFrame, in_degrees: bool) -> pd.DataFrame:
    """Angles in deg and positions in mm."""
    for name in table.columns:
        if name in ANGLES and not in_degrees:
            table[name] = np.degrees(table[name])
        elif name in POSITIONS:
            table[name] *= 1000.0
    return table
