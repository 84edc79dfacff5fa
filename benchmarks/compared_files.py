"""Compare result files of two versions: bytes first, else values within a tolerance.

Names that changed between the versions come from a table of renames (`benchmarks/renames.csv`),
whose column `kind` says what `old` and `new` are:

============  ====================================================================================
``file``      path of a file, or of a folder with a slash at its end, below the study's results;
              without `new` it was dropped, without `old` it was added
``column``    column of a CSV; the same for dropped and added ones
``key``       key of a JSON, or name of a variable, dimension or attribute of a NetCDF; the same
``value``     text of a cell, of a JSON or of a NetCDF, as a whole
``row``       text of a cell (`new`): rows of a table that have it are new, if no old row has it
``order``     file (`old`) whose rows, and columns, may be in another order
``study``     settings of the checkout (`config/x.yaml`)
``setting``   path of a setting (`simulation.frames`) where a study is made small
``variable``  variable whose levels are chosen where a study is made small
``data``      file of the checkout that a study is made small by (`rows`)
============  ====================================================================================

A `column`, `key`, `value` or `row` may be limited to files: `tables/*.csv:name`. Where `old` and
`new` have one `*` each it stands for the same text in both.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import h5netcdf
import numpy as np

KINDS = ("file", "column", "key", "value", "row", "order", "study", "setting", "variable", "data")
SUFFIXES = (".nc", ".csv", ".json")
# Numbers below this are rounding of zero, in any unit of the results.
ZERO = 1e-12
_ABSENT = object()


@dataclass(frozen=True)
class Excepted:
    """Difference between two runs of the same code that is accepted, and its reason.

    A file, a column of a CSV, a key of a JSON or NetCDF, or the numbers of a row with a text.
    """

    kind: str
    pattern: str
    reason: str


EXCEPTED = (
    Excepted("file", "provenance.json", "seconds of the rules, and versions"),
    Excepted("file", "logs/*", "time and place of a run"),
    Excepted("file", "benchmarks/*", "seconds and memory of jobs"),
    Excepted("column", "seconds", "time that a computation took"),
    Excepted("column", "*_seconds", "time that a computation took"),
    Excepted("column", "wall_time_s", "time that a computation took"),
    Excepted("key", "wall_time_s", "time that a computation took"),
    Excepted("key", "processor_s", "time that a computation took"),
    Excepted("row", "[Pp]rocessor time *", "time that a computation took, over that of another"),
    Excepted("key", "versions", "version of the program and of its libraries"),
    Excepted("key", "fingerprint", "digest of the source code"),
)


class Renames:
    """Table of names that changed, with the kinds of the module's description."""

    def __init__(self, rows: Iterable[Mapping[str, str]] = ()) -> None:
        self.rows = [dict(row) for row in rows]
        for row in self.rows:
            if row["kind"] not in KINDS or not (row["old"] or row["new"]) or not row["reason"]:
                raise ValueError(
                    f"renames: found {row}; expected a kind of {', '.join(KINDS)}, an old or a new "
                    "name, and a reason"
                )

    @classmethod
    def read(cls, file: Path) -> Renames:
        """Renames of a CSV with the columns kind, old, new and reason."""
        with file.open(encoding="utf-8", newline="") as stream:
            return cls(csv.DictReader(stream))

    def of(self, kind: str, path: str = "") -> dict[str, str]:
        """New names by old ones; those limited to other files than `path` are left out."""
        return {
            name: _limited(kind, row["new"])[1]
            for row in self.rows
            if row["kind"] == kind and row["old"]
            for limit, name in [_limited(kind, row["old"])]
            if not limit or fnmatch(path, limit)
        }

    def new_name(self, kind: str, path: str, name: Any, known: Container[str] | None = None) -> Any:
        """Name in the new version, of the first row that fits; empty where it was dropped.

        Where the names of the new version are `known`, a row that leads to none of them is left.
        """
        for row in self.rows:
            if row["kind"] != kind or not row["old"] or not isinstance(name, str):
                continue
            limit, old = _limited(kind, row["old"])
            start, star, end = old.partition("*")
            same = name == old or (star and name.startswith(start) and name.endswith(end))
            if not same or (limit and not fnmatch(path, limit)):
                continue
            new = _limited(kind, row["new"])[1]
            new = new.replace("*", name[len(start) : len(name) - len(end)]) if star else new
            if known is None or not new or new in known:
                return new
        return name

    def added(self, kind: str, path: str = "") -> list[str]:
        """Patterns of names that are new, with no old one."""
        return [
            name
            for row in self.rows
            if row["kind"] == kind and not row["old"]
            for limit, name in [_limited(kind, row["new"])]
            if not limit or fnmatch(path, limit)
        ]

    def is_new(self, kind: str, path: str, name: Any) -> bool:
        """True if this name has no old one."""
        patterns = self.added(kind, path)
        return isinstance(name, str) and any(fnmatch(name, pattern) for pattern in patterns)

    def new_path(self, path: str) -> str:
        """Path of a result file in the new version; empty where it was dropped."""
        for old, new in self.of("file").items():
            if path == old:
                return new
            if old.endswith("/") and path.startswith(old):
                return new + path.removeprefix(old) if new else ""
        return path

    def is_added(self, path: str) -> bool:
        """True if the new version has this result file in addition."""
        added = self.added("file")
        return any(path == name or (name.endswith("/") and path.startswith(name)) for name in added)


def _limited(kind: str, name: str) -> tuple[str, str]:
    """Pattern of files a name is limited to, or nothing, and the name."""
    if kind not in ("column", "key", "value", "row"):
        return "", name
    pattern, colon, own = name.partition(":")
    return (pattern, own) if colon and pattern.endswith(SUFFIXES) else ("", name)


@dataclass
class Deviation:
    """Largest relative deviation of numbers, and what else differs, with its place."""

    tolerance: float
    largest: float = 0.0
    place: str = ""
    differences: list[str] = field(default_factory=list)

    def number(self, place: str, old: float, new: float, scale: float | None = None) -> None:
        """Compare two numbers, relative to `scale` or to the larger one."""
        if old == new or (math.isnan(old) and math.isnan(new)):
            return
        scale = max(abs(old), abs(new)) if scale is None else scale
        if max(abs(old), abs(new)) < ZERO:
            return
        error = abs(old - new) / scale if math.isfinite(old) and math.isfinite(new) else math.inf
        self._note(place, error, f"{old!r} and {new!r}")

    def array(self, place: str, old: np.ndarray, new: np.ndarray) -> None:
        """Compare numbers, relative to the largest one of the array."""
        if np.array_equal(old, new, equal_nan=True):
            return
        both = np.isfinite(old) & np.isfinite(new)
        same = (old == new) | (np.isnan(old) & np.isnan(new))
        scale = float(np.max(np.abs(old), where=both, initial=0.0))
        scale = max(scale, float(np.max(np.abs(new), where=both, initial=0.0)))
        if not np.all(same | both):
            error, at = math.inf, np.argmin(same | both)
        elif scale < ZERO:
            return
        else:
            errors = np.where(both, np.abs(np.where(both, old, 0) - np.where(both, new, 0)), 0.0)
            error, at = float(errors.max()) / scale, np.argmax(errors)
        where = [int(i) for i in np.unravel_index(at, old.shape)]
        self._note(f"{place}{where}", error, f"{old.flat[at]!r} and {new.flat[at]!r}")

    def _note(self, place: str, error: float, values: str) -> None:
        if error > self.largest:
            self.largest, self.place = error, place
        if error > self.tolerance:
            self.differ(place, values)

    def differ(self, place: str, found: str) -> None:
        """Note a difference that no tolerance covers."""
        self.differences.append(f"{place}: {found}")

    def same(self, place: str, old: Any, new: Any) -> bool:
        """Compare two things; note a difference, and return True if they are equal."""
        if old == new:
            return True
        self.differ(place, f"{_short(old)} and {_short(new)}")
        return False


@dataclass(frozen=True)
class Compared:
    """Outcome of a file: bytes, value, different, missing, empty, added, excepted or dropped."""

    path: str
    verdict: str
    largest: float = 0.0
    place: str = ""
    differences: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        """True if nothing is wrong with the file."""
        return self.verdict not in ("different", "missing")


def compare_folders(
    old: Path, new: Path, tolerance: float, renames: Renames | None = None
) -> list[Compared]:
    """Compare all NetCDF, CSV and JSON files of two results folders."""
    renames = renames or Renames()
    ours, theirs = _files(old), _files(new)
    compared, expected = [], set()
    for path in ours:
        target = renames.new_path(path)
        if not target:
            compared.append(Compared(path, "dropped"))
            continue
        expected.add(target)
        if _excepted("file", path) or _excepted("file", target):
            compared.append(Compared(path, "excepted"))
        elif target not in theirs and _is_empty(old / path):
            compared.append(Compared(target, "empty"))
        elif target not in theirs:
            compared.append(Compared(target, "missing", differences=("only in the old results",)))
        else:
            compared.append(compare_files(old / path, new / target, target, tolerance, renames))
    for path in theirs:
        if path not in expected and not _excepted("file", path):
            if renames.is_added(path) or _is_empty(new / path):
                compared.append(Compared(path, "added"))
            else:
                note = ("only in the new results",)
                compared.append(Compared(path, "missing", differences=note))
    return compared


def _is_empty(file: Path) -> bool:
    """True if a JSON has no entry, or a CSV no row: it says as much as no file."""
    if file.suffix == ".json":
        return not json.loads(file.read_text(encoding="utf-8"))
    return file.suffix == ".csv" and len(file.read_text(encoding="utf-8").splitlines()) < 2


def _files(folder: Path) -> list[str]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in paths if path.suffix in SUFFIXES)


def compare_files(
    old: Path, new: Path, name: str, tolerance: float, renames: Renames | None = None
) -> Compared:
    """Compare two files of the same kind."""
    renames = renames or Renames()
    if old.read_bytes() == new.read_bytes():
        return Compared(name, "bytes")
    found = Deviation(tolerance)
    {".nc": _netcdf, ".csv": _csv, ".json": _json}[new.suffix](old, new, name, renames, found)
    verdict = "different" if found.differences else "value"
    return Compared(name, verdict, found.largest, found.place, tuple(found.differences))


def _excepted(kind: str, name: str) -> bool:
    return any(one.kind == kind and fnmatch(name, one.pattern) for one in EXCEPTED)


def _is_timed(row: Sequence[Any]) -> bool:
    """True if a row of a table has numbers that are excepted."""
    return any(isinstance(cell, str) and _excepted("row", cell) for cell in row)


def _aligned(
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    kind: str,
    name: str,
    renames: Renames,
    place: str,
    found: Deviation,
) -> Iterator[tuple[str, Any, Any]]:
    """Entries of two mappings side by side, by the new name; notes those of one side only."""
    old = {renames.new_name(kind, name, key, new): value for key, value in old.items()}
    old.pop("", None)
    for key in [*old, *(key for key in new if key not in old)]:
        if _excepted(kind, key):
            continue
        if key in old and key in new:
            yield key, old[key], new[key]
        elif key in old or not renames.is_new(kind, name, key):
            found.differ(f"{place}{key}", f"only in the {'old' if key in old else 'new'} results")


def _netcdf(old: Path, new: Path, name: str, renames: Renames, found: Deviation) -> None:
    with h5netcdf.File(old, "r") as ours, h5netcdf.File(new, "r") as theirs:
        _group(ours, theirs, name, renames, found)


def _group(ours: Any, theirs: Any, name: str, renames: Renames, found: Deviation) -> None:
    """Compare dimensions, attributes, variables and groups of a group of a NetCDF file."""
    path = theirs.name.rstrip("/") + "/"
    for part in ("dimensions", "attrs"):
        sides = dict(getattr(ours, part).items()), dict(getattr(theirs, part).items())
        for key, one, other in _aligned(*sides, "key", name, renames, path, found):
            if part == "dimensions":
                found.same(f"{path}{key}", one.size, other.size)
            else:
                _values(f"{path}@{key}", one, other, name, renames, found)
    variables = dict(ours.variables), dict(theirs.variables)
    for key, one, other in _aligned(*variables, "key", name, renames, path, found):
        place = f"{path}{key}"
        dims = tuple(renames.new_name("key", name, dim) for dim in one.dimensions)
        if found.same(f"{place} dimensions", dims, other.dimensions):
            _values(place, one[...], other[...], name, renames, found)
        attributes = dict(one.attrs.items()), dict(other.attrs.items())
        for attr, a, b in _aligned(*attributes, "key", name, renames, f"{place}@", found):
            _values(f"{place}@{attr}", a, b, name, renames, found)
    for _, one, other in _aligned(
        dict(ours.groups), dict(theirs.groups), "key", name, renames, path, found
    ):
        _group(one, other, name, renames, found)


def _values(place: str, old: Any, new: Any, name: str, renames: Renames, found: Deviation) -> None:
    """Compare arrays, numbers or texts of a NetCDF file."""
    one, other = np.asarray(old), np.asarray(new)
    if not found.same(f"{place} type and shape", _kind(one), _kind(other)):
        return
    if one.dtype.kind in "fiub":
        found.array(place, one.astype(float), other.astype(float))
        return
    texts = [[_text(cell) for cell in side.ravel().tolist()] for side in (one, other)]
    texts[0] = [renames.new_name("value", name, text) for text in texts[0]]
    for index, (a, b) in enumerate(zip(*texts, strict=True)):
        _entry(f"{place}[{index}]", a, b, name, renames, found)


def _kind(array: np.ndarray) -> tuple[str, tuple[int, ...]]:
    """Kind and size of numbers, or text, and the shape."""
    return ("text" if array.dtype.kind in "OSU" else array.dtype.str), array.shape


def _text(cell: Any) -> Any:
    return cell.decode("utf-8") if isinstance(cell, bytes) else cell


def _entry(place: str, old: Any, new: Any, name: str, renames: Renames, found: Deviation) -> None:
    """Compare two texts, which may be JSON, as attributes of NetCDF are."""
    if old == new:
        return
    trees = [_tree(old), _tree(new)]
    if _ABSENT in trees:
        found.differ(place, f"{_short(old)} and {_short(new)}")
    else:
        _node(f"{place} ", *trees, name, renames, found)


def _tree(text: Any) -> Any:
    """Object or list of a JSON text; absent where it is none."""
    try:
        tree = json.loads(text)
    except (TypeError, ValueError):
        return _ABSENT
    return tree if isinstance(tree, dict | list) else _ABSENT


def _json(old: Path, new: Path, name: str, renames: Renames, found: Deviation) -> None:
    ours, theirs = (json.loads(path.read_text(encoding="utf-8")) for path in (old, new))
    _node("", ours, theirs, name, renames, found)


def _node(place: str, old: Any, new: Any, name: str, renames: Renames, found: Deviation) -> None:
    """Compare two trees."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key, one, other in _aligned(old, new, "key", name, renames, f"{place}/", found):
            _node(f"{place}/{key}", one, other, name, renames, found)
    elif isinstance(old, list) and isinstance(new, list):
        new = _known_rows(old, new, name, renames)
        if found.same(f"{place} length", len(old), len(new)) and not _is_timed(new):
            for index, (one, other) in enumerate(zip(old, new, strict=True)):
                _node(f"{place}/{index}", one, other, name, renames, found)
    elif _is_number(old) and _is_number(new):
        found.number(place, float(old), float(new))
    else:
        found.same(place, renames.new_name("value", name, old), new)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _csv(old: Path, new: Path, name: str, renames: Renames, found: Deviation) -> None:
    (notes, ours), (other_notes, theirs) = _table(old), _table(new)
    found.same("comments", notes, other_notes)
    theirs = theirs[:1] + _known_rows(ours[1:], theirs[1:], name, renames)
    columns = _columns(ours), _columns(theirs)
    free = any(fnmatch(name, pattern) for pattern in renames.of("order"))
    pairs = {
        key: ([renames.new_name("value", name, cell) for cell in one], other)
        for key, one, other in _aligned(*columns, "column", name, renames, "column ", found)
    }
    if not free:
        kept = [key for key in columns[1] if key in pairs]
        found.same("order of columns", list(pairs), kept)
    if not found.same("rows", len(ours) - 1, len(theirs) - 1):
        return
    rows = [_rows(pairs, side, free) for side in (0, 1)]
    for index, (one, other) in enumerate(zip(*rows, strict=True)):
        timed = _is_timed(other)
        for key, a, b in zip(pairs, one, other, strict=True):
            if timed and None not in (_number(a), _number(b)):
                continue
            _cell(f"row {index + 1}, {key}", a, b, found)


def _known_rows(old: Sequence[Any], new: Sequence[Any], name: str, renames: Renames) -> list[Any]:
    """Rows of the new table without those that were added, by a text that no old row has."""
    known = {renames.new_name("value", name, cell) for row in old for cell in _texts(row)}
    return [
        row
        for row in new
        if not any(renames.is_new("row", name, cell) and cell not in known for cell in _texts(row))
    ]


def _texts(row: Any) -> list[str]:
    """Texts of the cells of a row, or of a record and the records in it."""
    if isinstance(row, dict):
        return [
            text for part in row.values() if not isinstance(part, list) for text in _texts(part)
        ]
    cells = row if isinstance(row, list) else [row]
    return [cell for cell in cells if isinstance(cell, str)]


def _rows(pairs: Mapping[str, Sequence[Any]], side: int, free: bool) -> list[tuple[str, ...]]:
    """Rows of one side; sorted by their texts where their order is free."""
    rows = list(zip(*(pair[side] for pair in pairs.values()), strict=True))
    texts = {row: [cell if _number(cell) is None else "" for cell in row] for row in rows}
    return sorted(rows, key=lambda row: (texts[row], row)) if free else rows


def _table(file: Path) -> tuple[list[str], list[list[str]]]:
    """Lines of comment, and rows, of a CSV; the first row has the names of the columns."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    notes = [line for line in lines if line.startswith("#")]
    return notes, list(csv.reader(line for line in lines if not line.startswith("#")))


def _columns(rows: list[list[str]]) -> dict[str, list[str]]:
    return {name: [row[at] for row in rows[1:]] for at, name in enumerate(rows[0])} if rows else {}


def _cell(place: str, old: str, new: str, found: Deviation) -> None:
    if old != new:
        one, other = _number(old), _number(new)
        if one is None or other is None:
            found.differ(place, f"{_short(old)} and {_short(new)}")
        else:
            found.number(place, one, other)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _short(value: Any, most: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= most else text[:most] + "..."
