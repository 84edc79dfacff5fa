"""Draw the figures of an uncertainty study (rule plot_uncertainty)."""

from kneewear.io.csv_tables import load_table
from kneewear.io.element_sums import load_sums
from kneewear.io.figures import save_figures
from kneewear.io.grid import load_grid
from kneewear.joblog import job_log
from kneewear.report.uncertainty import draw_uncertainty

with job_log(snakemake.log[0], snakemake.threads):
    figures = draw_uncertainty(
        method=snakemake.params.method,
        found=load_table(snakemake.input.found),
        samples=load_table(snakemake.input.samples),
        sums=load_sums(snakemake.input.sums),
        grid=load_grid(snakemake.input.grid),
    )
    save_figures(figures, snakemake.output.figures)
