"""Table of a workbook (.xlsx) as the text that a spreadsheet program exports of it (openpyxl)."""

from __future__ import annotations

import csv
import io
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kneewear.errors import InputDataError

SUFFIXES = (".xlsx", ".xlsm")
_REMEDY = "Save the sheet as a CSV file, and name that."
# A workbook that is larger once unpacked is no table of one cycle, bytes.
_MAX_BYTES = 50_000_000
# Rows of numbers that make a sheet a table, and cells of a row.
_MIN_ROWS = 5
_MIN_CELLS = 2


def sheet_text(path: Path, content: bytes) -> str:
    """Text of the sheet of a workbook that has a table of numbers, cells between commas.

    Several such sheets are one table where their first columns are equal: curves over the same time
    or percent. Of formulas the stored value is taken. InputDataError if the file is no workbook, or
    if no sheet or several that differ have a table.
    """
    try:
        sheets = _sheets(content)
    except Exception as error:
        # The library raises errors of any class for damaged parts.
        fault = f"no workbook that can be read ({error})"
        raise InputDataError(path, fault, "an .xlsx file", _REMEDY) from None
    tables = {name: rows for name, rows in sheets.items() if _is_table(rows)}
    joined = _joined(list(tables.values()))
    if joined is None:
        listed = ", ".join(tables or sheets)
        fault = f"{len(tables)} sheets with a table of numbers ({listed})"
        expected = "one, or several with equal rows and an equal first column"
        raise InputDataError(path, fault, expected, _REMEDY)
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerows(row for row in joined if any(cell is not None for cell in row))
    return table.getvalue()


def _joined(tables: Sequence[Sequence[Sequence[Any]]]) -> Sequence[Sequence[Any]] | None:
    """Rows of tables side by side with their common first column; None where it differs."""
    if len(tables) < 2:
        return tables[0] if tables else None
    filled = [[row for row in rows if any(cell is not None for cell in row)] for rows in tables]
    first, *others = ([row[0] for row in rows] for rows in filled)
    if any(column != first for column in others):
        return None
    widths = [max(map(len, rows)) for rows in filled]
    joined = [[cell] for cell in first]
    for rows, width in zip(filled, widths, strict=True):
        for whole, row in zip(joined, rows, strict=True):
            whole += [*row[1:], *[None] * (width - len(row))]
    return joined


def _sheets(content: bytes) -> dict[str, list[Sequence[Any]]]:
    """Rows of cells of every sheet of numbers and text, by name."""
    # Only the reader of workbooks needs it.
    from openpyxl import load_workbook  # noqa: PLC0415

    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        size = sum(part.file_size for part in packed.infolist())
    if size > _MAX_BYTES:
        raise ValueError(f"{size / 1e6:.0f} MB unpacked, above {_MAX_BYTES / 1e6:.0f} MB")
    with warnings.catch_warnings():
        # Of parts that are left out: styles, validation of data, extensions.
        warnings.simplefilter("ignore")
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        try:
            return {
                sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book.worksheets
            }
        finally:
            book.close()


def _is_table(rows: Sequence[Sequence[Any]]) -> bool:
    """True of rows most of whose cells are numbers."""
    return sum(map(_is_numeric, rows)) >= _MIN_ROWS


def _is_numeric(row: Sequence[Any]) -> bool:
    filled = [cell for cell in row if cell not in (None, "")]
    return len(filled) >= _MIN_CELLS and all(map(_is_number, filled))


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True
