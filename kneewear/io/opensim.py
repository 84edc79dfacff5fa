"""OpenSim storage files (.sto, .mot), read strictly."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from kneewear.errors import InputDataError

_COUNTS = {"rows": ("nRows", "datarows"), "columns": ("nColumns", "datacolumns")}
# From this version on OpenSim itself no longer writes the counts.
_VERSION_WITHOUT_COUNTS = 2


def parse_storage(path: Path, text: str) -> tuple[pd.DataFrame, bool]:
    """Cells of a storage file as text.

    Parameters
    ----------
    path : Path
        The file, for messages.
    text : str
        Its content: an optional name, lines of `key=value` up to `endheader`, a line of labels
        that starts with `time`, and rows of numbers, all separated by tabs or spaces.

    Returns
    -------
    cells : DataFrame
        One column per label, all text.
    in_degrees : bool
        Whether `inDegrees` is yes.

    Raises
    ------
    InputDataError
        If the header has no end, no `inDegrees` or one that is neither yes nor no; if numbers of
        rows or columns are missing where the version needs them, or wrong; if the data are not
        plain numbers, a label occurs twice or is missing, or a row has too few or too many cells.
    """
    lines = text.splitlines()
    header, start = _parse_header(path, lines)
    in_degrees = _in_degrees(path, header)
    labels, rows = _parse_body(path, lines, start)
    for kind, found in (("rows", len(rows)), ("columns", len(labels))):
        _check_count(path, header, kind, found)
    return pd.DataFrame(rows, columns=labels, dtype=str), in_degrees


def _parse_header(path: Path, lines: list[str]) -> tuple[dict[str, str], int]:
    """Keys of the header, and the index of the line after it."""
    header: dict[str, str] = {}
    for number, line in enumerate(lines):
        if line.strip().lower() == "endheader":
            return header, number + 1
        key, equals, value = line.partition("=")
        if not equals:
            # Old motion files write `datarows 101`.
            key, _, value = line.strip().partition(" ")
        header[key.strip()] = value.strip()
    expected = "a storage file of OpenSim: a header, 'endheader', labels and rows"
    remedy = "Export the motion from OpenSim again."
    raise InputDataError(path, "no line 'endheader'", expected, remedy, "header")


def _in_degrees(path: Path, header: dict[str, str]) -> bool:
    stated = header.get("inDegrees")
    if stated is None or stated.lower() not in ("yes", "no"):
        found = "no key inDegrees" if stated is None else f"inDegrees={stated}"
        remedy = "Write into the header which unit the angles have."
        raise InputDataError(path, found, "inDegrees=yes or inDegrees=no", remedy, "header")
    kind = header.get("DataType", "double")
    if kind.lower() != "double":
        found, expected = f"DataType={kind}", "DataType=double, plain numbers"
        remedy = "Export the coordinates of the joint, one per column."
        raise InputDataError(path, found, expected, remedy, "header")
    return stated.lower() == "yes"


def _parse_body(path: Path, lines: list[str], start: int) -> tuple[list[str], list[list[str]]]:
    """Labels, and the cells of every row."""
    body = [(number, line) for number, line in enumerate(lines, 1) if number > start]
    body = [(number, line) for number, line in body if line.strip()]
    if not body:
        remedy = "Export the motion again."
        raise InputDataError(path, "nothing after 'endheader'", "labels and rows", remedy)
    number, line = body[0]
    # Labels may hold spaces where tabs separate them.
    labels = [label.strip() for label in line.strip().split("\t" if "\t" in line else None)]
    where = f"line {number}"
    if labels[0].lower() != "time":
        expected = "the label 'time' first"
        raise InputDataError(path, f"'{labels[0]}'", expected, "Export it again.", where)
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        found, remedy = f"more than one '{twice[0]}'", "Rename or remove one."
        raise InputDataError(path, found, "each label once", remedy, where)
    rows = [(number, line.split()) for number, line in body[1:]]
    for number, row in rows:
        if len(row) != len(labels):
            found, expected = f"{len(row)} cells", f"{len(labels)}, one for each label"
            remedy = "Fill in the missing cells; the file may have been cut off."
            raise InputDataError(path, found, expected, remedy, f"line {number}")
    return labels, [row for _, row in rows]


def _check_count(path: Path, header: dict[str, str], kind: str, count: int) -> None:
    """Compare a count in the header with what the file has."""
    key = next((name for name in _COUNTS[kind] if name in header), None)
    if key is None:
        version = header.get("version", "1")
        # Only ASCII digits: "²" is a digit to Python as well, but no number.
        if not re.fullmatch(r"[0-9]{1,9}", version) or int(version) < _VERSION_WITHOUT_COUNTS:
            key = _COUNTS[kind][0]
            found = f"no key {key} in a file of version {version}"
            remedy = "Complete the header, or export the file with OpenSim 4 or later."
            raise InputDataError(path, found, f"{key}={count}", remedy, "header")
    elif header[key] != str(count):
        found, expected = f"{key}={header[key]} but {count} {kind}", f"{count} {kind}, as counted"
        remedy = "The file was cut off or edited: export it again."
        raise InputDataError(path, found, expected, remedy, "header")
