"""What a finished study came to, in a few lines for a terminal."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from textwrap import TextWrapper

from kneewear.errors import InputDataError
from kneewear.io.documents import load_json
from kneewear.report.page import grouped_warnings

# How many of them a terminal shows; the page has all. Of a wear study the fifth result states the
# pressures with the limits of validity.
RESULTS, WARNINGS = 5, 8


def outcome(folder: Path) -> list[str]:
    """Key results of the page of a study, warnings of its jobs, and the path of the page.

    `folder` is `results/<study>`. Warnings that differ in numbers alone are one, those about
    settings are left out (they are shown before a study runs). Raises InputDataError if the study
    has no page, or one of another version.
    """
    page = folder / "report" / "index.html"
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    found = re.search(r'<ul [^>]*id="key-results">(.*?)</ul>', text, re.DOTALL)
    if found is None:
        expected = "the page of a finished study with its key results"
        raise InputDataError(page, "no key results", expected, "Run the study.")
    results = [_plain(item) for item in re.findall(r"<li>(.*?)</li>", found[1], re.DOTALL)]
    warnings = [
        f"Warning ({log}): {message}" + (f" ({more} more like it)" if more else "")
        for log, message, more in grouped_warnings(
            load_json(folder / "provenance.json")["warnings"]
        )
        if log != "settings"
    ]
    beyond = len(warnings) - WARNINGS
    more = [f"{beyond} more warnings: see the page."] if beyond > 0 else []
    wrapper = TextWrapper(100, subsequent_indent="  ", break_long_words=False)
    lines = [*results[:RESULTS], *warnings[:WARNINGS], *more]
    return [part for line in lines for part in wrapper.wrap(line)] + [f"Report: {page}"]


def _plain(item: str) -> str:
    """Text of HTML without its elements."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", item)).split())
