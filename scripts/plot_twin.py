"""Draw the figures of a finite-element twin (rule plot_twin)."""

from kneewear.io.documents import load_table, save_figures
from kneewear.joblog import job_log
from kneewear.report.fe_twin import draw_twin

with job_log(snakemake.log[0], snakemake.threads):
    names = ("fe_twin", "fe_maps", "fe_profiles")
    figures = draw_twin(*(load_table(snakemake.input[name]) for name in names))
    save_figures(figures, snakemake.output.figures)
