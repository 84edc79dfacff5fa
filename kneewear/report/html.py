"""HTML from the templates of the package: the only place where pages are put together."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from kneewear.report.tables import SUPERSCRIPTS

LINK = re.compile(r"https://doi\.org/\S+")
CODE = re.compile(r"`([^`]+)`")
# Path of a setting, which is longer than a line of a narrow column.
KEY = re.compile(r"(?<![\w./-])[a-z]\w*(?:[._][a-z]\w*){2,}\b(?![/:])")
# A number and its unit, which stay on one line.
TIED = re.compile(
    r"(?<=\d) (?=(?:mm[²³]?|MPa|kg|mg|µm|nm|N|deg|months?|million|%|±|×)(?![a-z]))|(?<=×) (?=\d)"
)
# Signs that a terminal writes in plain letters, and how they are set on a page.
SET = [
    (re.compile(pattern), written)
    for pattern, written in (
        (r"(?<![\w./-])(mm|cm|m)2\b(?![./]\w)", r"\1²"),
        (r"(?<![\w./-])(mm|cm|m)3\b(?![./]\w)", r"\1³"),
        (r"(?<=\d )um\b", "µm"),
        (r"(?<![\w.,:+-])-(?=\d)", "−"),
    )
]
POWER = re.compile(r"(?<![\w./-])(−?\d+(?:\.\d+)?)e([+-]?\d+)\b(?!\.)")


def render(template: str, **values: Any) -> str:
    """HTML of a template of `kneewear/report/templates` with its values."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    """Templates of the package, each compiled once."""
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=PackageLoader("kneewear.report", "templates"),
    )
    environment.filters |= {
        "embedded": _as_json,
        "marked": marked,
        "typeset": typeset,
        "tied": tie_units,
        "begun": begun,
    }
    environment.globals |= {"packed_library": packed_library}
    return environment


def _as_json(value: Any) -> Markup:
    """JSON for a script element: nothing in it can end the element."""
    return Markup(json.dumps(value, separators=(",", ":")).replace("<", "\\u003c"))


def marked(text: str) -> Markup:
    """Text whose digital object identifiers are links, and names in backticks code."""
    linked = LINK.sub(r'<a href="\g<0>">\g<0></a>', _breakable(str(escape(text))))
    return Markup(CODE.sub(r"<code>\1</code>", linked))


def _breakable(text: str) -> str:
    """HTML in which long keys, as `activities.gait.load`, can be broken after their dots."""
    return KEY.sub(lambda key: re.sub(r"([._])", r"\1<wbr>", key[0]), text)


def typeset(text: str) -> str:
    """Text with signs of print: mm³, µm, a minus before numbers, and powers of ten."""
    for pattern, written in SET:
        text = pattern.sub(written, text)
    return POWER.sub(
        lambda found: f"{found[1]} × 10{str(int(found[2])).translate(SUPERSCRIPTS)}", text
    )


def tie_units(text: str) -> str:
    """Typeset text whose numbers are not separated from their units."""
    return TIED.sub("\u00a0", typeset(text))


def begun(text: str) -> str:
    """Text that begins a sentence."""
    return text[:1].upper() + text[1:]


@cache
def packed_library(package: str, path: str) -> str:
    """File of a browser library, compressed and as text: ITables (DataTables), MIT licence."""
    # Its Python half is not imported: that would bring all of Jupyter in.
    file = distribution(package).locate_file(path)
    packed = gzip.compress(Path(str(file)).read_bytes(), 9, mtime=0)
    return b64encode(packed).decode("ascii")
