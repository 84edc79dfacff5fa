"""Draw all figures of the study (rule plot_figures)."""

from pathlib import Path

from kneewear.io.activity import load_activity
from kneewear.io.csv_tables import load_table
from kneewear.io.cycles import load_cycles
from kneewear.io.damage import load_damage
from kneewear.io.deviation import load_deviation
from kneewear.io.distance_table import load_distance_tables
from kneewear.io.extraction import load_extractions
from kneewear.io.figures import save_figure
from kneewear.io.grid import load_grid
from kneewear.io.history import load_case
from kneewear.io.surfaces import load_implant
from kneewear.joblog import job_log
from kneewear.report.dynamics import draw_dynamics
from kneewear.report.figures import draw_figures
from kneewear.report.regression import draw_regression
from kneewear.report.verification import draw_verification

with job_log(snakemake.log[0], snakemake.threads):
    implant, grid = load_implant(snakemake.input.surfaces), load_grid(snakemake.input.grid)
    tables = {Path(path).stem: load_table(path) for path in snakemake.input.tables} | {
        f"calibration_{Path(path).stem}": load_table(path) for path in snakemake.input.calibration
    }
    figures = draw_figures(
        implant=implant,
        grid=grid,
        maps=load_damage(snakemake.input.damage),
        cycles=load_cycles(snakemake.input.cycles),
        activities={one.name: one for one in map(load_activity, snakemake.input.activities)},
        tables=tables,
        distance_tables=load_distance_tables(snakemake.input.distance_table),
        quality=load_deviation(snakemake.input.deviation),
        extractions=next(map(load_extractions, snakemake.input.extraction), None),
    )
    histories = load_case(snakemake.input.histories, snakemake.params.case)
    figures |= draw_dynamics(implant, grid, histories, tables["analyses"])
    figures |= draw_regression(tables["regression_models"], tables["regression_points"])
    figures |= draw_verification(tables)
    for name, figure in figures.items():
        for suffix in ("svg", "png"):
            save_figure(figure, Path(snakemake.output.figures, f"{name}.{suffix}"))
