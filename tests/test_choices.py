"""Choices that comments of the default settings name are those of the types."""

from __future__ import annotations

import re
from typing import Any, Literal, get_args, get_origin

import pytest

from kneewear import default_settings_file
from kneewear.activity.standards import Standard
from kneewear.base.files import read_settings_file
from kneewear.base.keys import keys_of
from kneewear.study.settings import STUDIES
from kneewear.study.study import WearStudy

DEFAULTS = read_settings_file(default_settings_file())
TEXT = default_settings_file().read_text(encoding="utf-8").splitlines()


def literals_in(annotation: Any) -> list[str]:
    """Names among which an annotation lets a user choose one."""
    if get_origin(annotation) is Literal:
        return [value for value in get_args(annotation) if isinstance(value, str)]
    if get_origin(annotation) in (tuple, list, dict):
        return []
    return [name for part in get_args(annotation) for name in literals_in(part)]


def choices_by_path() -> dict[str, list[str]]:
    """Choices of the keys of the default study by path, `*` for names that a user chooses."""
    found: dict[str, list[str]] = {"model": list(STUDIES)}
    for key in keys_of(WearStudy):
        if key.path != "model":
            names = found.setdefault(key.path, [])
            names += [name for name in literals_in(key.field.annotation) if name not in names]
    found["activities.*.source"] += list(get_args(Standard))
    return {path: names for path, names in found.items() if len(names) > 1}


def comment_of(line: int) -> str:
    """Comment of a line of the default settings, with the lines of comments alone after it."""
    own = TEXT[line - 1].partition("#")[2]
    for text in TEXT[line:]:
        if not text.lstrip().startswith("#") or not own:
            break
        own += " " + text.lstrip(" #")
    return own


def choices_named(comment: str) -> list[str]:
    """Choices that a comment separates by strokes; the last may be followed by further text."""
    if "|" not in comment:
        return []
    plain = re.sub(r"\([^)]*\)", "", comment)
    *first, last = plain.split("|")
    return [name.strip() for name in (*first, re.split("[:;]", last)[0])]


def commented() -> list[tuple[str, int, list[str]]]:
    """Path and line of each key of the default settings that has choices, and its choices."""
    patterns = {
        re.compile(re.escape(path).replace(r"\*", r"[^.]+") + "$"): names
        for path, names in choices_by_path().items()
    }
    places = {".".join(map(str, at)): line for at, line in DEFAULTS.lines.items()}
    return [
        (path, line, names)
        for path, line in places.items()
        for pattern, names in patterns.items()
        if pattern.match(path)
    ]


PLACES = commented()


@pytest.mark.parametrize(("path", "line", "names"), PLACES, ids=[place[0] for place in PLACES])
def test_comments_name_the_choices_of_the_type(path, line, names):
    named = choices_named(comment_of(line))
    if not named:
        key = path.rpartition(".")[2]
        same = [at for own, at, _ in PLACES if own.rpartition(".")[2] == key and at < line]
        assert same, "the first of these keys names the choices"
    else:
        assert sorted(named) == sorted(names)


def test_choices_are_found_in_comments():
    assert len(PLACES) > 15
    assert choices_named("linear (Bei 2003) | own: see (a | b)") == ["linear", "own"]
    assert choices_named("mm; minimum thickness") == []
