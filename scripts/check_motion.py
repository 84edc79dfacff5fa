"""Try a motion on the bearing, also with its signs reversed (rule check_motion)."""

import logging

import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.base.cases import Case
from kneewear.geometry.fit_quality import GeometryRecord
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.settings import parse_implant
from kneewear.io.documents import save_table
from kneewear.io.shapes import load_shape
from kneewear.motion.settings import SimulationSettings
from kneewear.motion.sign_check import check_signs
from kneewear.motion.signs import tabulate_trials
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf
from kneewear.study.settings import study_of
from kneewear.study.trials import try_motion

with job_log(snakemake.log[0], side=snakemake.output):
    params = snakemake.params
    knee = netcdf.load(KneeModel, snakemake.input.knee)
    activity = netcdf.load(Activity, snakemake.input.activity)
    settings = SimulationSettings(**params.simulation)
    placement = try_motion(
        implant=parse_implant(params.implant),
        shapes={name: load_shape(snakemake.input[name]) for name in params.meshes},
        knee=knee,
        record=netcdf.load(GeometryRecord, snakemake.input.fit),
        activity=activity,
        cases=[Case(**case) for case in params.cases],
        settings=settings,
        study=None if params.study is None else study_of(params.study),
    )
    for sentence in placement.sentences[1:]:  # findings of the page are from the table
        logging.getLogger("kneewear").info(sentence)
    save_table(placement.table, snakemake.output.placement)
    signs = pd.DataFrame({"activity": []})
    for reference in [params.reference] * params.signed:
        case = Case(**params.centre)
        trials = check_signs(knee, activity, case, settings, reference, params.stated)
        signs = tabulate_trials(trials, activity.name)
    save_table(signs, snakemake.output.trials)
