"""Compute the centre case with uncertain constants (rule sample_constants)."""

from kneewear.activity.activity import Activity
from kneewear.activity.sources import rebuild_activities
from kneewear.base.cases import Case
from kneewear.base.variables import Variable
from kneewear.geometry.knee import KneeModel
from kneewear.io.documents import save_table
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf
from kneewear.study.centre import (
    constant_table,
    sample_constants,
    sample_intervals,
    sampled_study,
)
from kneewear.study.study import WearStudy

with job_log(snakemake.log[0], side=snakemake.output):
    constants = {name: Variable(**one) for name, one in snakemake.params.constants.items()}
    study = sampled_study(
        WearStudy(**snakemake.params.study), Case(**snakemake.params.case), constants
    )
    samples = sample_constants(
        study,
        snakemake.params.samples,
        netcdf.load(KneeModel, snakemake.input.knee),
        rebuild_activities(
            netcdf.load_all(Activity, snakemake.input.activities), snakemake.params.activities
        ),
    )
    intervals = sample_intervals(samples)
    save_table(constant_table(constants, study), snakemake.output.constants)
    save_table(samples, snakemake.output.samples)
    save_table(intervals, snakemake.output.intervals)
