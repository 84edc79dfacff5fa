"""Tables in texts of measuring systems: lines about the recording, titles, units, and rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pandas as pd

from kneewear.base.types import BODY_MASS
from kneewear.errors import InputDataError
from kneewear.io.column_names import is_unit
from kneewear.io.numerals import is_number, plain_columns
from kneewear.io.text_tables import TextTable, is_comment, separator_of

_MIN_ROWS = 4
# Lines among which the titles are.
_MAX_LINES_BEFORE = 40
# Columns that count the samples of a frame, in files whose devices are faster than the cameras.
_FRAME = "Frame"
_SUBFRAME = "Sub Frame"
# Title of the samples in exports of Visual3D, below lines of file, variable, type and folder.
_ITEM = "ITEM"
_LINES_OF_VARIABLE = 4
_RATE = re.compile(
    r"(?:rate|freq\w*|fps|sampl\w*|abtastrate)\W*(?:\[?\(?hz\)?\]?)?[\s:=,;\t]*(\d+(?:[.,]\d+)?)"
    r"|(\d+(?:[.,]\d+)?)\s*(?:hz|fps)\b",
    re.IGNORECASE,
)
# First lines of a block of motion capture: its kind, its rate, and its titles.
_KIND_ALONE = re.compile(r"\"?[A-Za-z][A-Za-z ]*\"?[,;\s]*")
_FRAME_FIRST = re.compile(r"\"?Frame\"?[,;\t]")
_BODY = re.compile(
    r"(?:^|[,;\t#])\s*(?:(?:subject|patient|participant)(?:['´]?s)?[ _])?"
    r"(?:body[ _]?(?:mass|weight)|k(?:ö|oe)rper(?:masse|gewicht)"
    r"|masse corporelle|peso corporeo|peso corporal|mass|weight|masse|masa|massa)"
    r"\W*(?:(?P<value>\d+(?:[.,]\d+)?)\W*(?P<unit>kg|N)\b"
    r"|(?P<unit_before>kg|N)\b\W*(?P<value_after>\d+(?:[.,]\d+)?)\b)",
    re.IGNORECASE,
)
_GRAVITY = 9.81  # m/s2
_NUMBER_ALONE = re.compile(r"(\d+(?:\.\d+)?)[,;\s]*")


@dataclass(frozen=True)
class ExportedTable:
    """Cells of a recording, and what its text states: rate, body mass, and lines before titles."""

    cells: TextTable
    rate_hz: float | None = None
    body_mass_kg: float | None = None
    notes: tuple[str, ...] = ()


def read_export(path: Path, content: str, separators: Sequence[str | None]) -> ExportedTable:
    """Table of a text: a line of titles and rows of numbers, of one of the separators.

    The table is at the end of the text; several blocks of motion capture (Devices, Model Outputs,
    Trajectories), each below its kind and its rate, are one table of their common frames. Titles
    may be followed by a line of units, which become part of them, and be preceded by a line of
    names that each belong to several columns, as in exports of motion capture. Decimal commas
    become points where commas do not separate. InputDataError if there is no such table, if titles
    and columns disagree, or if another table comes before it.
    """
    blocks = _capture_blocks(content)
    if len(blocks) > 1:
        return _of_common_frames([_read_last(path, text, separators) for text in blocks])
    table = _read_last(path, content, separators)
    _count_samples(table.cells.text)
    return table


def _read_last(path: Path, content: str, separators: Sequence[str | None]) -> ExportedTable:
    """Table at the end of a text."""
    lines = ["" if is_comment(line) else line.strip(" ") for line in content.splitlines()]
    last = max((n for n, line in enumerate(lines) if line.strip()), default=-1)
    for separator in separators:
        first, count = last + 1, 0
        while first > 0 and lines[first - 1].strip():
            cells = split_cells(lines[first - 1], separator)
            if not _is_row(cells) or len(cells) < 2 or count not in (0, len(cells)):
                break
            first, count = first - 1, len(cells)
        above = [n for n in range(first) if lines[n].strip()]
        if last + 1 - first < _MIN_ROWS or not above:
            continue
        header = [(n, _header_cells(lines[n], separator)) for n in above]
        titles = _titles(path, header, count)
        _check_single(path, lines, above[:-3], separator, count)
        rows = [split_cells(line, separator) for line in lines[first : last + 1]]
        text = pd.DataFrame(plain_columns(rows), columns=titles, dtype=str)
        raw = content.splitlines()[:first]
        rate, mass = stated_rate(raw), stated_mass(raw)
        # Lines of titles and units are no longer in the header.
        remaining = {n for n, _ in header}
        notes = plain_notes(
            line for n, line in enumerate(raw) if n in remaining or is_comment(line)
        )
        return ExportedTable(TextTable(path, text, range(first + 1, last + 2)), rate, mass, notes)
    expected = "a line of titles and rows of numbers, at least four, to the end of the file"
    remedy = "Export the table again, complete; or save it as .csv."
    raise InputDataError(path, "no such table", expected, remedy)


def has_lines_before(content: str) -> bool:
    """True if a text of separated columns has lines about it before its titles, or units below."""
    lines = [line for line in content.splitlines() if line.strip() and not is_comment(line)]
    if len(lines) < 2:
        return False
    separator = separator_of(content)
    header, row, *further = (split_cells(line, separator) for line in lines[:_MAX_LINES_BEFORE])
    plain = not any(map(is_number, header)) and any(map(is_number, row))
    # Spreadsheets have names and values of the recording in the cells above the titles.
    titles = (cells != header and _may_be_titles(cells) for cells in further)
    return not plain or 1 in (len(header), len(row)) or any(titles)


def _may_be_titles(cells: Sequence[str]) -> bool:
    """True if most cells of a line are words."""
    words = [any(map(str.isalpha, cell)) and not is_number(cell) for cell in cells]
    return sum(words) > max(1, len(cells) // 2) and not any(map(is_number, cells))


def stated_rate(lines: Sequence[str]) -> float | None:
    """Samples per second that lines about a recording state; None where none or several do."""
    rates = set()
    for number, line in enumerate(lines):
        for match in _RATE.finditer(line):
            rates.add(float((match[1] or match[2]).replace(",", ".")))
        # Exports of motion capture have the rate alone in the line below the kind of data.
        alone = _NUMBER_ALONE.fullmatch(line.strip())
        if alone and number == 1:
            rates.add(float(alone[1]))
    return rates.pop() if len(rates) == 1 and min(rates) > 0.0 else None


def stated_mass(lines: Sequence[str]) -> float | None:
    """Body mass, kg, that lines about a recording state; None where none or several do."""
    masses = set()
    for match in (found for line in lines for found in _BODY.finditer(line)):
        value = match["value"] or match["value_after"]
        unit = (match["unit"] or match["unit_before"]).lower()
        masses.add(round(float(value.replace(",", ".")) / (1.0 if unit == "kg" else _GRAVITY), 1))
    one = masses.pop() if len(masses) == 1 else 0.0
    return one if BODY_MASS.severity(one) is None else None


def plain_notes(lines: Iterable[str]) -> tuple[str, ...]:
    """Lines about a recording without marks of comments and empty ones."""
    texts = (line.strip().lstrip("#").strip(" \t;,") for line in lines)
    return tuple(text for text in texts if text)


def split_cells(line: str, separator: str | None) -> list[str]:
    """Cells of a line."""
    if separator is None:
        line = re.sub(r"\s+(?=[\[(])", "\0", line)
    if separator in (",", ";"):
        row = next(csv.reader([line], delimiter=separator, skipinitialspace=True))
        return [cell.strip() for cell in row]
    return [cell.replace("\0", " ").strip() for cell in line.strip().split(separator)]


def _header_cells(line: str, separator: str | None) -> list[str]:
    """Cells of a line above the rows; the first one may be empty."""
    cells = split_cells(line, separator)
    return ["", *cells] if separator == "\t" and line.startswith("\t") else cells


def _titles(path: Path, above: list[tuple[int, list[str]]], count: int) -> list[str]:
    """Titles of the columns, with their units, which are removed from the lines above the rows."""
    number, titles = above.pop()
    if above and len(titles) <= count and any(titles) and all(map(_may_be_unit, titles)):
        units = [*titles, *[""] * (count - len(titles))]
        _, names = above.pop()
        titles = [
            f"{name} {_bracketed(unit)}".strip() for name, unit in zip(names, units, strict=False)
        ]
        titles += names[len(titles) :]
    several = _variables(above, titles)
    if several is not None:
        titles = _with_groups(several, titles)
    elif (above and len(set(titles)) < len(titles)) or _has_groups(above, titles):
        titles = _with_groups(above[-1][1] if above else [], titles)
    twice = len(set(titles)) < len(titles)
    if len(titles) != count or twice:
        text = f"{'a title twice' if twice else f'{len(titles)} titles'}"
        expected = f"{count} different titles, one for each column"
        remedy = "Correct the line above the first row of numbers."
        raise InputDataError(path, text, expected, remedy, f"line {number + 1}")
    return titles


def _variables(above: list[tuple[int, list[str]]], titles: list[str]) -> list[str] | None:
    """Line of the variables of an export of Visual3D, above their types, folders and components.

    None where titles differ without it, or no line has a name for each of them.
    """
    items = titles[0].upper() == _ITEM and len(above) >= _LINES_OF_VARIABLE
    if items and len(above[1 - _LINES_OF_VARIABLE][1]) == len(titles):
        return above[1 - _LINES_OF_VARIABLE][1]
    if len(set(titles)) == len(titles) or not above or len(above[-1][1]) != len(titles):
        return None
    for _, names in above[-2::-1]:
        named = _with_groups(names, titles)
        if len(names) == len(titles) and len(set(named)) == len(named):
            return names
    return None


def _has_groups(above: list[tuple[int, list[str]]], titles: list[str]) -> bool:
    """True if the line above the titles names groups of them: it starts with an empty cell."""
    cells = above[-1][1] if above else []
    while cells and not cells[-1]:
        cells.pop()
    return 1 < len(cells) <= len(titles) and not cells[0]


def _with_groups(groups: list[str], titles: list[str]) -> list[str]:
    """Titles after the name of their group, which stands above the first of them."""
    name, named = "", []
    for place, title in enumerate(titles):
        name = (groups[place] if place < len(groups) else "") or name
        named.append(f"{name} {title}".strip())
    return named


def _count_samples(table: pd.DataFrame) -> None:
    """Number the samples in place of their frames, where frames have several."""
    if _FRAME in table and _SUBFRAME in table and table[_SUBFRAME].nunique() > 1:
        table[_FRAME] = [str(number) for number in range(1, len(table) + 1)]


def _capture_blocks(content: str) -> list[str]:
    """Texts of the blocks of an export of motion capture that have frames.

    A block starts with a line of its kind, a line of its rate alone, and titles with Frame.
    """
    lines = content.splitlines()
    starts = [
        number
        for number in range(len(lines) - 1)
        if _KIND_ALONE.fullmatch(lines[number]) and _NUMBER_ALONE.fullmatch(lines[number + 1])
    ]
    blocks = [lines[start:end] for start, end in pairwise([*starts, len(lines)])]
    framed = [block for block in blocks if any(map(_FRAME_FIRST.match, block[:5]))]
    return ["\n".join(block) for block in framed]


def _of_common_frames(blocks: list[ExportedTable]) -> ExportedTable:
    """One table of the frames that all blocks have, with the first sample of each frame."""
    rates = []
    tables = []
    for block in blocks:
        text = block.cells.text
        samples = int(text[_FRAME].value_counts().iloc[0])
        rates.append(None if block.rate_hz is None else block.rate_hz / samples)
        tables.append(text.drop_duplicates(_FRAME).drop(columns=_SUBFRAME, errors="ignore"))
    merged = tables[0]
    for table in tables[1:]:
        new = [title for title in table if title == _FRAME or title not in merged]
        merged = merged.merge(table[new], on=_FRAME)
    rate = rates[0] if len(set(rates)) == 1 else None
    return ExportedTable(TextTable(blocks[0].cells.path, merged), rate)


def _check_single(
    path: Path, lines: list[str], above: list[int], separator: str | None, count: int
) -> None:
    """Refuse a text that has another table before the last one."""
    before = [split_cells(lines[number], separator) for number in above]
    known = [len(cells) > 1 and all(map(is_number, cells)) for cells in before]
    if sum(known) >= _MIN_ROWS:
        text, expected = f"{sum(known)} rows of another table", "one table, to the end"
        remedy = "Keep one trial in the file: the first table would not be read."
        where = f"line {above[known.index(True)] + 1}"
        raise InputDataError(path, text, expected, remedy, where)


def _may_be_unit(cell: str) -> bool:
    bracketed = cell[:1] + cell[-1:] in ("[]", "()")
    return not cell or bracketed or cell == "-" or is_unit(cell)


def _bracketed(unit: str) -> str:
    return unit if not unit or unit[0] in "[(" else "" if unit == "-" else f"[{unit}]"


def _is_row(cells: list[str]) -> bool:
    """True if cells are numbers, empty or not-a-number, and some are numbers."""
    return any(map(is_number, cells)) and all(not cell or is_number(cell) for cell in cells)
