"""Compute a batch of subjects of a cohort with their designs (rule evaluate_subjects)."""

from kneewear.activity.activity import Activity
from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.cohorts import read_cohort, subject_reader
from kneewear.io.documents import save_table
from kneewear.joblog import job_log, start_up_share
from kneewear.settings.cohort import CohortStudy
from kneewear.studies.cohort.cases import evaluate_subjects, list_pairs

with job_log(snakemake.log[0], snakemake.threads):
    study = CohortStudy(**snakemake.params.study)
    subjects = read_cohort(snakemake.input.cohort, study)
    first, last = snakemake.params.pairs
    pairs = list_pairs(study, subjects)[first:last]
    paths = dict(zip(snakemake.params.designs, snakemake.input.knees, strict=True))
    needed = dict.fromkeys(study.implant_of(subject, design) for design, subject in pairs)
    knees = {name: netcdf.load(KneeModel, paths[name]) for name in needed}
    activities = {one.name: one for one in netcdf.load_all(Activity, snakemake.input.activities)}
    reader = subject_reader(study, subjects, snakemake.params.own_files)
    with start_up_share(len(pairs)):
        found = evaluate_subjects(study, pairs, knees, activities, reader)
    save_table(found, snakemake.output.subjects)
