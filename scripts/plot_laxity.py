"""Draw the figures of a laxity study (rule plot_laxity)."""

from kneewear.io.documents import load_table, save_figures
from kneewear.joblog import job_log
from kneewear.report.designs import draw_laxity

with job_log(snakemake.log[0], snakemake.threads):
    figures = draw_laxity(load_table(snakemake.input.loops), load_table(snakemake.input.laxity))
    save_figures(figures, snakemake.output.figures)
