"""The page of a study and its appendix: one self-contained HTML file each.

Every page is written by one template from a specification (:mod:`kneewear.report.specification`),
the summary of the study and its tables.
"""

from __future__ import annotations

import io
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

# Without the plugin of the format, Pillow loads one for every format.
from PIL import Image, WebPImagePlugin  # noqa: F401

from kneewear.base.checks import checks
from kneewear.base.findings import Cause, Reported, causes
from kneewear.report.bars import interval_bars
from kneewear.report.chart_data import cases_data, decision_data
from kneewear.report.derived import Tables
from kneewear.report.html import render
from kneewear.report.regions import regions_data
from kneewear.report.samples import samples_data
from kneewear.report.source_tables import provenance_tables
from kneewear.report.specification import (
    FactsPart,
    FigurePart,
    Page,
    SectionPart,
    TablePart,
    figure_text,
    page_data,
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
from kneewear.report.views import STILL, first_scenes

PROVENANCE = {
    "versions": "Versions",
    "wall_time_s": "Time spent",
    "machine": "Machine",
    "inputs": "Input files",
}

# Key results beside the first picture, at most.
MAX_NUMBERS = 4
# Signs of SVG that do not stand in an address as they are.
SVG_SIGNS = str.maketrans({sign: f"%{ord(sign):02X}" for sign in '%#&"'})

# Length of the address of a picture within a figure above which it has so many colours at most: a
# scatter of noise is two thirds shorter with them, and its colours are off by 1.5 of 255 in the
# mean. Files of figures keep all colours.
MANY_LETTERS = 20_000
COLOURS = 128
# A picture within an SVG file.
_EMBEDDED = re.compile(r"data:image/png;base64,\s*([A-Za-z0-9+/=\s]+)")
# What an SVG file has that no browser needs: comments, spaces, names that nothing refers to, and
# thousandths of a point.

SVG_WASTE = [
    (re.compile(pattern), shorter)
    for pattern, shorter in (
        (r"<!--.*?-->", ""),
        (r"\s+", " "),
        (r"> <", "><"),
        (r"<\?xml[^>]*>|<!DOCTYPE[^>]*>|<metadata>.*?</metadata>", ""),
        (r' id="\w+_\d+"', ""),
        (r'(?<=[:;]) (?=[^"<>]*"/?>)', ""),
        (r'( [xy]="-?\d+\.\d\d)\d+', r"\1"),
        (r"(\d\.\d{4})\d+(?=[ )])", r"\1"),
        (r"(?<=[MLQC]) (?=-?\d)|(?<=\d) (?=[MLQC] ?-?\d)", ""),
    )
]

# Data of each tool from the tables and settings of a study; None where it has none.
TOOLS = {
    "cases": cases_data,
    "decision": decision_data,
    "regions": regions_data,
    "samples": samples_data,
}


class PageSection(NamedTuple):
    """Section of the page as the template shows it."""

    part: SectionPart
    text: list[str]
    figures: list[tuple[str, FigurePart, str]]  # name, texts and data address
    tables: list[tuple[TablePart | FactsPart, Table]]
    tool: Any

    @property
    def hint(self) -> str:
        """Number of figures and tables."""
        counts = {"figure": len(self.figures), "table": len(self.tables)}
        return ", ".join(f"{n} {name}{'s' * (n > 1)}" for name, n in counts.items() if n)


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
    results, findings = read_key_results(summary), read_findings(summary)
    named = [KeyResult(**record) for record in summary["named_values"]]
    values = named_values([*results, *named], tables.settings)
    still = figures.get(STILL)
    others = {name: picture for name, picture in figures.items() if name != STILL}
    hero = "" if appendix or view else _first_figure(page, others)

    def composed(parts: list[SectionPart]) -> list[PageSection]:
        left = {name: picture for name, picture in others.items() if name != hero}
        made = (compose(part, values, tables, left) for part in parts)
        return [section for section in made if section is not None]

    bars = (interval_bars(part, tables) for part in page.bars)
    return render(
        "page.html.j2",
        summary=summary,
        results=results,
        numbers=key_numbers(page, results),
        bars=[chart for chart in bars if chart is not None],
        findings=findings,
        causes=titled_causes(findings),
        worst=findings[0] if findings and findings[0].finding.severity != "note" else None,
        verdict=read_verdict(summary),
        assumptions=len(tables.get("assumptions", ())),
        view=view,
        still=None if still is None else picture_address(still),
        still_name=STILL,
        still_text="; ".join(str(scene["title"]) for scene in first_scenes(view)) if view else "",
        hero=(hero, figure_text(hero), picture_address(others[hero])) if hero else None,
        first=next(iter(composed([page.first])), None),
        sections=composed(page.appendix if appendix else page.sections),
        provenance=list(_provenance(provenance or {})) if appendix else [],
        appendix=appendix,
        has_appendix=bool(page.appendix),
        files=files or {},
    )


def _first_figure(page: Page, figures: Mapping[str, bytes]) -> str:
    """Name of the figure at the top of a page without a view; empty without figures."""
    shown = [*page.first.figures, *page.summary_figures]
    shown += [name for part in page.sections for name in part.figures]
    return next(iter(starting_with(figures, *shown)), "")


def key_numbers(page: Page, results: Sequence[KeyResult]) -> list[KeyResult]:
    """At most four key results: those that the page names, of each the largest, or the first."""
    if not page.key_numbers:
        return [result for result in results if isinstance(result.value, float)][:MAX_NUMBERS]
    chosen = []
    for name in page.key_numbers:
        own = [one for one in results if one.name == name and isinstance(one.value, float)]
        if own:
            chosen.append(max(own, key=lambda one: float(one.value or 0.0)))
    return chosen


def titled_causes(findings: Sequence[Reported]) -> list[Cause]:
    """Findings by the title of a check or its beginning (`pages/causes.yaml`), or its quantity."""
    titles = page_data("causes")

    def title(check: str) -> str:
        plain = checks()[check].quantity if check in checks() else check.replace("_", " ")
        named = titles.get(check) or titles.get(check.partition(".")[0])
        return str(named or plain.replace(".", ": ").capitalize())

    return causes(findings, title)


def compose(
    part: SectionPart, values: Values, tables: Tables, figures: Mapping[str, bytes]
) -> PageSection | None:
    """A section with its content; None where the study has none of it."""
    shown = [
        (name, figure_text(name), picture_address(figures[name]))
        for name in starting_with(figures, *part.figures)
    ]
    listed = list(section_tables(part, tables, values))
    tool = TOOLS[part.tool](tables, tables.settings) if part.tool else None
    wanted = part.figures or part.tables or part.tool
    if wanted and not (shown or listed or tool):
        return None
    text = [line for line in map(values.text, part.text) if line is not None]
    return PageSection(part, text, shown, listed, tool)


def _provenance(provenance: Mapping[str, Any]) -> Iterator[Table]:
    frames = provenance_tables(provenance)
    for name, caption in PROVENANCE.items():
        if name in frames:
            yield make_table(caption, frames[name])


def _smaller(found: re.Match[str]) -> str:
    """Address of a picture within SVG as WebP, without loss but for the colours of a large one."""
    with Image.open(io.BytesIO(b64decode(found[1]))) as picture:
        address = _webp_address(picture)
        if len(address) > MANY_LETTERS:
            few = picture.convert("RGBA").quantize(COLOURS, method=Image.Quantize.FASTOCTREE)
            address = min(address, _webp_address(few.convert("RGBA")), key=len)
    return min(address, found[0], key=len)


def _webp_address(picture: Image.Image) -> str:
    file = io.BytesIO()
    picture.save(file, "WEBP", lossless=True, quality=30, method=1)
    return f"data:image/webp;base64,{b64encode(file.getvalue()).decode('ascii')}"


def picture_address(picture: bytes) -> str:
    """Picture as an address that holds its own data."""
    if picture.startswith(b"\x89PNG"):
        return f"data:image/png;base64,{b64encode(picture).decode('ascii')}"
    # Shorter than base64: only signs that end an address or an attribute are written as numbers.
    text = _EMBEDDED.sub(_smaller, picture.decode("utf-8"))
    for pattern, shorter in SVG_WASTE:
        text = pattern.sub(shorter, text)
    text = text if "'" in text else text.replace('"', "'")
    return Markup("data:image/svg+xml;charset=utf-8," + text.translate(SVG_SIGNS))
