"""Try a motion with its doubtful signs reversed (rule check_signs)."""

from kneewear.activity.activity import Activity
from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.documents import save_table
from kneewear.joblog import job_log
from kneewear.settings.cases import Case
from kneewear.settings.simulation import SimulationSettings
from kneewear.simulation.signs import check_signs, tabulate_trials

with job_log(snakemake.log[0], snakemake.threads, side=snakemake.output):
    activity = netcdf.load(Activity, snakemake.input.activity)
    knee = netcdf.load(KneeModel, snakemake.input.knee)
    trials = check_signs(
        knee,
        activity=activity,
        case=Case(**snakemake.params.case),
        settings=SimulationSettings(**snakemake.params.simulation),
        reference=snakemake.params.reference,
    )
    save_table(tabulate_trials(trials, activity.name), snakemake.output.trials)
