"""Fit thickness and body mass to every quantity (rule fit_regression)."""

from kneewear.io.csv_tables import load_table, save_table
from kneewear.joblog import job_log
from kneewear.regression.fit import fit_regression
from kneewear.regression.models import compare_models, predict_cases

with job_log(snakemake.log[0], snakemake.threads):
    cases = load_table(snakemake.input.cases)
    save_table(fit_regression(cases), snakemake.output.regression)
    save_table(compare_models(cases), snakemake.output.models)
    save_table(predict_cases(cases), snakemake.output.points)
