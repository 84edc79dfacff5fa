"""Digital object identifiers as links, on the pages and in the docstrings of the reference."""

from __future__ import annotations

import re

from docs.generators.outside_code import change_outside_code

# Round brackets belong to an identifier where they are closed in it.
DOI = re.compile(r"\bdoi:\s?(10\.\d{4,9}/(?:\([\w-]+\)|[^\s<>(),;])*(?:\([\w-]+\)|[\w-]))")


def linked(markdown: str) -> str:
    """Page whose identifiers (doi:10....), outside code, are links."""
    return change_outside_code(
        markdown, lambda text: DOI.sub(r'<a href="https://doi.org/\1">doi:\1</a>', text)
    )
