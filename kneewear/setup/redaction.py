"""Replacement of names, paths and places in texts and settings that leave a machine."""

from __future__ import annotations

import getpass
import os
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kneewear import checkout_folder, default_settings_file
from kneewear.io.cad import SUFFIXES as CAD_SUFFIXES
from kneewear.io.shapes import MESH_SUFFIXES

SHAPE_SUFFIXES = (*MESH_SUFFIXES, *CAD_SUFFIXES)
# Names shorter than this are too common in texts to be replaced.
_SHORTEST_NAME = 3
# Parts of the names of keys under `implant` whose numbers belong to the computation, not the shape.
_COMPUTED = ("tolerance", "smoothing", "knot_spacing", "nominal_thickness")
_HIDDEN = "..."

_DECIMAL = r"[-+]?(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?"
_NUMBER = rf"(?:{_DECIMAL}|[-+]?\d+|nan|inf)"
_BETWEEN = r"(?:\s*[,;]\s*|\s+|\]\s*\[)"
# Three numbers in a row, or two with decimals, are a place or a part of a table.
_ROW_OF_NUMBERS = re.compile(
    rf"{_NUMBER}(?:{_BETWEEN}{_NUMBER}){{2,}}|{_DECIMAL}{_BETWEEN}{_DECIMAL}"
)
_COORDINATE = re.compile(rf"\b([xyz])( ?[=:]? ?){_NUMBER}(?: to {_NUMBER})?")
_QUOTED_PATH = re.compile(r"""(["'])(?:~?/|[A-Za-z]:[\\/]|\\\\)[^"'\n]*\1""")
_PATH = re.compile(r"(?<![\w.>])(?:~?/(?=[\w.])|[A-Za-z]:[\\/]|\\\\(?=\w))[^\s\"'<>|,;()\[\]]*")
_SHAPE_FILE = re.compile(
    rf"[^\s\"'<>|,;:()\[\]]+({'|'.join(map(re.escape, SHAPE_SUFFIXES))})\b", re.IGNORECASE
)


@dataclass
class Redaction:
    """Replacement of what a report must not hold, in texts and in settings.

    `names` are what is replaced and by what: files, studies, folders, the person and the machine.
    """

    names: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, by: str) -> None:
        """Replace a name from now on, unless it has a replacement or says nothing.

        Names that are too short, or made of words of the settings alone, as `insert`, say nothing.
        """
        words = re.findall(r"[^\W_]+", name.lower())
        if len(name) >= _SHORTEST_NAME and not words_of_settings().issuperset(words):
            self.names.setdefault(name, by)

    def add_file(self, file: str, role: str) -> str:
        """Replace a file, by its path, its name and its name without ending; returns the new one.

        The ending is kept: formats are recognised by it.
        """
        path = Path(file)
        known = {by.partition(".")[0] for by in self.names.values() if by.startswith(f"{role}-")}
        number = len(known) + 1
        alias = f"{role}-{number}{path.suffix.lower()}"
        alias = self.names.get(file, self.names.get(path.name, alias))
        for name in (str(path.expanduser().absolute()), str(path.resolve()), file, path.name):
            self.names.setdefault(name, alias)
        self.add(path.stem, alias.removesuffix(path.suffix.lower()))
        return alias

    def text(self, text: str) -> str:
        """Text without names, paths, places and rows of numbers."""
        for name in sorted(self.names, key=len, reverse=True):
            bounded = rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])"
            text = re.sub(bounded, self.names[name], text, flags=re.IGNORECASE)
        text = _QUOTED_PATH.sub(r"\1<path>\1", text)
        text = _PATH.sub("<path>", text)
        text = _SHAPE_FILE.sub(self._shape, text)
        text = _COORDINATE.sub(rf"\1\2{_HIDDEN}", text)
        return _ROW_OF_NUMBERS.sub(_HIDDEN, text)

    def _shape(self, found: re.Match[str]) -> str:
        """The alias of a shape's file, or another one for a file that nobody named."""
        known = found.group(0) in self.names.values()
        return found.group(0) if known else f"<shape>{found.group(1).lower()}"

    def settings(self, settings: Any, shape: bool = False, words: bool = False) -> Any:
        """Settings with redacted texts and keys, without numbers of a shape and lists of places.

        Texts of several words are left out: they say what only a person reads. Names of columns
        are kept (`words`), by which curves are recognised.
        """
        if isinstance(settings, Mapping):
            redacted: dict[str, Any] = {}
            for key, value in settings.items():
                name = str(key) if words or " " not in str(key) else f"name-{len(redacted) + 1}"
                of_shape = (shape or _is_of_shape(str(key))) and not _is_computed(str(key))
                redacted[self.text(name)] = self.settings(
                    value, of_shape, words or key == "columns"
                )
            return redacted
        if isinstance(settings, list | tuple):
            numbers = np.array(_numbers_of(settings))
            if numbers.size and (shape or numbers.size == 3 or _is_nested(settings)):
                return f"{numbers.size} numbers"
            return [self.settings(value, shape, words) for value in settings]
        if isinstance(settings, str):
            return self.text(settings) if words or " " not in settings else "<text>"
        is_number = isinstance(settings, int | float) and not isinstance(settings, bool)
        return _HIDDEN if shape and is_number else settings


@cache
def words_of_settings() -> frozenset[str]:
    """Words of the default settings and of their comments."""
    text = default_settings_file().read_text(encoding="utf-8")
    return frozenset(re.findall(r"[^\W_]+", text.lower()))


def _is_of_shape(key: str) -> bool:
    """True for the block of an implant, and for paths of keys into it."""
    return key.partition(".")[0] == "implant"


def _is_computed(key: str) -> bool:
    return any(word in key for word in _COMPUTED)


def _is_nested(values: Sequence[Any]) -> bool:
    return any(isinstance(value, list | tuple) for value in values)


def _numbers_of(values: Any) -> list[float]:
    """Numbers of a nested list; empty if it holds anything else."""
    numbers: list[float] = []
    for value in values:
        if isinstance(value, list | tuple):
            inner = _numbers_of(value)
            if len(value) and not inner:
                return []
            numbers += inner
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers.append(float(value))
        else:
            return []
    return numbers


def redaction_of_machine() -> Redaction:
    """Folders, person and host of this process."""
    redaction = Redaction()
    package = Path(__file__).resolve().parents[2]
    for folder, by in (
        (package, "<kneewear>"), (checkout_folder().resolve(), "<kneewear>"),
        (Path(sys.prefix), "<python>"), (Path(sys.base_prefix), "<python>"),
        (Path.cwd(), "<folder>"), (Path.home(), "<home>"),
    ):  # fmt: skip
        if folder != folder.parent:
            redaction.add(str(folder), by)
    people = {Path.home().name, *(os.environ.get(key, "") for key in ("USER", "LOGNAME"))}
    with suppress(OSError, KeyError):
        people.add(getpass.getuser())
    for person in people:
        redaction.add(person, "<user>")
    for host in (platform.node(), platform.node().partition(".")[0]):
        redaction.add(host, "<host>")
    return redaction
