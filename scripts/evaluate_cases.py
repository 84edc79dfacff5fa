"""Compute a batch of cases of a sweep (rule evaluate_cases)."""

from kneewear.activity.activity import Activity
from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.documents import load_table, save_table
from kneewear.joblog import job_log, start_up_share
from kneewear.settings.sweep import SweepStudy
from kneewear.studies.cases import evaluate_cases
from kneewear.studies.sweep.plan import planned_cases, sweep_runner

with job_log(snakemake.log[0], snakemake.threads):
    study = SweepStudy(**snakemake.params.study)
    first, last = snakemake.params.cases
    runner = sweep_runner(
        study,
        netcdf.load(KneeModel, snakemake.input.knee),
        {one.name: one for one in netcdf.load_all(Activity, snakemake.input.activities)},
    )
    cases = planned_cases(study, load_table(snakemake.input.plan)[first:last])
    with start_up_share(last - first):
        found = evaluate_cases(runner, cases)
    save_table(found, snakemake.output.cases)
