"""Pages need no network: files that the theme would fetch are part of the site."""

from __future__ import annotations

from typing import Any

from mkdocs.utils import get_relative_url

FETCHED = "https://unpkg.com/iframe-worker/shim"
OURS = "assets/frame-worker.js"


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Use the local script instead of one from the network."""
    return output.replace(FETCHED, get_relative_url(OURS, page.url))


def on_post_template(output_content: str, **_: Any) -> str:
    """The same on the page of missing addresses."""
    return output_content.replace(FETCHED, "/" + OURS)
