"""Draw the figures of a static study (rule plot_static)."""

from kneewear.geometry.implant import Implant
from kneewear.io import netcdf
from kneewear.io.documents import load_table, save_figures
from kneewear.joblog import job_log
from kneewear.report.static import draw_static_figures
from kneewear.studies.static.record import StaticRecord

with job_log(snakemake.log[0], snakemake.threads):
    figures = draw_static_figures(
        record=netcdf.load(StaticRecord, snakemake.input.record),
        implant=netcdf.load(Implant, snakemake.input.knee, "implant"),
        static=load_table(snakemake.input.static),
        comparison=load_table(snakemake.input.comparison),
        convergence=next(map(load_table, snakemake.input.convergence), None),
        sensitivity=next(map(load_table, snakemake.input.sensitivity), None),
    )
    save_figures(figures, snakemake.output.figures)
