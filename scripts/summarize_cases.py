"""Reduce damage maps and cycles to one tidy table (rule summarize_cases)."""

from kneewear.geometry.element_grid import ElementGrid
from kneewear.io import netcdf
from kneewear.io.csv_tables import save_table
from kneewear.joblog import job_log
from kneewear.settings.wear import WearSettings
from kneewear.wear.cycles import CycleRecord
from kneewear.wear.maps import DamageMaps
from kneewear.wear.summary import summarize_cases

with job_log(snakemake.log[0], snakemake.threads):
    cases = summarize_cases(
        maps=netcdf.load(DamageMaps, snakemake.input.damage),
        cycles=netcdf.load(CycleRecord, snakemake.input.cycles),
        grid=netcdf.load(ElementGrid, snakemake.input.knee, "grid"),
        settings=WearSettings(**snakemake.params.wear),
    )
    save_table(cases, snakemake.output.cases)
