"""Draw the figures of a cohort (rule plot_cohort)."""

from kneewear.io.documents import load_table, save_figures
from kneewear.joblog import job_log
from kneewear.report.cohort import draw_cohort

with job_log(snakemake.log[0], snakemake.threads):
    figures = draw_cohort(
        load_table(snakemake.input.cohort),
        load_table(snakemake.input.percentiles),
        load_table(snakemake.input.effects),
        snakemake.params.units,
    )
    save_figures(figures, snakemake.output.figures)
