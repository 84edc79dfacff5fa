"""Evaluate a part of one generation of a search (rule search_designs)."""

from kneewear.activity.activity import Activity
from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.documents import load_table, save_table
from kneewear.joblog import job_log
from kneewear.settings.optimisation import OptimisationStudy
from kneewear.studies.optimisation.designs import evaluate_generation

with job_log(snakemake.log[0], snakemake.threads):
    designs = evaluate_generation(
        study=OptimisationStudy(**snakemake.params.study),
        knee=netcdf.load(KneeModel, snakemake.input.knee),
        activities={one.name: one for one in netcdf.load_all(Activity, snakemake.input.activities)},
        number=snakemake.params.generation,
        batch=tuple(snakemake.params.designs),
        earlier=[load_table(path) for path in snakemake.input.get("earlier", [])],
    )
    save_table(designs, snakemake.output.designs)
