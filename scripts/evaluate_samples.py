"""Simulate a batch of samples of an uncertainty study (rule evaluate_samples)."""

from kneewear.io.activity import load_activity
from kneewear.io.csv_tables import load_table, save_table
from kneewear.io.distance_table import load_distance_tables
from kneewear.io.element_sums import save_sums
from kneewear.io.grid import load_grid
from kneewear.io.surfaces import load_implant
from kneewear.io.table import load_tables
from kneewear.joblog import job_log
from kneewear.settings.study import load_study
from kneewear.studies.uncertainty.samples import SampledModel, evaluate_samples

with job_log(snakemake.log[0], snakemake.threads):
    plan = load_table(snakemake.input.plan)
    model = SampledModel(
        implant=load_implant(snakemake.input.surfaces),
        grid=load_grid(snakemake.input.grid),
        tables=load_tables(snakemake.input.table),
        distance_tables=load_distance_tables(snakemake.input.distance_table),
        activities={item.name: item for item in map(load_activity, snakemake.input.activities)},
    )
    first, last = snakemake.params.samples
    samples, sums = evaluate_samples(load_study(snakemake.params.study), plan[first:last], model)
    save_table(samples, snakemake.output.samples)
    save_sums(sums, snakemake.output.sums)
