"""Plan the cases of a study (rule plan_cases)."""

from kneewear.io.documents import save_table
from kneewear.io.plans import read_plan
from kneewear.joblog import job_log
from kneewear.settings.study import study_of
from kneewear.study.plans import plan_cases

with job_log(snakemake.log[0]):
    study = study_of(snakemake.params.study)
    rows = [row for path in snakemake.input.file for row in read_plan(path, study)]
    save_table(plan_cases(study, rows), snakemake.output.plan)
