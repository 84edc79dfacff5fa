"""Draw contact through the cycle (rule plot_contact)."""

from kneewear.io.activity import load_activity
from kneewear.io.csv_tables import load_table
from kneewear.io.cycles import load_cycles
from kneewear.io.figures import save_figures
from kneewear.io.grid import load_grid
from kneewear.io.history import load_case
from kneewear.io.surfaces import load_implant
from kneewear.joblog import job_log
from kneewear.report.dynamics import draw_dynamics
from kneewear.report.figures import draw_contact

with job_log(snakemake.log[0], snakemake.threads):
    implant, grid = load_implant(snakemake.input.surfaces), load_grid(snakemake.input.grid)
    figures = draw_contact(
        implant=implant,
        grid=grid,
        cycles=load_cycles(snakemake.input.cycles),
        activities={one.name: one for one in map(load_activity, snakemake.input.activities)},
    )
    histories = load_case(snakemake.input.histories, snakemake.params.case)
    figures |= draw_dynamics(implant, grid, histories, load_table(snakemake.input.analyses))
    save_figures(figures, snakemake.output.figures)
