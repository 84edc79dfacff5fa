"""Numbers as people and programs write them, as Python reads them: by whole columns.

A comma is a decimal sign in one file and parts thousands in another, and so is a point. One cell
need not tell ("1,234"), the column or the whole table mostly does.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest

# Minus signs of word processors, and signs between thousands that are no decimal signs.
_MINUS = str.maketrans(dict.fromkeys("\u2212\u2013\ufe63\uff0d", "-"))
_BLANK_GROUPS = re.compile(r"(?<=\d)[ \xa0\u2009\u202f'\u2019](?=\d{3}(?!\d))")
_NUMERAL = re.compile(r"([+-]?)(\d*(?:[.,]\d+)*\.?)([eEdD][+-]?\d+)?")
_GROUPED = {sign: re.compile(rf"[1-9]\d{{0,2}}(\{sign}\d{{3}})+") for sign in ".,"}
# A mark that may be either: one to three digits before it, and three after it.
_EITHER = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_OTHER = {".": ",", ",": "."}
_QUOTED = re.compile('"[^"]*"')
# Without any of these all cells are as Python reads them.
_ODD = re.compile("[,dD \xa0\u2009\u202f'\u2019\u2212\u2013\ufe63\uff0d]|\\.[0-9]*\\.")


def is_number(cell: str) -> bool:
    """True if a cell is a number with any decimal sign, infinite or not-a-number."""
    try:
        float(cell)
    except ValueError:
        return bool(_parts(cell))
    return True


def plain_columns(rows: Sequence[Sequence[str]], undecided: str = "") -> list[list[str]]:
    """Rows of cells with points as decimal signs and nothing between thousands.

    Parameters
    ----------
    rows : sequence of sequence of str
        Cells; rows may differ in length.
    undecided : str, optional
        Decimal sign of columns with commas that neither they nor the other columns tell.

    Returns
    -------
    list of list of str
        The cells; those that are no numbers, or not of the decimal sign of their column, as they
        are. A column of two decimal signs, or of commas that may be either, stays as it is.
    """
    columns = [[cell or "" for cell in column] for column in zip_longest(*rows, fillvalue="")]
    signs = [_decimal_signs(column) for column in columns]
    of_table = set().union(*signs)
    plain = [
        _plain(column, own or (of_table if len(of_table) == 1 else set(undecided)))
        for column, own in zip(columns, signs, strict=True)
    ]
    return [list(row)[: len(rows[n])] for n, row in enumerate(zip(*plain, strict=True))]


def split_numbers(lines: Iterable[str]) -> list[list[str]]:
    """Cells of lines of numbers, separated by semicolons, bars, tabs, blanks or commas.

    A comma is a decimal sign where all cells between semicolons or blanks are numbers with it, and
    in cells between quotes, as spreadsheets write them.
    """
    lines = list(lines)
    strict = next((sign for sign in ";|" if any(sign in line for line in lines)), "")
    if any('"' in line for line in lines):
        outside = "".join(_QUOTED.sub("", line) for line in lines)
        sign = next((mark for mark in ";|\t," if mark in outside), " ")
        # A line each: a quote that is not closed does not join lines.
        rows = [_cells_of(line, sign) for line in lines]
    elif strict:
        rows = [[cell.strip() for cell in line.split(strict)] for line in lines]
    else:
        rows = [line.split() for line in lines]
        numbers = [row for row in rows if any(character.isdigit() for character in "".join(row))]
        commas = any("," in line for line in lines)
        blanks = all(len(row) > 1 and all(map(is_number, row)) for row in numbers[1:] or numbers)
        if commas and not blanks:
            rows = [[cell.strip() for cell in line.split(",")] for line in lines]
    for row in rows:
        while row and not row[-1]:
            row.pop()
    return plain_columns(rows, undecided=",")


def _cells_of(line: str, separator: str) -> list[str]:
    """Cells of a line, some of them between quotes."""
    return [cell.strip() for cell in next(csv.reader([line], delimiter=separator), [])]


def _parts(cell: str) -> tuple[str, str, str] | None:
    """Sign, digits with marks, and exponent of a number; None for other text."""
    text = _BLANK_GROUPS.sub("", cell.strip().translate(_MINUS))
    match = _NUMERAL.fullmatch(text)
    if not match or not any(character.isdigit() for character in match[2]):
        return None
    marks = match[2].count(","), match[2].count(".")
    if max(marks) > 1 or min(marks) > 0:
        last = "," if match[2].rfind(",") > match[2].rfind(".") else "."
        whole, _, decimals = match[2].rpartition(last)
        group = last if min(marks) == 0 else _OTHER[last]
        grouped = match[2] if group == last else whole
        if not _GROUPED[group].fullmatch(grouped) or (group != last and not decimals.isdigit()):
            return None
    return match[1], match[2], (match[3] or "").lower().replace("d", "e")


def _decimal_signs(column: Iterable[str]) -> set[str]:
    """Decimal signs that the cells of a column cannot be read without."""
    signs = set()
    for cell in column:
        parts = _parts(cell)
        digits = parts[1] if parts else ""
        marks = digits.count(","), digits.count(".")
        if min(marks) > 0:
            signs.add(max(",.", key=digits.rfind))
        elif max(marks) > 1:
            signs.add("." if marks[0] else ",")
        elif max(marks) == 1 and (not _EITHER.fullmatch(digits) or (parts and parts[2])):
            signs.add("," if marks[0] else ".")
    return signs


def _plain(column: list[str], signs: set[str]) -> list[str]:
    """Cells of a column of one decimal sign; of none, or of two, those without a comma."""
    decimal = next(iter(signs)) if len(signs) == 1 else ""
    cells = []
    for cell in column:
        parts = _parts(cell)
        if parts is None or ("," in parts[1] and not decimal):
            cells.append(cell)
            continue
        digits = parts[1]
        if decimal:
            digits = digits.replace(_OTHER[decimal], "").replace(decimal, ".")
        cells.append("".join((parts[0], digits, parts[2])))
    return cells
