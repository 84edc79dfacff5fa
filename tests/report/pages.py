"""Pages of made-up studies, written as the workflow does."""

from __future__ import annotations

import io
from types import SimpleNamespace

from kneewear.report.derived import Tables
from kneewear.report.page import render_page
from kneewear.report.specification import load_page
from kneewear.report.summary import build_summary, read_findings, read_key_results


def written(name, settings, frames, figures=None, findings=(), view=None, provenance=None):
    """Summary, key results, findings, page and appendix of a study with tables and figures."""
    page, tables = load_page(name), Tables(frames, settings)
    summary = build_summary(name, page, tables, findings, "1")
    pictures = {key: as_svg(figure) for key, figure in (figures or {}).items()}
    page_text, appendix = (
        render_page(page, summary, tables, pictures, provenance, None if part else view, {}, part)
        for part in (False, True)
    )
    return SimpleNamespace(
        summary=summary,
        tables=tables,
        results={(one.name, *one.of.values()): one for one in read_key_results(summary)},
        findings=read_findings(summary),
        page=page_text,
        appendix=appendix,
    )


def as_svg(figure):
    """A figure as the bytes of its file."""
    if isinstance(figure, bytes):
        return figure
    file = io.BytesIO()
    figure.savefig(file, format="svg")
    return file.getvalue()
