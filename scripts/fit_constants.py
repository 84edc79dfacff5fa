"""Fit constants of a study to published cells (rule fit_constants)."""

import logging
from pathlib import Path

from kneewear.io.documents import replace_values, save_table, save_text
from kneewear.runs.joblog import job_log
from kneewear.study.study import WearStudy

# Lines of some ten thousand cases would hide those of the search.
for name in ("simulation", "progress", "study.run"):
    logging.getLogger(f"kneewear.{name}").setLevel(logging.ERROR)

with job_log(snakemake.log[0]):
    study = WearStudy(**snakemake.params.study)
    outcome = study.cases.solve(study, snakemake.threads)
    save_table(outcome.results, snakemake.output.results)
    save_table(outcome.points, snakemake.output.points)
    defaults = Path(snakemake.input.defaults).read_text(encoding="utf-8")
    save_text(replace_values(defaults, outcome.settings(study)), snakemake.output.settings)
