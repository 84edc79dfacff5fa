"""Tables of the front in full, and the designs chosen from it (rule tabulate_front)."""

from kneewear.io.documents import load_table, save_table
from kneewear.joblog import job_log
from kneewear.settings.optimisation import OptimisationStudy
from kneewear.studies.optimisation.front import tabulate_front

with job_log(snakemake.log[0], snakemake.threads):
    tables = tabulate_front(
        study=OptimisationStudy(**snakemake.params.study),
        designs=load_table(snakemake.input.designs),
        full=[load_table(path) for path in snakemake.input.full],
    )
    for name, path in snakemake.output.items():
        save_table(getattr(tables, name), path)
