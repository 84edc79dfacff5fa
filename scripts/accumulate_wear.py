"""Accumulate wear and creep of a batch of cases over their lives (rule accumulate_wear)."""

from kneewear.io.activity import load_activity
from kneewear.io.cycles import save_cycles
from kneewear.io.damage import save_damage
from kneewear.io.distance_table import load_distance_tables
from kneewear.io.grid import load_grid
from kneewear.io.history import load_history
from kneewear.io.surfaces import load_implant
from kneewear.io.table import load_tables
from kneewear.joblog import job_log
from kneewear.settings.simulation import SimulationSettings
from kneewear.settings.wear import WearSettings
from kneewear.simulation.history import keep_common
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.cycles import record_cycles
from kneewear.wear.worn_contact import WornContact

with job_log(snakemake.log[0], snakemake.threads):
    # A life is told of cases that finished in all of its activities.
    histories = keep_common([load_history(path) for path in snakemake.input.histories])
    grid, settings = load_grid(snakemake.input.grid), WearSettings(**snakemake.params.wear)
    worn = WornContact(
        surfaces=load_implant(snakemake.input.surfaces).femoral,
        tables=load_tables(snakemake.input.table),
        activities={item.name: item for item in map(load_activity, snakemake.input.activities)},
        settings=SimulationSettings(**snakemake.params.simulation),
        distance_tables=load_distance_tables(snakemake.input.distance_table),
        medial_lateral=settings.surface_update.medial_lateral,
    )
    save_damage(accumulate_wear(histories, grid, settings, worn), snakemake.output.damage)
    save_cycles(record_cycles(histories), snakemake.output.cycles)
