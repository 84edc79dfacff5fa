"""A4 pages (PDF) of a short HTML text with tables and pictures."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib as mpl
from fpdf import FPDF
from fpdf.enums import MethodReturnValue, TableBordersLayout, XPos, YPos
from fpdf.fonts import FontFace
from PIL import Image

FONT = "DejaVu"
MARGIN, TEXT_HEIGHT = 15.0, 4.3  # mm
SIZES = {"h1": 16.0, "h2": 11.5, "p": 8.5, "li": 8.5, "h3": 8.5, "figcaption": 7.0, "td": 6.5}
NO_DATE = datetime.fromtimestamp(0, UTC)
# Elements whose text is not printed.
HIDDEN = {"script", "style", "nav", "button"}
# Rows of a table, and height of a picture, mm, at most; of one that is higher than wide.
MAX_ROWS = 45
PICTURE_HEIGHT, TALL_HEIGHT = 82.0, 120.0
# A picture is set smaller, but not below this part of its size, where that saves a page break.
SMALLEST = 0.65
# Room beside a word in its cell, and width beyond which a text is broken, mm.
CELL_MARGIN, LONGEST_CELL = 2.0, 55.0


def write_pdf(html: str, title: str) -> bytes:
    """Set HTML as A4 pages.

    Headings, paragraphs, lists, tables and pictures (PNG as data addresses) are set; further
    elements are read as text, and those of `HIDDEN` are left out. The file's date never changes, so
    that equal texts are equal files. Tables end after `MAX_ROWS` rows, which a line states.
    """
    document = _Document(title)
    reader = _Reader(document)
    reader.feed(html)
    return bytes(document.output())


class _Document(FPDF):
    """A4 pages with their number at the foot."""

    def __init__(self, title: str) -> None:
        super().__init__()
        fonts = Path(mpl.get_data_path(), "fonts", "ttf")
        for style, file in (("", "DejaVuSans.ttf"), ("B", "DejaVuSans-Bold.ttf")):
            self.add_font(FONT, style, fonts / file)
        self.set_title(title)
        self.set_creation_date(NO_DATE)
        self.set_margin(MARGIN)
        self.set_auto_page_break(True, MARGIN)
        self.set_font(FONT, size=SIZES["p"])
        self.add_page()

    def footer(self) -> None:
        """Title and number of the page."""
        self.set_y(-10.0)
        self.set_font(FONT, size=SIZES["td"])
        self.cell(0.0, 4.0, f"{self.title}, page {self.page_no()}", align="C")


class _Reader(HTMLParser):
    """Sets each block of an HTML text when it ends."""

    def __init__(self, document: _Document) -> None:
        super().__init__()
        self.document = document
        self.parts: list[tuple[str, str]] = []  # style and text of the open block
        self.bold = self.hidden = 0
        self.badge = False
        # Address and title of the picture of an open figure, which is set with its caption.
        self.figure: dict[str, str] | None = None
        self.rows: list[list[str]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open a block, or place a picture."""
        if tag in HIDDEN:
            self.hidden += 1
        elif tag in ("b", "strong"):
            self.bold += 1
        elif tag == "span" and "badge" in (dict(attrs).get("class") or "").split():
            self.badge = True
            self.handle_data(" [")
        elif tag == "figure":
            self.figure = {}
        elif tag == "table":
            self.rows = []
        elif tag == "tr" and self.rows is not None:
            self.rows.append([])
        elif tag in ("th", "td"):
            self.parts = []
        elif tag == "img" and not self.hidden:
            self._picture(dict(attrs).get("src") or "")
        elif tag in SIZES:
            self.parts = []

    def handle_endtag(self, tag: str) -> None:
        """Set the block that ends."""
        if tag in HIDDEN:
            self.hidden -= 1
        elif tag in ("b", "strong"):
            self.bold -= 1
        elif tag == "span" and self.badge:
            self.badge = False
            self.handle_data("] ")
        elif tag == "figure":
            self._figure()
        elif tag in ("h3", "figcaption") and self.figure is not None:
            self.figure[tag] = "".join(text for _, text in _joined(self.parts))
            self.parts = []
        elif tag in ("th", "td") and self.rows:
            self.rows[-1].append("".join(text for _, text in self.parts).strip())
            self.parts = []
        elif tag == "table" and self.rows is not None:
            self._table([row for row in self.rows if row])
            self.rows = None
        elif tag == "caption":
            self._text("p", "B")
        elif tag in SIZES:
            self._text(tag, "B" if tag.startswith("h") else "")

    def handle_data(self, data: str) -> None:
        """Collect text; white space is one blank."""
        if not self.hidden:
            words = " ".join(data.split())
            before = " " if data[:1].isspace() else ""
            after = " " if words and data[-1:].isspace() else ""
            self.parts.append(("B" if self.bold else "", f"{before}{words}{after}"))

    def _text(self, tag: str, style: str) -> None:
        """Set the collected text."""
        page, size = self.document, SIZES[tag]
        parts, self.parts = self.parts, []
        if not "".join(text for _, text in parts).strip():
            return
        if tag in ("h1", "h2"):
            page.ln(2.0)
            if page.get_y() > page.h - 2.0 * MARGIN:
                page.add_page()
        page.set_x(MARGIN)
        if tag == "li":
            page.set_font(FONT, size=size)
            page.write(TEXT_HEIGHT, "– ")
        for own, text in _joined([(own or style, text) for own, text in parts]):
            page.set_font(FONT, own, size)
            page.write(max(TEXT_HEIGHT, 0.5 * size), text)
        page.ln(max(TEXT_HEIGHT, 0.5 * size) + (1.5 if tag in ("h1", "p") else 0.5))

    def _picture(self, address: str) -> None:
        """Set a picture, or keep it until its figure ends."""
        if self.figure is None:
            self.figure = {"img": address}
            self._figure()
        else:
            self.figure["img"] = address

    def _figure(self) -> None:
        """Set title, picture and caption of a figure on one page."""
        figure, self.figure = self.figure or {}, None
        if "img" not in figure:
            return
        page = self.document
        encoded = figure["img"].partition("base64,")[2]
        picture = Image.open(io.BytesIO(base64.b64decode(encoded)))
        height = TALL_HEIGHT if picture.height > picture.width else PICTURE_HEIGHT
        height = min(height, page.epw * picture.height / picture.width)
        texts = [
            ("h3", "B", figure.get("h3", "")),
            ("figcaption", "", figure.get("figcaption", "")),
        ]
        around = 4.0 + sum(self._height(*one) for one in texts)
        left = page.h - MARGIN - page.get_y() - around
        if left < SMALLEST * height:
            page.add_page()
        else:
            height = min(height, left)
        width = height * picture.width / picture.height
        page.ln(1.0)
        self._words(*texts[0])
        page.image(picture, x=0.5 * (page.w - width), w=width)
        self._words(*texts[1])
        page.ln(1.0)

    def _height(self, tag: str, style: str, text: str) -> float:
        """Height of a text over the width of the page, mm."""
        page = self.document
        page.set_font(FONT, style, SIZES[tag])
        lines: Any = page.multi_cell(
            page.epw, 0.5 * SIZES[tag], text, dry_run=True, output=MethodReturnValue.LINES
        )
        return 0.5 * SIZES[tag] * len(lines)

    def _words(self, tag: str, style: str, text: str) -> None:
        """Set text over the width of the page."""
        if text:
            page = self.document
            page.set_font(FONT, style, SIZES[tag])
            page.set_x(MARGIN)
            page.multi_cell(
                page.epw, 0.5 * SIZES[tag], text, align="L", new_x=XPos.LMARGIN, new_y=YPos.NEXT
            )
            page.ln(0.5)

    def _table(self, rows: list[list[str]]) -> None:
        """Set a table with its first row as heading."""
        if not rows:
            return
        page = self.document
        left_out = len(rows) - 1 - MAX_ROWS
        rows = rows[: MAX_ROWS + 1]
        columns = [[row[column] for row in rows if column < len(row)]
                   for column in range(len(rows[0]))]  # fmt: skip
        widths = _column_widths(page, columns)
        page.set_font(FONT, size=SIZES["td"])
        with page.table(
            rows, col_widths=widths, line_height=3.2,
            headings_style=FontFace(emphasis="BOLD"), text_align="LEFT",
            borders_layout=TableBordersLayout.HORIZONTAL_LINES, padding=(0.3, 0.5),
        ):  # fmt: skip
            pass
        if left_out > 0:
            page.write(TEXT_HEIGHT, f"and {left_out} more rows: see the page")
            page.ln(TEXT_HEIGHT)
        page.ln(2.0)


def _column_widths(page: FPDF, columns: Sequence[Sequence[str]]) -> tuple[float, ...]:
    """Widths, mm: room for the longest word, and what is left over for those with long texts."""
    page.set_font(FONT, "B", SIZES["td"])  # as the heading
    words = [max((page.get_string_width(word) for cell in cells for word in cell.split()),
                 default=0.0) for cells in columns]  # fmt: skip
    least = [word + CELL_MARGIN for word in words]
    whole = [max(map(page.get_string_width, cells)) + CELL_MARGIN for cells in columns]
    more = [min(wide, LONGEST_CELL) - word for wide, word in zip(whole, least, strict=True)]
    more = [max(0.0, one) for one in more]
    share = max(0.0, page.epw - sum(least)) / max(sum(more), 1e-9)
    return tuple(word + share * one for word, one in zip(least, more, strict=True))


def _joined(parts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Parts of one style as one, blanks before the words: a line breaks there and not in a word."""
    joined: list[tuple[str, str]] = []
    blank = ""
    for style, text in parts:
        words = text.strip()
        before = blank or text[: len(text) - len(text.lstrip())]
        blank = " " if words and text.endswith(" ") else before if not words else ""
        if not words:
            continue
        if joined and joined[-1][0] == style:
            joined[-1] = style, joined[-1][1] + before + words
        else:
            joined.append((style, (before if joined else "") + words))
    return joined
