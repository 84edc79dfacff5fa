"""Named columns of a CSV file of motion or load over one cycle."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd

from kneewear.errors import InputDataError

_ANGLES = ("flexion", "varus", "tibial_external_rotation")
_POSITIONS = ("anterior", "superior", "lateral")
# A cycle's flexion spans 0.3 to 2.5 rad; in degrees it spans far more.
_FLEXION_SPAN_RAD = (0.3, 2.5)
# The femoral origin stands centimetres above the insert's: under 0.5 it is in metres.
_LEAST_HEIGHT_MM = 0.5


def read_columns(path: str | Path, columns: Mapping[str, str]) -> pd.DataFrame:
    """Columns of a CSV file, renamed and checked.

    Parameters
    ----------
    path : str or Path
        Comma-separated UTF-8 file with one header line; lines that start with '#' are comments.
    columns : mapping
        Name wanted -> name in the file's header. "percent" must be among them.

    Returns
    -------
    DataFrame
        The wanted names as columns, in their order, all floating-point; units as in the file.

    Raises
    ------
    InputDataError
        If the file is missing, empty, not UTF-8 or lacks a column; if a value is missing or not a
        number; if percent does not increase from 0 to at most 100; or if angles look like radians,
        positions like metres or percent like fractions.
    """
    path = Path(path)
    text = _text_table(path)
    _check_header(path, columns, list(text.columns))
    table = pd.DataFrame({name: _numbers(path, text, column) for name, column in columns.items()})
    _check_percent(path, columns["percent"], table["percent"].to_numpy())
    _check_units(path, columns, table)
    return table


def _text_table(path: Path) -> pd.DataFrame:
    """All cells of the file as text."""
    if not path.is_file():
        raise InputDataError(
            path, "no such file", "a CSV file", "Check `data_folder` and the file's name."
        )
    try:
        # Spreadsheets put a byte order mark in front, which belongs to no column's name.
        text = path.read_text(encoding="utf-8-sig")
        # Cells stay as they are written: pandas would turn "NaN" or "n/a" into empty ones.
        return pd.read_csv(
            StringIO(text), comment="#", dtype=str, skipinitialspace=True, keep_default_na=False
        )
    except UnicodeDecodeError as error:
        raise InputDataError(
            path,
            f"bytes that are not UTF-8 (at byte {error.start})",
            "a UTF-8 text file",
            "Save the table as CSV (UTF-8), not as a spreadsheet.",
        ) from error
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
        raise InputDataError(
            path, f"columns {', '.join(header)}", f"a column '{column}' ({name})", hint, "header"
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


def _check_percent(path: Path, column: str, percent: np.ndarray) -> None:
    """Refuse a percent that does not run upwards from 0 to at most 100."""
    where = f"column '{column}'"
    falls = np.flatnonzero(np.diff(percent) <= 0)
    if falls.size:
        row = falls[0] + 1
        raise InputDataError(
            path,
            f"{percent[row]:g} after {percent[row - 1]:g}",
            "percent that increases from row to row",
            "Sort the rows and remove repeated ones.",
            f"{where}, data row {row + 1}",
        )
    if percent.size < 4:
        raise InputDataError(
            path, f"{percent.size} rows", "at least 4 samples", "Give the whole cycle.", where
        )
    if percent[-1] <= 1.0:
        raise InputDataError(
            path,
            f"percent up to {percent[-1]:g}",
            "percent of the cycle, 0 to 100",
            "These look like fractions: multiply by 100.",
            where,
        )
    if abs(percent[0]) > 1e-9 or percent[-1] > 100.0 + 1e-9 or percent[-1] < 90.0:
        raise InputDataError(
            path,
            f"percent from {percent[0]:g} to {percent[-1]:g}",
            "a whole cycle, from 0 to 100 (or to the last sample before 100)",
            "Cut or shift the cycle so that it starts at 0 percent.",
            where,
        )


def _check_units(path: Path, columns: Mapping[str, str], table: pd.DataFrame) -> None:
    """Refuse angles that look like radians and positions that look like metres."""
    if "flexion" in table:
        span = float(np.ptp(table["flexion"]))
        if _FLEXION_SPAN_RAD[0] < span < _FLEXION_SPAN_RAD[1]:
            raise InputDataError(
                path,
                f"flexion over a range of {span:.2f}",
                f"degrees ({', '.join(columns[name] for name in _ANGLES if name in columns)})",
                "These look like radians: convert them to degrees.",
                f"column '{columns['flexion']}'",
            )
    if "superior" in table and float(np.abs(table["superior"]).max()) < _LEAST_HEIGHT_MM:
        raise InputDataError(
            path,
            f"a height of {float(np.abs(table['superior']).max()):g}",
            f"millimetres ({', '.join(columns[name] for name in _POSITIONS if name in columns)})",
            "These look like metres: convert them to millimetres.",
            f"column '{columns['superior']}'",
        )
