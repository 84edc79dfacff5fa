"""Collect figures and tables of the source documents from finished studies (rule paper)."""

from types import SimpleNamespace

from kneewear.base.progress import logger
from kneewear.runs.finished import redraw_group
from kneewear.runs.joblog import job_log
from kneewear.study.models import Lazy

with job_log(snakemake.log[0]):
    chosen = SimpleNamespace(missing=False, redraw=redraw_group)
    lines, _ = Lazy(snakemake.params.step)(chosen)
    for line in lines:
        logger.info(line)
