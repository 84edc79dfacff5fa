"""Compare both directions of the contact pressure on one case (rule compare_force_directions)."""

from kneewear.config import WearSettings
from kneewear.io.csv_tables import save_table
from kneewear.io.grid import load_grid
from kneewear.io.history import load_history
from kneewear.joblog import job_log
from kneewear.wear.force_direction import compare_force_directions

with job_log(snakemake.log[0], snakemake.threads):
    case = snakemake.params.case
    pressed = [load_history(path).only(case) for path in snakemake.input.minimum_distance]
    others = [load_history(path).only(case) for path in snakemake.input.mid_surface]
    comparison = compare_force_directions(
        minimum_distance={history.activity: history for history in pressed},
        mid_surface={history.activity: history for history in others},
        grid=load_grid(snakemake.input.grid),
        settings=WearSettings(**snakemake.params.wear),
    )
    save_table(comparison, snakemake.output.comparison)
