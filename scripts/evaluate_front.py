"""Compute a part of the front in full (rule evaluate_front)."""

from kneewear.activity.activity import Activity
from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.documents import load_table, save_table
from kneewear.joblog import job_log
from kneewear.settings.optimisation import OptimisationStudy
from kneewear.studies.optimisation.front import evaluate_front

with job_log(snakemake.log[0], snakemake.threads):
    designs = evaluate_front(
        study=OptimisationStudy(**snakemake.params.study),
        knee=netcdf.load(KneeModel, snakemake.input.knee),
        activities={one.name: one for one in netcdf.load_all(Activity, snakemake.input.activities)},
        designs=load_table(snakemake.input.designs),
        part=snakemake.params.part,
        parts=snakemake.params.parts,
    )
    save_table(designs, snakemake.output.designs)
