"""Fit constants of the default study to published cells (rule calibrate)."""

import logging
from pathlib import Path

from kneewear.io.documents import replace_values, save_table, save_text
from kneewear.joblog import job_log
from kneewear.settings.calibration import CalibrationStudy
from kneewear.settings.cases import location
from kneewear.studies.calibration.trade_off import calibrate

# Lines of some ten thousand cases would hide those of the search.
for name in ("simulation", "progress"):
    logging.getLogger(f"kneewear.{name}").setLevel(logging.WARNING)

with job_log(snakemake.log[0]):
    outcome = calibrate(CalibrationStudy(**snakemake.params.study), snakemake.threads)
    for name, table in outcome.tables.items():
        save_table(table, snakemake.output[name])
    defaults = Path(snakemake.input.defaults).read_text(encoding="utf-8")
    values = {location(key): value for key, value in outcome.overrides.items()}
    save_text(replace_values(defaults, values), snakemake.output.settings)
