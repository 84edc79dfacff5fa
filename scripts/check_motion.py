"""Try a motion on the bearing, also with its signs reversed (rule check_motion)."""

import logging

from kneewear.activity.activity import Activity
from kneewear.base.cases import Case
from kneewear.geometry.fit_quality import GeometryRecord
from kneewear.geometry.knee import KneeModel
from kneewear.io.documents import save_table
from kneewear.motion.placement import check_placement
from kneewear.motion.settings import SimulationSettings
from kneewear.motion.sign_check import check_signs
from kneewear.motion.signs import tabulate_trials
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf

with job_log(snakemake.log[0], side=snakemake.output):
    knee = netcdf.load(KneeModel, snakemake.input.knee)
    activity = netcdf.load(Activity, snakemake.input.activity)
    settings = SimulationSettings(**snakemake.params.simulation)
    centre, shallowest = (Case(**one) for one in snakemake.params.cases)
    fit = netcdf.load(GeometryRecord, snakemake.input.fit).fit_quality
    placement = check_placement(knee, activity, [centre, shallowest], settings, fit)
    # The page has them as findings, from the table.
    for sentence in placement.sentences[1:]:
        logging.getLogger("kneewear").info(sentence)
    save_table(placement.table, snakemake.output.placement)
    for path in snakemake.output.get("trials", []):
        trials = check_signs(knee, activity, centre, settings, snakemake.params.reference)
        save_table(tabulate_trials(trials, activity.name), path)
