"""Numbers, names and tables as text."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

from kneewear.report.specification import page_data

# Powers of units, as in mm3 and 10^6.
_POWER = re.compile(r"(?<=m)[23]\b|\^(-?\d+)")
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Units that do not say what they count: the only rate per year that a study sets is of cycles.
_UNITS = {"1/year": "cycles/year"}
# Unit at the end of a name of a column.
_LAST_UNIT = re.compile(r" (mm|kg)$")
# Formats of `shown`: significant digits, or decimals.
SHOWN_FORM = re.compile(r"\d|\+?\.\df")
# Formats of results, whose last zeros are shown; settings have the digits that they were given.
RESULTS = ("2", "3")
# Heading of a column, or heading and format of its numbers (see `shown`).
Columns = Mapping[str, str | tuple[str, str]]
_PANEL_LETTERS = 18  # in a line of a title


def words(name: str) -> str:
    """Name of a setting, material, method or constant in words (`pages/labels.yaml`)."""
    found: str = page_data("labels").get(name, str(name).replace("_", " "))
    return found


def quantity_name(quantity: str) -> str:
    """Name of a quantity for display."""
    name = words(quantity)
    return name[:1].upper() + name[1:]


def panel_name(quantity: str, unit: str = "") -> str:
    """Name of a quantity, and its unit, in lines that fit a small panel of a figure."""
    lines = textwrap.fill(quantity_name(quantity), _PANEL_LETTERS)
    return f"{lines} ({unit_name(unit)})" if unit else lines


def unit_name(unit: Any) -> str:
    """Unit for display; empty for pure numbers, and where a table states none.

    A column of pure numbers alone is read as numbers.
    """
    if not isinstance(unit, str) or unit == "1":
        return ""
    named = _UNITS.get(unit, unit)
    return _POWER.sub(lambda power: power[0].lstrip("^").translate(SUPERSCRIPTS), named)


def with_unit(name: str, unit: str) -> str:
    """Name in words and its unit in brackets, which pure numbers have not."""
    shown_unit = unit_name(unit)
    return f"{without_unit(name, unit)} ({shown_unit})" if shown_unit else words(name)


def without_unit(name: str, unit: str) -> str:
    """Name in words without the unit at its end, which is stated beside it."""
    return words(name).removesuffix(f" {unit}".replace(" 1/", " per "))


def shown(value: Any, form: str = "4", zeros: bool = False) -> str:
    """Value as text: numbers formatted, absent ones as a dash, truth values as yes and no.

    `form` is a number of significant digits, or a fixed format such as ".1f" or, with sign, "+.1f".
    Of significant digits the last zeros are shown if `zeros`, but for whole numbers.
    """
    if value is None:
        return "–"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if not isinstance(value, int | float | np.integer | np.floating):
        return str(value)
    number = float(value)
    if not np.isfinite(number):
        return "–"
    if form.endswith("f"):
        text = f"{number:{form}}"
        return text.replace("-", "−") if float(text) else text.lstrip("+-")
    kept = "#" if zeros and not number.is_integer() else ""
    text = f"{number:{kept}.{form}g}".removesuffix(".")
    if "e" in text and abs(number) >= 1.0:
        text = f"{number:.0f}"
    factor, _, power = text.partition("e")
    times = f" × 10{str(int(power)).translate(SUPERSCRIPTS)}" if power else ""
    return factor.replace("-", "−") + times


def same_decimals(value: Any, form: str) -> str:
    """Format of numbers beside a value that `shown` writes with significant digits.

    They get as many decimals as the value; very large and small ones keep significant digits.
    """
    if form.endswith("f") or not isinstance(value, float) or not 1e-3 <= abs(value) < 1e4:
        return form
    return f".{max(0, int(form) - 1 - math.floor(math.log10(abs(value))))}f"


def span(values: Any, form: str = "4") -> str:
    """Smallest and largest of some values, or the one text that both have."""
    zeros = form in RESULTS
    ends = (shown(np.nanmin(values), form, zeros), shown(np.nanmax(values), form, zeros))
    return " to ".join(dict.fromkeys(ends))


def file_names(paths: Iterable[str]) -> dict[str, str]:
    """Names of files for display: relative paths as they are, of others the part that differs."""
    paths = list(dict.fromkeys(paths))
    ends = {path: PurePath(path).parts for path in paths}
    names = {}
    for path, parts in ends.items():
        others = [own for other, own in ends.items() if other != path]
        count = 1
        while count < len(parts) and any(own[-count:] == parts[-count:] for own in others):
            count += 1
        names[path] = "/".join(parts[-count:]) if PurePath(path).is_absolute() else path
    return names


def listed(values: Sequence[float | str]) -> str:
    """Numbers or names as an enumeration."""
    *first, last = (value if isinstance(value, str) else f"{value:g}" for value in values)
    return f"{', '.join(first)} and {last}" if first else last


def rows_with(table: pd.DataFrame, **values: object) -> pd.DataFrame:
    """Rows with some values, by the names of their columns."""
    for name, value in values.items():
        table = table[table[name] == value]
    return table


@dataclass(frozen=True)
class Table:
    """A table as text; the first cell of a row is its heading."""

    caption: str
    header: tuple[str, ...]  # with units
    rows: tuple[tuple[str, ...], ...]
    prose: bool = False  # sentences rather than numbers
    values: tuple[tuple[Any, ...], ...] = ()  # of the rows, unrounded: for sorting and downloads

    @cached_property
    def text_columns(self) -> tuple[int, ...]:
        """Indices of the columns that hold words, which are aligned at the left."""
        columns = enumerate(zip(*self.rows, strict=True))
        return tuple(index for index, cells in columns if not any(map(_is_number, cells)))

    @property
    def number_columns(self) -> tuple[int, ...]:
        """Indices of the columns that hold numbers alone, some of which may be missing."""
        columns = enumerate(zip(*self.rows, strict=True))
        return tuple(
            index
            for index, cells in columns
            if all(_is_number(cell) and not any(map(str.isalpha, cell)) for cell in cells)
        )


def make_table(
    caption: str, frame: pd.DataFrame, columns: Columns | None = None, prose: bool = False
) -> Table:
    """Table of the columns of a DataFrame that `columns` names and the frame has, or of all.

    Quantities, units, methods and constants are shown by their names; a column `label` is quantity
    and unit together; `prose` is for a table of sentences. Units of columns are `attrs["units"]`.
    """
    header, cells, values = [], [], []
    units = frame.attrs.get("units", {})
    all_columns = {str(name): _heading(str(name), units.get(name, "")) for name in frame}
    for name, heading in (columns or all_columns).items():
        if name in frame or name == "label":
            text, form = heading if isinstance(heading, tuple) else (heading, "4")
            header.append(text)
            values.append(_values(frame, str(name)))
            zeros = form in RESULTS or name in units
            cells.append([shown(value, form, zeros) for value in values[-1]])
    rows, unrounded = (tuple(zip(*columns, strict=True)) for columns in (cells, values))
    return Table(caption, tuple(header), rows, prose, unrounded)


def _heading(name: str, unit: str = "") -> str:
    """Heading of a column without one of its own, with `unit` or that at the end of its name."""
    if unit:
        return with_unit(quantity_name(name), unit)
    return _LAST_UNIT.sub(r" (\1)", quantity_name(name))


def _values(frame: pd.DataFrame, name: str) -> Sequence[Any]:
    """Values of a column, names of quantities, units and methods in words."""
    if name == "label":
        names = map(quantity_name, frame["quantity"])
        units = map(unit_name, frame["unit"])
        return [
            f"{name} ({unit})" if unit else name for name, unit in zip(names, units, strict=True)
        ]
    in_words = {
        "quantity": quantity_name,
        "unit": unit_name,
        "constant": words,
        "factor": words,
        "form": words,
        "component": words,
        "contact": _words_of_parts,
        "material": words,
        "reference": words,
    }
    values: Sequence[Any] = frame[name].tolist()
    return list(map(in_words[name], values)) if name in in_words else values


def _words_of_parts(name: str) -> str:
    """Words of a name of several parts, such as a contact, its law and its measure."""
    return ", ".join(map(words, name.split(", ")))


def _is_number(cell: str) -> bool:
    """True if a cell begins like a number."""
    return cell.startswith(("+", "−", "–")) or cell[:1].isdigit()


def expected_texts(literature: pd.DataFrame) -> list[str]:
    """Expected values of the rows of `kneewear.analysis.literature.judge_number`, as text."""
    columns = [literature[name] for name in ("published", "tolerance", "low", "high")]
    return [_expected(*map(float, row)) for row in zip(*columns, strict=True)]


def _expected(published: float, tolerance: float, low: float, high: float) -> str:
    """A printed number with its tolerance, or limits."""
    if np.isfinite(published):
        return f"{published:.10g}" + (f" ± {tolerance:.3g}" if tolerance > 0.0 else "")
    if np.isfinite(low) and np.isfinite(high):
        return f"{low:g} to {high:g}"
    return f"≥ {low:g}" if np.isfinite(low) else f"≤ {high:g}" if np.isfinite(high) else ""
