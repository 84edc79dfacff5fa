"""Draw a group of the figures of a study, and gather what its view shows (rule plot_figures)."""

from kneewear.runs.joblog import job_log
from kneewear.study.job_files import JobFiles
from kneewear.study.models import Lazy

with job_log(snakemake.log[0]):
    given = JobFiles(snakemake.input, root=snakemake.params.root)
    drawing = Lazy(snakemake.params.step)(snakemake.params.settings, given)
    drawing.save(snakemake.output.figures, **snakemake.params.drawn)
