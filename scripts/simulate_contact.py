"""Simulate contact over one cycle of an activity for a batch of cases (rule simulate_contact)."""

from kneewear.activity.activity import Activity
from kneewear.activity.sources import rebuild_activity
from kneewear.base.cases import Case
from kneewear.base.schemas import CONTACT
from kneewear.geometry.knee import KneeModel
from kneewear.motion.cases import simulate_cases
from kneewear.motion.settings import SimulationSettings
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf

with job_log(snakemake.log[0]):
    knee = netcdf.load(KneeModel, snakemake.input.knee)
    history = simulate_cases(
        knee,
        activity=rebuild_activity(
            netcdf.load(Activity, snakemake.input.activity), snakemake.params.activity
        ),
        cases=[Case(**case) for case in snakemake.params.cases],
        settings=SimulationSettings(**snakemake.params.simulation),
        keep_going=True,
        before=next(netcdf.load_all(CONTACT, snakemake.input.before), None),
    )
    netcdf.save(history, snakemake.output.history)
