"""Prepare one cycle of an activity (rule prepare_activity)."""

import logging

from kneewear.io import netcdf
from kneewear.io.curves import read_activity
from kneewear.joblog import job_log
from kneewear.settings.activity import parse_activity

files = dict(snakemake.input.items())
knee_file = files.pop("knee", None)  # only where the motion refers to the seat

with job_log(snakemake.log[0], snakemake.threads):
    activity = read_activity(
        snakemake.wildcards.activity,
        parse_activity(snakemake.params.activity),
        files,
        snakemake.params.frames,
        snakemake.params.knee,
    )
    for warning in activity.warnings:
        logging.getLogger("kneewear").warning(warning)
    if knee_file:
        # Imported here: contact takes a second to load, which few motions need.
        from kneewear.geometry.knee import KneeModel
        from kneewear.settings.simulation import SimulationSettings
        from kneewear.simulation.seat import refer_to_seat

        settings = SimulationSettings(**snakemake.params.simulation)
        activity = refer_to_seat(activity, netcdf.load(KneeModel, knee_file), settings)
    netcdf.save(activity, snakemake.output.activity)
