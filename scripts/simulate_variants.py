"""Simulate one case with one choice of method changed at a time (rule simulate_variants)."""

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
    activity = load_activity(snakemake.input.activity)
    cases = [Case(**snakemake.params.case)]
    for name, change in snakemake.params.changes.items():
        settings = SimulationSettings(**snakemake.params.simulation | change)
        history = simulate_cases(knee, activity, cases, settings, keep_going=True)
        save_history(history, snakemake.output[name])
