"""Compare the materials of a static study (rule compare_materials)."""

from kneewear.io.documents import load_table, save_table
from kneewear.joblog import job_log
from kneewear.regression.materials import compare_materials

with job_log(snakemake.log[0], snakemake.threads, side=snakemake.output):
    comparison = compare_materials(
        load_table(snakemake.input.static), published=snakemake.params.compare_with_published
    )
    save_table(comparison, snakemake.output.comparison)
