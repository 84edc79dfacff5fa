"""Tables of a study from the results of all its cases or jobs (rule analyse_cases)."""

from pathlib import Path

from kneewear.io.documents import save_table
from kneewear.io.result_files import copy_result
from kneewear.runs.joblog import job_log
from kneewear.study.job_files import JobFiles
from kneewear.study.models import Lazy

with job_log(snakemake.log[0]):
    given = JobFiles(snakemake.input)
    tables = Lazy(snakemake.params.step)(snakemake.params.settings, given)
    for name, table in tables.items():
        save_table(table, snakemake.output[name])
    # Tables and files that jobs have written.
    for path in snakemake.params.copied:
        copy_result(given.inside("jobs")[Path(path).name], path)
