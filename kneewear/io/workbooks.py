"""Table of a workbook (.xlsx) as the text that a spreadsheet program exports of it."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Iterator
from pathlib import Path

from kneewear.errors import InputDataError

SUFFIXES = (".xlsx", ".xlsm")
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_REMEDY = "Save the sheet as a CSV file, and name that."
# A part that is larger once unpacked is no table of one cycle, bytes.
_MAX_BYTES = 50_000_000
# Rows of numbers that make a sheet a table, and cells of a row.
_MIN_ROWS = 5
_MIN_CELLS = 2
_COLUMN = re.compile(r"[A-Z]+")
_LETTERS = 26


def sheet_text(path: Path, content: bytes) -> str:
    """Text of the only sheet of a workbook that has a table of numbers, cells between commas.

    Of formulas the stored value is taken. InputDataError if the file is no workbook, or if no
    sheet or several have a table.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            texts = _shared_texts(packed)
            sheets = {name: _rows(packed, part, texts) for name, part in _sheets(packed)}
    except (zipfile.BadZipFile, KeyError, IndexError, ValueError, ET.ParseError) as error:
        fault = f"no workbook that can be read ({error})"
        raise InputDataError(path, fault, "an .xlsx file", _REMEDY) from None
    tables = [name for name, rows in sheets.items() if _is_table(rows)]
    if len(tables) != 1:
        listed = ", ".join(tables or sheets)
        text = f"{len(tables)} sheets with a table of numbers ({listed})"
        raise InputDataError(path, text, "one", _REMEDY)
    rows = sheets[tables[0]]
    width = max(map(len, rows))
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerows([*row, *[""] * (width - len(row))] for row in rows if any(row))
    return table.getvalue()


def _part(packed: zipfile.ZipFile, name: str) -> ET.Element:
    """Document of a part of the workbook."""
    if packed.getinfo(name).file_size > _MAX_BYTES:
        raise ValueError(f"{name} is larger than {_MAX_BYTES // 10**6} MB")
    return ET.fromstring(packed.read(name))


def _shared_texts(packed: zipfile.ZipFile) -> list[str]:
    """Texts that cells name by number."""
    name = "xl/sharedStrings.xml"
    if name not in packed.namelist():
        return []
    return [_text(item) for item in _part(packed, name).iter(f"{_MAIN}si")]


def _text(item: ET.Element) -> str:
    """Text of an item, of all its runs but those on pronunciation."""
    runs = [run for run in item if run.tag in (f"{_MAIN}t", f"{_MAIN}r")]
    return "".join(part.text or "" for run in runs for part in run.iter(f"{_MAIN}t"))


def _sheets(packed: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """Name of each sheet, and of its part."""
    relations = {
        relation.get("Id", ""): relation.get("Target", "")
        for relation in _part(packed, "xl/_rels/workbook.xml.rels")
    }
    for sheet in _part(packed, "xl/workbook.xml").iter(f"{_MAIN}sheet"):
        target = relations[sheet.get(_RELATION, "")]
        if "worksheets/" in target:
            yield (
                sheet.get("name", ""),
                target.lstrip("/") if target.startswith("/") else f"xl/{target}",
            )


def _rows(packed: zipfile.ZipFile, part: str, texts: list[str]) -> list[list[str]]:
    """Cells of a sheet as text, by row."""
    rows = []
    for row in _part(packed, part).iter(f"{_MAIN}row"):
        cells: list[str] = []
        for cell in row.iter(f"{_MAIN}c"):
            place = _COLUMN.match(cell.get("r", ""))
            number = _column_number(place.group()) if place else len(cells)
            cells += [""] * (number - len(cells))
            cells.append(_value(cell, texts))
        rows.append(cells)
    return rows


def _column_number(letters: str) -> int:
    """Number of a column from 0, of its letters."""
    number = 0
    for letter in letters:
        number = number * _LETTERS + ord(letter) - ord("A") + 1
    return number - 1


def _value(cell: ET.Element, texts: list[str]) -> str:
    """Value of a cell as text."""
    inline = cell.find(f"{_MAIN}is")
    if inline is not None:
        return _text(inline)
    value = cell.findtext(f"{_MAIN}v") or ""
    return texts[int(value)] if cell.get("t") == "s" else value


def _is_table(rows: list[list[str]]) -> bool:
    """True of rows most of whose cells are numbers."""
    return sum(_is_numeric(row) for row in rows) >= _MIN_ROWS


def _is_numeric(row: list[str]) -> bool:
    filled = [cell for cell in row if cell]
    return len(filled) >= _MIN_CELLS and all(map(_is_number, filled))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
