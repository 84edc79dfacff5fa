"""The page of a study and its appendix: one self-contained HTML file each.

Every page is written by one template from a specification (:mod:`kneewear.report.specification`),
the summary of the study and its tables.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kneewear.report.derived import Tables
from kneewear.report.html import render
from kneewear.report.regions import regions_data
from kneewear.report.source_tables import provenance_tables
from kneewear.report.specification import (
    FactsPart,
    FigurePart,
    Page,
    SectionPart,
    TablePart,
    figure_text,
    starting_with,
)
from kneewear.report.summary import (
    KeyResult,
    named_values,
    read_findings,
    read_key_results,
    read_verdict,
    section_tables,
)
from kneewear.report.tables import Table, make_table
from kneewear.report.values import Values
from kneewear.report.wear_tables import decision_data

PROVENANCE = {
    "versions": "Versions",
    "wall_time_s": "Time spent",
    "machine": "Machine",
    "inputs": "Input files",
}

# Data of each tool from the tables and settings of a study; None where it has none.
TOOLS = {"decision": decision_data, "regions": regions_data}


class PageSection(NamedTuple):
    """Section of the page as the template shows it."""

    part: SectionPart
    text: list[str]
    figures: list[tuple[str, FigurePart, str]]  # name, texts and data address
    tables: list[tuple[TablePart | FactsPart, Table]]
    viewer: Any
    tool: Any


def render_page(
    page: Page,
    summary: Mapping[str, Any],
    tables: Tables,
    figures: Mapping[str, bytes],
    provenance: Mapping[str, Any] | None = None,
    view: Mapping[str, Any] | None = None,
    files: Mapping[str, Sequence[str]] | None = None,
    appendix: bool = False,
) -> str:
    """Write the page of a study, or its appendix, as HTML that needs no other file.

    `summary` is that of :func:`kneewear.report.summary.build_summary`, `figures` SVG or PNG by
    name, `files` the addresses of the figures beside the page, `view` the data of the 3-D viewer
    (:mod:`kneewear.report.viewer`), and `provenance` versions, inputs and times for the appendix.
    """
    results = read_key_results(summary)
    named = [KeyResult(**record) for record in summary["named_values"]]
    values = named_values([*results, *named], tables.settings)

    def composed(parts: list[SectionPart]) -> list[PageSection]:
        made = (compose(part, values, tables, figures, view) for part in parts)
        return [section for section in made if section is not None]

    return render(
        "page.html.j2",
        summary=summary,
        results=results,
        findings=read_findings(summary),
        verdict=read_verdict(summary),
        first=compose(page.first, values, tables, figures, view),
        sections=composed(page.appendix if appendix else page.sections),
        provenance=list(_provenance(provenance or {})) if appendix else [],
        appendix=appendix,
        has_appendix=bool(page.appendix),
        files=files or {},
    )


def compose(
    part: SectionPart,
    values: Values,
    tables: Tables,
    figures: Mapping[str, bytes],
    view: Mapping[str, Any] | None,
) -> PageSection | None:
    """A section with its content; None where the study has none of it."""
    shown = [
        (name, figure_text(name), _data_address(figures[name]))
        for name in starting_with(figures, *part.figures)
    ]
    listed = list(section_tables(part, tables, values))
    tool = TOOLS[part.tool](tables, tables.settings) if part.tool else None
    viewer = view if part.viewer else None
    wanted = part.figures or part.tables or part.viewer or part.tool
    if wanted and not (shown or listed or viewer or tool):
        return None
    text = [line for line in map(values.text, part.text) if line is not None]
    return PageSection(part, text, shown, listed, viewer, tool)


def _provenance(provenance: Mapping[str, Any]) -> Iterator[Table]:
    frames = provenance_tables(provenance)
    for name, caption in PROVENANCE.items():
        if name in frames:
            yield make_table(caption, frames[name])


def _data_address(picture: bytes) -> str:
    """Picture as an address that holds its own data."""
    kind = "image/png" if picture.startswith(b"\x89PNG") else "image/svg+xml"
    return f"data:{kind};base64,{b64encode(picture).decode('ascii')}"
