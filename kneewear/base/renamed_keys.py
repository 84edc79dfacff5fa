"""Earlier names of keys and values of settings, which are still read for one release.

The table `renamed_keys.csv` lists them in the order in which they are applied. A row of kind `key`
renames the key `old` of the block at `path` (empty for the top level), one of kind `value` the text
`old` at `path`. A step `*` of a path is any key or entry. Paths are written with the new names.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kneewear.errors import Finding, InputDataError

_TABLE = Path(__file__).with_suffix(".csv")
_Location = tuple[str | int, ...]


@dataclass(frozen=True)
class Rename:
    """One row of the table."""

    kind: str
    path: tuple[str, ...]
    old: str
    new: str


@cache
def renames() -> tuple[Rename, ...]:
    """All rows of the table, in the order in which they are applied."""
    with _TABLE.open(encoding="utf-8", newline="") as file:
        return tuple(
            Rename(row["kind"], tuple(filter(None, row["path"].split("."))), row["old"], row["new"])
            for row in csv.DictReader(file)
        )


@dataclass(frozen=True)
class RenamedSettings:
    """Settings with present names, and where earlier ones were given.

    Parameters
    ----------
    content : dict
        The settings.
    lines : dict
        Location, with the present names, to its line in the file.
    findings : tuple of Finding
        One for each earlier name, with its file and line.
    """

    content: dict[str, Any]
    lines: dict[_Location, int]
    findings: tuple[Finding, ...]


def rename_settings(
    settings: Mapping[str, Any], name: str, lines: Mapping[_Location, int] | None = None
) -> RenamedSettings:
    """Replace earlier names of keys and values by the present ones.

    Parameters
    ----------
    settings : mapping
        Settings, complete or not; they are not changed.
    name : str
        File of the settings, or what messages call them.
    lines : mapping, optional
        Location to its line in the file.

    Returns
    -------
    RenamedSettings

    Raises
    ------
    InputDataError
        If a block has both the earlier and the present name of a key.
    """
    content = dict(settings)
    numbers = dict(lines or {})
    findings: list[Finding] = []
    for rename in renames():
        for at in list(_locations(content, rename.path)):
            value = _value_at(content, at)
            if rename.kind == "value" and value == rename.old and isinstance(value, str):
                content = _replaced(content, at, rename.new)
                findings.append(_finding(rename, name, at, numbers.get(at)))
            elif rename.kind == "key" and isinstance(value, Mapping) and rename.old in value:
                earlier = (*at, rename.old)
                where = _position(name, numbers.get(earlier))
                if rename.new in value:
                    raise InputDataError(
                        where,
                        f"the key {_dotted(earlier)} and its present name {rename.new}",
                        "one of them",
                        f"Remove {rename.old}.",
                    )
                block = {rename.new if key == rename.old else key: v for key, v in value.items()}
                content = _replaced(content, at, block)
                findings.append(_finding(rename, name, earlier, numbers.get(earlier)))
                present = (*at, rename.new)
                size = len(earlier)
                numbers = {
                    (*present, *place[size:]) if place[:size] == earlier else place: line
                    for place, line in numbers.items()
                }
    return RenamedSettings(content, numbers, tuple(findings))


def present_settings(settings: Mapping[str, Any], name: str = "settings") -> dict[str, Any]:
    """Settings with the present names of keys and values; InputDataError as `rename_settings`."""
    return rename_settings(settings, name).content


def _finding(rename: Rename, name: str, at: _Location, line: int | None) -> Finding:
    """Finding about an earlier name."""
    new = (*at[:-1], rename.new) if rename.kind == "key" else (rename.new,)
    found = f"{_dotted(at)}: {rename.old}" if rename.kind == "value" else f"key {_dotted(at)}"
    return Finding(
        "",
        "warn",
        _position(name, line),
        f"the earlier name {found}",
        _dotted(new),
        "Rename it: the next release no longer reads the earlier name.",
    )


def _position(name: str, line: int | None) -> str:
    """File with the line, where it is known."""
    return f"{name}, line {line}" if line else name


def _dotted(location: _Location) -> str:
    """Location as a path of keys."""
    return ".".join(map(str, location))


def _locations(value: Any, path: tuple[str, ...], at: _Location = ()) -> Iterator[_Location]:
    """Yield the locations of settings that a path matches."""
    if not path:
        yield at
        return
    entries: Any = ()
    if isinstance(value, Mapping):
        entries = value.items() if path[0] == "*" else ((path[0], value.get(path[0])),)
    elif isinstance(value, list | tuple) and path[0] == "*":
        entries = enumerate(value)
    for key, inner in entries:
        yield from _locations(inner, path[1:], (*at, key))


def _value_at(settings: Any, location: _Location) -> Any:
    """Value at a location that `_locations` yielded."""
    for step in location:
        settings = settings.get(step) if isinstance(settings, Mapping) else settings[step]
    return settings


def _replaced(settings: Any, location: _Location, value: Any) -> Any:
    """Copy of settings with another value at a location."""
    if not location:
        return value
    step, *inner = location
    if isinstance(settings, Mapping):
        return {**settings, step: _replaced(settings[step], tuple(inner), value)}
    return [
        _replaced(entry, tuple(inner), value) if number == step else entry
        for number, entry in enumerate(settings)
    ]
