"""Compare grids, distances and analyses on one case (rule verify_methods)."""

from kneewear.activity.activity import Activity
from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.documents import save_table
from kneewear.joblog import job_log
from kneewear.settings.cases import Case
from kneewear.settings.simulation import SimulationSettings
from kneewear.settings.wear import WearSettings
from kneewear.verification.methods import verify_methods

with job_log(snakemake.log[0], snakemake.threads, side=snakemake.output):
    tables = verify_methods(
        netcdf.load(KneeModel, snakemake.input.knee),
        activities=[netcdf.load(Activity, path) for path in snakemake.input.activities],
        case=Case(**snakemake.params.case),
        simulation=SimulationSettings(**snakemake.params.simulation),
        wear=WearSettings(**snakemake.params.wear),
    )
    for name, table in tables:
        save_table(table, snakemake.output[name])
