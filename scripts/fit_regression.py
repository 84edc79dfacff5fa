"""Fit thickness and body mass to every quantity (rule fit_regression)."""

from kneewear.io.csv_tables import load_table, save_table
from kneewear.joblog import job_log
from kneewear.regression import fit_regression

with job_log(snakemake.log[0], snakemake.threads):
    save_table(fit_regression(load_table(snakemake.input.cases)), snakemake.output.regression)
