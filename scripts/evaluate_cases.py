"""Compute a batch of cases (rule evaluate_cases)."""

from kneewear.activity.activity import Activity
from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.datasets import save_kept
from kneewear.io.documents import load_table, save_table
from kneewear.io.study_inputs import FileReader
from kneewear.joblog import job_log, start_up_share
from kneewear.settings.study import study_of
from kneewear.study.inputs import CaseInputs
from kneewear.study.models import MODELS
from kneewear.study.run import run_cases

with job_log(snakemake.log[0], snakemake.threads):
    data_folder = {"data_folder": snakemake.params.data_folder}
    study = study_of(snakemake.params.study | data_folder)
    first, last = snakemake.params.cases
    inputs = CaseInputs(
        study,
        next((netcdf.load(KneeModel, path) for path in snakemake.input.knee), None),
        {one.name: one for one in netcdf.load_all(Activity, snakemake.input.activities)},
        exact=not study.reads_distance_tables,
        reader=FileReader(snakemake.params.root),
    )
    kept = MODELS[study.model].collect(study, inputs)
    with start_up_share(last - first):
        results = run_cases(study, load_table(snakemake.input.plan)[first:last], inputs, kept.add)
    save_table(results, snakemake.output.results)
    save_kept(kept.total, snakemake.output.kept)
