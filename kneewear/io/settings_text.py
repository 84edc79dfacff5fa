"""Change values in a file of settings and leave its comments and layout alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from kneewear.io.atomic import atomic_path
from kneewear.settings.files import Location


def replace_values(text: str, values: Mapping[Location, float]) -> str:
    """Put numbers in the place of those of a YAML text.

    Parameters
    ----------
    text : str
        YAML.
    values : mapping of location to number
        Locations are the keys, and places in lists, that lead to a number.

    Returns
    -------
    str
        The same text but for these numbers; a comment behind one keeps its column where it can.

    Raises
    ------
    ValueError
        If there is no number at a location.
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    marks = []
    for location, value in values.items():
        node = _node_at(root, location)
        if not isinstance(node, yaml.ScalarNode):
            raise ValueError(f"no number at {'.'.join(map(str, location))}")
        marks.append((node.start_mark.index, node.end_mark.index, _shown(value)))
    # From the end, so that places before stay what they are.
    for start, end, shown in sorted(marks, reverse=True):
        text = text[:start] + shown + _shifted(text[end:], end - start - len(shown))
    return text


def save_settings(text: str, path: str | Path) -> None:
    """Write settings.

    Parameters
    ----------
    text : str
        YAML.
    path : str or Path
        File to write.
    """
    with atomic_path(path) as beside:
        beside.write_text(text, encoding="utf-8")


def _shown(value: float) -> str:
    """A number to four digits; YAML takes one with an exponent and no point for text."""
    digits, _, exponent = f"{value:.4g}".partition("e")
    point = "" if "." in digits or not exponent else ".0"
    return f"{digits}{point}e{int(exponent)}" if exponent else digits


def _node_at(node: yaml.Node | None, location: Location) -> yaml.Node | None:
    """Node at a location; None where there is nothing."""
    for step in location:
        if isinstance(node, yaml.MappingNode):
            node = next((value for key, value in node.value if key.value == step), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            node = node.value[step] if step < len(node.value) else None
        else:
            return None
    return node


def _shifted(rest: str, shorter: int) -> str:
    """What follows a number that became shorter, or longer, by so many characters."""
    line, newline, further = rest.partition("\n")
    before, hash_sign, comment = line.partition("#")
    kept = before.rstrip()
    if not hash_sign or before == kept:
        return rest
    blanks = max(len(before) - len(kept) + shorter, 2)
    return kept + " " * blanks + hash_sign + comment + newline + further
