"""Titles, captions and alternative texts of the figures, from `templates/figures.yaml`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml


@dataclass(frozen=True)
class FigureText:
    """Words that go with one figure.

    Parameters
    ----------
    title, caption, alternative : str
        Heading, caption, and text for those who cannot see the figure.
    """

    title: str
    caption: str
    alternative: str


@cache
def figure_texts() -> dict[str, FigureText]:
    """Words of all figures, by the prefix of the figure's name."""
    file = files("kneewear.report") / "templates" / "figures.yaml"
    texts = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {prefix: FigureText(**text) for prefix, text in texts.items()}


def figure_text(name: str) -> FigureText:
    """Words for a figure by its name; an ending (life or activity) joins the title."""
    for prefix, text in figure_texts().items():
        if name == prefix:
            return text
        if name.startswith(f"{prefix}_"):
            ending = name.removeprefix(f"{prefix}_").replace("_", " ")
            return FigureText(f"{text.title}: {ending}", text.caption, text.alternative)
    plain = name.replace("_", " ")
    return FigureText(plain.capitalize(), "", plain)


def starting_with(names: Iterable[str], *prefixes: str) -> list[str]:
    """Names of the figures of some kinds, in the order of the kinds."""
    known = list(names)
    return [
        name
        for prefix in prefixes
        for name in known
        if name == prefix or name.startswith(f"{prefix}_")
    ]
