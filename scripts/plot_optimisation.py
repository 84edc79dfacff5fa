"""Draw the figures of an optimisation (rule plot_optimisation)."""

from kneewear.io.documents import load_computed, save_figures
from kneewear.joblog import job_log
from kneewear.report.optimisation import draw_optimisation
from kneewear.settings.optimisation import OptimisationSettings

with job_log(snakemake.log[0], snakemake.threads):
    figures = draw_optimisation(
        OptimisationSettings(**snakemake.params.optimisation),
        load_computed([snakemake.input.designs, *snakemake.input.tables]),
    )
    save_figures(figures, snakemake.output.figures)
