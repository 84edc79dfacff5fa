"""Plan the samples of an uncertainty study (rule plan_samples)."""

from kneewear.io.documents import save_table
from kneewear.joblog import job_log
from kneewear.settings.uncertainty import UncertaintyStudy
from kneewear.studies.uncertainty.plan import plan_samples

with job_log(snakemake.log[0], snakemake.threads):
    study = UncertaintyStudy(**snakemake.params.study)
    save_table(plan_samples(study), snakemake.output.plan)
