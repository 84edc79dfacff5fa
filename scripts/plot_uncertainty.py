"""Draw the figures of an uncertainty study (rule plot_uncertainty)."""

from kneewear.geometry.element_grid import ElementGrid
from kneewear.io import netcdf
from kneewear.io.documents import load_table, save_figures
from kneewear.joblog import job_log
from kneewear.report.uncertainty import draw_uncertainty
from kneewear.studies.uncertainty.element_sums import ElementSums, join_sums

with job_log(snakemake.log[0], snakemake.threads):
    figures = draw_uncertainty(
        method=snakemake.params.method,
        found=load_table(snakemake.input.found),
        samples=load_table(snakemake.input.samples),
        sums=join_sums(list(netcdf.load_all(ElementSums, snakemake.input.sums))),
        grid=netcdf.load(ElementGrid, snakemake.input.knee, "grid"),
    )
    save_figures(figures, snakemake.output.figures)
