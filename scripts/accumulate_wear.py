"""Accumulate wear and creep of a batch of cases over their lives (rule accumulate_wear)."""

from kneewear.activity.activity import Activity
from kneewear.activity.sources import rebuild_activity
from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.joblog import job_log
from kneewear.settings.simulation import SimulationSettings
from kneewear.settings.wear import WearSettings
from kneewear.simulation.history import ContactHistory, keep_common
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.records import record_cycles
from kneewear.wear.worn_surface import WornContact

with job_log(snakemake.log[0], snakemake.threads):
    # Lives are computed for the cases that finished in all activities.
    histories = keep_common(list(netcdf.load_all(ContactHistory, snakemake.input.histories)))
    knee = netcdf.load(KneeModel, snakemake.input.knee)
    settings = WearSettings(**snakemake.params.wear)
    worn = WornContact(
        knee,
        activities={
            one.name: rebuild_activity(one, snakemake.params.activities.get(one.name))
            for one in netcdf.load_all(Activity, snakemake.input.activities)
        },
        settings=SimulationSettings(**snakemake.params.simulation),
        medial_lateral=settings.surface_update.medial_lateral,
    )
    netcdf.save(accumulate_wear(histories, knee.grid, settings, worn), snakemake.output.damage)
    netcdf.save(record_cycles(histories), snakemake.output.cycles)
