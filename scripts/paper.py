"""Collect figures and tables of the source documents from finished studies (rule paper)."""

from pathlib import Path

from kneewear.base.progress import logger
from kneewear.evidence.paper.command import write_paper
from kneewear.runs.joblog import job_log
from kneewear.runs.redrawn import redraw_group

with job_log(snakemake.log[0]):
    page, lines = write_paper(Path(snakemake.params.results), redraw_group)
    for line in (*lines, f"Look at {page}"):
        logger.info(line)
