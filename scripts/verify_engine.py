"""Compare the contact engine with analytical solutions (rule verify_engine)."""

from kneewear.io.documents import save_table
from kneewear.joblog import job_log
from kneewear.verification.engine import verify_engine

with job_log(snakemake.log[0], snakemake.threads, side=snakemake.output):
    for name, table in verify_engine(snakemake.params.seed).items():
        save_table(table, snakemake.output[name])
