"""Reduce damage maps and cycles to one tidy table (rule summarize_cases)."""

from kneewear.io.csv_tables import save_table
from kneewear.io.cycles import load_cycles
from kneewear.io.damage import load_damage
from kneewear.io.grid import load_grid
from kneewear.joblog import job_log
from kneewear.settings.wear import WearSettings
from kneewear.wear.summary import summarize_cases

with job_log(snakemake.log[0], snakemake.threads):
    cases = summarize_cases(
        maps=load_damage(snakemake.input.damage),
        cycles=load_cycles(snakemake.input.cycles),
        grid=load_grid(snakemake.input.grid),
        settings=WearSettings(**snakemake.params.wear),
    )
    save_table(cases, snakemake.output.cases)
