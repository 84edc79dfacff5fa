"""Plan the samples of an uncertainty study (rule plan_samples)."""

from kneewear.io.csv_tables import save_table
from kneewear.joblog import job_log
from kneewear.settings.study import load_study
from kneewear.studies.uncertainty.plan import plan_samples

with job_log(snakemake.log[0], snakemake.threads):
    study = load_study(snakemake.params.study)
    save_table(plan_samples(study), snakemake.output.plan)
