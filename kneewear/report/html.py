"""HTML from the templates of the package: the only place where pages are put together."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

LINK = re.compile(r"https://doi\.org/\S+")
CODE = re.compile(r"`([^`]+)`")


def render(template: str, **values: Any) -> str:
    """HTML of a template of `kneewear/report/templates` with its values."""
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=PackageLoader("kneewear.report", "templates"),
    )
    environment.filters |= {"embedded": _as_json, "marked": marked}
    environment.globals |= {"library": library}
    return environment.get_template(template).render(**values)


def _as_json(value: Any) -> Markup:
    """JSON for a script element: nothing in it can end the element."""
    return Markup(json.dumps(value, separators=(",", ":")).replace("<", "\\u003c"))


def marked(text: str) -> Markup:
    """Text whose digital object identifiers are links, and names in backticks code."""
    linked = LINK.sub(r'<a href="\g<0>">\g<0></a>', str(escape(text)))
    return Markup(CODE.sub(r"<code>\1</code>", linked))


@cache
def library(package: str, path: str) -> Markup:
    """Text of a file of a browser library: K3D-jupyter and ITables (DataTables), MIT licence."""
    # Their Python halves are not imported: that would bring all of Jupyter in.
    file = distribution(package).locate_file(path)
    text = Path(str(file)).read_text(encoding="utf-8")
    return Markup(text.replace("</script", "<\\/script"))
