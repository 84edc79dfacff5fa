"""Gather what the interactive view of the page shows (rule build_insert_view)."""

from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.documents import save_json
from kneewear.joblog import job_log
from kneewear.report.insert_view import build_insert_view
from kneewear.simulation.history import ContactHistory
from kneewear.wear.records import CycleRecord, DamageMaps

with job_log(snakemake.log[0], snakemake.threads):
    knee = netcdf.load(KneeModel, snakemake.input.knee)
    view = build_insert_view(
        implant=knee.implant,
        grid=knee.grid,
        maps=netcdf.load(DamageMaps, snakemake.input.damage),
        cycles=netcdf.load(CycleRecord, snakemake.input.cycles),
        histories=netcdf.load_all(ContactHistory, snakemake.input.histories, leave_out=["slip"]),
    )
    save_json(view, snakemake.output.view)
