"""Evaluate a part of one generation of a search (rule search_designs)."""

from kneewear.activity.activity import Activity
from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.documents import load_table, save_table
from kneewear.joblog import job_log, start_up_share
from kneewear.settings.optimisation import OptimisationStudy
from kneewear.studies.optimisation.designs import evaluate_generation

with job_log(snakemake.log[0], snakemake.threads):
    first, last = snakemake.params.designs
    study = OptimisationStudy(**snakemake.params.study)
    knee = netcdf.load(KneeModel, snakemake.input.knee)
    activities = {one.name: one for one in netcdf.load_all(Activity, snakemake.input.activities)}
    earlier = [load_table(path) for path in snakemake.input.get("earlier", [])]
    with start_up_share(last - first):
        designs = evaluate_generation(
            study, knee, activities, snakemake.params.generation, (first, last), earlier
        )
    save_table(designs, snakemake.output.designs)
