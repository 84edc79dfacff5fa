"""Try a motion with its doubtful signs reversed (rule check_signs)."""

from kneewear.config import SimulationSettings
from kneewear.io.activity import load_activity
from kneewear.io.distance_table import load_distance_tables
from kneewear.io.grid import load_grid
from kneewear.io.sign_trials import save_trials
from kneewear.io.surfaces import load_implant
from kneewear.io.table import load_tables
from kneewear.joblog import job_log
from kneewear.simulation import Case
from kneewear.simulation.signs import check_signs

with job_log(snakemake.log[0], snakemake.threads):
    trials = check_signs(
        grid=load_grid(snakemake.input.grid),
        surfaces=load_implant(snakemake.input.surfaces).femoral,
        tables=load_tables(snakemake.input.table),
        activity=load_activity(snakemake.input.activity),
        case=Case(**snakemake.params.case),
        settings=SimulationSettings(**snakemake.params.simulation),
        distance_tables=load_distance_tables(snakemake.input.distance_table),
        reference=snakemake.params.reference,
    )
    save_trials(trials, snakemake.output.trials)
