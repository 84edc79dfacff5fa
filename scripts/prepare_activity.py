"""Prepare one cycle of an activity (rule prepare_activity)."""

import logging

from kneewear.activity.sources import build_activity
from kneewear.io import netcdf
from kneewear.io.curves import read_curves
from kneewear.joblog import job_log
from kneewear.settings.activity import parse_activity

with job_log(snakemake.log[0], snakemake.threads):
    settings = parse_activity(snakemake.params.activity)
    curves = {
        name: read_curves(path, getattr(settings, name).columns.given())
        for name, path in snakemake.input.items()
    }
    activity = build_activity(
        snakemake.wildcards.activity,
        settings,
        snakemake.params.frames,
        **curves,
        knee=snakemake.params.knee,
    )
    for warning in activity.warnings:
        logging.getLogger("kneewear").warning(warning)
    netcdf.save(activity, snakemake.output.activity)
