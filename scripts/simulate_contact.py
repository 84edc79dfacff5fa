"""Simulate contact over one cycle of an activity for a batch of cases (rule simulate_contact)."""

from kneewear.geometry.knee import KneeModel
from kneewear.io.activity import load_activity
from kneewear.io.distance_table import load_distance_tables
from kneewear.io.grid import load_grid
from kneewear.io.history import save_history
from kneewear.io.surfaces import load_implant
from kneewear.io.table import load_tables
from kneewear.joblog import job_log
from kneewear.settings.cases import Case
from kneewear.settings.simulation import SimulationSettings
from kneewear.simulation.cases import simulate_cases

with job_log(snakemake.log[0], snakemake.threads):
    knee = KneeModel(
        implant=load_implant(snakemake.input.surfaces),
        grid=load_grid(snakemake.input.grid),
        samples=load_tables(snakemake.input.table),
        distance_tables=load_distance_tables(snakemake.input.distance_table),
        coarse_grid=load_grid(snakemake.input.coarse_grid),
    )
    history = simulate_cases(
        knee,
        activity=load_activity(snakemake.input.activity),
        cases=[Case(**case) for case in snakemake.params.cases],
        settings=SimulationSettings(**snakemake.params.simulation),
        keep_going=True,
    )
    save_history(history, snakemake.output.history)
