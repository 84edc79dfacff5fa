"""Tables of all cases of a finite-element twin (rule tabulate_twin)."""

import pandas as pd

from kneewear.io.documents import load_table, save_table
from kneewear.joblog import job_log

with job_log(snakemake.log[0], snakemake.threads):
    for name, path in snakemake.output.items():
        parts = [load_table(part) for part in snakemake.input[name]]
        save_table(pd.concat(parts, ignore_index=True), path)
