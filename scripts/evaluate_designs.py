"""Compute a part of one generation of a search, or of its front in full (rule evaluate_designs)."""

import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.documents import load_table, save_table
from kneewear.joblog import job_log, start_up_share
from kneewear.settings.base import WearStudy
from kneewear.study.inputs import CaseInputs
from kneewear.study.run import run_cases
from kneewear.study.search import plan_designs, with_grid

with job_log(snakemake.log[0], snakemake.threads):
    study, number = WearStudy(**snakemake.params.study), snakemake.params.generation
    earlier = [load_table(path) for path in snakemake.input.get("earlier", [])]
    results = pd.concat(earlier) if earlier else pd.DataFrame()
    plan, study = plan_designs(study, number, results)
    knee = with_grid(study, netcdf.load(KneeModel, snakemake.input.knee))
    activities = {one.name: one for one in netcdf.load_all(Activity, snakemake.input.activities)}
    inputs = CaseInputs(study, knee, activities, exact=not study.reads_distance_tables)
    part = plan[snakemake.params.part :: snakemake.params.parts]
    with start_up_share(len(part)):
        save_table(run_cases(study, part, inputs), snakemake.output.results)
