"""Compare the case without changes with a finer discretisation (rule check_discretisation)."""

from kneewear.activity.activity import Activity
from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.documents import save_table
from kneewear.joblog import job_log
from kneewear.settings.base import WearStudy
from kneewear.study.discretisation import check_discretisation

with job_log(snakemake.log[0], snakemake.threads, side=snakemake.output):
    finer = check_discretisation(
        study=WearStudy(**snakemake.params.study),
        knee=netcdf.load(KneeModel, snakemake.input.knee),
        activities={one.name: one for one in netcdf.load_all(Activity, snakemake.input.activities)},
    )
    save_table(finer, snakemake.output.discretisation)
