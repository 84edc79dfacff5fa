"""YAML files of settings, read as data: every key with its line, and YAML's traps refused."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from kneewear.base.content import read_content
from kneewear.base.renamed_keys import rename_settings
from kneewear.errors import Finding, InputDataError

Location = tuple[str | int, ...]

# Settings are a few pages; nor may aliases unfold them beyond this many entries.
_MAX_BYTES = 200_000
_MAX_ENTRIES = 20_000
_MAX_LEVELS = 2_000
_TAG = "tag:yaml.org,2002:"
_OCTAL = re.compile(r"[-+]?0[0-7_]+")


@dataclass(frozen=True)
class SettingsFile:
    """Content of one file.

    Parameters
    ----------
    path : str
        The file.
    content : dict
        Its mapping.
    lines : dict
        Location (keys, and indices of lists) to its line, counted from 1; 0 where there are none.
    findings : tuple of Finding
        One for each earlier name of a key or value, which content and lines have by the present
        one (:mod:`kneewear.base.renamed_keys`).
    """

    path: str
    content: dict[str, Any]
    lines: dict[Location, int]
    findings: tuple[Finding, ...] = ()


def value_at(settings: Any, location: Location) -> Any:
    """Value at a location of settings; None where there is nothing."""
    for step in location:
        try:
            settings = settings[step]
        except (KeyError, IndexError, TypeError):
            return None
    return settings


def settings_leaves(settings: Any, path: str = "") -> dict[str, str]:
    """Settings by their key paths, as text; of a list of mappings the entries of each."""
    if isinstance(settings, list) and settings and isinstance(settings[0], Mapping):
        settings = "; ".join(
            ", ".join(f"{key} {value}" for key, value in settings_leaves(one).items())
            for one in settings
        )
    if not isinstance(settings, Mapping):
        return {path: "none" if settings is None else str(settings)}
    found: dict[str, str] = {}
    for key, value in settings.items():
        found |= settings_leaves(value, f"{path}.{key}" if path else str(key))
    return found


def unfiled_settings(content: Mapping[str, Any], name: str) -> SettingsFile:
    """Settings that are in no file, such as those of a command line, called by a name."""

    def locations(value: Any, at: Location) -> Iterator[Location]:
        entries = value.items() if isinstance(value, Mapping) else ()
        for key, inner in (*entries, *(enumerate(value) if isinstance(value, list) else ())):
            yield (*at, key)
            yield from locations(inner, (*at, key))

    present = rename_settings(content, name)
    lines = dict.fromkeys(locations(present.content, ()), 0)
    return SettingsFile(name, present.content, lines, present.findings)


def read_settings(path: str | Path) -> dict[str, Any]:
    """Settings in a YAML file, as `read_settings_file` reads them."""
    return read_settings_file(path).content


def read_settings_file(path: str | Path) -> SettingsFile:
    """Settings in a YAML file with the line of every key.

    Parameters
    ----------
    path : str or Path
        YAML file.

    Returns
    -------
    SettingsFile

    Raises
    ------
    InputDataError
        When the file cannot be read, is no YAML or no mapping; when a key occurs twice; when
        YAML reads a value as something else than it looks: `no` (false), `10:30` (630),
        `010` (8), a date; when a block has the earlier and the present name of a key.
    """
    found = _parsed(str(path), _text(path))
    return replace(found, content=copy.deepcopy(found.content))


# A check of one study reads the same shipped files several times, and parsing takes most of it.
@lru_cache(maxsize=32)
def _parsed(path: str, text: str) -> SettingsFile:
    """Settings in a text."""
    try:
        loader = _loader_of(text)(text)
        root = loader.get_single_node()
        if not isinstance(root, yaml.MappingNode):
            kinds = {yaml.SequenceNode: "a list", yaml.ScalarNode: "a single value"}
            found = kinds.get(type(root), "an empty file")
            raise _fault(path, found, "a mapping of keys to values", "Name each value.")
        if _size(root, {}) > _MAX_ENTRIES:
            found = f"more than {_MAX_ENTRIES} entries, aliases unfolded"
            raise _fault(path, found, "settings", "Write out the content of the aliases.")
        lines: dict[Location, int] = {}
        for location, label, value in _entries(root, ()):
            if location in lines:
                found = f"a second key '{location[-1]}' (the first is in line {lines[location]})"
                raise _fault(path, found, "every key once", "Remove one.", label.start_mark)
            lines[location] = label.start_mark.line + 1
            _check_scalar(path, label)
            _check_scalar(path, value)
        present = rename_settings(loader.construct_document(root), path, lines)
        return SettingsFile(path, present.content, present.lines, present.findings)
    except InputDataError:
        raise
    except yaml.MarkedYAMLError as error:
        found = " ".join(part for part in (error.context, error.problem) if part)
        remedy = "Correct the line; YAML indents with blanks, not with tabs."
        raise _fault(path, found, "valid YAML", remedy, error.problem_mark) from error
    except RecursionError as error:
        raise _fault(path, "lists within lists without end", "settings", "Unfold them.") from error
    except Exception as error:  # the loader raises errors of many types
        found = " ".join(str(error).split())
        raise _fault(path, found, "valid YAML", "Correct the file.") from error


def _loader_of(text: str) -> Any:
    """PyYAML's compiled loader, eight times as fast, where the text cannot overflow its stack.

    A level of nesting needs a bracket or a column of a line.
    """
    levels = text.count("[") + text.count("{") + max(map(len, text.splitlines()), default=0)
    compiled = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return compiled if levels < _MAX_LEVELS else yaml.SafeLoader


def _text(path: str | Path) -> str:
    """Text of a settings file."""
    smaller = "write levels of a variable into a table of cases, as docs/how-to/cohorts.md shows"
    content = read_content(path, "a YAML file of settings", _MAX_BYTES, "Check the path.", smaller)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"a byte 0x{content[error.start]:02x} that is not UTF-8"
        line = content.count(b"\n", 0, error.start) + 1
        raise InputDataError(
            path, found, "YAML in UTF-8", "Save the file as UTF-8.", f"line {line}"
        ) from error


def _size(node: yaml.Node, known: dict[int, int]) -> int:
    """Entries of a node with all its aliases unfolded; too many for one that holds itself."""
    if id(node) not in known:
        known[id(node)] = _MAX_ENTRIES + 1
        parts = node.value if isinstance(node, yaml.SequenceNode) else []
        if isinstance(node, yaml.MappingNode):
            parts = [part for pair in node.value for part in pair]
        known[id(node)] = 1 + sum(_size(part, known) for part in parts)
    return known[id(node)]


def _entries(
    node: yaml.Node, location: Location
) -> Iterator[tuple[Location, yaml.Node, yaml.Node]]:
    """Yield what is below a node: location, the node that gives its line, its value."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = (*location, key.value if isinstance(key, yaml.ScalarNode) else "?")
            yield inner, key, value
            yield from _entries(value, inner)
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            inner = (*location, number)
            yield inner, value, value
            yield from _entries(value, inner)


def _check_scalar(path: str | Path, node: yaml.Node) -> None:
    """Refuse a value that YAML reads as something else than it looks."""
    if not isinstance(node, yaml.ScalarNode) or node.style:
        return
    kind, text = node.tag.removeprefix(_TAG), node.value
    if kind == "bool" and text.lower() not in ("true", "false"):
        meaning, wanted = "true or false", "true or false"
    elif kind in ("int", "float") and ":" in text:
        meaning, wanted = "a number to the base 60", "a decimal number"
    elif kind == "int" and _OCTAL.fullmatch(text):
        meaning, wanted = "a number to the base 8", "a number without leading zeros"
    elif kind == "timestamp":
        meaning, wanted = "a date", "text or a number"
    else:
        return
    found = f"{text}, which YAML takes for {meaning}"
    remedy = f'If it is text, put it in quotes: "{text}".'
    raise _fault(path, found, wanted, remedy, node.start_mark)


def _fault(
    path: str | Path, found: str, expected: str, remedy: str, mark: yaml.Mark | None = None
) -> InputDataError:
    where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    return InputDataError(path, found, expected, remedy, where)
