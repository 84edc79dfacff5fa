"""Variables of each value object in NetCDF files, read from `schema.csv`.

The first row of a record names its kind in words, which is stored in the file and checked on
reading. A row `*name` includes the variables of a group in lower case; `.` in their dimensions
are the dimensions of that row. Attributes of the value object that are not among the variables
become attributes of the file (text, numbers, tuples) or groups (other value objects).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

# Dimensions of the same length in every file.
LENGTHS = {
    "component": 3,
    "coordinate": 6,
    "tangent": 2,
    "corner": 3,
    "cell_corner": 4,
    "plan": 2,
    "edge_end": 2,
    "limit": 2,
    "table_axis": 3,
}
# Chunk lengths along dimensions that are read in parts; all others are stored whole. One case or a
# few frames of it then stay cheap to read, and 9 x 9 samples of 14 columns are the 9072 bytes of
# Machado's records.
CHUNKS = {"life": 1, "activity": 1, "case": 1, "frame": 10, "u_sample": 9, "v_sample": 9}


@dataclass(frozen=True)
class StoredVariable:
    """One variable of a file, a row of the table.

    `dimensions` are separated by spaces, slowest first; `units` is "1" for pure numbers; `dtype` is
    a numpy type, or "text". `source` is an attribute of the value object, `cases.name` for an
    attribute of each of its records, or "=x y z" for values that are the same in every file.
    `options` are "coordinate", which labels a dimension; "nan", which may hold NaN, an error
    elsewhere; "masked", written as zero where the attribute `valid` is false; "unread", only there
    for other programs; "chunks" and "compressed", stored in (compressed) chunks.
    """

    name: str
    dimensions: str
    units: str
    long_name: str
    dtype: str = "f8"
    source: str = ""
    options: str = ""

    @property
    def is_coordinate(self) -> bool:
        """True if the variable labels a dimension."""
        return "coordinate" in self.options

    @property
    def attribute(self) -> str:
        """Attribute of the value object; "" for constant values."""
        return "" if self.labels else (self.source or self.name).partition(".")[0]

    @property
    def part(self) -> str:
        """Attribute of each of its records; "" where the attribute itself is stored."""
        return self.source.partition(".")[2]

    @property
    def labels(self) -> list[str]:
        """Values that are the same in every file."""
        return self.source[1:].split() if self.source.startswith("=") else []


@dataclass(frozen=True)
class StoredRecord:
    """Kind and variables of one class of value objects."""

    kind: str
    variables: tuple[StoredVariable, ...] = ()


def _records() -> dict[str, StoredRecord]:
    """Records of `schema.csv` by the names of their classes."""
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    kinds = {row[0]: row[4] for row in rows if not row[1]}
    listed: dict[str, list[StoredVariable]] = {row[0]: [] for row in rows}
    for record, name, dimensions, units, long_name, dtype, source, options in rows:
        if name.startswith("*"):
            listed[record] += _included(listed[name[1:]], dimensions)
        elif name:
            listed[record].append(
                StoredVariable(name, dimensions, units, long_name, dtype or "f8", source, options)
            )
    return {name: StoredRecord(kind, tuple(listed[name])) for name, kind in kinds.items()}


def _included(variables: list[StoredVariable], dimensions: str) -> Iterator[StoredVariable]:
    """Variables of a group, with the dimensions of the row that includes it."""
    return (
        replace(variable, dimensions=variable.dimensions.replace(".", dimensions))
        for variable in variables
    )


RECORDS = _records()
