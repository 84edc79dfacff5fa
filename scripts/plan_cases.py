"""Plan the cases of a sweep, or read them from a file (rule plan_cases)."""

from kneewear.io.documents import save_table
from kneewear.io.plans import read_plan
from kneewear.joblog import job_log
from kneewear.settings.sweep import SweepStudy
from kneewear.studies.sweep.plan import plan_cases, plan_of

with job_log(snakemake.log[0], snakemake.threads):
    study = SweepStudy(**snakemake.params.study)
    given = [read_plan(path, list(study.sweep.factors)) for path in snakemake.input.file]
    save_table(plan_of(given[0]) if given else plan_cases(study), snakemake.output.plan)
