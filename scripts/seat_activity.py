"""Prepare one cycle of an activity that refers to the seat (rule seat_activity)."""

import logging

from kneewear.activity.settings import parse_activity
from kneewear.geometry.knee import KneeModel
from kneewear.io.curves import read_activity
from kneewear.motion.dwell_pose import refer_to_seat
from kneewear.motion.settings import SimulationSettings
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf

with job_log(snakemake.log[0]):
    knee = netcdf.load(KneeModel, snakemake.input.knee)
    settings = SimulationSettings(**snakemake.params.simulation)
    given = read_activity(
        snakemake.wildcards.activity,
        parse_activity(snakemake.params.activity),
        dict(snakemake.input.items()),
        settings.frames,
        "left" if knee.implant.left else "right",
    )
    activity = refer_to_seat(given, knee, settings)
    for warning in activity.warnings:
        logging.getLogger("kneewear").warning("%s", warning)
    netcdf.save(activity, snakemake.output.activity)
