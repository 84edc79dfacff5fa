"""Built pages need no network: files that the theme would fetch are part of the site."""

from __future__ import annotations

import os
import sys
from pathlib import Path

FETCHED = "https://unpkg.com/iframe-worker/shim"
OURS = "assets/frame-worker.js"


def keep_offline(site: Path) -> None:
    """Let all pages of a built site use the local script instead of one from the network."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        if FETCHED in text:
            local = os.path.relpath(site / OURS, page.parent).replace(os.sep, "/")
            page.write_text(text.replace(FETCHED, local), encoding="utf-8")


if __name__ == "__main__":
    keep_offline(Path(sys.argv[1]))
