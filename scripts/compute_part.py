"""Compute one part of a model without cases, or a side study (rule compute_part)."""

from pathlib import Path

from kneewear.activity.activity import Activity
from kneewear.geometry.knee import KneeModel
from kneewear.io.documents import save_json, save_table
from kneewear.report.vtk import save_solids_vtk
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf
from kneewear.study.files import FileReader, model_files
from kneewear.study.jobs import JobInputs
from kneewear.study.settings import study_of
from kneewear.study.side_jobs import compute_chosen_job, list_chosen_jobs

study = study_of(snakemake.params.study)
name, folder = snakemake.params.part, Path(snakemake.params.folder)
part = list_chosen_jobs(study)[name]
side = [f"{folder}/{table}.csv" for table in part.tables] if part.optional else []
folder.mkdir(parents=True, exist_ok=True)

with job_log(snakemake.log[0], side=side):
    reader = FileReader(snakemake.params.root)
    activities = list(netcdf.load_all(Activity, snakemake.input.activities))
    inputs = JobInputs(
        knee=next((netcdf.load(KneeModel, path) for path in snakemake.input.knee), None),
        activities={activity.name: activity for activity in activities},
        activity=reader.activity,
        files=model_files(study, snakemake.params.root),
        folder=folder,
        source=snakemake.params.source,
    )
    result = compute_chosen_job(study, name, inputs)
    for table, frame in result.tables.items():
        save_table(frame, folder / f"{table}.csv")
    for record, content in result.records.items():
        save_json(content, folder / f"{record}.json")
    save_solids_vtk(result.solids, folder / "vtk", study.implant.knee == "left")
