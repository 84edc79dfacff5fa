"""Pages together with their appendices."""

from __future__ import annotations

from kneewear.report.page import render_page


def both_pages(*args, **kwargs):
    """Text of a page, and after it that of its appendix."""
    return "".join(render_page(*args, **kwargs, part=part) for part in ("page", "appendix"))
