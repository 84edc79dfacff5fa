"""Plans of cases in CSV files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kneewear.base.faults import suggestion
from kneewear.base.variables import Variable
from kneewear.errors import InputDataError
from kneewear.io.text_tables import TextTable
from kneewear.study.study import Study

# Column of the names of the cases, and of the subjects of a cohort.
CASE = "case"


def read_rows(path: str | Path, kind: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Rows of a CSV file with a header: position in the file, and cells by their columns.

    Raises InputDataError as `TextTable.read`, and when it has no row or a column without a name.
    """
    table = TextTable.read(path, kind)
    if table.text.empty:
        raise InputDataError(path, "no row", "a header and a row per case", "Add rows.")
    if "" in table.text:
        expected = "columns with names of their own"
        raise InputDataError(path, "a nameless column", expected, "Name it.", "header")
    for line, row in zip(table.lines, table.text.to_dict("records"), strict=True):
        yield f"line {line}", {str(name): cell for name, cell in row.items()}


def read_plan(path: str | Path, study: Study) -> list[dict[str, Any]]:
    """Rows of the file of a plan `table`, by its columns.

    The file has a column for some or all variables and for every label of the plan, and perhaps one
    of names, `case`. Cells of variables without words and blocks are numbers, an empty cell changes
    nothing. Raises InputDataError as `read_rows`, when columns are missing or unknown, a cell is no
    finite number or no level, or two cases have one name.
    """
    labels = getattr(study.cases, "labels", ())
    rows: list[dict[str, Any]] = []
    for where, cells in read_rows(path, "a plan of cases"):
        if not rows:
            _check_columns(path, list(cells), study, labels)
        for name, cell in cells.items():
            _refuse_formula(path, where, name, cell)
        if CASE in cells and cells[CASE] in [row[CASE] for row in rows]:
            raise InputDataError(
                path, f"case '{cells[CASE]}' again", "a name for each case", "Rename it.", where
            )
        rows.append(
            {
                name: _label(cell)
                if name not in study.variables
                else _value(path, where, name, cell, study.variables[name])
                for name, cell in cells.items()
            }
        )
    return rows


def _refuse_formula(path: str | Path, where: str, column: str, cell: str) -> None:
    """Refuse text that spreadsheets would run when they open a table of results."""
    if cell.startswith(("=", "+", "-", "@")) and isinstance(_label(cell), str):
        expected, remedy = "text that does not begin with =, +, - or @", "Rename it."
        raise InputDataError(path, f"'{cell}' in column {column}", expected, remedy, where)


def _label(cell: str) -> str | float:
    """Number of a label where it is one."""
    try:
        return float(cell)
    except ValueError:
        return cell


def _value(path: str | Path, where: str, column: str, cell: str, variable: Variable) -> str | float:
    """Value of a variable in a cell."""
    if cell == "":
        return cell
    if variable.blocks is not None:
        if cell not in variable.blocks:
            remedy = suggestion(cell, variable.blocks) or "Correct the row, or add the block."
            expected = f"one of: {', '.join(variable.blocks)}"
            raise InputDataError(path, f"{column} '{cell}'", expected, remedy, where)
        return cell
    words = any(name.endswith(("file", "knee", "law")) for name in variable.settings)
    if words or any(isinstance(value, str) for value in variable.values or ()):
        return cell
    return finite_number(path, where, column, cell)


def _check_columns(
    path: str | Path, columns: Sequence[str], study: Study, labels: Sequence[str]
) -> None:
    """Refuse columns that nothing uses, labels without a column and variables without values."""
    missing = [name for name in labels if name not in columns]
    missing += [
        name for name, one in study.variables.items() if name not in columns and not one.has_values
    ]
    known = (*study.variables, *labels, CASE)
    unknown = [name for name in columns if name not in known]
    if missing or unknown:
        faults = [f"no column {name}" for name in missing]
        faults += [f"column {name}, which nothing uses" for name in unknown]
        hint = suggestion(unknown[0], known) if unknown else ""
        remedy = hint or "Correct the header, or name the column in variables or cases.labels."
        expected = f"columns of {', '.join(known)}"
        raise InputDataError(path, ", ".join(faults), expected, remedy, "header")


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
