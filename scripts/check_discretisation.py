"""Compare an uncertainty study with a finer discretisation (rule check_discretisation)."""

from kneewear.activity.activity import Activity
from kneewear.io import netcdf
from kneewear.io.documents import save_table
from kneewear.io.knee import load_knee
from kneewear.joblog import job_log
from kneewear.settings.uncertainty import UncertaintyStudy
from kneewear.studies.uncertainty.samples import check_discretisation

with job_log(snakemake.log[0], snakemake.threads):
    finer = check_discretisation(
        study=UncertaintyStudy(**snakemake.params.study),
        knee=load_knee(snakemake.input.knee),
        activities={one.name: one for one in netcdf.load_all(Activity, snakemake.input.activities)},
    )
    save_table(finer, snakemake.output.discretisation)
