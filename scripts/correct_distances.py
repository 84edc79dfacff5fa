"""Penetrations of the centre case by the source's distance methods (rule correct_distances)."""

import pandas as pd

from kneewear.io.csv_tables import save_table
from kneewear.io.history import load_case
from kneewear.io.knee import load_knee
from kneewear.joblog import job_log
from kneewear.verification.distance_correction import correct_distances

with job_log(snakemake.log[0], snakemake.threads):
    knee = load_knee(snakemake.input.knee)
    given = knee.grid, knee.implant.femoral
    histories = load_case(snakemake.input.histories, snakemake.params.case).values()
    tables = [correct_distances(*given, history) for history in histories]
    save_table(pd.concat(tables), snakemake.output.table)
