"""Draw the figures of a verification study (rule plot_verification)."""

from kneewear.io.documents import load_computed, save_figures
from kneewear.joblog import job_log
from kneewear.report.verification import draw_verification

with job_log(snakemake.log[0], snakemake.threads):
    figures = draw_verification(load_computed(snakemake.input.tables))
    save_figures(figures, snakemake.output.figures)
