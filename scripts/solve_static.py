"""Settle every case of a static study (rule solve_static)."""

from kneewear.io.csv_tables import save_table
from kneewear.io.static import save_static
from kneewear.io.surfaces import load_implant
from kneewear.joblog import job_log
from kneewear.settings.implant import GridSettings, TableSettings
from kneewear.settings.simulation import SimulationSettings
from kneewear.settings.static import StaticSettings
from kneewear.studies.static.cases import solve_static_cases
from kneewear.studies.static.joint import Joint
from kneewear.studies.static.record import tabulate_static

with job_log(snakemake.log[0], snakemake.threads):
    simulation = SimulationSettings(**snakemake.params.simulation)
    implant = load_implant(snakemake.input.surfaces)
    record = solve_static_cases(
        joint=Joint(implant, TableSettings(**snakemake.params.table), simulation),
        grid=GridSettings(**snakemake.params.grid),
        settings=StaticSettings(**snakemake.params.static),
        simulation=simulation,
    )
    save_static(record, snakemake.output.record)
    save_table(tabulate_static(record), snakemake.output.static)
