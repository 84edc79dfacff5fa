"""Prepare one cycle of an activity that refers to the seat (rule seat_activity)."""

import logging

from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.curves import read_activity
from kneewear.joblog import job_log
from kneewear.settings.activity import parse_activity
from kneewear.settings.simulation import SimulationSettings
from kneewear.simulation.seat import refer_to_seat

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
