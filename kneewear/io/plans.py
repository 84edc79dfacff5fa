"""Plans of cases in CSV files."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from kneewear.errors import InputDataError
from kneewear.io.data_file import LARGEST_TEXT, decode_text, read_data
from kneewear.settings.faults import suggestion

# Column of the names of the cases, and of the subjects of a cohort.
CASE = "case"


def read_rows(path: str | Path, kind: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Rows of a CSV file with a header: position in the file, and cells by their columns.

    Lines that start with # are comments. Raises InputDataError when the file cannot be read, has no
    row, a column without a name or twice, or a row with another number of cells.
    """
    text = decode_text(path, read_data(path, kind, LARGEST_TEXT))
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.startswith("#")
    ]
    table = csv.reader(line for _, line in lines)
    header = [name.strip() for name in next(table, [])]
    if len(lines) < 2:
        raise InputDataError(path, "no row", "a header and a row per case", "Add rows.")
    for name in header:
        if not name or header.count(name) > 1:
            found = f"column '{name}' {header.count(name)} times" if name else "a nameless column"
            raise InputDataError(path, found, "columns with names of their own", "Rename it.")
    for (number, _), row in zip(lines[1:], table, strict=True):
        if len(row) != len(header):
            found, expected = f"{len(row)} cells", f"{len(header)}, as the header has"
            raise InputDataError(path, found, expected, "Correct the row.", f"line {number}")
        yield f"line {number}", dict(zip(header, map(str.strip, row), strict=True))


def read_plan(path: str | Path, factors: Sequence[str]) -> list[tuple[str, dict[str, float]]]:
    """Cases of a CSV file: the name of each, and the value of every factor.

    The file has a column for every factor, and perhaps one of names, `case`. Raises InputDataError
    as `read_rows`, when columns are missing or unknown, a cell is no finite number, or two cases
    have one name.
    """
    cases: dict[str, dict[str, float]] = {}
    for number, (where, row) in enumerate(read_rows(path, "a plan of cases")):
        if not cases:
            _check_columns(path, list(row), factors)
        name = row.get(CASE) or f"c{number:05d}"
        if name in cases:
            raise InputDataError(
                path, f"case '{name}' again", "a name for each case", "Rename it.", where
            )
        cases[name] = {
            factor: finite_number(path, where, factor, row[factor]) for factor in factors
        }
    return list(cases.items())


def _check_columns(path: str | Path, found: Sequence[str], factors: Sequence[str]) -> None:
    missing = [name for name in factors if name not in found]
    unknown = [name for name in found if name not in factors and name != CASE]
    if missing or unknown:
        what = [f"no column {name}" for name in missing]
        what += [f"column {name}, which is no factor" for name in unknown]
        hint = suggestion(unknown[0], factors) if unknown else ""
        remedy = hint or "Correct the header, or sweep.factors."
        expected = f"columns {', '.join(factors)}, and perhaps {CASE}"
        raise InputDataError(path, ", ".join(what), expected, remedy, "header")


def finite_number(path: str | Path, where: str, column: str, text: str) -> float:
    """Finite number of a cell."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputDataError(
            path, f"'{text}' in column {column}", "a finite number", "Correct it.", where
        )
    return value
