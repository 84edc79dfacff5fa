"""Draw the figures of a sweep (rule plot_sweep)."""

from kneewear.io.documents import load_table, save_figures
from kneewear.joblog import job_log
from kneewear.report.sweep import draw_sweep

with job_log(snakemake.log[0], snakemake.threads):
    figures = draw_sweep(
        load_table(snakemake.input.sweep),
        load_table(snakemake.input.effects),
        snakemake.params.units,
    )
    save_figures(figures, snakemake.output.figures)
