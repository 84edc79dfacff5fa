"""Compare an uncertainty study with a finer discretisation (rule check_discretisation)."""

from kneewear.activity.activity import Activity
from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.documents import save_table
from kneewear.joblog import job_log
from kneewear.settings.uncertainty import UncertaintyStudy
from kneewear.studies.uncertainty.samples import check_discretisation

with job_log(snakemake.log[0], snakemake.threads, side=snakemake.output):
    finer = check_discretisation(
        study=UncertaintyStudy(**snakemake.params.study),
        knee=netcdf.load(KneeModel, snakemake.input.knee),
        activities={one.name: one for one in netcdf.load_all(Activity, snakemake.input.activities)},
    )
    save_table(finer, snakemake.output.discretisation)
