"""Formulas between dollar signs as MathML, which browsers draw without any script or font."""

from __future__ import annotations

import re

from latex2mathml.converter import convert

from docs.generators.outside_code import change_outside_code

DISPLAYED = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
INLINE = re.compile(r"(?<![\\$])\$(?!\s)([^$\n]+?)(?<!\s)\$(?!\d)")
# Characters that Markdown would read between the tags of MathML.
MARKED = str.maketrans({mark: f"&#{ord(mark)};" for mark in "*_`\\[]|"})


def with_formulas(markdown: str) -> str:
    """Replace the formulas of a page, outside code, by MathML.

    Parameters
    ----------
    markdown : str
        Page whose formulas are LaTeX, between two dollar signs in a line of their own, or between
        one in a sentence.

    Returns
    -------
    str
        The same page; code is unchanged.
    """
    return change_outside_code(
        markdown, lambda text: INLINE.sub(_inline, DISPLAYED.sub(_displayed, text))
    )


def _displayed(match: re.Match[str]) -> str:
    # Long formulas scroll on narrow screens.
    return f'<span class="formula">{_mathml(match[1], "block")}</span>'


def _inline(match: re.Match[str]) -> str:
    return _mathml(match[1], "inline")


def _mathml(formula: str, display: str) -> str:
    found: str = convert(" ".join(formula.split()), display=display)
    return re.sub(r">[^<]+<", lambda text: text[0].translate(MARKED), found)
