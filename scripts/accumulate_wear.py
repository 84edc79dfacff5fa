"""Accumulate wear and creep of a batch of cases over their lives (rule accumulate_wear)."""

from kneewear.geometry.knee import KneeModel
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
    # Lives are computed for the cases that finished in all activities.
    histories = keep_common([load_history(path) for path in snakemake.input.histories])
    knee = KneeModel(
        implant=load_implant(snakemake.input.surfaces),
        grid=load_grid(snakemake.input.grid),
        samples=load_tables(snakemake.input.table),
        distance_tables=load_distance_tables(snakemake.input.distance_table),
    )
    settings = WearSettings(**snakemake.params.wear)
    worn = WornContact(
        knee,
        activities={item.name: item for item in map(load_activity, snakemake.input.activities)},
        settings=SimulationSettings(**snakemake.params.simulation),
        medial_lateral=settings.surface_update.medial_lateral,
    )
    save_damage(accumulate_wear(histories, knee.grid, settings, worn), snakemake.output.damage)
    save_cycles(record_cycles(histories), snakemake.output.cycles)
