"""Documents of Word: headings, paragraphs and tables, ready to edit (python-docx)."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from io import BytesIO

from docx import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.oxml.xmlchemy import BaseOxmlElement
from docx.shared import Mm, Pt
from docx.table import Table

# Earliest date that a zip file can hold: equal documents are equal files.
_DATE = (1980, 1, 1, 0, 0, 0)
_A4 = (Mm(210), Mm(297))
# Widths of lines above and below a table, and below its head, in eighths of a point.
_RULES = {"top": 8, "bottom": 8}
_HEAD_RULES = {"bottom": 4}


class WordDocument:
    """Document that grows from its beginning; `content` packs it."""

    def __init__(self) -> None:
        self._document = Document()
        section = self._document.sections[0]
        section.page_width, section.page_height = _A4
        styles = self._document.styles
        styles["Normal"].font.name = "Times New Roman"
        cell = styles.add_style("Cell", WD_STYLE_TYPE.PARAGRAPH)
        cell.base_style, cell.font.size = styles["Normal"], Pt(9)
        cell.paragraph_format.space_after = Pt(1)
        about = self._document.core_properties
        about.author, about.comments = "kneewear", ""
        about.created = about.modified = datetime(*_DATE, tzinfo=UTC)

    def add_heading(self, text: str) -> None:
        """Add a heading."""
        self._document.add_heading(text, level=1)

    def add_paragraph(self, text: str, style: str = "Normal") -> None:
        """Add a paragraph; `style` is Normal or Caption."""
        self._document.add_paragraph(text, style)

    def add_table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table with lines above, below, and below its head, which each page repeats."""
        table = self._document.add_table(len(rows) + 1, len(header))
        for number, (row, texts) in enumerate(zip(table.rows, (header, *rows), strict=True)):
            for cell, text in zip(row.cells, texts, strict=True):
                cell.paragraphs[0].style = "Cell"
                cell.paragraphs[0].add_run(text).bold = number == 0
        _draw_rules(table)
        self._document.add_paragraph()

    def content(self) -> bytes:
        """Bytes of the file; equal documents are equal files."""
        written, stream = BytesIO(), BytesIO()
        self._document.save(written)
        with (
            zipfile.ZipFile(written) as parts,
            zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            for name in parts.namelist():
                entry = zipfile.ZipInfo(name, _DATE)
                archive.writestr(entry, parts.read(name), zipfile.ZIP_DEFLATED)
        return stream.getvalue()


def _draw_rules(table: Table) -> None:
    """Lines of a table, and a head that is repeated on each page."""
    # Elements of a table's properties have an order.
    table._tbl.tblPr.insert_element_before(
        _borders("w:tblBorders", _RULES), "w:shd", "w:tblLayout", "w:tblCellMar", "w:tblLook"
    )
    head = table.rows[0]
    head._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
    for cell in head.cells:
        cell._tc.get_or_add_tcPr().append(_borders("w:tcBorders", _HEAD_RULES))


def _borders(tag: str, sizes: dict[str, int]) -> BaseOxmlElement:
    """Borders of a table or cell."""
    borders = OxmlElement(tag)
    for side, size in sizes.items():
        line = OxmlElement(f"w:{side}")
        for name, value in {"val": "single", "sz": str(size), "color": "000000"}.items():
            line.set(qn(f"w:{name}"), value)
        borders.append(line)
    return borders
