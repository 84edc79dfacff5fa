"""Simulate one case with one choice of method changed at a time (rule simulate_variants)."""

from kneewear.activity.activity import Activity
from kneewear.io import netcdf
from kneewear.io.knee import load_knee
from kneewear.joblog import job_log
from kneewear.settings.cases import Case
from kneewear.settings.simulation import SimulationSettings
from kneewear.simulation.cases import simulate_cases

with job_log(snakemake.log[0], snakemake.threads):
    knee = load_knee(snakemake.input.knee)
    activity = netcdf.load(Activity, snakemake.input.activity)
    cases = [Case(**snakemake.params.case)]
    for name, change in snakemake.params.changes.items():
        settings = SimulationSettings(**snakemake.params.simulation | change)
        history = simulate_cases(knee, activity, cases, settings, keep_going=True)
        netcdf.save(history, snakemake.output[name])
