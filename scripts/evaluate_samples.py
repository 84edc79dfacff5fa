"""Simulate a batch of samples of an uncertainty study (rule evaluate_samples)."""

from kneewear.activity.activity import Activity
from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.documents import load_table, save_table
from kneewear.joblog import job_log, start_up_share
from kneewear.settings.uncertainty import UncertaintyStudy
from kneewear.studies.uncertainty.samples import evaluate_samples

with job_log(snakemake.log[0], snakemake.threads):
    first, last = snakemake.params.samples
    study = UncertaintyStudy(**snakemake.params.study)
    plan = load_table(snakemake.input.plan)[first:last]
    knee = netcdf.load(KneeModel, snakemake.input.knee)
    activities = {one.name: one for one in netcdf.load_all(Activity, snakemake.input.activities)}
    with start_up_share(last - first):
        samples, sums = evaluate_samples(study, plan, knee, activities)
    save_table(samples, snakemake.output.samples)
    netcdf.save(sums, snakemake.output.sums)
