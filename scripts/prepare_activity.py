"""Prepare one cycle of an activity (rule prepare_activity)."""

from kneewear.activity import build_activity
from kneewear.config import parse_activity
from kneewear.io.activity import save_activity
from kneewear.io.motion_csv import read_columns
from kneewear.joblog import job_log

with job_log(snakemake.log[0], snakemake.threads):
    settings = parse_activity(snakemake.params.activity)
    curves = {
        name: read_columns(path, getattr(settings, name).columns.model_dump())
        for name, path in snakemake.input.items()
    }
    activity = build_activity(
        snakemake.wildcards.activity, settings, snakemake.params.frames, **curves
    )
    save_activity(activity, snakemake.output.activity)
