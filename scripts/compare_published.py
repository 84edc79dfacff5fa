"""Compare cases and regression with the published tables (rule compare_published)."""

from kneewear.io.csv_tables import load_table, save_table
from kneewear.joblog import job_log
from kneewear.regression.comparison import (
    compare_correlation,
    compare_published,
    compare_regression,
    predict_published,
)
from kneewear.regression.statements import check_statements

with job_log(snakemake.log[0], snakemake.threads):
    cases = load_table(snakemake.input.cases)
    regression = compare_regression(load_table(snakemake.input.regression))
    correlation = compare_correlation(load_table(snakemake.input.correlation))
    save_table(compare_published(cases), snakemake.output.comparison)
    save_table(regression, snakemake.output.regression)
    save_table(correlation, snakemake.output.correlation)
    save_table(check_statements(correlation, regression), snakemake.output.statements)
    save_table(predict_published(cases), snakemake.output.prediction)
