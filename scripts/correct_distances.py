"""Penetrations of the centre case by the source's distance methods (rule correct_distances)."""

import pandas as pd

from kneewear.io.csv_tables import save_table
from kneewear.io.grid import load_grid
from kneewear.io.history import load_case
from kneewear.io.surfaces import load_implant
from kneewear.joblog import job_log
from kneewear.verification.distance_correction import correct_distances

with job_log(snakemake.log[0], snakemake.threads):
    given = load_grid(snakemake.input.grid), load_implant(snakemake.input.surfaces).femoral
    histories = load_case(snakemake.input.histories, snakemake.params.case).values()
    tables = [correct_distances(*given, history) for history in histories]
    save_table(pd.concat(tables), snakemake.output.table)
