"""Draw the figures of a static study (rule plot_static)."""

from kneewear.geometry.implant import Implant
from kneewear.io import netcdf
from kneewear.io.documents import load_computed, save_figures
from kneewear.joblog import job_log
from kneewear.report.static import draw_static_figures
from kneewear.studies.static.record import StaticRecord

with job_log(snakemake.log[0], snakemake.threads):
    tables = load_computed(snakemake.input.tables)
    figures = draw_static_figures(
        record=netcdf.load(StaticRecord, snakemake.input.record),
        implant=netcdf.load(Implant, snakemake.input.knee, "implant"),
        static=tables["static"],
        comparison=tables.get("material_comparison"),
        convergence=tables.get("element_convergence"),
        sensitivity=tables.get("grid_sensitivity"),
    )
    save_figures(figures, snakemake.output.figures)
