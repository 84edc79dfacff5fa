"""Nothing is fetched when pages are read: what the theme would take from elsewhere comes along."""

from __future__ import annotations

from typing import Any

from mkdocs.utils import get_relative_url

FETCHED = "https://unpkg.com/iframe-worker/shim"
OURS = "assets/frame-worker.js"


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Name our script where the theme names one on the network."""
    return output.replace(FETCHED, get_relative_url(OURS, page.url))


def on_post_template(output_content: str, **_: Any) -> str:
    """The same on the page for addresses that do not exist."""
    return output_content.replace(FETCHED, "/" + OURS)
