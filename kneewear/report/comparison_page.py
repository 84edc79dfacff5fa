"""Tables, figures and page of a comparison of finished studies, as files."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from kneewear import __version__
from kneewear.analysis.comparison import (
    FinishedStudy,
    compare_studies,
    depth_maps,
    leading_of,
    middle_cell,
    shared_cells,
)
from kneewear.io.documents import save_figures, save_json, save_table, save_text
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
from kneewear.report.picture import draw_view
from kneewear.report.specification import load_page
from kneewear.report.summary import build_summary
from kneewear.report.views import STILL


def write_comparison(studies: Sequence[FinishedStudy], folder: Path) -> None:
    """Write tables, figures and page of a comparison of finished studies.

    Parameters
    ----------
    studies : sequence of FinishedStudy
        Studies of model wear, the reference first.
    folder : Path
        Folder of the comparison; figures of an earlier one are removed.

    Raises
    ------
    KneewearError
        If the studies have nothing to compare, as of `compare_studies`.
    """
    tables = compare_studies(studies)
    cells = shared_cells(tables["differences"])
    tables["depth_maps"] = depth_maps(studies, middle_cell(cells))
    for name, table in tables.items():
        save_table(table, folder / "tables" / f"{name}.csv")
    figures, html = folder / "figures", folder / "report" / "index.html"
    # A study of these names may have had other lives.
    shutil.rmtree(figures, ignore_errors=True)
    name = leading_of(studies).name
    view = build_comparison_view(studies, cells)
    pictures = {STILL: draw_view(view)} if view else {}
    save_figures(pictures | draw_depth_differences(tables["depth_maps"], cells, name), figures)
    page = load_page("comparison")
    shown = Tables(comparison_tables(studies, tables, cells), comparison_settings(studies))
    summary = build_summary("comparison", page, shown, comparison_findings(studies), __version__)
    save_json(summary, folder / "report" / "summary.json")
    drawn = read_figures(figure_files([str(figures)], "svg"))
    beside = figure_addresses([str(figures)], str(html))
    save_text(render_page(page, summary, shown, drawn, view=view, files=beside), html)
