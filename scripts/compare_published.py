"""Compare cases and regression with the published tables (rule compare_published)."""

from kneewear.io.csv_tables import load_table, save_table
from kneewear.joblog import job_log
from kneewear.regression import compare_published, compare_regression

with job_log(snakemake.log[0], snakemake.threads):
    cases, regression = (
        load_table(snakemake.input.cases),
        load_table(snakemake.input.regression),
    )
    save_table(compare_published(cases), snakemake.output.comparison)
    save_table(compare_regression(regression), snakemake.output.regression)
