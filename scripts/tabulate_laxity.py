"""Loops of all designs, and their stiffness, end points and subluxation (rule tabulate_laxity)."""

import pandas as pd

from kneewear.io.documents import load_table, save_table
from kneewear.joblog import job_log
from kneewear.settings.laxity import LaxitySettings
from kneewear.studies.designs.laxity import compare_designs, summarise_loops

with job_log(snakemake.log[0], snakemake.threads):
    loops = pd.concat([load_table(path) for path in snakemake.input.loops], ignore_index=True)
    save_table(loops, snakemake.output.loops)
    summary = summarise_loops(loops, LaxitySettings(**snakemake.params.laxity))
    save_table(summary, snakemake.output.laxity)
    save_table(compare_designs(summary), snakemake.output.comparison)
