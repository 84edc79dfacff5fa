"""Finished studies: an index of them, a comparison, and one packed in a file to hand on."""

from __future__ import annotations

import hashlib
import json
import mimetypes
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from kneewear import __version__
from kneewear.analysis.comparison import compare_studies, depth_maps, middle_cell, shared_cells
from kneewear.errors import InputDataError
from kneewear.io.documents import load_record, save_figures, save_json, save_table, save_text
from kneewear.io.result_files import atomic_path
from kneewear.report.comparison import (
    build_comparison_view,
    comparison_findings,
    comparison_settings,
    comparison_tables,
    draw_depth_differences,
)
from kneewear.report.derived import Tables
from kneewear.report.page import render_page
from kneewear.report.page_contents import figure_addresses, figure_files, read_figures
from kneewear.report.specification import load_page
from kneewear.report.summary import build_summary, read_key_results, read_verdict
from kneewear.runs.finished_study import load_finished, study_folders

# Parts of a study that are handed on: contact histories are not, which take gigabytes.
_PARTS = (
    "report", "credibility", "tables", "figures", "geometry/vtk", "wear/worn", "wear/vtk",
    "provenance.json",
)  # fmt: skip
# Earliest date that a zip file can hold: equal studies are equal files.
_DATE = (1980, 1, 1, 0, 0, 0)
_CONTEXT = "https://w3id.org/ro/crate/1.1"
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.4rem .6rem;"
    "border-bottom:1px solid #ccc;vertical-align:top}"
)


@dataclass(frozen=True)
class StudyEntry:
    """One row of the index."""

    folder: Path
    study: str
    heading: str
    headline: str
    verdict: str
    date: datetime

    @property
    def page(self) -> Path:
        """Page of the study."""
        return self.folder / "report" / "index.html"


def finished_studies(results: Path) -> Iterator[StudyEntry]:
    """Finished studies and comparisons in a folder of results, the latest first."""
    files = [*results.glob("*/report/summary.json"), *results.glob("*/*/report/summary.json")]
    for file in sorted(files, key=lambda one: one.stat().st_mtime, reverse=True):
        try:
            summary = load_record(file)
        except InputDataError:
            continue
        keys = read_key_results(summary)
        yield StudyEntry(
            file.parents[1],
            str(summary["study"]),
            str(summary["heading"]),
            keys[0].text() if keys else "",
            read_verdict(summary).words,
            datetime.fromtimestamp(file.stat().st_mtime, UTC),
        )


def write_index(results: Path) -> tuple[Path, list[str]]:
    """Write `index.html` of a folder of results; returns it and a line for each finished study.

    InputDataError if there is none.
    """
    studies = list(finished_studies(results))
    if not studies:
        expected, remedy = "a finished study", "Run one, or change to the folder of its settings."
        raise InputDataError(results, "no finished study", expected, remedy)
    rows = "".join(
        f'<tr><td><a href="{escape(one.page.relative_to(results).as_posix())}">'
        f"{escape(one.study)}</a>"
        f"<br>{escape(one.heading)}</td><td>{escape(one.headline)}</td>"
        f"<td>{escape(one.verdict)}</td><td>{one.date:%Y-%m-%d %H:%M} UTC</td></tr>\n"
        for one in studies
    )
    save_text(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Finished studies'
        '</title><meta name="viewport" content="width=device-width">'
        f"<style>{_STYLE}</style></head><body><h1>Finished studies</h1><table><thead><tr>"
        "<th>Study</th><th>First key result</th><th>Verdict</th><th>Finished</th></tr></thead>"
        f"<tbody>\n{rows}</tbody></table></body></html>\n",
        results / "index.html",
    )
    lines = [f"{one.study}: {one.headline} ({one.verdict}, {one.date:%Y-%m-%d})" for one in studies]
    return results / "index.html", lines


def write_comparison(names: Sequence[str]) -> Path:
    """Write tables, figures and page of a comparison of finished studies, the reference first.

    Parameters
    ----------
    names : sequence of str
        Names of studies in `results/` of the working directory.

    Returns
    -------
    Path
        `results/comparisons/<names>`.

    Raises
    ------
    InputDataError
        If a name or a folder belongs to no finished study of model wear.
    KneewearError
        If the studies have nothing to compare, as of `compare_studies`.
    """
    studies = [load_finished(folder) for folder in study_folders(names)]
    tables = compare_studies(studies)
    cells = shared_cells(tables["differences"])
    tables["depth_maps"] = depth_maps(studies, middle_cell(cells))
    folder = Path("results", "comparisons", "_and_".join(names))
    for name, table in tables.items():
        save_table(table, folder / "tables" / f"{name}.csv")
    figures, html = folder / "figures", folder / "report" / "index.html"
    # A study of these names may have had other lives.
    shutil.rmtree(figures, ignore_errors=True)
    save_figures(draw_depth_differences(tables["depth_maps"], cells), figures)
    page = load_page("comparison")
    shown = Tables(comparison_tables(studies, tables, cells), comparison_settings(studies))
    summary = build_summary("comparison", page, shown, comparison_findings(studies), __version__)
    save_json(summary, folder / "report" / "summary.json")
    drawn = read_figures(figure_files([str(figures)], "svg"))
    view = build_comparison_view(studies, cells)
    beside = figure_addresses([str(figures)], str(html))
    save_text(render_page(page, summary, shown, drawn, view=view, files=beside), html)
    return folder


def export_study(folder: Path, output: Path) -> Path:
    """Pack a finished study into a zip file with RO-Crate metadata.

    Parameters
    ----------
    folder : Path
        `results/<study>`.
    output : Path
        File to write. Paths inside are those of the study, so that links of its page work.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputDataError
        When the folder has no report.
    """
    summary = folder / "report" / "summary.json"
    if not summary.is_file():
        expected = "the summary of a finished study"
        raise InputDataError(summary, "no such file", expected, "Run the study.")
    files = sorted(
        path
        for part in _PARTS
        for path in ([folder / part] if (folder / part).is_file() else (folder / part).rglob("*"))
        if path.is_file()
    )
    contents = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    metadata = json.dumps(_crate(load_record(summary), contents), indent=1, ensure_ascii=False)
    contents["ro-crate-metadata.json"] = metadata.encode()
    with atomic_path(output) as temporary, zipfile.ZipFile(temporary, "w") as packed:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, content)
    return output


def _crate(summary: dict[str, Any], contents: dict[str, bytes]) -> dict[str, Any]:
    """RO-Crate 1.1 metadata of the files of a study."""
    files = [
        {
            "@id": name,
            "@type": "File",
            "contentSize": str(len(content)),
            "encodingFormat": mimetypes.guess_type(name)[0] or "application/octet-stream",
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        for name, content in contents.items()
    ]
    software = {
        "@id": "#kneewear",
        "@type": "SoftwareApplication",
        "name": "kneewear",
        "version": str(summary["version"]),
    }
    action = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"Run of the study {summary['study']}",
        "instrument": {"@id": "#kneewear"},
        "result": [{"@id": one["@id"]} for one in files],
    }
    descriptor = {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "conformsTo": {"@id": _CONTEXT},
        "about": {"@id": "./"},
    }
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"{summary['heading']}: {summary['study']}",
        "description": str(summary["subject"]),
        "hasPart": [{"@id": one["@id"]} for one in files],
        "mentions": {"@id": "#run"},
    }
    return {
        "@context": f"{_CONTEXT}/context",
        "@graph": [descriptor, root, software, action, *files],
    }
