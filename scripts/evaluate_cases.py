"""Compute cases, variants of one, or a job of a model (rule evaluate_cases)."""

from kneewear.runs.joblog import job_log
from kneewear.study.job_files import JobFiles, save_result
from kneewear.study.models import Lazy

with job_log(snakemake.log[0], side=snakemake.params.side):
    given = JobFiles(
        snakemake.input,
        root=snakemake.params.root,
        source=snakemake.params.source,
        folder=snakemake.output.get("folder"),
        threads=snakemake.threads,
    )
    result = Lazy(snakemake.params.step)(snakemake.params.settings, given)
    save_result(result, dict(snakemake.output.items()))
