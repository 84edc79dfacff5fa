"""Join all designs of a search and mark the best ones (rule find_front)."""

from kneewear.io.documents import load_table, save_table
from kneewear.joblog import job_log
from kneewear.settings.optimisation import OptimisationStudy
from kneewear.studies.optimisation.front import find_front

with job_log(snakemake.log[0], snakemake.threads):
    study = OptimisationStudy(**snakemake.params.study)
    designs = find_front(study, [load_table(path) for path in snakemake.input.designs])
    save_table(designs, snakemake.output.designs)
