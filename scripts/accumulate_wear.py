"""Accumulate wear and creep of a batch of cases over their lives (rule accumulate_wear)."""

from kneewear.activity.activity import Activity
from kneewear.activity.sources import rebuild_activities
from kneewear.base.schemas import CONTACT
from kneewear.geometry.knee import KneeModel
from kneewear.motion.settings import SimulationSettings
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf
from kneewear.wear.accumulation import accumulate_cases
from kneewear.wear.settings import WearSettings
from kneewear.wear.worn_contact import WornContact

with job_log(snakemake.log[0]):
    knee = netcdf.load(KneeModel, snakemake.input.knee)
    settings = WearSettings(**snakemake.params.wear)
    activities = rebuild_activities(
        netcdf.load_all(Activity, snakemake.input.activities), snakemake.params.activities
    )
    worn = WornContact(
        knee,
        activities=activities,
        settings=SimulationSettings(**snakemake.params.simulation),
        medial_lateral=settings.surface_update.medial_lateral,
    )
    # Lives are computed for the cases that finished in all activities.
    cases = netcdf.load_cases(CONTACT, snakemake.input.histories)
    damage = accumulate_cases(
        ({one.attrs["activity"]: one for one in case} for case in cases),
        tuple(activities),
        grid=knee.grid,
        settings=settings,
        resimulate=worn,
        keep_going=True,
    )
    netcdf.save(damage, snakemake.output.damage)
