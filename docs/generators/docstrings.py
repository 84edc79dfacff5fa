"""Docstrings as Markdown: converts roles and plain-text tables, which Markdown does not support."""

from __future__ import annotations

import re
from typing import Any

import griffe

from docs.generators.identifiers import linked
from docs.generators.mathematics import with_formulas

ROLE = re.compile(r":[a-z:]+:`~?([^`]+)`")
RULE = re.compile(r"^\s*=+( +=+)+\s*$")
# Values of names that only abbreviate a type, as `Array = NDArray[np.float64]`.
TYPE = re.compile(
    r"^(NDArray|Callable|Mapping|Sequence|Iterator|Literal|Annotated|tuple|dict|list)\["
    r"|^[A-Z]\w*(\[.*\])?( \| [A-Z]\w*(\[.*\])?)+$"
)


class Readable(griffe.Extension):
    """Rewrites roles and tables before docstrings are parsed; leaves out abbreviations of types."""

    def on_module_members(self, *, mod: griffe.Module, **_: Any) -> None:
        """Leave out the module's abbreviations of types: docstrings state shape and unit."""
        for name, member in list(mod.members.items()):
            if not member.is_alias and member.is_attribute and TYPE.match(str(member.value or "")):
                del mod.members[name]

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring and not obj.is_alias:
            obj.docstring.value = readable(obj.docstring.value)


def readable(text: str) -> str:
    """Text of a docstring without roles, its tables fenced.

    Parameters
    ----------
    text : str
        Docstring as written.

    Returns
    -------
    str
        The same in Markdown, with formulas and links of identifiers.
    """
    lines = ROLE.sub(r"`\1`", text).split("\n")
    rules = [number for number, line in enumerate(lines) if RULE.match(line)]
    for first, last in reversed(list(zip(rules[::3], rules[2::3], strict=False))):
        lines[last + 1 : last + 1] = ["```"]
        lines[first:first] = ["```text"]
    return linked(with_formulas("\n".join(lines)))
