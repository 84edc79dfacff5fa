"""Simulate a batch of samples of an uncertainty study (rule evaluate_samples)."""

from kneewear.activity.activity import Activity
from kneewear.io import netcdf
from kneewear.io.csv_tables import load_table, save_table
from kneewear.io.knee import load_knee
from kneewear.joblog import job_log
from kneewear.settings.study import load_study
from kneewear.studies.uncertainty.samples import SampledModel, evaluate_samples

with job_log(snakemake.log[0], snakemake.threads):
    knee = load_knee(snakemake.input.knee)
    plan = load_table(snakemake.input.plan)
    model = SampledModel(
        implant=knee.implant,
        grid=knee.grid,
        tables=knee.samples,
        distance_tables=knee.distance_tables,
        activities={one.name: one for one in netcdf.load_all(Activity, snakemake.input.activities)},
    )
    first, last = snakemake.params.samples
    samples, sums = evaluate_samples(load_study(snakemake.params.study), plan[first:last], model)
    save_table(samples, snakemake.output.samples)
    netcdf.save(sums, snakemake.output.sums)
