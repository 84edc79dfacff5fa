"""Draw the figures of a verification study (rule plot_verification)."""

from pathlib import Path

from kneewear.io.documents import load_table, save_figures
from kneewear.joblog import job_log
from kneewear.report.verification import draw_verification

with job_log(snakemake.log[0], snakemake.threads):
    tables = {Path(path).stem: load_table(path) for path in snakemake.input.tables}
    save_figures(draw_verification(tables), snakemake.output.figures)
