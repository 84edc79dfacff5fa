"""Draw the figures of a calibration (rule plot_calibration)."""

from kneewear.io.documents import load_table, save_figures
from kneewear.joblog import job_log
from kneewear.report.regression import draw_calibration_figures

with job_log(snakemake.log[0], snakemake.threads):
    figures = draw_calibration_figures(
        constants=load_table(snakemake.input.constants),
        comparison=load_table(snakemake.input.comparison),
        correlations=load_table(snakemake.input.correlations),
        trade_off=load_table(snakemake.input.trade_off),
    )
    save_figures(figures, snakemake.output.figures)
