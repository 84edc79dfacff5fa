"""Mark cases beyond the validity of the linear layer (rule flag_validity)."""

from kneewear.io.csv_tables import load_table, save_table
from kneewear.joblog import job_log
from kneewear.regression.validity import flag_validity

with job_log(snakemake.log[0], snakemake.threads):
    flags = flag_validity(
        load_table(snakemake.input.cases),
        pressure_limit=snakemake.params.pressure_limit,
        avg_pressure_limit=snakemake.params.avg_pressure_limit,
    )
    save_table(flags, snakemake.output.validity)
