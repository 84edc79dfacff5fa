"""Compare an uncertainty study with a finer discretisation (rule check_discretisation)."""

from kneewear.activity.activity import Activity
from kneewear.io import netcdf
from kneewear.io.csv_tables import save_table
from kneewear.io.knee import load_knee
from kneewear.joblog import job_log
from kneewear.settings.study import load_study
from kneewear.studies.uncertainty.samples import SampledModel, check_discretisation

with job_log(snakemake.log[0], snakemake.threads):
    knee = load_knee(snakemake.input.knee)
    model = SampledModel(
        implant=knee.implant,
        grid=knee.grid,
        tables=knee.samples,
        distance_tables=knee.distance_tables,
        activities={one.name: one for one in netcdf.load_all(Activity, snakemake.input.activities)},
    )
    finer = check_discretisation(load_study(snakemake.params.study), model)
    save_table(finer, snakemake.output.discretisation)
