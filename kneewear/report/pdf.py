"""Summary of a study on a few A4 pages (PDF): key results, findings, short tables and figures."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import matplotlib as mpl
from fpdf import FPDF
from fpdf.fonts import FontFace
from PIL import Image

from kneewear.report.specification import Page, figure_text, starting_with
from kneewear.report.summary import read_findings, read_key_results, read_verdict

FONT = "DejaVu"
MARGIN = 15.0  # mm
LINE = 4.3  # mm
TITLE = 16.0
HEADING = 11.5
TEXT = 8.5
SMALL = 6.5
NO_DATE = datetime.fromtimestamp(0, UTC)
# Rows of a table, findings, and height of a figure, mm, at most.
MAX_ROWS = 30
MAX_FINDINGS = 8
MAX_HEIGHT = 110.0


def write_pdf(summary: Mapping[str, Any], page: Page, figures: Mapping[str, bytes]) -> bytes:
    """Set a summary (`kneewear.report.summary.build_summary`) with PNG figures by name.

    The file's date never changes, so that equal summaries are equal files. Tables end after
    `MAX_ROWS` rows, which a line states.
    """
    document = _Document(summary["study"])
    document.paragraph(summary["heading"], TITLE, "B")
    document.paragraph(f"Study “{summary['study']}”: {summary['subject']}. {summary['version']}")
    document.paragraph(read_verdict(summary).text(), TEXT, "B")
    document.paragraph("Key results", HEADING, "B")
    results = [
        (
            result.title,
            result.amount,
            result.details + (" (above its limit)" if result.outside else ""),
        )
        for result in read_key_results(summary)
    ]
    if results:
        document.rows([("Result", "Value", "Interval, limit"), *results])
    findings = read_findings(summary)
    for finding in findings[:MAX_FINDINGS]:
        document.paragraph(f"{finding.level}: {finding.text()}")
    if len(findings) > MAX_FINDINGS:
        document.paragraph(f"{len(findings) - MAX_FINDINGS} more: see the page.", SMALL)
    for table in summary["tables"]:
        document.paragraph(table["caption"], TEXT, "B")
        document.rows([table["header"], *table["rows"]])
    for start in page.summary_figures:
        for name in starting_with(figures, start)[:1]:
            document.picture(figures[name], figure_text(name).title, figure_text(name).caption)
    if page.closing:
        document.paragraph("Credibility", HEADING, "B")
    for line in page.closing:
        document.paragraph(line)
    return bytes(document.output())


class _Document(FPDF):
    """A4 pages with their number at the foot."""

    def __init__(self, study: str) -> None:
        super().__init__()
        fonts = Path(mpl.get_data_path(), "fonts", "ttf")
        for style, file in (("", "DejaVuSans.ttf"), ("B", "DejaVuSans-Bold.ttf")):
            self.add_font(FONT, style, fonts / file)
        self.set_title(f"Study {study}")
        self.set_creation_date(NO_DATE)
        self.set_margin(MARGIN)
        self.set_auto_page_break(True, MARGIN)
        self.set_font(FONT, size=TEXT)
        self.add_page()

    def footer(self) -> None:
        """Title and number of the page."""
        self.set_y(-10.0)
        self.set_font(FONT, size=SMALL)
        self.cell(0.0, 4.0, f"{self.title}, page {self.page_no()}", align="C")

    def paragraph(self, text: str, size: float = TEXT, style: str = "") -> None:
        """Set a paragraph."""
        self.set_font(FONT, style, size)
        self.multi_cell(0.0, max(LINE, 0.5 * size), text, align="L", new_x="LMARGIN", new_y="NEXT")
        self.ln(1.0)

    def rows(self, rows: Sequence[Sequence[str]]) -> None:
        """Set a table, the first row as its head; columns as wide as their longest words."""
        self.set_font(FONT, size=SMALL)
        widths = [7.0 + min(30, max(map(len, column))) for column in zip(*rows, strict=True)]
        head = FontFace(emphasis="BOLD")
        with self.table(
            col_widths=widths,
            headings_style=head,
            line_height=3.6,
            align="L",
            borders_layout="MINIMAL",
            text_align="LEFT",
        ) as table:
            for row in rows[: MAX_ROWS + 1]:
                table.row(row)
        if len(rows) > MAX_ROWS + 1:
            self.paragraph(f"{len(rows) - 1 - MAX_ROWS} more rows: see the page.", SMALL)
        self.ln(2.0)

    def picture(self, content: bytes, title: str, caption: str) -> None:
        """Set a figure with its title and caption on one page."""
        picture = Image.open(io.BytesIO(content))
        height = min(MAX_HEIGHT, self.epw * picture.height / picture.width)
        if self.get_y() + height + 25.0 > self.h - MARGIN:
            self.add_page()
        self.paragraph(title, TEXT, "B")
        self.image(picture, h=height)
        self.paragraph(caption, SMALL)
