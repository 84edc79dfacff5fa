"""Compare finished studies: tables, figures and a page (rule compare_studies)."""

from kneewear import __version__
from kneewear.io.documents import save_figures, save_json, save_table, save_text
from kneewear.io.finished_study import load_finished
from kneewear.io.page_contents import figure_addresses, figure_files, read_figures
from kneewear.joblog import job_log
from kneewear.report.comparison import (
    build_comparison_view,
    comparison_findings,
    comparison_settings,
    comparison_tables,
    draw_depth_differences,
)
from kneewear.report.derived import Tables
from kneewear.report.page import render_page
from kneewear.report.specification import load_page
from kneewear.report.summary import build_summary
from kneewear.studies.comparison import compare_studies, depth_maps, middle_cell, shared_cells

with job_log(snakemake.log[0], snakemake.threads):
    studies = [load_finished(folder) for folder in snakemake.params.folders]
    tables = compare_studies(studies)
    cells = shared_cells(tables["differences"])
    tables["depth_maps"] = depth_maps(studies, middle_cell(cells))
    for name, table in tables.items():
        save_table(table, snakemake.output[name])
    save_figures(draw_depth_differences(tables["depth_maps"], cells), snakemake.output.figures)
    drawn = figure_files([snakemake.output.figures], "svg")
    beside = figure_addresses([snakemake.output.figures], snakemake.output.page)
    page = load_page("comparison")
    shown = Tables(comparison_tables(studies, tables, cells), comparison_settings(studies))
    findings = comparison_findings(studies)
    summary = build_summary("comparison", page, shown, findings, __version__)
    save_json(summary, snakemake.output.records)
    view = build_comparison_view(studies, cells)
    html = render_page(page, summary, shown, read_figures(drawn), view=view, files=beside)
    save_text(html, snakemake.output.page)
