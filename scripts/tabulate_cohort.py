"""Reduce the subjects of a cohort to its tables (rule tabulate_cohort)."""

import pandas as pd

from kneewear.io.documents import load_table, save_table
from kneewear.joblog import job_log
from kneewear.studies.cohort.analysis import tabulate_cohort

with job_log(snakemake.log[0], snakemake.threads):
    tables = tabulate_cohort(
        pd.concat(map(load_table, snakemake.input.subjects), ignore_index=True),
        snakemake.params.percentiles,
        snakemake.params.columns,
        snakemake.params.covariates,
        tuple(snakemake.params.limits),
    )
    for name, table in tables.items():
        save_table(table, snakemake.output[name])
