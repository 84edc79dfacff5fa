"""Draw what the cases of a study came to (rule plot_results)."""

from pathlib import Path

from kneewear.io.activity import load_activity
from kneewear.io.csv_tables import load_table
from kneewear.io.cycles import load_cycles
from kneewear.io.damage import load_damage
from kneewear.io.figures import save_figures
from kneewear.io.grid import load_grid
from kneewear.io.history import load_case
from kneewear.io.surfaces import load_implant
from kneewear.joblog import job_log
from kneewear.report.dynamics import draw_dynamics
from kneewear.report.figures import draw_results
from kneewear.report.regression import draw_regression

with job_log(snakemake.log[0], snakemake.threads):
    implant, grid = load_implant(snakemake.input.surfaces), load_grid(snakemake.input.grid)
    tables = {Path(path).stem: load_table(path) for path in snakemake.input.tables}
    figures = draw_results(
        implant=implant,
        grid=grid,
        maps=load_damage(snakemake.input.damage),
        cycles=load_cycles(snakemake.input.cycles),
        activities={one.name: one for one in map(load_activity, snakemake.input.activities)},
        tables=tables,
    )
    histories = load_case(snakemake.input.histories, snakemake.params.case)
    figures |= draw_dynamics(implant, grid, histories, tables["analyses"])
    figures |= draw_regression(tables["regression_models"], tables["regression_points"])
    save_figures(figures, snakemake.output.figures)
