"""Compare finished studies: tables, figures and a page (rule compare_studies)."""

from os.path import dirname, relpath

from kneewear.io.documents import save_figures, save_table, save_text
from kneewear.io.finished_study import load_finished
from kneewear.io.page_contents import figure_files, read_figures
from kneewear.joblog import job_log
from kneewear.report.comparison import draw_depth_differences, render_comparison
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
    beside = {name: relpath(path, dirname(snakemake.output.page)) for name, path in drawn.items()}
    page = render_comparison(studies, tables, read_figures(drawn), cells, beside)
    save_text(page, snakemake.output.page)
