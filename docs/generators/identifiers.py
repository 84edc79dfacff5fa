"""Digital object identifiers as links, on the pages and in the docstrings of the reference."""

from __future__ import annotations

import re
from typing import Any

# Round brackets belong to an identifier where they are closed in it.
DOI = re.compile(r"\bdoi:\s?(10\.\d{4,9}/(?:\([\w-]+\)|[^\s<>(),;])*(?:\([\w-]+\)|[\w-]))")


def on_page_content(html: str, **_: Any) -> str:
    """Link the identifiers of a page."""
    return linked(html)


def linked(html: str) -> str:
    """Text whose identifiers (doi:10....) are links."""
    return DOI.sub(r'<a href="https://doi.org/\1">doi:\1</a>', html)
