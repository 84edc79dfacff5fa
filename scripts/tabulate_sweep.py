"""Reduce the cases of a sweep to its tables (rule tabulate_sweep)."""

import pandas as pd

from kneewear.io.documents import load_table, save_table
from kneewear.joblog import job_log
from kneewear.studies.sweep.analysis import tabulate_sweep

with job_log(snakemake.log[0], snakemake.threads):
    found = pd.concat(map(load_table, snakemake.input.cases), ignore_index=True)
    for name, table in tabulate_sweep(load_table(snakemake.input.plan), found).items():
        save_table(table, snakemake.output[name])
