"""Correlate every quantity with the contact pressures (rule correlate_pressure)."""

from kneewear.io.csv_tables import load_table, save_table
from kneewear.joblog import job_log
from kneewear.regression.correlation import correlate_pressure

with job_log(snakemake.log[0], snakemake.threads):
    save_table(correlate_pressure(load_table(snakemake.input.cases)), snakemake.output.correlation)
