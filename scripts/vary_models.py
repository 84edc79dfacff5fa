"""Compute the centre case with other choices of the model (rule vary_models)."""

from kneewear.activity.activity import Activity
from kneewear.activity.sources import rebuild_activities
from kneewear.base.schemas import CONTACT
from kneewear.geometry.knee import KneeModel
from kneewear.io.documents import save_table
from kneewear.motion.settings import SimulationSettings
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf
from kneewear.wear.settings import WearSettings
from kneewear.wear.spread import vary_models
from kneewear.wear.worn_contact import WornContact

with job_log(snakemake.log[0], side=snakemake.output):
    knee = netcdf.load(KneeModel, snakemake.input.knee)
    settings = WearSettings(**snakemake.params.wear)
    case = {"case": [snakemake.params.case]}
    histories = netcdf.load_all(CONTACT, snakemake.input.histories, only=case)
    worn = WornContact(
        knee,
        activities=rebuild_activities(
            netcdf.load_all(Activity, snakemake.input.activities), snakemake.params.activities
        ),
        settings=SimulationSettings(**snakemake.params.simulation),
        medial_lateral=settings.surface_update.medial_lateral,
    )
    table = vary_models(
        {one.activity: one for one in histories},
        knee.grid,
        settings,
        worn,
        # On a surface that follows its wear the other model may need another smoothing.
        contacts=worn.with_other_contact() if settings == settings.without_updates() else {},
        **snakemake.params.spread,
    )
    save_table(table, snakemake.output.spread)
