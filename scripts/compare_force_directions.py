"""Compare both directions of the contact pressure on one case (rule compare_force_directions)."""

from kneewear.config import SimulationSettings, WearSettings
from kneewear.io.activity import load_activity
from kneewear.io.csv_tables import save_table
from kneewear.io.grid import load_grid
from kneewear.io.surfaces import load_implant
from kneewear.io.table import load_tables
from kneewear.joblog import job_log
from kneewear.simulation import Case
from kneewear.wear.force_direction import compare_force_directions

with job_log(snakemake.log[0], snakemake.threads):
    activities = [load_activity(path) for path in snakemake.input.activities]
    comparison = compare_force_directions(
        grid=load_grid(snakemake.input.grid),
        surfaces=load_implant(snakemake.input.surfaces).femoral,
        tables=load_tables(snakemake.input.table),
        activities={activity.name: activity for activity in activities},
        case=Case(**snakemake.params.case),
        settings=(
            SimulationSettings(**snakemake.params.simulation),
            WearSettings(**snakemake.params.wear),
        ),
    )
    save_table(comparison, snakemake.output.comparison)
