"""Plan the cases of a study (rule plan_cases)."""

from kneewear.io.documents import save_table
from kneewear.runs.joblog import job_log
from kneewear.study.plan_files import read_plan
from kneewear.study.plans import plan_cases
from kneewear.study.settings import study_of

with job_log(snakemake.log[0]):
    study = study_of(snakemake.params.study)
    rows = [row for path in snakemake.input.file for row in read_plan(path, study)]
    save_table(plan_cases(study, rows), snakemake.output.plan)
