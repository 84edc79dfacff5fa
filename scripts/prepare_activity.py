"""Prepare one cycle of an activity (rule prepare_activity)."""

import logging

from kneewear.activity.settings import parse_activity
from kneewear.geometry.knee import KneeModel
from kneewear.io.curves import read_activity
from kneewear.motion.settings import SimulationSettings
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf
from kneewear.study.models import Lazy

with job_log(snakemake.log[0]):
    params, files = (
        snakemake.params,
        {name: snakemake.input[name] for name in snakemake.params.files},
    )
    activity = read_activity(
        snakemake.wildcards.activity,
        parse_activity(params.activity),
        files,
        params.frames,
        params.knee,
    )
    # Positions may refer to the dwell pose of the components.
    for settings in filter(None, [params.dwell_pose]):
        knee = netcdf.load(KneeModel, snakemake.input.knee)
        refer_to_dwell_pose = Lazy("motion.dwell_pose:refer_to_dwell_pose")
        activity = refer_to_dwell_pose(activity, knee, SimulationSettings(**settings))
    for warning in activity.warnings:
        logging.getLogger("kneewear").warning("%s", warning)
    netcdf.save(activity, snakemake.output.activity)
