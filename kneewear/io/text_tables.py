"""Tables of a user: CSV files as text and numbers, whose faults name row and column."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.base.faults import suggestion
from kneewear.errors import InputDataError
from kneewear.io.data_file import LARGEST_TEXT, decode_text, read_data
from kneewear.io.numerals import plain_columns, split_numbers

Array = NDArray[np.float64]

# Blanks that do not show at the ends of cells: also of no width, and byte order marks.
_BLANKS = " \t\r\n\f\v\xa0\u200b\u2009\u202f\ufeff"
_STATED_SEPARATOR = re.compile(r"\"?sep=(.?|\\t)\"?", re.IGNORECASE)
# Columns that a message lists.
_MAX_SHOWN = 12


class TextTable:
    """Cells of a table as text, by column; messages count data rows from 1 below the header.

    `lines` are the lines of the file that the rows are in, where it is one of text lines.
    """

    def __init__(self, path: str | Path, text: pd.DataFrame, lines: Sequence[int] = ()) -> None:
        self.path, self.text, self.lines = Path(path), text, tuple(lines)

    @classmethod
    def read(cls, path: str | Path, kind: str, largest: int = LARGEST_TEXT) -> TextTable:
        """Read a CSV file with one header line; lines that start with # are comments.

        Columns are separated by commas; or by semicolons, tabs or bars (|), with decimal points or
        commas. InputDataError if the file cannot be read, is of no columns, has a column twice, the
        header again, or a row with another number of cells than the header.
        """
        return cls.parse(path, decode_text(path, read_data(path, kind, largest)))

    @classmethod
    def parse(cls, path: str | Path, content: str) -> TextTable:
        """Table of the text of a CSV file; raises as `read`."""
        separator = separator_of(content)
        lines = ["" if is_comment(line) else line for line in content.splitlines()]
        reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
        header: list[str] = []
        rows, numbers = [], []
        for cells in reader:
            row = [cell.strip(_BLANKS) for cell in cells]
            where = f"line {reader.line_num}"
            if not header:
                header = row
                continue
            if not row or (len(row) == 1 and not row[0] and len(header) > 1):
                continue
            _check_row(path, row, header, where)
            rows.append(row)
            numbers.append(reader.line_num)
        if not header:
            expected, remedy = "a header line and rows", "Export the table again."
            raise InputDataError(path, "an empty file", expected, remedy)
        twice = next((name for name in header if name and header.count(name) > 1), None)
        if twice is not None:
            found, remedy = f"more than one column '{twice}'", "Rename or remove one."
            raise InputDataError(path, found, "each name once", remedy, "header")
        return cls(path, pd.DataFrame(plain_columns(rows), columns=header, dtype=str), numbers)

    def require(self, columns: Iterable[str]) -> None:
        """Refuse a table without rows, or without some columns."""
        header = list(self.text.columns)
        missing = [name for name in columns if name not in header]
        if missing:
            near = suggestion(missing[0], header) or "Add the column, or name another one."
            shown = header if len(header) <= _MAX_SHOWN else [*header[:_MAX_SHOWN], "..."]
            expected = f"also {', '.join(missing)}"
            found = f"columns {', '.join(shown)}"
            raise InputDataError(self.path, found, expected, near, "header")
        if self.text.empty:
            remedy = "Export the table again."
            raise InputDataError(self.path, "no rows", "one row or more", remedy)

    def numbers(self, column: str, may_be_empty: bool = False) -> Array:
        """Numbers of a column, NaN where a cell may be and is empty."""
        values = pd.to_numeric(self.text[column], errors="coerce").to_numpy(dtype=float)
        empty = (self.text[column] == "").to_numpy()
        wrong = np.flatnonzero(~np.isfinite(values) & ~(empty & may_be_empty))
        if wrong.size:
            row = int(wrong[0])
            found = "an empty cell" if empty[row] else f"'{self.text[column].iloc[row]}'"
            remedy = (
                "Fill in or remove the row; use a point as decimal sign, and none for thousands."
            )
            self.refuse(row, column, found, "a finite number", remedy)
        return values

    def positive(self, column: str) -> Array:
        """Numbers of a column that are all above zero."""
        values = self.numbers(column)
        wrong = np.flatnonzero(~(values > 0.0))
        if wrong.size:
            self.refuse(int(wrong[0]), column, f"{values[wrong[0]]:g}", "a number above zero")
        return values

    def unique(self, column: str) -> tuple[str, ...]:
        """Texts of a column that are all different."""
        again = np.flatnonzero(self.text[column].duplicated())
        if again.size:
            name = self.text[column].iloc[again[0]]
            self.refuse(int(again[0]), column, f"'{name}' again", "each name once")
        return tuple(self.text[column])

    def optional(self, column: str) -> tuple[str, ...]:
        """Texts of a column, empty where there is none."""
        return tuple(self.text.get(column, pd.Series([""] * len(self.text))))

    def refuse(
        self, row: int, column: str, found: str, expected: str, remedy: str = "Correct the table."
    ) -> NoReturn:
        """Raise InputDataError about a cell."""
        where = f"column '{column}', data row {row + 1}"
        raise InputDataError(self.path, found, expected, remedy, where)


def separator_of(content: str) -> str:
    """Separator of the columns of a table: the one that its header and its first row agree on.

    A first line `sep=;`, which spreadsheets write and need, states it.
    """
    lines = content.splitlines()
    stated = _STATED_SEPARATOR.fullmatch(lines[0].strip(_BLANKS)) if lines else None
    if stated:
        return "\t" if stated[1] in ("", "\\t") else stated[1]
    shown = [line for line in lines if line.strip() and not is_comment(line)][:2]
    header, row = [*shown, "", ""][:2]
    for sign in "\t;|":
        if 0 < header.count(sign) == row.count(sign):
            return sign
    return next((sign for sign in ";\t|" if sign in header and "," not in header), ",")


def number_rows(text: str) -> list[tuple[int, str, list[str]]]:
    """Lines of numbers that are no comments: number of the line, the line, and its cells."""
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not is_comment(line)
    ]
    rows = split_numbers(line for _, line in lines)
    return [(number, line, row) for (number, line), row in zip(lines, rows, strict=True)]


def is_comment(line: str) -> bool:
    """True if a line is no part of a table."""
    text = line.strip(_BLANKS)
    return text.startswith("#") or _STATED_SEPARATOR.fullmatch(text) is not None


def _check_row(path: str | Path, row: list[str], header: list[str], where: str) -> None:
    """Refuse a row with another number of cells than the header, and the header again."""
    if len(row) != len(header):
        found, expected = f"{len(row)} cells", f"{len(header)}, as in the header"
        remedy = (
            "These look like decimal commas between commas: separate columns by semicolons."
            if len(row) == 2 * len(header)
            else "Remove the surplus comma, or name the column in the header."
            if len(row) > len(header)
            else "Fill in the missing cells; the file may have been cut off."
        )
        raise InputDataError(path, found, expected, remedy, where)
    if row == header:
        remedy = "Remove it; of several tables in one file give each its own."
        raise InputDataError(path, "the header again", "a row of values", remedy, where)
