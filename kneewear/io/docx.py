"""Documents of Word (Office Open XML): headings, paragraphs and tables, ready to edit."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from xml.sax.saxutils import escape

# Earliest date that a zip file can hold: equal documents are equal files.
_DATE = (1980, 1, 1, 0, 0, 0)
_MAIN = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPES = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>
<Override PartName="/word/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/>
</Types>"""  # noqa: E501 - addresses
_RELATIONS = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{type}" Target="{target}"/>
</Relationships>"""  # noqa: E501 - addresses
_STYLES = f"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<w:styles xmlns:w="{_MAIN}">
<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/>
<w:pPr><w:spacing w:after="120"/></w:pPr>
<w:rPr><w:rFonts w:ascii="Times New Roman" w:hAnsi="Times New Roman"/><w:sz w:val="22"/></w:rPr>
</w:style>
<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/>
<w:basedOn w:val="Normal"/>
<w:pPr><w:keepNext/><w:spacing w:before="240"/><w:outlineLvl w:val="0"/></w:pPr>
<w:rPr><w:b/><w:sz w:val="28"/></w:rPr></w:style>
<w:style w:type="paragraph" w:styleId="Caption"><w:name w:val="caption"/><w:basedOn w:val="Normal"/>
<w:pPr><w:keepNext/></w:pPr><w:rPr><w:b/><w:sz w:val="20"/></w:rPr></w:style>
<w:style w:type="paragraph" w:styleId="Cell"><w:name w:val="Cell"/><w:basedOn w:val="Normal"/>
<w:pPr><w:spacing w:after="20"/></w:pPr><w:rPr><w:sz w:val="18"/></w:rPr></w:style>
</w:styles>"""
# Lines of a table: above and below it, and below its head.
_RULE = '<w:{side} w:val="single" w:sz="{size}" w:space="0" w:color="000000"/>'
_BORDERS = "".join(_RULE.format(side=side, size=8) for side in ("top", "bottom"))
_HEAD = f"<w:tcBorders>{_RULE.format(side='bottom', size=4)}</w:tcBorders>"


@dataclass
class WordDocument:
    """Document that grows from its beginning; `content` packs it."""

    _parts: list[str] = field(default_factory=list)

    def add_paragraph(self, text: str, style: str = "Normal") -> None:
        """Add a paragraph; `style` is Normal, Heading1 or Caption."""
        self._parts.append(_paragraph(text, style))

    def add_table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table with lines above, below, and below its head."""
        lines = [_row(header, head=True), *(_row(row) for row in rows)]
        size = '<w:tblW w:w="5000" w:type="pct"/>'
        grid = "<w:tblGrid>" + "<w:gridCol/>" * len(header) + "</w:tblGrid>"
        look = f"<w:tblPr>{size}<w:tblBorders>{_BORDERS}</w:tblBorders></w:tblPr>"
        self._parts.append(f"<w:tbl>{look}{grid}{''.join(lines)}</w:tbl>{_paragraph('')}")

    def content(self) -> bytes:
        """Bytes of the file; equal documents are equal files."""
        page = '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/></w:sectPr>'  # A4, twentieths of a point
        body = f"<w:body>{''.join(self._parts)}{page}</w:body>"
        head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
        files = {
            "[Content_Types].xml": _TYPES,
            "_rels/.rels": _RELATIONS.format(type="officeDocument", target="word/document.xml"),
            "word/_rels/document.xml.rels": _RELATIONS.format(type="styles", target="styles.xml"),
            "word/document.xml": f'{head}<w:document xmlns:w="{_MAIN}">{body}</w:document>',
            "word/styles.xml": _STYLES,
        }
        stream = BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                archive.writestr(zipfile.ZipInfo(name, _DATE), text)
        return stream.getvalue()


def _paragraph(text: str, style: str = "Normal", bold: bool = False) -> str:
    look = "<w:rPr><w:b/></w:rPr>" if bold else ""
    run = f'<w:r>{look}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>' if text else ""
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>{run}</w:p>'


def _row(cells: Sequence[str], head: bool = False) -> str:
    borders = _HEAD if head else ""
    kept = "<w:trPr><w:cantSplit/>" + ("<w:tblHeader/>" if head else "") + "</w:trPr>"
    own = (
        f"<w:tc><w:tcPr>{borders}</w:tcPr>{_paragraph(cell, 'Cell', head)}</w:tc>" for cell in cells
    )
    return f"<w:tr>{kept}{''.join(own)}</w:tr>"
