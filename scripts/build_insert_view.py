"""Gather what the interactive view of the page shows (rule build_insert_view)."""

from kneewear.activity.activity import Activity
from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.documents import save_json
from kneewear.joblog import job_log
from kneewear.report.insert_view import build_insert_view
from kneewear.simulation.history import ContactHistory
from kneewear.wear.records import DamageMaps

with job_log(snakemake.log[0], snakemake.threads):
    knee = netcdf.load(KneeModel, snakemake.input.knee)
    only = {"case": snakemake.params.cases}
    view = build_insert_view(
        implant=knee.implant,
        grid=knee.grid,
        maps=netcdf.load(DamageMaps, snakemake.input.damage, only=only),
        percent=netcdf.load(Activity, snakemake.input.activities[0]).percent,
        histories=netcdf.load_all(
            ContactHistory, snakemake.input.histories, leave_out=["slip"], only=only
        ),
    )
    save_json(view, snakemake.output.view)
