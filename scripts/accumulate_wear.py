"""Accumulate wear and creep of a batch of cases over their lives (rule accumulate_wear)."""

from kneewear.config import WearSettings
from kneewear.io.cycles import save_cycles
from kneewear.io.damage import save_damage
from kneewear.io.grid import load_grid
from kneewear.io.history import load_history
from kneewear.joblog import job_log
from kneewear.wear import accumulate_wear, record_cycles

with job_log(snakemake.log[0], snakemake.threads):
    histories = {
        history.activity: history for history in map(load_history, snakemake.input.histories)
    }
    grid, settings = load_grid(snakemake.input.grid), WearSettings(**snakemake.params.wear)
    save_damage(accumulate_wear(histories, grid, settings), snakemake.output.damage)
    save_cycles(record_cycles(histories), snakemake.output.cycles)
