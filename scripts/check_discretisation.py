"""Compare an uncertainty study with a finer discretisation (rule check_discretisation)."""

from kneewear.io.activity import load_activity
from kneewear.io.csv_tables import save_table
from kneewear.io.distance_table import load_distance_tables
from kneewear.io.grid import load_grid
from kneewear.io.surfaces import load_implant
from kneewear.io.table import load_tables
from kneewear.joblog import job_log
from kneewear.settings.study import load_study
from kneewear.studies.uncertainty.samples import SampledModel, check_discretisation

with job_log(snakemake.log[0], snakemake.threads):
    model = SampledModel(
        implant=load_implant(snakemake.input.surfaces),
        grid=load_grid(snakemake.input.grid),
        tables=load_tables(snakemake.input.table),
        distance_tables=load_distance_tables(snakemake.input.distance_table),
        activities={item.name: item for item in map(load_activity, snakemake.input.activities)},
    )
    finer = check_discretisation(load_study(snakemake.params.study), model)
    save_table(finer, snakemake.output.discretisation)
