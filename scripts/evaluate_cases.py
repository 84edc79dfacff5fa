"""Compute a batch of the cases of a plan, or of a generation of a search (rule evaluate_cases)."""

from kneewear.activity.activity import Activity
from kneewear.geometry.knee import KneeModel
from kneewear.io.documents import load_table, save_table
from kneewear.runs.joblog import job_log, start_up_share
from kneewear.study import netcdf
from kneewear.study.datasets import save_kept
from kneewear.study.files import FileReader
from kneewear.study.inputs import CaseInputs
from kneewear.study.models import model_of
from kneewear.study.run import run_cases
from kneewear.study.search import planned_cases
from kneewear.study.settings import study_of

with job_log(snakemake.log[0]):
    study = study_of(snakemake.params.study)
    knee = next((netcdf.load(KneeModel, path) for path in snakemake.input.knee), None)
    tables = [load_table(path) for path in snakemake.input.tables]
    plan, knee = planned_cases(study, tables, snakemake.params.generation, knee)
    activities = {one.name: one for one in netcdf.load_all(Activity, snakemake.input.activities)}
    reader = FileReader(snakemake.params.root)
    exact = not study.reads_distance_tables
    inputs = CaseInputs(study, knee, activities, exact=exact, reader=reader)
    kept = model_of(study).collect(study, inputs)
    cases = plan[slice(*snakemake.params.cases)]
    with start_up_share(len(cases)):
        results = run_cases(study, cases, inputs, kept.add)
    save_table(results, snakemake.output.results)
    for path in snakemake.output.kept:
        save_kept(kept.total, path)
