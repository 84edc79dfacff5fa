"""Formulas between dollar signs as MathML, which browsers draw without any script or font."""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

DISPLAYED = r"\$\$(.+?)\$\$"
INLINE = r"(?<![\\$])\$(?!\s)([^$\n]+?)(?<!\s)\$(?!\d)"


class Formula(InlineProcessor):
    """A formula in LaTeX, stored as MathML so that no other rule of Markdown changes it."""

    def __init__(self, pattern: str, markdown: Markdown, display: str) -> None:
        super().__init__(pattern, markdown)
        self.display = display

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Element | str, int, int]:
        """MathML instead of the match."""
        text = convert(" ".join(m.group(1).split()), display=self.display)
        if self.display == "block":
            # Long formulas scroll on narrow screens.
            text = f'<span class="formula">{text}</span>'
        return self.md.htmlStash.store(text), m.start(0), m.end(0)


class Formulas(Extension):
    """Both kinds of formula; after code, before emphasis and escapes."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register both patterns."""
        md.inlinePatterns.register(Formula(DISPLAYED, md, "block"), "displayed-formula", 187)
        md.inlinePatterns.register(Formula(INLINE, md, "inline"), "formula", 186)


def on_config(config: Any) -> Any:
    """Let every page be read with formulas."""
    config.markdown_extensions.append(Formulas())
    return config
