"""Changes of a page of Markdown that leave its code alone."""

from __future__ import annotations

import re
from collections.abc import Callable

# Fenced blocks and code in a line.
CODE = re.compile(r"^ *```.*?^ *```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def change_outside_code(markdown: str, change: Callable[[str], str]) -> str:
    """Return the page with every text between its code changed by a function."""
    texts, codes = CODE.split(markdown), CODE.findall(markdown)
    pairs = zip(map(change, texts), [*codes, ""], strict=True)
    return "".join(part for pair in pairs for part in pair)
