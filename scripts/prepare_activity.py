"""Prepare one cycle of an activity (rule prepare_activity)."""

import logging

from kneewear.activity.settings import parse_activity
from kneewear.io.curves import read_activity
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf

with job_log(snakemake.log[0]):
    activity = read_activity(
        snakemake.wildcards.activity,
        parse_activity(snakemake.params.activity),
        dict(snakemake.input.items()),
        snakemake.params.frames,
        snakemake.params.knee,
    )
    for warning in activity.warnings:
        logging.getLogger("kneewear").warning("%s", warning)
    netcdf.save(activity, snakemake.output.activity)
