"""Fit constants of the default study to published cells (rule calibrate)."""

from pathlib import Path

from kneewear.io.documents import save_table, save_text
from kneewear.io.settings_text import replace_values
from kneewear.joblog import job_log
from kneewear.settings.calibration import CalibrationStudy
from kneewear.settings.cases import location
from kneewear.studies.calibration.trade_off import calibrate

with job_log(snakemake.log[0], snakemake.threads):
    outcome = calibrate(CalibrationStudy(**snakemake.params.study))
    save_table(outcome.constants, snakemake.output.constants)
    save_table(outcome.comparison, snakemake.output.comparison)
    save_table(outcome.trade_off, snakemake.output.trade_off)
    defaults = Path(snakemake.input.defaults).read_text(encoding="utf-8")
    values = {location(key): value for key, value in outcome.fit.overrides.items()}
    save_text(replace_values(defaults, values), snakemake.output.settings)
