"""Draw the figures of a static study (rule plot_static)."""

from kneewear.geometry.implant import Implant
from kneewear.io import netcdf
from kneewear.io.csv_tables import load_table
from kneewear.io.figures import save_figures
from kneewear.joblog import job_log
from kneewear.report.element_study import draw_element_study
from kneewear.report.static_cases import draw_static_figures
from kneewear.studies.static.record import StaticRecord

with job_log(snakemake.log[0], snakemake.threads):
    figures = draw_static_figures(
        record=netcdf.load(StaticRecord, snakemake.input.record),
        implant=netcdf.load(Implant, snakemake.input.knee, "surfaces"),
        static=load_table(snakemake.input.static),
        comparison=load_table(snakemake.input.comparison),
    ) | draw_element_study(
        convergence=next(map(load_table, snakemake.input.convergence), None),
        sensitivity=next(map(load_table, snakemake.input.sensitivity), None),
    )
    save_figures(figures, snakemake.output.figures)
