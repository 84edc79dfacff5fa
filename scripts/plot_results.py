"""Draw what the cases of a study came to (rule plot_results)."""

from kneewear.base.schemas import DAMAGE
from kneewear.geometry.element_grid import ElementGrid
from kneewear.io.documents import load_computed, save_figures
from kneewear.report.figures import draw_results
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf

with job_log(snakemake.log[0]):
    figures = draw_results(
        grid=netcdf.load(ElementGrid, snakemake.input.knee, "grid"),
        maps=netcdf.load(DAMAGE, snakemake.input.damage, only={"case": snakemake.params.cases}),
        tables=load_computed(snakemake.input.tables),
    )
    save_figures(figures, snakemake.output.figures, **snakemake.params.drawn)
