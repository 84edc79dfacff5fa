"""Try a motion with its doubtful signs reversed (rule check_signs)."""

from kneewear.geometry.knee import KneeModel
from kneewear.io.activity import load_activity
from kneewear.io.csv_tables import save_table
from kneewear.io.distance_table import load_distance_tables
from kneewear.io.grid import load_grid
from kneewear.io.surfaces import load_implant
from kneewear.io.table import load_tables
from kneewear.joblog import job_log
from kneewear.settings.cases import Case
from kneewear.settings.simulation import SimulationSettings
from kneewear.simulation.signs import check_signs, tabulate_trials

with job_log(snakemake.log[0], snakemake.threads):
    activity = load_activity(snakemake.input.activity)
    knee = KneeModel(
        implant=load_implant(snakemake.input.surfaces),
        grid=load_grid(snakemake.input.grid),
        samples=load_tables(snakemake.input.table),
        distance_tables=load_distance_tables(snakemake.input.distance_table),
    )
    trials = check_signs(
        knee,
        activity=activity,
        case=Case(**snakemake.params.case),
        settings=SimulationSettings(**snakemake.params.simulation),
        reference=snakemake.params.reference,
    )
    save_table(tabulate_trials(trials, activity.name), snakemake.output.trials)
