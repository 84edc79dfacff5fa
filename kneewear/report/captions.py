"""Names of quantities, settings and methods, and the words that go with figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import yaml


class FigureText(NamedTuple):
    """Heading of a figure, its caption, and text for those who cannot see it."""

    title: str
    caption: str
    alternative: str


@cache
def template_data(name: str) -> dict[str, Any]:
    """Content of a YAML file of the templates."""
    file = files("kneewear.report") / "templates" / f"{name}.yaml"
    content: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return content


def figure_texts() -> dict[str, FigureText]:
    """Words of all figures, by the prefix of the figure's name."""
    return {prefix: FigureText(**text) for prefix, text in template_data("figures").items()}


def figure_text(name: str, endings: Mapping[str, str] | None = None) -> FigureText:
    """Words for a figure by its name; an ending (life or activity) joins the title.

    `endings` are those of figures whose name does not hold them as they are written.
    """
    for prefix, text in figure_texts().items():
        if name == prefix:
            return text
        if name.startswith(f"{prefix}_"):
            ending = name.removeprefix(f"{prefix}_").replace("_", " ")
            ending = (endings or {}).get(name, ending)
            return text._replace(title=f"{text.title}: {ending}")
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
